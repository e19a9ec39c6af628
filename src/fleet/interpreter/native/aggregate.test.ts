import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze } from '../../../base/json.ts'
import type { AggregatedStatusItem } from '../../../kinds/karmada/index.ts'
import { anObject, itemsOf, ruleOf } from './testing.ts'

type Statuses = Parameters<typeof itemsOf>[0]

const newest = { generation: 3, observedGeneration: 3, resourceTemplateGeneration: 5 }
const address = (...ingress: object[]) => ({ loadBalancer: { ingress } })
const running = (ready: boolean) => ({
  name: 'c',
  ready,
  restartCount: 7,
  image: 'i',
  imageID: 'x',
  state: { running: { startedAt: 't' } },
})
const summed = (ready: boolean) => ({
  name: '',
  state: { running: { startedAt: 't' } },
  lastState: {},
  ready,
  restartCount: 0,
  image: '',
  imageID: '',
})
const EARLY = '2024-01-01T00:00:00Z'
const LATE = '2024-01-01T09:00:00Z'

interface Case {
  kind: string
  name: string
  old?: object
  spec?: object
  from: Statuses
  /** The wanted status; undefined when the template must be returned as the identical object. */
  to: object | undefined
}

const CASES: Case[] = [
  {
    kind: 'Deployment',
    name: 'sums, other fields left alone',
    old: { conditions: [{ type: 'Mine' }], readyReplicas: 9 },
    from: {
      a: { ...newest, replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1 },
      b: { ...newest, replicas: 1, updatedReplicas: 1 },
    },
    to: {
      conditions: [{ type: 'Mine' }],
      observedGeneration: 5,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 1,
      availableReplicas: 1,
      unavailableReplicas: 1,
    },
  },
  { kind: 'Deployment', name: 'nobody: the generation is seen by all of none', from: {}, to: { observedGeneration: 5 } },
  {
    kind: 'Deployment',
    name: 'a member that has not told anything holds the generation back',
    old: { observedGeneration: 4 },
    from: { a: { ...newest, replicas: 1 }, b: undefined },
    to: { observedGeneration: 4, replicas: 1 },
  },
  {
    kind: 'Deployment',
    name: 'a member with an older template holds the generation back',
    from: { a: { ...newest, replicas: 1, resourceTemplateGeneration: 4 } },
    to: { replicas: 1 },
  },
  {
    kind: 'Deployment',
    name: 'a member that has not seen its newest spec holds the generation back',
    from: { a: { ...newest, replicas: 1, observedGeneration: 2 } },
    to: { replicas: 1 },
  },
  {
    kind: 'Deployment',
    name: 'nothing differs',
    old: { observedGeneration: 5, replicas: 1 },
    from: { a: { ...newest, replicas: 1 } },
    to: undefined,
  },
  {
    kind: 'ReplicaSet',
    name: 'sums',
    from: { a: { ...newest, replicas: 2, readyReplicas: 2 }, b: { ...newest, replicas: 1, availableReplicas: 1 } },
    to: { observedGeneration: 5, replicas: 3, readyReplicas: 2, availableReplicas: 1 },
  },
  {
    kind: 'DaemonSet',
    name: 'sums, zeros that are always printed',
    old: { conditions: [{ type: 'Mine' }] },
    from: {
      a: { ...newest, currentNumberScheduled: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 1 },
      b: { ...newest, currentNumberScheduled: 1 },
    },
    to: {
      conditions: [{ type: 'Mine' }],
      observedGeneration: 5,
      currentNumberScheduled: 3,
      desiredNumberScheduled: 2,
      numberMisscheduled: 0,
      numberReady: 0,
      updatedNumberScheduled: 1,
    },
  },
  {
    kind: 'StatefulSet',
    name: 'the generation is seen although members do not print it',
    from: {
      a: { generation: 3, resourceTemplateGeneration: 5, replicas: 2, readyReplicas: 1 },
      b: { generation: 1, resourceTemplateGeneration: 5, replicas: 1 },
    },
    to: { observedGeneration: 5, replicas: 3, availableReplicas: 0, readyReplicas: 1 },
  },
  {
    kind: 'StatefulSet',
    name: 'a member that lags behind holds it back',
    from: { a: { generation: 3, resourceTemplateGeneration: 5, replicas: 2, observedGeneration: 2 } },
    to: { replicas: 2, availableReplicas: 0 },
  },
  {
    kind: 'StatefulSet',
    name: 'an older template holds it back',
    from: { a: { generation: 3, resourceTemplateGeneration: 4, replicas: 2 } },
    to: { replicas: 2, availableReplicas: 0 },
  },
  {
    kind: 'StatefulSet',
    name: 'a status in which nobody counted yet holds it back',
    old: { replicas: 0, availableReplicas: 0 },
    from: { a: { generation: 1, resourceTemplateGeneration: 5, replicas: 0, availableReplicas: 0 } },
    to: undefined,
  },
  {
    kind: 'Service',
    name: 'addresses of all, each once, sorted',
    spec: { type: 'LoadBalancer' },
    old: { conditions: [{ type: 'Gone' }] },
    from: {
      b: address({ ip: '10.0.0.2' }, { hostname: 'b.example' }),
      a: address(
        {
          ip: '10.0.0.2',
          ports: [
            { port: 443, protocol: 'TCP' },
            { port: 80, protocol: 'TCP' },
          ],
        },
        { ip: '10.0.0.1' },
        { hostname: 'a.example' },
      ),
      c: address({ ip: '10.0.0.2', ports: [{ port: 80, protocol: 'TCP' }] }),
      d: undefined,
    },
    to: address(
      { hostname: 'a.example' },
      { hostname: 'b.example' },
      { ip: '10.0.0.1' },
      {
        ip: '10.0.0.2',
        ports: [
          { port: 80, protocol: 'TCP' },
          { port: 443, protocol: 'TCP' },
        ],
      },
    ),
  },
  { kind: 'Service', name: 'no load balancer', spec: { type: 'ClusterIP' }, from: { a: address({ ip: '1.2.3.4' }) }, to: undefined },
  {
    kind: 'Service',
    name: 'the mode a server filled in is no difference',
    spec: { type: 'LoadBalancer' },
    old: address({ ip: '1.2.3.4', ipMode: 'VIP' }),
    from: { a: address({ ip: '1.2.3.4' }) },
    to: undefined,
  },
  {
    kind: 'Service',
    name: 'addresses that are gone',
    spec: { type: 'LoadBalancer' },
    old: address({ ip: '1.2.3.4' }),
    from: { a: {} },
    to: { loadBalancer: {} },
  },
  { kind: 'Service', name: 'still none', spec: { type: 'LoadBalancer' }, old: { loadBalancer: {} }, from: { a: undefined }, to: undefined },
  {
    kind: 'Ingress',
    name: 'addresses',
    from: { b: address({ ip: '2.2.2.2' }), a: address({ ip: '1.1.1.1' }) },
    to: address({ ip: '1.1.1.1' }, { ip: '2.2.2.2' }),
  },
  {
    kind: 'CronJob',
    name: 'active Jobs by cluster, latest times',
    from: {
      b: { active: [{ name: 'b1' }], lastScheduleTime: LATE },
      a: { active: [{ name: 'a1' }], lastScheduleTime: EARLY, lastSuccessfulTime: EARLY },
    },
    to: { active: [{ name: 'a1' }, { name: 'b1' }], lastScheduleTime: LATE, lastSuccessfulTime: EARLY },
  },
  { kind: 'CronJob', name: 'nothing told', from: { a: undefined }, old: {}, to: undefined },
  {
    kind: 'Pod',
    name: 'statuses of containers, without what is of one member alone',
    old: { phase: 'Pending', qosClass: 'BestEffort', hostIP: '1.2.3.4' },
    from: {
      b: { phase: 'Running', containerStatuses: [running(false)] },
      a: { phase: 'Succeeded', containerStatuses: [running(true)], initContainerStatuses: [running(true)] },
    },
    to: {
      phase: 'Running',
      qosClass: 'BestEffort',
      containerStatuses: [summed(true), summed(false)],
      initContainerStatuses: [summed(true)],
    },
  },
  { kind: 'Pod', name: 'failed over pending', from: { a: { phase: 'Failed' }, b: undefined }, to: { phase: 'Failed' } },
  { kind: 'Pod', name: 'untold is pending', from: { a: { phase: 'Running' }, b: undefined }, to: { phase: 'Pending' } },
  {
    kind: 'Pod',
    name: 'succeeded when all are',
    from: { a: { phase: 'Succeeded' }, b: { phase: 'Succeeded' } },
    to: { phase: 'Succeeded' },
  },
  { kind: 'Pod', name: 'no members', old: { phase: 'Pending' }, from: {}, to: undefined },
  { kind: 'PersistentVolume', name: 'failed', from: { a: { phase: 'Failed' }, b: undefined }, to: { phase: 'Failed' } },
  { kind: 'PersistentVolume', name: 'untold is pending', from: { a: { phase: 'Available' }, b: undefined }, to: { phase: 'Pending' } },
  {
    kind: 'PersistentVolume',
    name: 'available before bound',
    from: { a: { phase: 'Bound' }, b: { phase: 'Available' } },
    to: { phase: 'Available' },
  },
  { kind: 'PersistentVolume', name: 'released last', from: { a: { phase: 'Released' }, b: { phase: 'Bound' } }, to: { phase: 'Bound' } },
  {
    kind: 'PersistentVolume',
    name: 'all released',
    old: { phase: 'Released', lastPhaseTransitionTime: EARLY },
    from: { a: { phase: 'Released' } },
    to: undefined,
  },
  { kind: 'PersistentVolumeClaim', name: 'bound', from: { a: { phase: 'Bound' } }, to: { phase: 'Bound' } },
  {
    kind: 'PersistentVolumeClaim',
    name: 'pending somewhere',
    from: { a: { phase: 'Pending' }, b: { phase: 'Bound' } },
    to: { phase: 'Pending' },
  },
  { kind: 'PersistentVolumeClaim', name: 'lost somewhere', from: { a: { phase: 'Lost' }, b: { phase: 'Pending' } }, to: { phase: 'Lost' } },
  {
    kind: 'PersistentVolumeClaim',
    name: 'who tells nothing does not speak',
    from: { a: { phase: 'Bound' }, b: undefined },
    to: { phase: 'Bound' },
  },
  {
    kind: 'PodDisruptionBudget',
    name: 'sums, pods with their clusters',
    from: {
      a: { disruptionsAllowed: 1, expectedPods: 3, desiredHealthy: 2, currentHealthy: 3, disruptedPods: { p: EARLY } },
      b: { expectedPods: 1, disruptedPods: { p: LATE } },
    },
    to: { disruptionsAllowed: 1, expectedPods: 4, desiredHealthy: 2, currentHealthy: 3, disruptedPods: { 'a/p': EARLY, 'b/p': LATE } },
  },
  {
    kind: 'HorizontalPodAutoscaler',
    name: 'sums',
    from: { a: { currentReplicas: 1, desiredReplicas: 2 }, b: { desiredReplicas: 3 } },
    to: { currentReplicas: 1, desiredReplicas: 5 },
  },
  {
    kind: 'HorizontalPodAutoscaler',
    name: 'the null a server prints is no difference',
    old: { desiredReplicas: 1, currentMetrics: null },
    from: { a: { desiredReplicas: 1 } },
    to: undefined,
  },
]

