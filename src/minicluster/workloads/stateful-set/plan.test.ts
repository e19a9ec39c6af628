import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { StatefulSet, StatefulSetSpec } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Action, Plan } from '../../../runtime/controller.ts'
import { claimObjects } from '../../../runtime/workloads/pod/ownership.ts'
import { isMember, ordinalOf, parsePodName } from '../../../runtime/workloads/stateful-set/identity.ts'
import { plan } from './plan.ts'
import { aStatefulSet, templateAt, withClaims } from './testing.ts'

/** A cluster of one StatefulSet, in which plans take effect at once and the test plays the nodes. */
class Model {
  set: StatefulSet
  readonly pods = new Map<string, KubeObject>()
  readonly claims = new Map<string, KubeObject>()
  readonly revisions = new Map<string, KubeObject>()
  #made = 0

  constructor(spec: StatefulSetSpec) {
    const set = aStatefulSet(spec)
    this.set = { ...set, metadata: { ...set.metadata, uid: 'set', generation: 1, resourceVersion: '1' } }
  }

  plan(nowMs = 0): Plan {
    const { set } = this
    const selector = [{ key: 'app', operator: '=' as const, values: ['web'] }]
    return plan({
      set,
      pods: claimObjects({ owner: set, selector, candidates: [...this.pods.values()], also: (pod) => isMember(set, pod) }),
      revisions: claimObjects({ owner: set, selector, candidates: [...this.revisions.values()] }),
      revisionNamed: (name) => this.revisions.get(name),
      claimNamed: (name) => this.claims.get(name),
      nowMs,
    })
  }

  settle(check: () => void = () => undefined): void {
    for (let i = 0; i < 100; i++) {
      const actions = this.plan().actions.flatMap((action) => (action.do === 'batch' ? action.actions : [action]))
      if (actions.length === 0) return
      for (const action of actions) {
        this.#apply(action)
        check()
      }
    }
    assert.fail('it does not come to rest')
  }

  #apply(action: Action): void {
    const objects = action.resource === PODS ? this.pods : action.resource === PERSISTENT_VOLUME_CLAIMS ? this.claims : this.revisions
    if (action.do === 'create') {
      const { name = '' } = action.object.metadata
      assert.ok(!objects.has(name), `${name} is there already`)
      const metadata = { ...action.object.metadata, uid: `made-${this.#made++}`, resourceVersion: '1' }
      objects.set(name, { ...action.object, metadata, ...(action.resource === PODS ? { status: { phase: 'Pending' } } : {}) })
    } else if (action.do === 'delete' && action.resource === PODS) {
      // It is gone when the node is done with it.
      const metadata = { ...action.of.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
      objects.set(action.of.metadata.name ?? '', { ...action.of, metadata })
    } else if (action.do === 'delete') objects.delete(action.of.metadata.name ?? '')
    else if (action.do === 'patch' && action.subresource === 'status')
      this.set = { ...this.set, status: { ...this.set.status, ...(action.patch.status as object) } }
    else if (action.do === 'patch')
      objects.set(action.of.metadata.name ?? '', {
        ...action.of,
        ...action.patch,
        metadata: { ...action.of.metadata, ...(action.patch.metadata as object) },
      })
  }

  change(spec: StatefulSetSpec): void {
    const generation = (this.set.metadata.generation ?? 0) + 1
    this.set = { ...this.set, metadata: { ...this.set.metadata, generation }, spec: { ...this.set.spec, ...spec } }
  }

  /** The node finishes with one of the pods that start or terminate. */
  proceed(which: number): boolean {
    const moving = this.moving()
    const pod = moving[which % Math.max(1, moving.length)]
    if (pod === undefined) return false
    const { name = '', deletionTimestamp } = pod.metadata
    if (deletionTimestamp !== undefined) this.pods.delete(name)
    else this.pods.set(name, { ...pod, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } })
    return true
  }

  /** Pods that are not ready, or terminating. */
  moving(): KubeObject[] {
    return [...this.pods.values()].filter(
      ({ metadata, status }) => metadata.deletionTimestamp !== undefined || (status as { phase?: string }).phase !== 'Running',
    )
  }

  finish(): void {
    do this.settle()
    while (this.proceed(0))
  }

  ordinals(): number[] {
    return [...this.pods.values()].map(ordinalOf).sort((a, b) => a - b)
  }

  images(): unknown[] {
    return [...this.pods.values()]
      .sort((a, b) => ordinalOf(a) - ordinalOf(b))
      .map(({ spec }) => (spec as { containers: { image: string }[] }).containers[0]?.image)
  }
}

const rolling = (partition: number): StatefulSetSpec => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } })

type ClusterEvent = { replicas: number } | { image: string } | { partition: number } | { proceed: number }
const happenings = fc.array(
  fc.oneof<fc.Arbitrary<ClusterEvent>[]>(
    fc.record({ replicas: fc.nat(5) }),
    fc.record({ image: fc.constantFrom('one', 'two', 'three') }),
    fc.record({ partition: fc.nat(5) }),
    fc.record({ proceed: fc.nat(5) }),
    fc.record({ proceed: fc.nat(5) }),
  ),
  { maxLength: 30 },
)

function play(model: Model, happening: ClusterEvent): void {
  if ('replicas' in happening) model.change({ replicas: happening.replicas })
  else if ('image' in happening) model.change({ template: templateAt(happening.image) })
  else if ('partition' in happening) model.change(rolling(happening.partition))
  else model.proceed(happening.proceed)
}

