import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Placement } from '../../../kinds/karmada/index.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import { type BindingOptions, type ClusterOptions, DUPLICATED, DYNAMIC, decide, fleetOf, inShort } from '../testing.ts'
import { type Group, type GroupDemand, selectGroups } from './groups.ts'

interface Limits {
  regions: [min: number, max: number]
  clusters?: [min: number, max: number]
  by?: Placement['replicaScheduling']
  replicas?: number
  on?: BindingOptions['on']
}

const spreading = ({ regions, clusters, by = DUPLICATED, replicas = 2, on }: Limits): BindingOptions => ({
  replicas,
  on,
  placement: {
    replicaScheduling: by,
    spreadConstraints: [
      { spreadByField: 'region', minGroups: regions[0], maxGroups: regions[1] },
      ...(clusters === undefined ? [] : [{ spreadByField: 'cluster' as const, minGroups: clusters[0], maxGroups: clusters[1] }]),
    ],
  },
})

const inRegions = (regions: Record<string, Record<string, number>>): Record<string, ClusterOptions> =>
  Object.fromEntries(
    Object.entries(regions).flatMap(([region, clusters]) => Object.entries(clusters).map(([name, pods]) => [name, { region, pods }])),
  )

const EVEN = inRegions({ east: { e1: 10, e2: 20 }, west: { w1: 10, w2: 20 }, north: { n1: 40 } })

describe('spread by region', () => {
  const table: [string, Record<string, ClusterOptions>, Limits, string][] = [
    ['two regions, one cluster each', EVEN, { regions: [2, 2], clusters: [2, 2] }, 'e2:2, w2:2'],
    ['the best cluster of each, then the best of the rest', EVEN, { regions: [2, 2], clusters: [2, 3] }, 'e2:2, w2:2, e1:2'],
    ['one region, and only as many clusters as are allowed', EVEN, { regions: [1, 1], clusters: [1, 1] }, 'e2:2'],
    ['without a constraint on clusters: one of each region', EVEN, { regions: [3, 3] }, 'e2:2, w2:2, n1:2'],
    [
      'more regions than there are',
      EVEN,
      { regions: [4, 4], clusters: [4, 4] },
      'SchedulerError: failed to select clusters: the number of feasible region is less than spreadConstraint.MinGroups',
    ],
    [
      'more clusters than the regions have',
      EVEN,
      { regions: [1, 1], clusters: [3, 3] },
      'SchedulerError: failed to select clusters: the number of clusters is less than the cluster spreadConstraint.MinGroups',
    ],
    [
      'at most no region',
      EVEN,
      { regions: [0, 0], clusters: [1, 1] },
      'SchedulerError: failed to select clusters: the number of clusters is less than the cluster spreadConstraint.MinGroups',
    ],
    [
      'shares of no region in particular: where it is already, whatever the room',
      EVEN,
      { regions: [0, 1], clusters: [1, 1], by: DYNAMIC, replicas: 12, on: { w1: 2 } },
      'w1:12',
    ],
    ['another region helps out with clusters', EVEN, { regions: [1, 2], clusters: [3, 3] }, 'e2:2, w2:2, e1:2'],
    ['for copies: where most clusters can hold everything', EVEN, { regions: [1, 1], clusters: [1, 2], replicas: 30 }, 'n1:30'],
    ['where it is already', EVEN, { regions: [1, 1], clusters: [1, 1], on: { w1: 2 } }, 'w1:2'],
    ['for shares: where the share has room', EVEN, { regions: [1, 1], clusters: [1, 1], by: DYNAMIC, replicas: 35 }, 'n1:35'],
    ['shares of two regions', EVEN, { regions: [2, 2], clusters: [2, 4], by: DYNAMIC, replicas: 12 }, 'e1:2, e2:4, w1:2, w2:4'],
    [
      'shares that no region has room for',
      EVEN,
      { regions: [2, 2], clusters: [2, 4], by: DYNAMIC, replicas: 80 },
      'Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 70 are not enough to schedule.',
    ],
  ]
  for (const [name, fleet, limits, expected] of table)
    it(name, () => assert.equal(inShort(decide(fleetOf(fleet), spreading(limits))), expected))

  it('says of the clusters of other regions that these were not chosen', () => {
    const { explanation } = decide(fleetOf(EVEN), spreading({ regions: [1, 1], clusters: [1, 1] }))
    assert.equal(explanation.clusters.find(({ name }) => name === 'n1')?.why, 'its region north was not chosen')
    assert.match(explanation.clusters.find(({ name }) => name === 'e1')?.why ?? '', /^1 clusters were to be chosen/)
  })
})

/** Every combination, as the algorithm is defined. */
function allPaths(groups: readonly Group[], { minGroups, maxGroups, minSize }: GroupDemand): Group[] | undefined {
  const walked = [...groups].sort((a, b) => a.size - b.size || b.weight - a.weight || compareStrings(a.name, b.name))
  const paths: { groups: Group[]; weight: number; size: number; id: number }[] = []
  const walk = (begin: number, path: readonly Group[]): void => {
    const size = path.reduce((sum, group) => sum + group.size, 0)
    if (size >= minSize && path.length >= minGroups && path.length <= maxGroups) {
      const sorted = [...path].sort((a, b) => b.weight - a.weight || compareStrings(a.name, b.name))
      paths.push({ groups: sorted, weight: path.reduce((sum, group) => sum + group.weight, 0), size, id: paths.length })
      return
    }
    if (path.length >= maxGroups) return
    for (let i = begin; i < walked.length; i++) walk(i + 1, [...path, walked[i] as Group])
  }
  walk(0, [])
  paths.sort((a, b) => b.weight - a.weight || b.size - a.size || a.id - b.id)
  let [final, ...others] = paths
  for (const other of others)
    if (final !== undefined && other.groups.length < final.groups.length && other.groups.every((group, i) => group === final?.groups[i]))
      final = other
  return final?.groups
}

describe('the choice of regions as a law', () => {
  const aGroup = fc.record({ size: fc.integer({ min: 1, max: 4 }), weight: fc.nat({ max: 5 }) })
  const aCase = fc.record({
    groups: fc.array(aGroup, { minLength: 1, maxLength: 7 }).map((list) => list.map((group, i): Group => ({ name: `r${i}`, ...group }))),
    minGroups: fc.nat({ max: 4 }),
    more: fc.nat({ max: 4 }),
    minSize: fc.nat({ max: 10 }),
  })

  it('is the walk over all combinations', () => {
    fc.assert(
      fc.property(aCase, ({ groups, minGroups, more, minSize }) => {
        const demand = { minGroups, maxGroups: minGroups + more, minSize }
        assert.deepEqual(selectGroups(groups, demand), allPaths(groups, demand))
      }),
      { numRuns: 2000 },
    )
  })

  it('ends, however many regions there are', () => {
    const groups = Array.from({ length: 60 }, (_, i): Group => ({ name: `r${i}`, size: 1 + ((i * 7) % 5), weight: (i * 31) % 17 }))
    assert.ok((selectGroups(groups, { minGroups: 15, maxGroups: 30, minSize: 80 }) ?? []).length >= 15)
  })
})
