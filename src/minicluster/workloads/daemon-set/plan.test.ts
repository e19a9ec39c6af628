import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { formatTime } from '../../../base/clock.ts'
import { PODS } from '../../../kinds/kubernetes/resources.ts'
import type { ControllerRevision, DaemonSet, DaemonSetSpec, Node, Pod } from '../../../kinds/kubernetes/types.ts'
import type { Action, Plan } from '../../../runtime/controller.ts'
import { claimObjects } from '../../../runtime/workloads/pod/ownership.ts'
import { isPodReady } from '../../../runtime/workloads/pod/state.ts'
import { asksForProcess, judgeOf, playedUnless } from './eligibility.ts'
import { plan } from './plan.ts'
import { targetNode } from './pod.ts'
import { aDaemonSet, aNode, templateAt } from './testing.ts'

/** A cluster of one DaemonSet, in which plans take effect at once and the test plays the nodes. */
class Model {
  set: DaemonSet
  nodes: Node[]
  pods = new Map<string, Pod>()
  revisions = new Map<string, ControllerRevision>()
  #made = 0

  constructor(spec: DaemonSetSpec, nodes: number) {
    const set = aDaemonSet(spec)
    this.set = { ...set, metadata: { ...set.metadata, uid: 'set', generation: 1, resourceVersion: '1' } }
    this.nodes = Array.from({ length: nodes }, (_, i) => aNode(`n${i}`))
  }

  plan(): Plan {
    const { set } = this
    const claim = <T extends Pod | ControllerRevision>(candidates: Iterable<T>) =>
      claimObjects({ owner: set, selector: [{ key: 'app', operator: '=' as const, values: ['agent'] }], candidates: [...candidates] })
    return plan({
      set,
      nodes: this.nodes,
      judge: judgeOf({ set, admit: playedUnless(asksForProcess), namespace: undefined }),
      pods: claim(this.pods.values()),
      revisions: claim(this.revisions.values()),
      revisionNamed: (name) => this.revisions.get(name),
      isPodNamed: (name) => this.pods.has(name),
      waits: new Map(),
      nowMs: 0,
    })
  }

  /** Until nothing is left to do. */
  settle(check: () => void): void {
    for (let i = 0; i < 50; i++) {
      const actions = this.plan().actions.flatMap((action) => (action.do === 'batch' ? action.actions : [action]))
      if (actions.length === 0) return
      for (const action of actions) this.#apply(action)
      check()
    }
    assert.fail('it does not come to rest')
  }

  #apply(action: Action): void {
    const objects: Map<string, Pod | ControllerRevision> = action.resource === PODS ? this.pods : this.revisions
    if (action.do === 'create') {
      const { name = '' } = action.object.metadata
      const creationTimestamp = formatTime(this.#made * 1000)
      const metadata = { ...action.object.metadata, uid: `made-${this.#made++}`, resourceVersion: '1', creationTimestamp }
      objects.set(name, { ...action.object, metadata, ...(action.resource === PODS ? { status: { phase: 'Pending' } } : {}) })
    } else if (action.do === 'delete') objects.delete(action.of.metadata.name ?? '')
    else if (action.do === 'patch' && action.subresource === 'status')
      this.set = { ...this.set, status: { ...this.set.status, ...(action.patch.status as object) } }
    else if (action.do === 'patch')
      objects.set(action.of.metadata.name ?? '', { ...action.of, ...action.patch, metadata: action.of.metadata })
  }

  update(image: string): void {
    const generation = (this.set.metadata.generation ?? 0) + 1
    this.set = { ...this.set, metadata: { ...this.set.metadata, generation }, spec: { ...this.set.spec, template: templateAt(image) } }
  }

  ready(which: number): void {
    const waiting = [...this.pods.values()].filter((pod) => !isPodReady(pod))
    const pod = waiting[which % Math.max(1, waiting.length)]
    if (pod === undefined) return
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '1970-01-01T00:00:00Z' }]
    this.pods.set(pod.metadata.name ?? '', { ...pod, status: { phase: 'Running', conditions } })
  }

  allReady(): void {
    for (let i = 0; i < 500 && [...this.pods.values()].some((pod) => !isPodReady(pod)); i++) {
      this.ready(0)
      this.settle(() => undefined)
    }
  }

  /** Nodes that have a ready pod. */
  available(): number {
    return new Set([...this.pods.values()].filter(isPodReady).map(targetNode)).size
  }
}

const rolling = (rollingUpdate: Record<string, unknown>): DaemonSetSpec => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })
/** Either an update, or the n-th waiting pod becomes ready. */
const happenings = fc.array(fc.oneof(fc.constantFrom('one', 'two', 'three'), fc.nat(5)), { maxLength: 25 })

function play(model: Model, happening: string | number, check: () => void): void {
  if (typeof happening === 'string') model.update(happening)
  else model.ready(happening)
  model.settle(check)
}

describe('an update of a DaemonSet', () => {
  it('never leaves more nodes without a ready pod than may be unavailable', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 7 }), happenings, (nodes, maxUnavailable, course) => {
        const model = new Model(rolling({ maxUnavailable, maxSurge: 0 }), nodes)
        model.settle(() => undefined)
        model.allReady()
        const check = (): void => {
          assert.ok(model.available() >= nodes - maxUnavailable, `${model.available()} of ${nodes}`)
          assert.ok(model.pods.size <= nodes, 'one pod per node at most')
        }
        for (const happening of course) play(model, happening, check)
        model.allReady()
        assert.equal(model.available(), nodes)
        assert.deepEqual(model.plan().actions, [])
      }),
      { numRuns: 200 },
    )
  })

  it('with surge never leaves a node without a ready pod, nor uses more pods than allowed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 4 }), happenings, (nodes, maxSurge, course) => {
        const model = new Model(rolling({ maxUnavailable: 0, maxSurge }), nodes)
        model.settle(() => undefined)
        model.allReady()
        const check = (): void => {
          assert.equal(model.available(), nodes)
          assert.ok(model.pods.size <= nodes + maxSurge, `${model.pods.size} pods`)
        }
        for (const happening of course) play(model, happening, check)
        model.allReady()
        assert.equal(model.pods.size, nodes)
        assert.deepEqual(model.plan().actions, [])
      }),
      { numRuns: 200 },
    )
  })

  it('does not stand still where neither is allowed', () => {
    const model = new Model(rolling({ maxUnavailable: 0, maxSurge: 0 }), 2)
    model.settle(() => undefined)
    model.allReady()
    model.update('two')
    model.settle(() => undefined)
    assert.equal(model.available(), 1)
  })
})

describe('the plan of a DaemonSet', () => {
  it('first makes the history, then the pods', () => {
    const model = new Model({}, 2)
    assert.deepEqual(
      model.plan().actions.map((action) => action.do),
      ['create'],
    )
    model.settle(() => undefined)
    assert.equal(model.pods.size, 2)
  })

  it('does nothing for a set on its way out', () => {
    const model = new Model({}, 2)
    model.set = { ...model.set, metadata: { ...model.set.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    assert.deepEqual(model.plan().actions, [])
  })

  it('creates at most 250 pods at a time', () => {
    const model = new Model({}, 300)
    const [create] = model.plan().actions
    assert.ok(create?.do === 'create')
    model.revisions.set(create.object.metadata.name ?? '', create.object)
    const batch = model.plan().actions.find((action) => action.do === 'batch')
    assert.equal(batch?.actions.length, 250)
  })

  it('bears a set that says nothing', () => {
    const model = new Model({}, 1)
    model.set = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: {} }
    assert.equal(model.plan().actions.length, 1)
  })
})
