import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Node, Pod } from '../../kinds/kubernetes/types.ts'
import { amountOf } from '../../kube/amounts.ts'
import { schedule } from './schedule.ts'
import { type Outcome, Scheduling } from './scheduling.ts'
import { podInfo } from './state/pod-info.ts'
import { aNode, aPod, aSnapshot, lookupsIn, NOW_MS, type PodAsked } from './testing.ts'

const ZONE = 'topology.kubernetes.io/zone'

/** The scheduler's state with a cache and a queue around it, but no server: decisions take effect on demand. */
class Model {
  readonly scheduling = new Scheduling()
  readonly nodes = new Map<string, Node>()
  readonly pods = new Map<string, Pod>()
  readonly answers = new Map<string, string>()
  /** Decided, and not yet visible in the cache. */
  readonly underway = new Map<string, string>()
  readonly #queue = new Set<string>()
  readonly #later = new Map<string, number>()
  nowMs = NOW_MS

  constructor() {
    this.scheduling.signal.subscribe(({ name }) => this.#queue.add(name))
  }

  #view() {
    return { objects: lookupsIn({}), nowMs: this.nowMs }
  }

  setNode(name: string, node: Node | undefined): void {
    if (node === undefined) this.nodes.delete(name)
    else this.nodes.set(name, node)
    this.scheduling.followNode(name, node, this.#view())
  }

  setPod(name: string, pod: Pod | undefined): void {
    if (pod === undefined) this.pods.delete(name)
    else this.pods.set(name, pod)
    this.scheduling.followPod({ namespace: 'default', name }, pod, this.#view())
    this.#queue.add(name)
  }

  /** Runs every queued pod, until there are none; those whose message keeps changing are run later. */
  drain(): void {
    for (let i = 0; this.#queue.size > 0; i++) {
      assert.ok(i < 10_000, 'never comes to rest')
      const [name] = this.#queue
      this.#queue.delete(name as string)
      this.#look(name as string)
    }
  }

  /** Lets time pass for pods that asked for a requeue, and for no others. */
  rest(): void {
    this.drain()
    for (let i = 0; this.#later.size > 0; i++) {
      assert.ok(i < 1000, 'never comes to rest')
      this.nowMs = Math.min(...this.#later.values())
      for (const [name, atMs] of [...this.#later]) {
        if (atMs > this.nowMs) continue
        this.#later.delete(name)
        this.#queue.add(name)
      }
      this.drain()
    }
  }

  /** Makes decisions visible in the cache. */
  show(): void {
    for (const [name, node] of [...this.underway]) {
      this.underway.delete(name)
      const pod = this.pods.get(name)
      if (pod !== undefined) this.setPod(name, { ...pod, spec: { ...pod.spec, nodeName: node } })
    }
  }

  #look(name: string): Outcome {
    const outcome = this.scheduling.look({ namespace: 'default', name }, this.pods.get(name), this.#view())
    this.answers.delete(name)
    if (outcome.kind === 'bind') this.underway.set(name, outcome.node)
    else this.underway.delete(name)
    if (outcome.kind === 'unschedulable') {
      this.answers.set(name, outcome.message)
      if (outcome.retryAfterMs !== undefined) this.#later.set(name, this.nowMs + outcome.retryAfterMs)
    }
    return outcome
  }

  /** All pods that are or will be on a node. */
  on(node: string): Pod[] {
    return [...this.pods].filter(([name, pod]) => (pod.spec?.nodeName ?? this.underway.get(name)) === node).map(([, pod]) => pod)
  }
}

const aWorkload = (app: string, more: PodAsked = {}): PodAsked => ({ labels: { app }, ...more })
const WORKLOADS: readonly PodAsked[] = [
  aWorkload('small', { cpu: '500m', memory: '1Gi' }),
  aWorkload('large', { cpu: '3', memory: '1Gi' }),
  aWorkload('memory', { cpu: '100m', memory: '5Gi' }),
  aWorkload('lonely', {
    cpu: '100m',
    spec: {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'lonely' } } },
          ],
        },
      },
    },
  }),
  aWorkload('spread', {
    cpu: '100m',
    spec: {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app: 'spread' } } },
      ],
    },
  }),
  aWorkload('social', {
    cpu: '100m',
    spec: {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector: { matchLabels: { app: 'large' } } }],
        },
      },
    },
  }),
]