const templateOf = ({ kind, old, spec }: Pick<Case, 'kind' | 'old' | 'spec'>) =>
  anObject(kind, { ...(spec === undefined ? {} : { spec }), ...(old === undefined ? {} : { status: old }) }, { generation: 5 })

describe('status of members on the template', () => {
  for (const given of CASES) {
    it(`${given.kind}: ${given.name}`, () => {
      const template = templateOf(given)
      const aggregate = ruleOf(given.kind, 'aggregate')
      const result = aggregate(template, itemsOf(given.from))
      if (given.to === undefined) assert.equal(result, template)
      else assert.deepEqual(result, { ...template, status: given.to })
      assert.equal(aggregate(deepFreeze(result), itemsOf(given.from)), result, 'again')
    })
  }

  it('StatefulSet: a healthy one without pods has seen the generation', () => {
    const status = { generation: 1, resourceTemplateGeneration: 5, replicas: 0, availableReplicas: 0 }
    const item: AggregatedStatusItem = { clusterName: 'a', status, health: 'Healthy' }
    const result = ruleOf('StatefulSet', 'aggregate')(templateOf({ kind: 'StatefulSet' }), [item])
    assert.deepEqual(result.status, { observedGeneration: 5, replicas: 0, availableReplicas: 0 })
  })
})

