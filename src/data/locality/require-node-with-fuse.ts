/** A pod runs only where the clients of all its datasets may run: there is no other way to the data. */
import type { NodeSelectorTerm } from '../../kinds/kubernetes/types.ts'
import type { PodPlugin } from './pod-change.ts'
import type { PodDataset } from './pod-datasets.ts'

export const requireNodeWithFuse: PodPlugin = {
  name: 'RequireNodeWithFuse',
  changeOf: (_pod, datasets) => ({ required: datasets.map((dataset) => [clientNodes(dataset)]) }),
}

const clientNodes = ({ fuseNodeSelector }: PodDataset): NodeSelectorTerm => ({
  matchExpressions: Object.entries(fuseNodeSelector)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => ({ key, operator: 'In', values: [value] })),
})
