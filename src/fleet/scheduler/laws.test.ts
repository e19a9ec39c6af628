import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Placement, TargetCluster } from '../../kinds/karmada/index.ts'
import { ClusterIndex } from './cluster-index.ts'
import { recordText } from './decision.ts'
import {
  AGGREGATED,
  aClusterOf,
  type BindingOptions,
  type ClusterOptions,
  DUPLICATED,
  DYNAMIC,
  decide,
  EVEN,
  fleetOf,
  weightsOf,
} from './testing.ts'

const aFleet = fc
  .array(
    fc.record({
      pods: fc.nat({ max: 30 }),
      region: fc.constantFrom('east', 'west', 'north', ''),
      labels: fc.constantFrom({ tier: 'a' }, { tier: 'b' }),
      isTainted: fc.boolean(),
      isDeleting: fc.boolean(),
      isSilent: fc.boolean(),
    }),
    { minLength: 1, maxLength: 9 },
  )
  .map((list) =>
    Object.fromEntries(
      list.map(({ isTainted, isDeleting, isSilent, ...options }, i): [string, ClusterOptions] => [
        `m${i}`,
        {
          ...options,
          isSilent: isSilent && i > 5,
          ...(isDeleting && i > 3 ? { isDeleting: true } : {}),
          ...(isTainted && i > 4 ? { taints: [{ key: 'k', effect: 'NoSchedule' }] } : {}),
        },
      ]),
    ),
  )

const aStrategy = fc.constantFrom(DUPLICATED, EVEN, weightsOf({ m0: 2, m1: 5 }), DYNAMIC, AGGREGATED)
const aLimit = (field: 'cluster' | 'region') =>
  fc
    .tuple(fc.integer({ min: 1, max: 4 }), fc.nat({ max: 3 }))
    .map(([minGroups, more]) => ({ spreadByField: field, minGroups, maxGroups: minGroups + more }))
const aSpread: fc.Arbitrary<NonNullable<Placement['spreadConstraints']>> = fc.oneof(
  fc.constant<NonNullable<Placement['spreadConstraints']>>([]),
  fc.tuple(aLimit('cluster')),
  fc.tuple(aLimit('cluster'), aLimit('region')),
)
const bindingOptions: fc.Arbitrary<BindingOptions> = fc.record({
  replicas: fc.nat({ max: 40 }),
  replicaRequirements: fc.constantFrom(undefined, { resourceRequest: { cpu: '1' } }),
  uid: fc.constantFrom('uid-a', 'uid-b'),
  on: fc.dictionary(fc.constantFrom('m0', 'm1', 'm2', 'gone'), fc.integer({ min: 1, max: 12 })),
  placement: fc.record({
    replicaScheduling: aStrategy,
    spreadConstraints: aSpread,
    clusterAffinity: fc.constantFrom(undefined, { labelSelector: { matchLabels: { tier: 'a' } } }),
  }),
})

const replicasIn = (clusters: readonly TargetCluster[] | undefined): number =>
  (clusters ?? []).reduce((sum, { replicas = 0 }) => sum + replicas, 0)
const limitOn = ({ placement }: BindingOptions, field: string) =>
  placement?.spreadConstraints?.find(({ spreadByField }) => spreadByField === field)
const isDivided = ({ placement }: BindingOptions): boolean => placement?.replicaScheduling?.replicaSchedulingType === 'Divided'
const isSteady = (options: BindingOptions): boolean =>
  options.placement?.replicaScheduling === DYNAMIC || options.placement?.replicaScheduling === AGGREGATED

