/**
 * A CSI driver for tests, and a module that brings it: fills a volume slowly in the directory of the node, says how far it is,
 * goes on where it was, and publishes a directory per generation. What it does wrong is said by the volume's attributes.
 */
import { sleep } from '../../../base/clock.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { defineModule } from '../../../runtime/module/module.ts'
import type { CsiContext, CsiDriver } from '../../../runtime/seams/csi-driver.ts'

export const TOY = 'toy.csi.example.com'
const LABEL = 'toy.example.com/uses-'
const MAX_BYTES = 1000

export const topOf = (handle: string): string => `/runtime-mnt/toy/${handle}`

/** Attributes: `seconds` to fill it (default 0), `failures` before it begins, `keep` the labels, `writable: no`. */
export function toyDriver(calls: string[] = []): CsiDriver {
  const number = async ({ files }: CsiContext, file: string): Promise<number> => Number((await files.read(file, MAX_BYTES)) ?? 0)
  return {
    name: TOY,
    spec: { attachRequired: false, podInfoOnMount: true },
    labels: {
      of: ({ handle }) => ({ [`${LABEL}${handle}`]: 'true' }),
      owns: (key) => key.startsWith(LABEL),
      areDropped: ({ attributes }) => attributes.keep !== 'yes',
    },
    async stage(context) {
      const { volume, files, signal, clock, progress } = context
      calls.push(`stage ${volume.handle}`)
      const top = topOf(volume.handle)
      const failed = await number(context, `${top}/failed`)
      if (failed < Number(volume.attributes.failures ?? 0)) {
        await files.write(`${top}/failed`, String(failed + 1))
        throw new Error(`the source said no ${failed + 1} times`)
      }
      const seconds = Number(volume.attributes.seconds ?? 0)
      for (let done = await number(context, `${top}/done`); done < seconds; done++) {
        progress(`${done} of ${seconds} GiB`)
        await sleep(clock, 1000, signal)
        if (signal.aborted) throw signal.reason as Error
        await files.write(`${top}/done`, String(done + 1))
      }
    },
    async publish({ volume, pod, files, readOnly }) {
      calls.push(`publish ${volume.handle} for ${pod.name}`)
      const top = topOf(volume.handle)
      const generation = (await files.read(`${top}/generation`, MAX_BYTES)) ?? '1'
      await files.write(`${top}/users/${pod.uid}`, generation)
      await files.makeDirectory(`${top}/generations/${generation}`)
      return { path: `${top}/generations/${generation}`, readOnly: !readOnly && volume.attributes.writable === 'no' }
    },
    async unpublish({ volume, pod, files }) {
      calls.push(`unpublish ${volume.handle} for ${pod.name}`)
      await files.remove(`${topOf(volume.handle)}/users/${pod.uid}`)
    },
    async unstage({ volume, files }) {
      calls.push(`unstage ${volume.handle}`)
      await files.remove(topOf(volume.handle))
    },
  }
}

export const toyModule = (calls?: string[]) =>
  defineModule({
    name: 'toy-csi',
    roles: ['member'],
    upstreamLeases: [],
    defaults: {},
    services: () => ({}),
    controllers: () => [],
    seams: { csiDrivers: () => [toyDriver(calls)] },
  })

/** A PersistentVolume of the driver and a claim bound to it, both of this name. */
export async function createToyVolume(
  cluster: WorldCluster,
  name: string,
  { attributes = {}, accessModes = ['ReadWriteMany'] }: { attributes?: Record<string, string>; accessModes?: string[] } = {},
): Promise<void> {
  const storage = { storage: '1Gi' }
  const volume: KubeObject = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: storage,
      accessModes,
      storageClassName: 'toy',
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name },
      csi: { driver: TOY, volumeHandle: name, volumeAttributes: attributes },
    },
  }
  const claim: KubeObject = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name },
    spec: { accessModes, storageClassName: 'toy', volumeName: name, resources: { requests: storage } },
  }
  await cluster.create(volume)
  await cluster.create(claim)
}

export async function deleteToyVolume(cluster: WorldCluster, name: string): Promise<void> {
  await cluster.delete(PERSISTENT_VOLUME_CLAIMS, `default/${name}`)
  await cluster.delete(PERSISTENT_VOLUMES, name)
}

/** The part of a pod's spec that mounts claims of these names at paths of these names. */
export const mounting = (...claims: string[]) => ({
  spec: {
    automountServiceAccountToken: false,
    volumes: claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
  },
  container: { volumeMounts: claims.map((name) => ({ name, mountPath: `/${name}` })) },
})