describe('a StatefulSet in order', () => {
  it('never has more than one pod in transition, and gets where it should', () => {
    fc.assert(
      fc.property(happenings, fc.nat(3), (course, start) => {
        const model = new Model({ ...withClaims, ...rolling(0), ordinals: { start } })
        const check = (): void =>
          assert.ok(
            model.moving().length <= 1,
            model
              .moving()
              .map(({ metadata }) => metadata.name)
              .join(),
          )
        model.settle(check)
        for (const happening of course) {
          play(model, happening)
          model.settle(check)
        }
        model.change(rolling(0))
        model.finish()
        const replicas = model.set.spec?.replicas ?? 0
        assert.deepEqual(
          model.ordinals(),
          Array.from({ length: replicas }, (_, i) => start + i),
        )
        const wanted = model.set.spec?.template?.spec?.containers?.[0]?.image
        assert.ok(model.images().every((image) => image === wanted))
        const { readyReplicas, updatedReplicas, currentRevision, updateRevision } = model.set.status ?? {}
        assert.deepEqual([readyReplicas, updatedReplicas, currentRevision], [replicas, replicas, updateRevision])
      }),
      { numRuns: 300 },
    )
  })
})

describe('a StatefulSet in parallel', () => {
  it('updates one at a time, and gets where it should', () => {
    fc.assert(
      fc.property(happenings, (course) => {
        const model = new Model({ ...rolling(0), podManagementPolicy: 'Parallel' })
        model.finish()
        for (const happening of course) {
          play(model, happening)
          model.settle()
        }
        model.change(rolling(0))
        model.finish()
        assert.equal(model.pods.size, model.set.spec?.replicas)
        const wanted = model.set.spec?.template?.spec?.containers?.[0]?.image
        assert.ok(model.images().every((image) => image === wanted))
      }),
      { numRuns: 200 },
    )
    const model = new Model({ ...rolling(0), podManagementPolicy: 'Parallel', replicas: 5 })
    model.finish()
    model.change({ template: templateAt('two') })
    model.settle(() => assert.ok(model.moving().length <= 1))
  })

  it('creates as many pods at a time as it can bear', () => {
    const model = new Model({ podManagementPolicy: 'Parallel', replicas: 2 ** 31 - 1 })
    const [create] = model.plan().actions
    assert.ok(create?.do === 'create')
    model.revisions.set(create.object.metadata.name ?? '', create.object)
    const batch = model.plan().actions.find((action) => action.do === 'batch')
    assert.equal(batch?.actions.length, 500)
  })
})

describe('the plan of a StatefulSet', () => {
  it('creates claims before the pod, and only those that are missing', () => {
    const model = new Model({ ...withClaims, podManagementPolicy: 'Parallel', replicas: 2 })
    const [create] = model.plan().actions
    assert.ok(create?.do === 'create')
    model.revisions.set(create.object.metadata.name ?? '', create.object)
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'www-web-1' } }
    model.claims.set('www-web-1', claim)
    const names = (action: Action): string => `${action.resource.kind} ${'object' in action ? action.object.metadata.name : ''}`
    const made = model.plan().actions.map((action) => (action.do === 'batch' ? action.actions.map(names) : names(action)))
    assert.deepEqual(made.slice(1), [['Pod web-1'], 'PersistentVolumeClaim www-web-0', 'Pod web-0'])
  })

  it('only describes a set on its way out', () => {
    const model = new Model({ replicas: 2 })
    model.finish()
    const deletionTimestamp = '2026-01-01T00:00:00Z'
    model.set = { ...model.set, metadata: { ...model.set.metadata, deletionTimestamp }, spec: { ...model.set.spec, replicas: 0 } }
    model.proceed(0)
    model.pods.delete('web-1')
    const { actions } = model.plan()
    assert.deepEqual(
      actions.map((action) => action.do === 'patch' && action.subresource),
      ['status'],
    )
    model.revisions.clear()
    assert.deepEqual(model.plan().actions, [])
  })

  it('says when to requeue', () => {
    const model = new Model({ replicas: 1, minReadySeconds: 10 })
    model.settle()
    const [pod] = model.pods.values()
    assert.ok(pod !== undefined)
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '1970-01-01T00:00:05Z' }]
    model.pods.set('web-0', { ...pod, status: { phase: 'Running', conditions } })
    assert.equal(model.plan(8000).requeueAfterMs, 7000)
    assert.equal(model.plan(15_000).requeueAfterMs, undefined)
  })

  it('bears a set that says nothing', () => {
    const model = new Model({})
    model.set = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: {} }
    const [create, ...more] = model.plan().actions
    assert.ok(create?.do === 'create' && more.length === 0)
    model.revisions.set(create.object.metadata.name ?? '', create.object)
    assert.deepEqual(
      model.plan().actions.map((action) => action.do),
      ['patch', 'create'],
    )
  })
})

describe('the name of a pod', () => {
  const cases: [string, ReturnType<typeof parsePodName>][] = [
    ['web-0', { parent: 'web', ordinal: 0 }],
    ['a-1-22', { parent: 'a-1', ordinal: 22 }],
    ['web-2147483647', { parent: 'web', ordinal: 2147483647 }],
    ['web-2147483648', undefined],
    ['web-01', undefined],
    ['web', undefined],
    ['', undefined],
  ]
  for (const [name, wanted] of cases) it(JSON.stringify(name), () => assert.deepEqual(parsePodName(name), wanted))
})
