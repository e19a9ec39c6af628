import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { AdvancedStatefulSet, AdvancedStatefulSetSpec } from '../../kinds/fluid/advanced-stateful-set.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { templateAt } from '../../minicluster/workloads/stateful-set/testing.ts'
import type { Action, Plan } from '../../runtime/controller.ts'
import { claimObjects } from '../../runtime/workloads/pod/ownership.ts'
import { isPodReady } from '../../runtime/workloads/pod/state.ts'
import { isMember, ordinalOf } from '../../runtime/workloads/stateful-set/identity.ts'
import { ordinalsOf } from '../../runtime/workloads/stateful-set/ordinals.ts'
import { isUpdating } from './in-place.ts'
import { plan } from './plan.ts'
import { aSet, rolling } from './testing.ts'
import { SPECIFIED_DELETE } from './update.ts'

/** A cluster of one set in which plans take effect at once and the test plays the nodes. */
class Model {
  set: AdvancedStatefulSet
  readonly pods = new Map<string, Pod>()
  readonly #revisions = new Map<string, KubeObject>()
  #made = 0

  constructor(spec: Partial<AdvancedStatefulSetSpec>) {
    const set = aSet(spec)
    this.set = { ...set, metadata: { ...set.metadata, uid: 'set', generation: 1 } }
  }

  plan(): Plan {
    const { set } = this
    const selector = [{ key: 'app', operator: '=' as const, values: ['web'] }]
    return plan({
      set,
      pods: claimObjects({ owner: set, selector, candidates: [...this.pods.values()], also: (pod) => isMember(set, pod) }),
      revisions: claimObjects({ owner: set, selector, candidates: [...this.#revisions.values()] }),
      revisionNamed: (name) => this.#revisions.get(name),
      claimNamed: () => undefined,
      nowMs: 0,
    })
  }

  /** Passes until there is nothing to do; `look` sees what a pass wants before it happens. */
  settle(look: (actions: readonly Action[]) => void = () => undefined): void {
    for (let i = 0; i < 100; i++) {
      const actions = this.plan().actions.flatMap((action) => (action.do === 'batch' ? action.actions : [action]))
      if (actions.length === 0) return
      look(actions)
      for (const action of actions) this.#apply(action)
    }
    assert.fail('it does not come to rest')
  }

  #apply(action: Action): void {
    if (action.do === 'create') {
      const { name = '' } = action.object.metadata
      const objects: Map<string, KubeObject> = action.resource === PODS ? this.pods : this.#revisions
      assert.ok(!objects.has(name), `${name} is there already`)
      objects.set(name, { ...action.object, metadata: { ...action.object.metadata, uid: `made-${this.#made++}` } })
    } else if (action.do === 'delete' && action.resource === PODS) {
      const { name = '' } = action.of.metadata
      this.pods.set(name, { ...action.of, metadata: { ...action.of.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })
    } else if (action.do === 'delete') this.#revisions.delete(action.of.metadata.name ?? '')
    else if (action.do === 'patch' && action.subresource === 'status')
      this.set = { ...this.set, status: action.patch.status as AdvancedStatefulSet['status'] }
    else if (action.do === 'patch' && action.resource === PODS) this.#patchPod(action.of, action.patch as Pick<Pod, 'metadata' | 'spec'>)
    else if (action.do === 'patch') this.#revisions.set(action.of.metadata.name ?? '', { ...action.of, ...action.patch })
  }

  #patchPod(pod: Pod, { metadata, spec }: Pick<Pod, 'metadata' | 'spec'>): void {
    const labels = { ...pod.metadata.labels, ...metadata.labels }
    const annotations = { ...pod.metadata.annotations, ...metadata.annotations }
    this.pods.set(pod.metadata.name ?? '', { ...pod, metadata: { ...pod.metadata, labels, annotations }, spec: { ...pod.spec, ...spec } })
  }

  change(spec: Partial<AdvancedStatefulSetSpec>): void {
    const generation = (this.set.metadata.generation ?? 0) + 1
    this.set = { ...this.set, metadata: { ...this.set.metadata, generation }, spec: { ...this.set.spec, ...spec } }
  }

  mark(which: number): void {
    const pod = [...this.pods.values()][which % Math.max(1, this.pods.size)]
    if (pod !== undefined) this.#patchPod(pod, { metadata: { labels: { [SPECIFIED_DELETE]: '' } } })
  }

  isWell(pod: Pod): boolean {
    return pod.metadata.deletionTimestamp === undefined && isPodReady(pod) && !isUpdating(pod)
  }

  /** The node finishes with one of the pods that start, restart or terminate. */
  proceed(which: number): boolean {
    const moving = [...this.pods.values()].filter((pod) => !this.isWell(pod))
    const pod = moving[which % Math.max(1, moving.length)]
    if (pod === undefined) return false
    const { name = '', deletionTimestamp } = pod.metadata
    if (deletionTimestamp !== undefined) this.pods.delete(name)
    else {
      const image = pod.spec?.containers?.[0]?.image
      const containerStatuses = [{ name: 'main', image, containerID: `run-${this.#made++}` }]
      this.pods.set(name, { ...pod, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], containerStatuses } })
    }
    return true
  }

