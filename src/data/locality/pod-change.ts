/**
 * What a plugin wants of a pod, as a value, and the pod as all plugins together want it. Plugins look at the pod as its author
 * wrote it and change nothing themselves: a pod has all of the changes or none. Making them again changes nothing more.
 */
import type { Container, NodeAffinity, NodeSelectorTerm, Pod, PreferredSchedulingTerm } from '../../kinds/kubernetes/types.ts'
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'
import { keyOfTerm, narrowedTerms } from './node-terms.ts'
import type { PodDataset } from './pod-datasets.ts'

export interface PodChange {
  /** Demands on the node: all of them must hold, each by one of its alternatives. */
  required?: readonly (readonly NodeSelectorTerm[])[]
  preferred?: readonly PreferredSchedulingTerm[]
  /** Volumes whose mounts in containers must see what is mounted on the node later. */
  propagated?: ReadonlySet<string>
  annotations?: Readonly<Record<string, string>>
  /** For whoever creates the pod. */
  warnings?: readonly string[]
}

export interface PodPlugin {
  name: string
  changeOf(pod: Pod, datasets: readonly PodDataset[]): PodChange
}

/** The changed pod, which shares with the old one what stays the same, or why it cannot be made. */
export function withChanges(pod: Pod, changes: readonly PodChange[]): Parsed<Pod> {
  const { spec = {}, metadata } = pod
  const nodeAffinity = changedAffinity(spec.affinity?.nodeAffinity, changes)
  if (nodeAffinity.error !== undefined) return unparsed(nodeAffinity.error)
  const propagated = new Set(changes.flatMap((change) => [...(change.propagated ?? [])]))
  const annotations = Object.assign({}, ...changes.map((change) => change.annotations ?? {})) as Record<string, string>
  return parsed({
    ...pod,
    metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
    spec: {
      ...spec,
      ...(nodeAffinity.value === undefined ? {} : { affinity: { ...spec.affinity, nodeAffinity: nodeAffinity.value } }),
      ...(propagated.size === 0 ? {} : { containers: (spec.containers ?? []).map((container) => propagating(container, propagated)) }),
    },
  })
}

function changedAffinity(existing: NodeAffinity | undefined, changes: readonly PodChange[]): Parsed<NodeAffinity | undefined> {
  const demands = changes.flatMap((change) => change.required ?? [])
  const preferences = changes.flatMap((change) => change.preferred ?? [])
  if (demands.length === 0 && preferences.length === 0) return parsed(existing)
  const required = narrowedTerms(existing?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms, demands)
  if (required.error !== undefined) return unparsed(required.error)
  const own = existing?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  const preferred = [...own, ...additional(own, preferences)]
  return parsed({
    ...existing,
    ...(required.value === undefined ? {} : { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: required.value } }),
    ...(preferred.length === 0 ? {} : { preferredDuringSchedulingIgnoredDuringExecution: preferred }),
  })
}

/** Those that are not there yet, each once. */
function additional(known: readonly PreferredSchedulingTerm[], more: readonly PreferredSchedulingTerm[]): PreferredSchedulingTerm[] {
  const keyOf = ({ weight, preference = {} }: PreferredSchedulingTerm): string => `${weight} ${keyOfTerm(preference)}`
  const seen = new Set(known.map(keyOf))
  return more.filter((one) => !seen.has(keyOf(one)) && seen.add(keyOf(one)))
}

/** A mount that says how it propagates keeps that, and one that must be read-only all the way down cannot propagate. */
function propagating(container: Container, volumes: ReadonlySet<string>): Container {
  if (container.volumeMounts === undefined) return container
  return {
    ...container,
    volumeMounts: container.volumeMounts.map((mount) =>
      volumes.has(mount.name ?? '') && mount.mountPropagation === undefined && (mount.recursiveReadOnly ?? 'Disabled') === 'Disabled'
        ? { ...mount, mountPropagation: 'HostToContainer' }
        : mount,
    ),
  }
}