type Step = { do: 'create'; workload: number } | { do: 'delete'; at: number } | { do: 'show' } | { do: 'node'; at: number; cpu: number }

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('create' as const), workload: fc.nat(WORKLOADS.length - 1) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), at: fc.nat(50) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('show' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('node' as const), at: fc.nat(4), cpu: fc.integer({ min: 3, max: 6 }) }) },
  ),
  { maxLength: 40 },
)

/** Runs `check` after every step, with the pods placed by it. */
function play(list: readonly Step[], check: (model: Model) => void = () => {}): Model {
  const model = new Model()
  const zones = ['east', 'west', 'north']
  for (let i = 0; i < 4; i++) model.setNode(`n${i}`, aNode(`n${i}`, { labels: { [ZONE]: zones[i % 3] ?? '' }, pods: 8 }))
  let made = 0
  for (const step of list) {
    if (step.do === 'create') {
      const name = `p${made++}`
      model.setPod(name, aPod(name, { ...WORKLOADS[step.workload], uid: name }))
    } else if (step.do === 'delete') {
      const name = [...model.pods.keys()][step.at % Math.max(1, model.pods.size)]
      if (name !== undefined) model.setPod(name, undefined)
    } else if (step.do === 'show') model.show()
    else {
      const name = `n${step.at}`
      // Never smaller than what is on it: no scheduler could prevent that.
      const held = model.on(name).reduce((sum, pod) => sum + cpuOf(pod), 0)
      const cpu = Math.max(step.cpu * 1000, held)
      model.setNode(name, aNode(name, { cpu: `${cpu}m`, labels: { [ZONE]: zones[step.at % 3] ?? '' }, pods: 8 }))
    }
    model.drain()
    check(model)
  }
  return model
}

const asked = (pod: Pod, resource: string): number => amountOf(resource, pod.spec?.containers?.[0]?.resources?.requests?.[resource])
const cpuOf = (pod: Pod): number => asked(pod, 'cpu')
const appsOn = (model: Model, node: string, app: string): number => model.on(node).filter((pod) => pod.metadata.labels?.app === app).length

function freshMessage(model: Model, name: string): string {
  const pods = [...model.pods].map(([key, pod]) => {
    const node = pod.spec?.nodeName ?? model.underway.get(key)
    return node === undefined ? pod : { ...pod, spec: { ...pod.spec, nodeName: node } }
  })
  const pod = model.pods.get(name)
  assert.ok(pod !== undefined)
  const decision = schedule(podInfo(pod), aSnapshot({ nodes: [...model.nodes.values()], pods }))
  return decision.kind === 'unschedulable' ? decision.message : `${name} would be: ${JSON.stringify(decision)}`
}

describe('whatever happens, in whatever order', () => {
  it('no node gets more than it has, also of what no cache shows yet', () =>
    fc.assert(
      fc.property(steps, (list) => {
        play(list, (model) => {
          for (const [name, node] of model.nodes) {
            const there = model.on(name)
            const has = (resource: string): number => amountOf(resource, node.status?.allocatable?.[resource])
            for (const resource of ['cpu', 'memory'])
              assert.ok(there.reduce((sum, pod) => sum + asked(pod, resource), 0) <= has(resource), `${name} has too little ${resource}`)
            assert.ok(there.length <= has('pods'), `${name} has too many pods`)
          }
        })
      }),
      { numRuns: 200 },
    ))

  it('pods that want to be alone are alone on their node', () =>
    fc.assert(
      fc.property(steps, (list) => {
        play(list, (model) => {
          for (const name of model.nodes.keys()) assert.ok(appsOn(model, name, 'lonely') <= 1)
        })
      }),
      { numRuns: 100 },
    ))

  it('spread pods never go where there are more than in the emptiest zone', () =>
    fc.assert(
      fc.property(
        steps.map((list) => list.filter((step) => step.do !== 'delete' && step.do !== 'node')),
        (list) => {
          play(list, (model) => {
            const zones = new Map<string, number>()
            for (const [name, node] of model.nodes) {
              const zone = node.metadata.labels?.[ZONE] ?? ''
              zones.set(zone, (zones.get(zone) ?? 0) + appsOn(model, name, 'spread'))
            }
            assert.ok(Math.max(...zones.values()) - Math.min(...zones.values()) <= 1)
          })
        },
      ),
      { numRuns: 100 },
    ))

  it('at rest nobody waits who could be placed, and every message is true now', () =>
    fc.assert(
      fc.property(steps, (list) => {
        const model = play(list)
        model.rest()
        for (const [name, pod] of model.pods) {
          if (pod.spec?.nodeName !== undefined || model.underway.has(name)) continue
          assert.equal(model.answers.get(name), freshMessage(model, name))
        }
      }),
      { numRuns: 200 },
    ))

  it('the same pods on the same nodes give the same decision, in whatever order they were heard of', () =>
    fc.assert(
      fc.property(steps, fc.nat(WORKLOADS.length - 1), fc.infiniteStream(fc.nat(1000)), (list, workload, chance) => {
        const model = play(list)
        model.show()
        const pod = podInfo(aPod('new', { ...WORKLOADS[workload], uid: 'new' }))
        const shuffled = <T>(items: Iterable<T>): T[] =>
          [...items]
            .map((item) => ({ item, at: chance.next().value ?? 0 }))
            .sort((a, b) => a.at - b.at)
            .map(({ item }) => item)
        const kept = schedule(pod, { cluster: model.scheduling.cluster, objects: lookupsIn({}), nowMs: NOW_MS })
        const built = schedule(pod, aSnapshot({ nodes: shuffled(model.nodes.values()), pods: shuffled(model.pods.values()) }))
        assert.deepEqual(summary(built), summary(kept))
      }),
      { numRuns: 200 },
    ))
})