  finish(): void {
    do this.settle()
    while (this.proceed(0))
  }
}

const withArgs = (image: string, args: string): AdvancedStatefulSetSpec['template'] => ({
  ...templateAt(image),
  spec: { containers: [{ name: 'main', image, args: [args] }] },
})

const happening = fc.oneof(
  fc.record({ replicas: fc.nat(5), reserveOrdinals: fc.array(fc.nat(6), { maxLength: 3 }) }),
  fc.record({
    template: fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'x', 'y')).map(([image, args]) => withArgs(image, args)),
  }),
  fc.record({ mark: fc.nat(5) }),
  fc.record({ proceed: fc.nat(5) }),
  fc.record({ proceed: fc.nat(5) }),
)

const strategies = fc.record({
  podManagementPolicy: fc.constantFrom('Parallel', 'OrderedReady'),
  maxUnavailable: fc.integer({ min: 1, max: 3 }),
  podUpdatePolicy: fc.constantFrom('ReCreate', 'InPlaceIfPossible'),
  isUnordered: fc.boolean(),
})

describe('the plan of an AdvancedStatefulSet', () => {
  it('never takes more than may be unavailable, deletes nobody without reason, makes no pod twice, and ends', () => {
    fc.assert(
      fc.property(strategies, fc.array(happening, { maxLength: 25 }), (strategy, happenings) => {
        const { podManagementPolicy, maxUnavailable, podUpdatePolicy, isUnordered } = strategy
        const unorderedUpdate = isUnordered ? {} : undefined
        const model = new Model({ podManagementPolicy, ...rolling({ maxUnavailable, podUpdatePolicy, unorderedUpdate }) })
        const look = (actions: readonly Action[]): void => {
          const ordinals = ordinalsOf(model.set)
          const replicas = [...model.pods.values()].filter((pod) => ordinals.has(ordinalOf(pod)))
          const well = replicas.filter((pod) => model.isWell(pod))
          const touched = new Set(
            actions.flatMap((one) => (one.resource === PODS && (one.do === 'delete' || one.do === 'patch') ? [one.of] : [])),
          )
          const taken = well.filter((pod) => touched.has(pod)).length
          const unavailable = ordinals.count - well.length
          assert.ok(taken === 0 || unavailable + taken <= maxUnavailable, `${taken} more beside ${unavailable}`)
          const { updateRevision } = model.set.status ?? {}
          for (const pod of well.filter((one) => touched.has(one))) {
            const { labels = {} } = pod.metadata
            const isOld =
              labels['controller-revision-hash'] !== updateRevision ||
              model.set.status?.observedGeneration !== model.set.metadata.generation
            assert.ok(isOld || SPECIFIED_DELETE in labels, `${pod.metadata.name} is wanted as it is`)
          }
        }
        model.settle(look)
        for (const one of happenings) {
          if ('mark' in one) model.mark(one.mark)
          else if ('proceed' in one) model.proceed(one.proceed)
          else model.change(one)
          model.settle(look)
        }
        model.finish()
        const names = [...ordinalsOf(model.set)].map((ordinal) => `web-${ordinal}`)
        assert.deepEqual([...model.pods.keys()].sort(), names)
        const { containers } = model.set.spec.template.spec ?? {}
        for (const { spec } of model.pods.values()) {
          const { image, args } = spec?.containers?.[0] ?? {}
          assert.deepEqual([image, args], [containers?.[0]?.image, containers?.[0]?.args])
        }
        const { currentRevision, updateRevision, readyReplicas } = model.set.status ?? {}
        assert.deepEqual([currentRevision, readyReplicas], [updateRevision, names.length])
      }),
      { numRuns: 80 },
    )
  })

  it('leaves everybody alone who is not chosen, whoever is', () => {
    fc.assert(
      fc.property(strategies, fc.uniqueArray(fc.nat(4), { maxLength: 5 }), ({ podManagementPolicy }, victims) => {
        const model = new Model({ podManagementPolicy, replicas: 5 })
        model.finish()
        const before = new Map([...model.pods].filter(([, pod]) => !victims.includes(ordinalOf(pod))))
        model.change({ replicas: 5 - victims.length, reserveOrdinals: victims })
        model.finish()
        assert.deepEqual(model.pods, before)
        model.change({ replicas: 5, reserveOrdinals: [] })
        model.finish()
        assert.deepEqual([...model.pods.keys()].sort(), ['web-0', 'web-1', 'web-2', 'web-3', 'web-4'])
        for (const [name, pod] of before) assert.deepEqual(model.pods.get(name), pod)
      }),
      { numRuns: 25 },
    )
  })
})
