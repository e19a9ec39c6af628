/**
 * The seam for CSI drivers: volumes that PersistentVolumes name with `csi`, on the nodes of a member. A driver stages a volume
 * once per node, publishes it once per pod, and takes both back. Each of the four may be called again after a crash or a
 * failure, so each must come to the same result when it has been done already. What is staged and published is recorded on
 * disk by whoever calls the driver. On simulated nodes only the pure part of a driver is used: its labels.
 */
import type { Clock } from '../../base/clock.ts'
import type { PersistentVolume } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'

/** What a PersistentVolume says about itself; also known when the object is gone. */
export interface CsiVolume {
  driver: string
  /** Of the PersistentVolume. */
  name: string
  uid: string
  handle: string
  attributes: Readonly<Record<string, string>>
  accessModes: readonly string[]
  /** The claim that the volume is reserved for; undefined: none is named. */
  claim?: { namespace: string; name: string }
}

/** Small files of the node. Paths are those that pods of the node would use: see `kube/node-path.ts`. */
export interface CsiFiles {
  kindOf(path: string): Promise<'directory' | 'file' | 'socket' | 'other' | undefined>
  /** The beginning of a file; undefined when there is none. */
  read(path: string, limitBytes: number): Promise<string | undefined>
  /** Whole or not at all, with the directories that lead to it. Only where the node keeps paths for itself. */
  write(path: string, text: string): Promise<void>
  makeDirectory(path: string): Promise<void>
  /** With everything in it; nothing happens when it is not there. */
  remove(path: string): Promise<void>
  /** In a directory, sorted; none where there is no directory. */
  namesIn(path: string): Promise<readonly string[]>
}

export interface CsiContext {
  node: string
  /** What the node keeps for itself on this machine. */
  nodeDirectory: string
  volume: CsiVolume
  /** Aborts when it is no longer wanted, or when Sluice stops. */
  signal: AbortSignal
  clock: Clock
  files: CsiFiles
  /** What the pod's status says while this goes on: `1.2 of 2.0 GiB`. May be called at any rate. */
  progress(message: string): void
  /** From the server; only resources that the driver has declared in `reads`. */
  get<T extends KubeObject>(resource: Resource<T>, namespace: string, name: string): Promise<T | undefined>
}

export interface CsiPodContext extends CsiContext {
  pod: CsiPod
  /** Nobody may write: the access modes allow reading only, or the pod asks for that. */
  readOnly: boolean
  /**
   * The directory that a directory of the node or a claim means here, with a clean relative path below it, which is made when
   * it is missing. Rejects with what is wrong: it is not there, not bound, not on this machine, or leads out by a link.
   */
  directoryOf(source: DirectorySource, subPath: string): Promise<string>
}

export type DirectorySource = { hostPath: string } | { namespace: string; claim: string }

export interface CsiPod {
  namespace: string
  name: string
  uid: string
  serviceAccount: string
}

export interface Published {
  /** A directory of the node, as its pods would name it. Stays the pod's until it is unpublished. */
  path: string
  /** Read-only though writing was allowed. */
  readOnly?: boolean
  /** Other directories that appear in it. */
  mounts?: readonly PublishedMount[]
}

export interface PublishedMount {
  /** Where it appears: clean and relative. */
  path: string
  /** A directory of the node, as its pods would name it. */
  source: string
  readOnly?: boolean
}

/** Cached look-ups, of the resources that `reads` of the labels declares. */
export type CsiReader = <T extends KubeObject>(resource: Resource<T>, namespace: string, name: string) => T | undefined

export interface CsiLabels {
  /** What a node that uses the volume is labelled with, so that what serves the volume can run there. */
  of(volume: CsiVolume): Readonly<Record<string, string>>
  /** Whether a label of a node comes from this driver: such a label is removed when no PersistentVolume accounts for it. */
  owns(key: string): boolean
  /** Whether they are removed when the last pod with the volume has left the node (default: they stay). */
  areDropped?(volume: CsiVolume, read: CsiReader): boolean
  /** What `areDropped` reads. A change of status alone is not noticed. */
  reads?: readonly Resource[]
}

export interface CsiDriver {
  /** As PersistentVolumes name it: `fuse.csi.fluid.io`. */
  name: string
  /** The fields of its CSIDriver object. */
  spec: Readonly<Record<string, unknown>>
  /** What its calls read besides the volume. */
  reads?: readonly Resource[]
  labels?: CsiLabels
  stage(context: CsiContext): Promise<void>
  publish(context: CsiPodContext): Promise<Published>
  unpublish(context: CsiPodContext): Promise<void>
  unstage(context: CsiContext): Promise<void>
}

/** Why a volume whose attributes the author of a pod writes is refused. */
export const inlineRefusal = (driver: string): string =>
  `inline volumes of driver ${driver} are refused, because attributes that a pod names could reach data of any namespace: use a persistentVolumeClaim instead`

/** Undefined for volumes of other types. */
export function csiVolumeOf({ metadata, spec }: PersistentVolume): CsiVolume | undefined {
  if (spec?.csi === undefined) return undefined
  const { driver = '', volumeHandle = '', volumeAttributes = {} } = spec.csi
  const { name = '', uid = '' } = metadata
  const { namespace, name: claim } = spec.claimRef ?? {}
  return {
    ...{ driver, name, uid, handle: volumeHandle, attributes: volumeAttributes, accessModes: spec.accessModes ?? [] },
    ...(namespace === undefined || claim === undefined ? {} : { claim: { namespace, name: claim } }),
  }
}
