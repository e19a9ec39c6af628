/** Objects and verbs for stories about storage: a test plays scheduler and kubelet where there are none. */

import { runControllers } from '../../composition.ts'
import type { RunControllers } from '../../faultsim/world/cluster.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../kinds/kubernetes/resources.ts'
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  PersistentVolumeSpec,
  Pod,
  StorageClass,
} from '../../kinds/kubernetes/types.ts'
import type { ObjectMeta } from '../../kube/meta.ts'
import { configure } from '../../runtime/module/configure.ts'
import { minicluster } from '../module.ts'
import type { VolumeDirectories } from './local/volume.ts'

export const aVolume = (name: string, spec: PersistentVolumeSpec = {}, metadata: ObjectMeta = {}): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name, ...metadata },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: `/tmp/${name}` }, ...spec },
})

/** Without a class by default. */
export const aClaim = (name: string, spec: PersistentVolumeClaimSpec = {}, metadata: ObjectMeta = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default', ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '', ...spec },
})

export const aClass = (name: string, more: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: 'example.com/disks',
  ...more,
})

/** Uses a claim; bound to a node if one is given. */
export const aPodWith = (name: string, claimName: string, nodeName?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    automountServiceAccountToken: false,
    containers: [{ name: 'main', image: 'one' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    // Without a node it is never scheduled.
    ...(nodeName === undefined ? { schedulingGates: [{ name: 'example.com/never' }] } : { nodeName }),
  },
})

export const theVolume = async (cluster: WorldCluster, name: string): Promise<PersistentVolume | undefined> =>
  (await cluster.get(PERSISTENT_VOLUMES, name)) as PersistentVolume | undefined

export const theClaim = async (cluster: WorldCluster, name: string): Promise<PersistentVolumeClaim | undefined> =>
  (await cluster.get(PERSISTENT_VOLUME_CLAIMS, `default/${name}`)) as PersistentVolumeClaim | undefined

/** `claim → volume` for every claim that names one, and `volume ← claim` for every volume that does. */
export async function bindingsIn(cluster: WorldCluster): Promise<string[]> {
  const claims = (await cluster.list(PERSISTENT_VOLUME_CLAIMS)) as PersistentVolumeClaim[]
  const volumes = (await cluster.list(PERSISTENT_VOLUMES)) as PersistentVolume[]
  return [
    ...claims.flatMap(({ metadata, spec }) => ((spec?.volumeName ?? '') === '' ? [] : [`${metadata.name} → ${spec?.volumeName}`])),
    ...volumes.flatMap(({ metadata, spec }) => (spec?.claimRef === undefined ? [] : [`${metadata.name} ← ${spec.claimRef.name}`])),
  ].sort()
}

/** Directories in memory, whose next calls can be made to fail. */
export class ScriptedDirectories implements VolumeDirectories {
  readonly root = '/data/volumes'
  readonly present = new Set<string>()
  readonly calls: string[] = []
  /** The next so many calls fail with this. */
  failures: string[] = []

  make(path: string): Promise<void> {
    return this.#call(`make ${path}`, () => this.present.add(path))
  }

  remove(path: string): Promise<void> {
    return this.#call(`remove ${path}`, () => this.present.delete(path))
  }

  /** For worlds: the real list of controllers, over these directories. */
  readonly controllers: RunControllers = (options) =>
    runControllers({ ...options, modules: configure(options.modules, minicluster, { volumes: { root: this.root, directories: this } }) })

  #call(what: string, effect: () => unknown): Promise<void> {
    this.calls.push(what)
    const failure = this.failures.shift()
    if (failure !== undefined) return Promise.reject(new Error(failure))
    effect()
    return Promise.resolve()
  }
}
