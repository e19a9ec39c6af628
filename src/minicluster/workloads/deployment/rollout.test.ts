/** Random rollouts, run with the plan alone: what holds at every step, and where they end. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type JsonObject, setOwn } from '../../../base/json.ts'
import type { Deployment, ReplicaSet } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { applyMergePatch } from '../../../kube/patch/merge-patch.ts'
import type { Action } from '../../../runtime/controller.ts'
import { readSelector } from '../../../runtime/workloads/pod/indexes.ts'
import { claimObjects } from '../../../runtime/workloads/pod/ownership.ts'
import { aDeployment } from '../../../runtime/workloads/pod/testing.ts'
import { plan } from './plan.ts'
import { goalOf } from './sizes.ts'

const sizeOf = (set: ReplicaSet): number => set.spec?.replicas ?? 0
const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0)

/** A Deployment with its ReplicaSets, without a server. */
class Model {
  deployment: Deployment
  sets: ReplicaSet[] = []
  nowMs = Date.UTC(2026, 0, 1)

  constructor(deployment: Deployment) {
    this.deployment = deployment
  }

  change(spec: Deployment['spec']): void {
    const { generation = 0 } = this.deployment.metadata
    this.deployment = {
      ...this.deployment,
      metadata: { ...this.deployment.metadata, generation: generation + 1 },
      spec: { ...this.deployment.spec, ...spec },
    }
  }

  /** Gives the ReplicaSets their pods, as many of them available as `share` says. */
  follow(share: (set: ReplicaSet, index: number) => number): void {
    this.sets = this.sets.map((set, i) => {
      const available = Math.round(sizeOf(set) * share(set, i))
      const counts = { replicas: sizeOf(set), readyReplicas: available, availableReplicas: available, terminatingReplicas: 0 }
      return { ...set, status: { ...counts, observedGeneration: set.metadata.generation } }
    })
  }

  /** What is certainly available: a ReplicaSet removes unavailable pods first. */
  sure(): number {
    return sum(this.sets.map((set) => Math.min(sizeOf(set), set.status?.availableReplicas ?? 0)))
  }

  total(): number {
    return sum(this.sets.map(sizeOf))
  }

  /** Runs one pass; false when there was nothing to do. */
  pass(): boolean {
    const { deployment, sets, nowMs } = this
    const selector = readSelector(deployment.spec?.selector)
    const claim = claimObjects({ owner: deployment, selector, candidates: sets })
    const setNamed = (name: string): ReplicaSet | undefined => sets.find((set) => set.metadata.name === name)
    const { actions } = plan({ deployment, selector, claim, nowMs, lastFailure: undefined, setNamed, podsOf: () => [] })
    for (const action of actions) this.#do(action as Action)
    this.nowMs += 1000
    return actions.length > 0
  }

  #do(action: Action): void {
    if (action.do === 'create') {
      const { name = '' } = action.object.metadata
      const metadata = { ...action.object.metadata, uid: name, generation: 1, creationTimestamp: new Date(this.nowMs).toISOString() }
      this.sets.push({ ...action.object, metadata })
    } else if (action.do === 'delete') this.sets = this.sets.filter((set) => set.metadata.name !== action.of.metadata.name)
    else if (action.do === 'patch' && action.of.kind === 'Deployment') this.deployment = patched(this.deployment, action.patch)
    else if (action.do === 'patch')
      this.sets = this.sets.map((set) => (set.metadata.name === action.of.metadata.name ? patchedSet(set, action.patch) : set))
    else assert.fail(`no ${action.do} was expected`)
  }
}

function patched<T extends KubeObject>(object: T, patch: Record<string, unknown>): T {
  return applyMergePatch(object, { value: patch as JsonObject, strictErrors: [] }) as unknown as T
}

function patchedSet(set: ReplicaSet, patch: Record<string, unknown>): ReplicaSet {
  const next = patched(set, patch)
  if ('spec' in patch) setOwn(next.metadata, 'generation', (set.metadata.generation ?? 0) + 1)
  return next
}