const summary = (decision: ReturnType<typeof schedule>): unknown => {
  const { looked, ...rest } = decision
  return { ...rest, memo: undefined, rejectedBy: 'rejectedBy' in rest ? [...rest.rejectedBy].sort() : [], looked }
}

describe('the cost of decisions, in looks at nodes', () => {
  const model = (nodes: number, cpu: string): Model => {
    const made = new Model()
    for (let i = 0; i < nodes; i++) made.setNode(`n${i}`, aNode(`n${i}`, { cpu, pods: 1000 }))
    return made
  }
  const fill = (to: Model, count: number, more: PodAsked): void => {
    for (let i = 0; i < count; i++) to.setPod(`p${to.pods.size}`, aPod(`p${to.pods.size}`, { uid: `u${to.pods.size}`, ...more }))
  }

  it('does not depend on how many pods there are', () => {
    const small = model(50, '100')
    fill(small, 100, { cpu: '10m' })
    small.drain()
    assert.equal(small.scheduling.looked, 100 * 50)
    fill(small, 1000, { cpu: '10m' })
    small.drain()
    assert.equal(small.scheduling.looked, 1100 * 50)
    assert.equal(small.answers.size, 0)
  })

  it('grows less than the cluster when that is large', () => {
    const large = model(400, '100')
    fill(large, 100, WORKLOADS[0] as PodAsked)
    large.drain()
    assert.equal(large.scheduling.looked, 100 * 188)
  })

  it('is paid once for all pods that are alike and find no place', () => {
    const full = model(50, '1')
    fill(full, 500, { cpu: '2' })
    full.drain()
    assert.equal(full.answers.size, 500)
    assert.equal(full.scheduling.looked, 50)
  })

  it('is one look at what changed, when it does not help', () => {
    const full = model(50, '1')
    fill(full, 500, { cpu: '2' })
    fill(full, 1, { cpu: '100m' })
    full.drain()
    full.show()
    full.drain()
    const before = full.scheduling.looked
    const gone = full.pods.get('p500')
    for (let i = 0; i < 10; i++) {
      full.setPod('p500', undefined)
      full.setPod('p500', gone)
    }
    full.setPod('p500', undefined)
    full.drain()
    assert.equal(full.scheduling.looked - before, 1)
    full.rest()
    assert.equal(full.scheduling.looked - before, 1)
    assert.equal(full.answers.size, 500)
  })

  it('a place that becomes free is given to one, and the next is asked once more', () => {
    const full = model(10, '2')
    fill(full, 110, { cpu: '2' })
    full.drain()
    full.show()
    full.drain()
    assert.equal(full.answers.size, 100)
    const before = full.scheduling.looked
    const [gone] = [...full.pods].find(([, pod]) => pod.spec?.nodeName === 'n3') ?? []
    full.setPod(gone ?? '', undefined)
    full.drain()
    assert.deepEqual([...full.underway.values()], ['n3'])
    assert.equal(full.answers.size, 99)
    assert.ok(full.scheduling.looked - before <= 3, `looked ${full.scheduling.looked - before} times`)
  })
})