const COUNTERS = [
  'replicas',
  'readyReplicas',
  'availableReplicas',
  'updatedReplicas',
  'numberReady',
  'desiredNumberScheduled',
  'active',
  'succeeded',
  'failed',
  'desiredReplicas',
  'currentHealthy',
]
const text = fc.constantFrom('a', 'b')
const time = fc.constantFrom(EARLY, LATE)
const counters = fc.dictionary(fc.constantFrom(...COUNTERS), fc.nat(9), { noNullPrototype: true })
const others = fc.record(
  {
    generation: fc.nat(2),
    observedGeneration: fc.nat(2),
    resourceTemplateGeneration: fc.nat(6),
    phase: fc.constantFrom('Pending', 'Bound', 'Running', 'Failed', 'Lost', 'Odd', 'Available', 'Succeeded'),
    conditions: fc.array(
      fc.record({
        type: fc.constantFrom('Complete', 'Failed', 'SuccessCriteriaMet'),
        status: fc.constantFrom('True', 'False'),
        lastTransitionTime: time,
      }),
      { maxLength: 2 },
    ),
    startTime: time,
    completionTime: time,
    lastScheduleTime: time,
    active: fc.array(fc.record({ name: text }), { maxLength: 2 }),
    disruptedPods: fc.dictionary(text, time, { noNullPrototype: true }),
    loadBalancer: fc.array(fc.record({ ip: text, hostname: text }, { requiredKeys: [] }), { maxLength: 3 }).map((ingress) => ({ ingress })),
    containerStatuses: fc.array(fc.record({ ready: fc.boolean(), state: fc.constantFrom({}, { running: {} }) }), { maxLength: 2 }),
  },
  { requiredKeys: [], noNullPrototype: true },
)
const anyStatus = fc.oneof(
  fc.constant(undefined),
  fc.tuple(others, counters).map(([first, second]) => ({ ...first, ...second })),
)
const anyItems = fc
  .dictionary(fc.constantFrom('east', 'west', 'north', 'south'), anyStatus, { noNullPrototype: true })
  .chain((statuses) =>
    fc.tuple(fc.constant(itemsOf(statuses)), fc.shuffledSubarray(itemsOf(statuses), { minLength: Object.keys(statuses).length })),
  )
