/**
 * The seam for volumes of process nodes. A driver decides, from objects alone, what must be on disk for a volume or what it
 * still waits for; writing it to disk is the same for all. One file and one line each: those of Kubernetes in
 * minicluster/kubelet/volumes, any other in the module that defines it.
 */
import type { ConfigMap, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Volume } from '../../kinds/kubernetes/types.ts'
import type { CsiVolume } from './csi-driver.ts'

/** Content of a volume whose files come from objects; written so that readers see either the whole old or the whole new content. */
export interface VolumeFile {
  /** Relative, clean, inside the volume. */
  path: string
  content: Uint8Array
  mode: number
}

export type VolumePlan =
  /** An empty directory that lives as long as the pod. */
  | { kind: 'directory' }
  /** The same in memory, of at most this size. */
  | { kind: 'memory'; sizeBytes: number | undefined }
  /** Files that come from objects; while `version` is unchanged, nothing is compared or written. */
  | { kind: 'files'; version: string; files(): VolumeFile[] }
  /**
   * Something that already exists on this machine; `type` as in hostPath. `within`: a directory of ours that it lies in, where
   * whatever is missing is made, and links do not lead out.
   */
  | { kind: 'path'; path: string; type: string; readOnly: boolean; within?: string }
  /** What a CSI driver publishes for this pod. */
  | { kind: 'csi'; volume: CsiVolume; readOnly: boolean }
  | { kind: 'waiting'; message: string }

export const waiting = (message: string): VolumePlan => ({ kind: 'waiting', message })

/** Objects that a pod's volumes and variables come from; when they change, the pod is found through them. */
export interface Source {
  kind: 'ConfigMap' | 'Secret' | 'PersistentVolumeClaim'
  name: string
}

export interface TokenOrder {
  /** Its path in the volume. */
  path: string
  audience: string | undefined
  expirationSeconds: number
}

export type Token = { token: string; issuedAtMs: number } | { problem: string }

/** Cached look-ups in the pod's namespace. */
export interface VolumeContext {
  pod: Pod
  node: Node | undefined
  configMap(name: string): ConfigMap | undefined
  secret(name: string): Secret | undefined
  claim(name: string): PersistentVolumeClaim | undefined
  persistentVolume(name: string): PersistentVolume | undefined
  /** Where this data directory keeps the volumes created for it; undefined where that is not configured. */
  volumesRoot: string | undefined
  /** What the pod's node keeps for itself on this machine: see `kube/node-path.ts`. */
  nodeDirectory: string
  /** Whether a CSI driver of this name is registered. */
  hasCsiDriver(name: string): boolean
  /** Fetched beforehand, for every order of the driver. */
  token(order: TokenOrder): Token | undefined
}

export interface VolumeDriver {
  /** The field of a Volume that it handles. */
  field: keyof Volume
  sources?(volume: Volume): readonly Source[]
  /** Service account tokens it needs. */
  tokens?(volume: Volume): readonly TokenOrder[]
  /** Undefined: not this driver's volume; the next driver of this field is tried. */
  plan(volume: Volume, context: VolumeContext): VolumePlan | undefined
}
