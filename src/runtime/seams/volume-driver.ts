/**
 * The seam for volumes of process nodes. A driver says, from objects alone, what is to be on disk for a volume or what it
 * still waits for; putting it there is the same for all. One file and one line each: those of Kubernetes in
 * minicluster/kubelet/volumes, any other in the module that brings it.
 */
import type { ConfigMap, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Volume } from '../../kinds/kubernetes/types.ts'

/** Content of a volume whose files come from objects; written so that readers see the old or the new whole. */
export interface VolumeFile {
  /** Relative, clean, inside the volume. */
  path: string
  content: Uint8Array
  mode: number
}

export type VolumePlan =
  /** An empty directory that lives as long as the pod. */
  | { kind: 'directory' }
  /** Files that come from objects; `version` says which, so that nothing is compared or written while it stays. */
  | { kind: 'files'; version: string; files(): VolumeFile[] }
  /** Something that is on this machine already; `type` as of hostPath. */
  | { kind: 'path'; path: string; type: string; readOnly: boolean }
  | { kind: 'waiting'; message: string }

export const waiting = (message: string): VolumePlan => ({ kind: 'waiting', message })

/** Objects a pod's volumes and variables come from, by which it is found again when they change. */
export interface Source {
  kind: 'ConfigMap' | 'Secret' | 'PersistentVolumeClaim'
  name: string
}

export interface TokenOrder {
  /** Where it goes in the volume. */
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
  /** Where this data directory keeps the volumes that were made for it; undefined where nobody says. */
  volumesRoot: string | undefined
  /** Fetched before, for every order the driver placed. */
  token(order: TokenOrder): Token | undefined
}

export interface VolumeDriver {
  /** The field of a Volume that it stands for. */
  field: keyof Volume
  sources?(volume: Volume): readonly Source[]
  /** Service account tokens it needs. */
  tokens?(volume: Volume): readonly TokenOrder[]
  /** Undefined: not one of its own, and the next driver of this field is asked. */
  plan(volume: Volume, context: VolumeContext): VolumePlan | undefined
}
