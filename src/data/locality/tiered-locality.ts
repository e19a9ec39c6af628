/**
 * How near to a cache pods should and must run: names of places with weights. Two names are ours and mean labels of the
 * dataset; any other is the key of a node label, such as a zone, and means the places where the dataset's workers may run.
 */
import type { NodeSelectorTerm } from '../../kinds/kubernetes/types.ts'
import { distinctTerms, labelled } from './node-terms.ts'
import type { PodDataset } from './pod-datasets.ts'

export interface TieredLocality {
  /** For pods that merely use a dataset: the weight of each place, 1 to 100. */
  preferred: readonly { name: string; weight: number }[]
  /** For pods that require a dataset to be near: any of these places will do. */
  required: readonly string[]
}

export const DEFAULT_LOCALITY: TieredLocality = Object.freeze({
  preferred: [
    { name: 'fluid.io/node', weight: 100 },
    { name: 'topology.kubernetes.io/zone', weight: 50 },
    { name: 'topology.kubernetes.io/region', weight: 20 },
  ],
  required: ['fluid.io/node'],
})

const LABEL_OF: ReadonlyMap<string, (dataset: PodDataset) => string> = new Map([
  ['fluid.io/node', ({ cacheLabel }) => cacheLabel],
  ['fluid.io/fuse', ({ fuseLabel }) => fuseLabel],
])

/** The nodes that are at a place of the dataset, as alternatives; none: the dataset says nothing about such places. */
export function placesOf(dataset: PodDataset, name: string): NodeSelectorTerm[] {
  const label = LABEL_OF.get(name)?.(dataset)
  if (label !== undefined) return [labelled(label)]
  const places = dataset.cacheTerms.flatMap(({ matchExpressions = [] }) => matchExpressions.filter(({ key }) => key === name))
  return distinctTerms(
    places.map(({ key, operator, values }) => ({
      matchExpressions: [{ key, operator, ...(values === undefined ? {} : { values: [...values] }) }],
    })),
  )
}

export const localityNames = ({ preferred, required }: TieredLocality): ReadonlySet<string> =>
  new Set([...preferred.map(({ name }) => name), ...required])

const MOST_PLACES = 20

/** What is wrong with it; undefined when nothing is. */
export function localityProblem({ preferred, required }: TieredLocality): string | undefined {
  if (preferred.length > MOST_PLACES || required.length > MOST_PLACES)
    return `the tiered locality has more than ${MOST_PLACES} preferred or required names: leave some out`
  const names = preferred.map(({ name }) => name)
  if ([...names, ...required].some((name) => name === '')) return 'the tiered locality has an empty name: give the key of a node label'
  for (const list of [names, required]) {
    const twice = list.find((name, i) => list.indexOf(name) !== i)
    if (twice !== undefined) return `the tiered locality names ${twice} twice: leave one out`
  }
  const bad = preferred.find(({ weight }) => !Number.isInteger(weight) || weight < 1 || weight > 100)
  return bad === undefined ? undefined : `the tiered locality gives ${bad.name} the weight ${bad.weight}: give it 1 to 100`
}