describe('every decision', () => {
  const always = (check: (fleet: Record<string, ClusterOptions>, options: BindingOptions) => void): void =>
    fc.assert(fc.property(aFleet, bindingOptions, check), { numRuns: 500 })

  it('gives away all replicas, or none', () => {
    let successes = 0
    always((fleet, options) => {
      const { reason, clusters } = decide(fleetOf(fleet), options)
      if (reason !== 'Success' || !isDivided(options) || (options.replicas ?? 0) === 0) return
      successes++
      assert.equal(replicasIn(clusters), options.replicas)
    })
    assert.ok(successes > 50)
  })

  it('uses only clusters that are meant, are there and are not going', () => {
    always((fleet, options) => {
      const isMeant = options.placement?.clusterAffinity === undefined ? () => true : (name: string) => fleet[name]?.labels?.tier === 'a'
      for (const { name } of decide(fleetOf(fleet), options).clusters ?? []) {
        assert.ok(name in fleet && fleet[name]?.isDeleting !== true && isMeant(name), name)
        assert.ok(fleet[name]?.taints === undefined || (options.on !== undefined && name in options.on), name)
      }
    })
  })

  it('keeps to the limits of clusters and regions', () => {
    let limited = 0
    always((fleet, options) => {
      const { reason, clusters = [] } = decide(fleetOf(fleet), options)
      const isLimited = !isDivided(options) || isSteady(options)
      if (reason !== 'Success' || !isLimited) return
      const regions = new Set(clusters.map(({ name }) => fleet[name]?.region))
      for (const [count, limit] of [
        [regions.size, limitOn(options, 'region')],
        [clusters.length, limitOn(options, 'cluster')],
      ] as const) {
        if (limit === undefined) continue
        limited++
        // One cluster of each region comes first, whatever the cluster limit.
        const most = limitOn(options, 'region') === undefined ? (limit.maxGroups ?? 0) : Math.max(limit.maxGroups ?? 0, regions.size)
        assert.ok(count <= most, `${count} of at most ${limit.maxGroups}`)
        // There may be fewer replicas than selected clusters.
        if (!isDivided(options) && ((options.replicas ?? 0) > 0 || options.replicaRequirements === undefined))
          assert.ok(count >= (limit.minGroups ?? 0), `${count} of at least ${limit.minGroups}`)
      }
    })
    assert.ok(limited > 50)
  })

  it('takes from nobody when there is more, and gives to nobody when there is less', () => {
    let moves = 0
    always((fleet, options) => {
      const { reason, clusters = [] } = decide(fleetOf(fleet), options)
      if (reason !== 'Success' || !isSteady(options) || (options.placement?.spreadConstraints ?? []).length > 0) return
      if (options.replicas === 0 && options.replicaRequirements === undefined) return
      const now = new Map(clusters.map(({ name, replicas = 0 }) => [name, replicas]))
      const kept = Object.entries(options.on ?? {}).filter(([name]) => {
        const cluster = fleet[name]
        return (
          cluster !== undefined &&
          cluster.isDeleting !== true &&
          (options.placement?.clusterAffinity === undefined || cluster.labels?.tier === 'a')
        )
      })
      const assigned = kept.reduce((sum, [, replicas]) => sum + replicas, 0)
      const before = new Map(kept)
      moves++
      if (assigned <= (options.replicas ?? 0)) for (const [name, replicas] of kept) assert.ok((now.get(name) ?? 0) >= replicas, name)
      else for (const [name, replicas] of now) assert.ok(replicas <= (before.get(name) ?? 0), name)
    })
    assert.ok(moves > 50)
  })

  it('is the same when it is made again, word for word', () => {
    always((fleet, options) => {
      assert.deepEqual(decide(fleetOf(fleet), options), decide(fleetOf(fleet), options))
    })
  })

  it('is the same in whatever order clusters were learnt of', () => {
    const shuffled = aFleet.chain((fleet) =>
      fc.tuple(fc.constant(fleet), fc.shuffledSubarray(Object.keys(fleet), { minLength: Object.keys(fleet).length })),
    )
    fc.assert(
      fc.property(shuffled, bindingOptions, ([fleet, order], options) => {
        const index = new ClusterIndex()
        for (const name of order) index.follow(name, aClusterOf(name, fleet[name]))
        assert.deepEqual(decide(index.clusters, options), decide(fleetOf(fleet), options))
      }),
      { numRuns: 300 },
    )
  })

  it('can be taken again: what was decided stays', () => {
    always((fleet, options) => {
      const first = decide(fleetOf(fleet), options)
      if (first.reason !== 'Success') return
      const on = Object.fromEntries((first.clusters ?? []).map(({ name, replicas = 0 }) => [name, replicas]))
      const second = decide(fleetOf(fleet), { ...options, on })
      if (second.reason === 'Success') assert.deepEqual(second.clusters, first.clusters)
    })
  })

  it('leaves a record of at most 8 KiB', () => {
    always((fleet, options) => {
      assert.ok(Buffer.byteLength(recordText(decide(fleetOf(fleet), options), 1)) <= 8192)
    })
  })
})
