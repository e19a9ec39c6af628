/**
 * Where workers of a dataset may and should run. Exclusive: no other worker of any dataset on the node. Shared: only none of an
 * exclusive dataset, and none of the same where workers keep blocks in directories of the node: two would each fill one quota in
 * the same directory. Both rather where readers are. What the dataset and the template demand holds together.
 */
import type { Dataset } from '../../kinds/fluid/index.ts'
import { LABELS } from '../../kinds/fluid/well-known.ts'
import type { Affinity, NodeSelectorTerm, PodAffinityTerm } from '../../kinds/kubernetes/types.ts'

const HOSTNAME = 'kubernetes.io/hostname'

const anyDataset: PodAffinityTerm = {
  labelSelector: { matchExpressions: [{ key: LABELS.dataset, operator: 'Exists' }] },
  topologyKey: HOSTNAME,
}
const exclusiveDataset: PodAffinityTerm = {
  labelSelector: { matchExpressions: [{ key: LABELS.datasetPlacement, operator: 'In', values: ['Exclusive'] }] },
  topologyKey: HOSTNAME,
}

export interface WorkerPlacement {
  /** Of the template. */
  affinity: Affinity | undefined
  fuseLabel: string
  datasetId: string
  /** Whether workers keep blocks in directories of their node. */
  usesNodeDirectories: boolean
}

export function workerAffinity({ spec }: Dataset, placement: WorkerPlacement): Affinity {
  const { affinity: template, fuseLabel, datasetId, usesNodeDirectories } = placement
  const isShared = spec?.placement === 'Shared'
  const sameDataset: PodAffinityTerm = { labelSelector: { matchLabels: { [LABELS.dataset]: datasetId } }, topologyKey: HOSTNAME }
  const { nodeAffinity = {}, podAntiAffinity = {} } = template ?? {}
  const required = both(
    nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [],
    spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [],
  )
  return {
    ...template,
    nodeAffinity: {
      ...nodeAffinity,
      preferredDuringSchedulingIgnoredDuringExecution: [
        ...(nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution ?? []),
        { weight: 100, preference: { matchExpressions: [{ key: fuseLabel, operator: 'In', values: ['true'] }] } },
      ],
      ...(required.length === 0 ? {} : { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: required } }),
    },
    podAntiAffinity: {
      ...podAntiAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: [
        ...(podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution ?? []),
        isShared ? exclusiveDataset : anyDataset,
        ...(isShared && usesNodeDirectories ? [sameDataset] : []),
      ],
      ...(isShared
        ? {
            preferredDuringSchedulingIgnoredDuringExecution: [
              ...(podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution ?? []),
              { weight: 50, podAffinityTerm: anyDataset },
            ],
          }
        : {}),
    },
  }
}

/** Terms are alternatives: for both lists to hold, each term of one is joined with each of the other. */
export function both(ours: readonly NodeSelectorTerm[], theirs: readonly NodeSelectorTerm[]): NodeSelectorTerm[] {
  const [a, b] = [ours, theirs].map((terms) => terms.filter((term) => !isEmpty(term)))
  if (a === undefined || a.length === 0) return [...(b ?? [])]
  if (b === undefined || b.length === 0) return [...a]
  return a.flatMap((one) =>
    b.map((other) => {
      const matchExpressions = [...(one.matchExpressions ?? []), ...(other.matchExpressions ?? [])]
      const matchFields = [...(one.matchFields ?? []), ...(other.matchFields ?? [])]
      return { ...(matchExpressions.length === 0 ? {} : { matchExpressions }), ...(matchFields.length === 0 ? {} : { matchFields }) }
    }),
  )
}

/** A term without demands matches no node: it adds nothing to the alternatives. */
const isEmpty = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean =>
  matchExpressions.length === 0 && matchFields.length === 0