const bound = fc.oneof(
  fc.nat(4),
  fc.nat(100).map((percent) => `${percent}%`),
)

const happening = fc.oneof(
  fc.record({ what: fc.constant('scale' as const), replicas: fc.nat(12) }),
  fc.record({ what: fc.constant('template' as const), image: fc.nat(4) }),
  fc.record({
    what: fc.constant('ready' as const),
    shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 6 }),
  }),
  fc.record({ what: fc.constant('pause' as const), paused: fc.boolean() }),
)

const containers = (image: number) => ({ containers: [{ name: 'main', image: `v${image}` }] })

function begin(replicas: number, maxSurge: number | string, maxUnavailable: number | string): Model {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } }
  const template = { metadata: { labels: { app: 'web' } }, spec: containers(0) }
  const spec = { replicas, strategy, template, progressDeadlineSeconds: 600, revisionHistoryLimit: 2 }
  return new Model(aDeployment('web', spec, { uid: 'mine', generation: 1 }))
}

/** Runs one pass, and checks what must be true of it. */
function passWithin(model: Model): boolean {
  const { replicas, maxSurge, maxUnavailable } = goalOf(model.deployment)
  const [total, sure] = [model.total(), model.sure()]
  const moved = model.pass()
  assert.ok(
    model.total() <= Math.max(total, replicas + maxSurge),
    `${model.total()} pods, ${replicas} + ${maxSurge} allowed, ${total} before`,
  )
  // Scaling down removes available pods too: then the requested number is the bound.
  const least = Math.min(sure, replicas - maxUnavailable)
  assert.ok(model.sure() >= least, `${model.sure()} available, at least ${least} needed, ${sure} before`)
  return moved
}

function settle(model: Model): void {
  for (let passes = 0; passes < 400; passes++) {
    const moved = passWithin(model)
    model.follow(() => 1)
    if (!moved && !model.pass()) return
  }
  assert.fail('the rollout does not come to rest')
}

describe('any rollout', () => {
  it('keeps within surge and unavailability at every step, and ends with the template everywhere', () => {
    fc.assert(
      fc.property(fc.nat(12), bound, bound, fc.array(happening, { maxLength: 14 }), (replicas, maxSurge, maxUnavailable, happenings) => {
        const model = begin(replicas, maxSurge, maxUnavailable)
        passWithin(model)
        for (const one of happenings) {
          if (one.what === 'scale') model.change({ replicas: one.replicas })
          else if (one.what === 'pause') model.change({ paused: one.paused })
          else if (one.what === 'template')
            model.change({ template: { metadata: { labels: { app: 'web' } }, spec: containers(one.image) } })
          else model.follow((_, i) => one.shares[i % one.shares.length] ?? 0)
          passWithin(model)
          passWithin(model)
        }
        model.change({ paused: false })
        settle(model)
        const { replicas: wanted } = goalOf(model.deployment)
        const image = model.deployment.spec?.template?.spec?.containers?.[0]?.image
        for (const set of model.sets)
          assert.equal(sizeOf(set), set.spec?.template?.spec?.containers?.[0]?.image === image ? wanted : 0, set.metadata.name)
        assert.ok(model.sets.length <= 3, 'history is cut')
        const { conditions = [], updatedReplicas = 0, availableReplicas = 0, observedGeneration } = model.deployment.status ?? {}
        assert.deepEqual([updatedReplicas, availableReplicas], [wanted, wanted])
        assert.equal(observedGeneration, model.deployment.metadata.generation)
        assert.deepEqual(conditions.map(({ type, reason }) => `${type} ${reason}`).sort(), [
          'Available MinimumReplicasAvailable',
          'Progressing NewReplicaSetAvailable',
        ])
      }),
      { numRuns: 400 },
    )
  })
})
