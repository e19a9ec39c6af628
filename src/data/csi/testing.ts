/** A dataset with its volume and claim, and what a client would write on a node, for the stories of the driver. */
import { machineOf } from '../../faultsim/builders/process-nodes.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import type { HostPathPrefixes } from '../../kinds/fluid/admission/index.ts'
import { fluidKinds } from '../../kinds/fluid/index.ts'
import { directoryOf, requestIdOf, stateText, type VolumeState } from '../../kube/materialised-volume.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { defineModule } from '../../runtime/module/module.ts'
import { fluidCsiDriver } from './driver.ts'

const API_VERSION = 'data.fluid.io/v1alpha1'
export const NODE = 'member1-process-1'
const ROOT = '/runtime-mnt/cache/default/demo/cache-fuse'

export const driverModule = (hostPathPrefixes: HostPathPrefixes = 'all') =>
  defineModule({
    name: 'driver-for-tests',
    roles: ['member'],
    upstreamLeases: [],
    kinds: { member: fluidKinds },
    defaults: {},
    services: () => ({}),
    controllers: () => [],
    seams: { csiDrivers: () => [fluidCsiDriver({ hostPathPrefixes })] },
  })

interface Given {
  name?: string
  mounts?: object[]
  accessModes?: string[]
  attributes?: Record<string, string>
}

/** The volume of dataset demo, as data.volume makes it, and its claim; another name shares the files of demo. */
export async function createVolume(cluster: WorldCluster, { name = 'demo', accessModes = ['ReadOnlyMany'], attributes = {} }: Given = {}) {
  const storage = { storage: '1Gi' }
  const volumeAttributes = {
    fluid_path: ROOT,
    mount_type: 'cache',
    runtime_namespace: 'default',
    runtime_name: 'demo',
    mount_pod_node_selector_key: 'fluid.io/f-default-demo',
    ...attributes,
  }
  const csi = { driver: 'fuse.csi.fluid.io', volumeHandle: 'default-demo', volumeAttributes }
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name }
  const spec = { accessModes, storageClassName: 'fluid' }
  await cluster.create({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `default-${name}` },
    spec: { ...spec, capacity: storage, claimRef, csi },
  } as KubeObject)
  await cluster.create({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name },
    spec: { ...spec, volumeName: `default-${name}`, resources: { requests: storage } },
  } as KubeObject)
}

export const aDataset = (mounts: object[], accessModes = ['ReadWriteMany']): KubeObject => ({
  apiVersion: API_VERSION,
  kind: 'Dataset',
  metadata: { namespace: 'default', name: 'demo' },
  spec: { mounts, accessModes },
})

export const aRuntime = (kind: string, spec: object): KubeObject => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { namespace: 'default', name: 'demo' },
  spec,
})

/** Files of a node by their path in the runtime's directory. */
export function meetingOf(cluster: WorldCluster, node = NODE) {
  const { files } = machineOf(cluster)
  const at = (path: string): string => `/data/nodes/${node}${ROOT}/${path}`
  return {
    names: (): string[] => [...files.keys()].filter((path) => path.startsWith(at(''))).map((path) => path.slice(at('').length)),
    write: (path: string, text: string): void => void files.set(at(path), text),
    remove: (path: string): void => void files.delete(at(path)),
    makeDirectory: (path: string) => machineOf(cluster).makeDirectory(at(path)),
    /** What the client of the node says. */
    say(state: Partial<VolumeState>): void {
      const whole: VolumeState = {
        ...{ subPath: '/', state: 'filling', doneBytes: 0, totalBytes: 0, doneFiles: 0, totalFiles: 0, generation: 0 },
        ...state,
      }
      const id = requestIdOf(whole.subPath)
      files.set(at(`states/${id}.json`), stateText(id, whole))
    },
    /** The client has completed a generation. */
    async complete(generation: number, subPath = '/'): Promise<void> {
      const id = requestIdOf(subPath)
      await machineOf(cluster).makeDirectory(at(`generations/${id}`))
      await machineOf(cluster).makeDirectory(at(directoryOf(id, generation)))
      this.say({ state: 'ready', subPath, generation })
    },
  }
}