const AGGREGATED = [...new Set(CASES.map(({ kind }) => kind)), 'Job']

describe('whatever members tell', () => {
  for (const kind of AGGREGATED) {
    it(`${kind}: the order of members shows nowhere, and a second time changes nothing`, () => {
      const aggregate = ruleOf(kind, 'aggregate')
      fc.assert(
        fc.property(anyItems, anyStatus, ([items, shuffled], old) => {
          const template = templateOf({ kind, old, spec: { type: 'LoadBalancer' } })
          const result = deepFreeze(aggregate(template, items))
          assert.deepEqual(aggregate(template, shuffled), result)
          assert.equal(aggregate(result, shuffled), result)
          assert.deepEqual({ ...result, status: 0 }, { ...template, status: 0 })
        }),
      )
    })
  }

  it('nothing malformed throws', () => {
    const malformed = fc.array(fc.record({ clusterName: fc.string(), status: fc.jsonValue() }))
    fc.assert(
      fc.property(fc.constantFrom(...AGGREGATED), malformed, fc.jsonValue(), (kind, items, old) => {
        const template = anObject(kind, { spec: { type: 'LoadBalancer' }, status: old })
        const result = ruleOf(kind, 'aggregate')(template, items as AggregatedStatusItem[])
        assert.equal(result.kind, kind)
      }),
    )
  })
})
