import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Deployment, DeploymentSpec, DeploymentStatus, Pod, ReplicaSet } from '../../../kinds/kubernetes/types.ts'
import type { ObjectMeta } from '../../../kube/meta.ts'
import type { Action, Plan } from '../../../runtime/controller.ts'
import { readSelector } from '../../../runtime/workloads/pod/indexes.ts'
import { claimObjects, controllerReference } from '../../../runtime/workloads/pod/ownership.ts'
import { aDeployment, aPod } from '../../../runtime/workloads/pod/testing.ts'
import { newestAnnotations } from './annotations.ts'
import { type Observed, plan } from './plan.ts'
import { HASH_LABEL } from './template.ts'

const NOW = Date.UTC(2026, 0, 1)
const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1000).toISOString()
const REVISION = 'deployment.kubernetes.io/revision'
const HISTORY = 'deployment.kubernetes.io/revision-history'
const NOTES = { 'deployment.kubernetes.io/desired-replicas': '3', 'deployment.kubernetes.io/max-replicas': '4' }
const ROLLING = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }

function deploymentWith(spec: DeploymentSpec = {}, status?: DeploymentStatus, metadata: ObjectMeta = {}): Deployment {
  const all = { replicas: 3, progressDeadlineSeconds: 600, revisionHistoryLimit: 10, strategy: ROLLING, ...spec }
  const made = aDeployment('web', all, { uid: 'mine', generation: 1, resourceVersion: '1', ...metadata })
  return status === undefined ? made : { ...made, status }
}

interface SetShape {
  image?: string
  replicas?: number
  status?: ReplicaSet['status']
  revision?: string
  metadata?: ObjectMeta
}

function setOf(
  deployment: Deployment,
  name: string,
  { image = 'one', replicas = 3, status, revision = '1', metadata }: SetShape = {},
): ReplicaSet {
  const { template, selector } = deployment.spec ?? {}
  const labels = { ...template?.metadata?.labels, [HASH_LABEL]: name }
  const containers = [{ name: 'main', image }]
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name,
      namespace: 'default',
      uid: name,
      labels,
      creationTimestamp: at(1000 - Number(revision)),
      generation: 1,
      annotations: { [REVISION]: revision, ...NOTES },
      ownerReferences: [controllerReference(deployment)],
      ...metadata,
    },
    spec: { replicas, selector, template: { metadata: { labels }, spec: { ...template?.spec, containers } } },
    status: status ?? { replicas, readyReplicas: replicas, availableReplicas: replicas, terminatingReplicas: 0, observedGeneration: 1 },
  }
}

function planOf(deployment: Deployment | undefined, sets: readonly ReplicaSet[] = [], more: Partial<Observed> = {}): Plan {
  const selector = readSelector(deployment?.spec?.selector)
  const claim =
    deployment === undefined ? { claimed: [], adopt: [], release: [] } : claimObjects({ owner: deployment, selector, candidates: sets })
  const setNamed = (name: string): ReplicaSet | undefined => sets.find((set) => set.metadata.name === name)
  return plan({ deployment, selector, claim, nowMs: NOW, lastFailure: undefined, setNamed, podsOf: () => [], ...more })
}

function summaryOf({ actions }: Plan): string[] {
  return actions.map((action) => {
    if (action.do === 'batch') return `together ${action.actions.map((one) => one.do).join(' ')}`
    const name = 'object' in action ? action.object.metadata.name : 'of' in action ? action.of.metadata.name : ''
    const replicas = action.do === 'patch' ? (action.patch.spec as { replicas?: number } | undefined)?.replicas : undefined
    return [action.do, action.resource.kind, name, ...(replicas === undefined ? [] : [String(replicas)])].join(' ')
  })
}

function statusOf({ actions }: Plan): DeploymentStatus & { annotations?: Record<string, string> } {
  const action = actions.find((one): one is Extract<Action, { do: 'patch' }> => one.do === 'patch' && one.resource.kind === 'Deployment')
  const { annotations } = (action?.patch.metadata ?? {}) as ObjectMeta
  return { ...(action?.patch.status as DeploymentStatus | undefined), ...(annotations === undefined ? {} : { annotations }) }
}

const reasonOf = (made: Plan, type = 'Progressing'): string | undefined =>
  statusOf(made).conditions?.find((condition) => condition.type === type)?.reason

const cond = (type: string, status: string, reason: string, secondsAgo = 0) => ({
  type,
  status,
  reason,
  message: 'as it was',
  lastUpdateTime: at(secondsAgo),
  lastTransitionTime: at(secondsAgo),
})

const AVAILABLE = cond('Available', 'True', 'MinimumReplicasAvailable', 500)
const DONE = cond('Progressing', 'True', 'NewReplicaSetAvailable', 500)
const SETTLED: DeploymentStatus = {
  observedGeneration: 1,
  replicas: 3,
  updatedReplicas: 3,
  readyReplicas: 3,
  availableReplicas: 3,
  terminatingReplicas: 0,
  conditions: [AVAILABLE, DONE],
}

describe('the plan of a Deployment', () => {
  it('does nothing for one that is gone, and nothing when all is as it should be', () => {
    assert.deepEqual(planOf(undefined), { actions: [] })
    const deployment = deploymentWith({}, SETTLED, { annotations: { [REVISION]: '1' } })
    assert.deepEqual(planOf(deployment, [setOf(deployment, 'a')]), { actions: [], requeueAfterMs: undefined })
  })

  it('creates the first ReplicaSet, then says so', () => {
    const made = planOf(deploymentWith({ minReadySeconds: 5 }, undefined, { annotations: { note: 'x', [REVISION]: '9' } }))
    const [create] = made.actions
    assert.ok(create?.do === 'create')
    const { object } = create
    const hash = (object.metadata.labels as Record<string, string>)[HASH_LABEL]
    assert.equal(object.metadata.name, `web-${hash}`)
    assert.deepEqual(object.metadata.annotations, { note: 'x', [REVISION]: '1', ...NOTES })
    const { replicas, minReadySeconds, selector, template } = (object as ReplicaSet).spec ?? {}
    assert.deepEqual({ replicas, minReadySeconds }, { replicas: 3, minReadySeconds: 5 })
    assert.deepEqual(selector, { matchLabels: { app: 'web', [HASH_LABEL]: hash } })
    assert.deepEqual(template?.metadata?.labels, { app: 'web', [HASH_LABEL]: hash })
    const { conditions, ...counts } = statusOf(made)
    assert.deepEqual(counts, { observedGeneration: 1, unavailableReplicas: 3, terminatingReplicas: 0, annotations: { [REVISION]: '1' } })
    assert.deepEqual(
      conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
      ['Progressing True NewReplicaSetCreated', 'Available False MinimumReplicasUnavailable'],
    )
    assert.equal(made.requeueAfterMs, 601_000)
  })

  it('hashes again when another ReplicaSet has the name', () => {
    const deployment = deploymentWith()
    const [create] = planOf(deployment).actions
    assert.ok(create?.do === 'create')
    const taken = { ...(create.object as ReplicaSet), metadata: { name: create.object.metadata.name, namespace: 'default' } }
    const made = planOf(deployment, [taken])
    assert.deepEqual(summaryOf(made), ['patch Deployment web'])
    assert.deepEqual(statusOf(made), { collisionCount: 1 })
    const [again] = planOf({ ...deployment, status: { collisionCount: 1 } }, [taken]).actions
    assert.ok(again?.do === 'create')
    assert.notEqual(again.object.metadata.name, taken.metadata.name)
  })

  it('reports why a ReplicaSet cannot be created before it tries again', () => {
    const lastFailure = { message: 'no quota' }
    const failed = planOf(deploymentWith(), [], { lastFailure })
    assert.equal(summaryOf(failed)[0], 'patch Deployment web')
    assert.match(summaryOf(failed)[1] ?? '', /^create ReplicaSet/)
    assert.equal(reasonOf(failed), 'ReplicaSetCreateError')
    const status = { observedGeneration: 1, conditions: [cond('Progressing', 'False', 'ReplicaSetCreateError')] }
    const after = deploymentWith({}, status)
    assert.equal(reasonOf(planOf(after, [setOf(after, 'a')])), 'NewReplicaSetAvailable')
    const unready = { replicas: 0, observedGeneration: 1 }
    assert.equal(reasonOf(planOf(after, [setOf(after, 'a', { status: unready })])), 'NewReplicaSetCreated')
  })

  it('takes the ReplicaSet that has the template already, the oldest of several', () => {
    const deployment = deploymentWith({ progressDeadlineSeconds: 600 })
    const sets = [setOf(deployment, 'b', { revision: '2', replicas: 0 }), setOf(deployment, 'a', { status: { replicas: 0 } })]
    const made = planOf(deployment, sets)
    assert.equal(reasonOf(made), 'FoundNewReplicaSet')
    assert.deepEqual(statusOf(made).annotations, { [REVISION]: '3' }, 'above the other, which counts as old')
  })

  it('waits for a change of hands before it decides', () => {
    const deployment = deploymentWith()
    const orphan = setOf(deployment, 'a', { metadata: { ownerReferences: undefined } })
    assert.deepEqual(summaryOf(planOf(deployment, [orphan])), ['together patch'])
    const stray = setOf(deployment, 's', { metadata: { labels: { app: 'other' } } })
    assert.deepEqual(summaryOf(planOf(deployment, [stray])), ['together patch'])
  })

  it('gives an old ReplicaSet a new revision and remembers its former ones', () => {
    const deployment = deploymentWith({}, SETTLED, { annotations: { [REVISION]: '2', note: 'y' } })
    const sets = [setOf(deployment, 'a', { revision: '1', replicas: 0 }), setOf(deployment, 'b', { revision: '2', image: 'two' })]
    const made = planOf(deployment, sets)
    assert.deepEqual(summaryOf(made), ['patch ReplicaSet a 1', 'patch Deployment web'])
    const [patch] = made.actions
    assert.ok(patch?.do === 'patch')
    assert.deepEqual(patch.patch.metadata, { annotations: { note: 'y', [REVISION]: '3', [HISTORY]: '1' } })
    assert.deepEqual(statusOf(made).annotations, { [REVISION]: '3' })
  })

  it('only counts for one that is being deleted', () => {
    const deployment = deploymentWith({}, undefined, { deletionTimestamp: at(0), annotations: { [REVISION]: '1' } })
    assert.deepEqual(summaryOf(planOf(deployment, [setOf(deployment, 'a', { replicas: 1 })])), ['patch Deployment web'])
    assert.deepEqual(summaryOf(planOf(deployment, [])), ['patch Deployment web'])
  })

  it('refuses to select everything', () => {
    const deployment = deploymentWith({ selector: {} })
    const made = planOf(deployment)
    assert.deepEqual(statusOf(made), { observedGeneration: 1 })
    assert.deepEqual(planOf({ ...deployment, status: { observedGeneration: 1 } }), { actions: [] })
  })

  it('follows minReadySeconds and annotations on the newest ReplicaSet', () => {
    const deployment = deploymentWith({ minReadySeconds: 7 }, SETTLED, { annotations: { [REVISION]: '1', note: 'z' } })
    const [patch] = planOf(deployment, [setOf(deployment, 'a')]).actions
    assert.ok(patch?.do === 'patch')
    assert.deepEqual(patch.patch, { metadata: { annotations: { note: 'z' } }, spec: { minReadySeconds: 7 } })
    assert.deepEqual(patch.events, [])
  })
})

describe('a paused Deployment', () => {
  const paused = deploymentWith({ paused: true, replicas: 3 }, SETTLED, { annotations: { [REVISION]: '1' } })

  it('says so, scales, and rolls nothing out', () => {
    const made = planOf(paused, [setOf(paused, 'a', { image: 'before' })])
    assert.deepEqual(summaryOf(made), ['patch Deployment web'])
    assert.equal(reasonOf(made), 'DeploymentPaused')
    const larger = deploymentWith({ paused: true, replicas: 6 }, SETTLED)
    assert.deepEqual(summaryOf(planOf(larger, [setOf(larger, 'a', { image: 'before' })])), ['patch ReplicaSet a 6', 'patch Deployment web'])
  })

  it('keeps its verdict when its time was up, and has the whole time again when resumed', () => {
    const late = { ...SETTLED, conditions: [AVAILABLE, cond('Progressing', 'False', 'ProgressDeadlineExceeded')] }
    assert.deepEqual(summaryOf(planOf({ ...paused, status: late }, [setOf(paused, 'a', { image: 'before' })])), ['patch Deployment web'])
    const waiting = { ...SETTLED, conditions: [AVAILABLE, cond('Progressing', 'Unknown', 'DeploymentPaused', 9000)] }
    const resumed = deploymentWith({}, waiting, { annotations: { [REVISION]: '1' } })
    const made = planOf(resumed, [setOf(resumed, 'a', { status: { replicas: 3, observedGeneration: 1 } })])
    assert.equal(reasonOf(made), 'DeploymentResumed')
    assert.equal(made.requeueAfterMs, 601_000)
  })
})

describe('Recreate', () => {
  const spec = { strategy: { type: 'Recreate' } }
  const deployment = deploymentWith(spec, SETTLED, { annotations: { [REVISION]: '1' } })
  const old = (shape: SetShape): ReplicaSet => setOf(deployment, 'a', { image: 'before', ...shape })
  const GONE = { replicas: 0, terminatingReplicas: 0, observedGeneration: 1 }

  it('takes all old pods away first', () => {
    assert.deepEqual(summaryOf(planOf(deployment, [old({})])), ['patch ReplicaSet a 0', 'patch Deployment web'])
  })

  it('waits for the last of them, as long as it runs', () => {
    const waits = (status: ReplicaSet['status'], pods: Pod[] = []): string[] =>
      summaryOf(planOf(deployment, [old({ replicas: 0, status })], { podsOf: () => pods })).filter((one) => one.startsWith('create'))
    assert.deepEqual(waits({ ...GONE, replicas: 1 }), [])
    assert.deepEqual(waits(GONE, [aPod('p', {}, { status: { phase: 'Running' } })]), [])
    assert.equal(waits(GONE, [aPod('p', {}, { status: { phase: 'Failed' } })]).length, 1)
    assert.equal(waits(GONE).length, 1)
  })

  it('is not stuck when it is scaled with old and new pods about', () => {
    const scaled = deploymentWith({ ...spec, replicas: 5 }, SETTLED)
    const sets = [old({ replicas: 1 }), setOf(scaled, 'b', { replicas: 2, revision: '2' })]
    assert.deepEqual(summaryOf(planOf(scaled, sets)).slice(0, 1), ['patch ReplicaSet a 0'])
  })
})

describe('history', () => {
  const deployment = deploymentWith({ revisionHistoryLimit: 1 }, SETTLED, { annotations: { [REVISION]: '5' } })
  const newest = setOf(deployment, 'e', { revision: '5' })
  const olds = (shape: SetShape = {}): ReplicaSet[] =>
    ['1', '2', '3'].map((revision) => setOf(deployment, `s${revision}`, { image: revision, replicas: 0, revision, ...shape }))

  it('keeps the latest revisions when the rollout is complete', () => {
    assert.deepEqual(summaryOf(planOf(deployment, [newest, ...olds()])), ['delete ReplicaSet s1', 'delete ReplicaSet s2'])
  })

  it('keeps all while it is not, and those that have pods or have not been looked at', () => {
    const busy = { ...deployment, status: { ...SETTLED, availableReplicas: 2 } }
    assert.ok(summaryOf(planOf(busy, [newest, ...olds()])).every((one) => !one.startsWith('delete')))
    const unseen = { replicas: 0, terminatingReplicas: 0 }
    assert.deepEqual(summaryOf(planOf(deployment, [newest, ...olds({ status: unseen })])), [])
    assert.deepEqual(summaryOf(planOf(deployment, [newest, ...olds({ metadata: { deletionTimestamp: at(1) } })])), [])
  })

  it('is written within its length', () => {
    const revisions = Array.from({ length: 500 }, (_, i) => String(1000 + i)).join(',')
    const set = setOf(deployment, 'a', { revision: '7', metadata: { annotations: { [REVISION]: '7', [HISTORY]: revisions } } })
    const { [HISTORY]: history = '' } = newestAnnotations(deployment, set, 8)
    assert.ok(history.length <= 2000)
    assert.ok(history.endsWith(',1499,7'))
    const odd = setOf(deployment, 'a', { metadata: { annotations: { [REVISION]: 'seven' } } })
    assert.deepEqual(newestAnnotations(deployment, odd, 8), {}, 'what cannot be read is left alone')
  })
})

describe('progress', () => {
  const stuck = { replicas: 3, observedGeneration: 1, terminatingReplicas: 0 }
  const status = (secondsAgo: number): DeploymentStatus => ({
    observedGeneration: 1,
    replicas: 3,
    updatedReplicas: 3,
    unavailableReplicas: 3,
    terminatingReplicas: 0,
    conditions: [cond('Available', 'False', 'MinimumReplicasUnavailable'), cond('Progressing', 'True', 'ReplicaSetUpdated', secondsAgo)],
  })
  const one = (secondsAgo: number, spec: DeploymentSpec = {}): Deployment =>
    deploymentWith(spec, status(secondsAgo), { annotations: { [REVISION]: '1' } })

  it('has a deadline', () => {
    const before = one(600)
    assert.deepEqual(planOf(before, [setOf(before, 'a', { status: stuck })]), { actions: [], requeueAfterMs: 1000 })
    const after = one(601)
    const made = planOf(after, [setOf(after, 'a', { status: stuck })])
    assert.equal(reasonOf(made), 'ProgressDeadlineExceeded')
    assert.equal(made.requeueAfterMs, undefined)
  })

  it('moves the deadline, also with the same reason', () => {
    const deployment = one(599)
    const made = planOf(deployment, [setOf(deployment, 'a', { status: { ...stuck, readyReplicas: 1 } })])
    const progressing = statusOf(made).conditions?.find(({ type }) => type === 'Progressing')
    assert.equal(progressing?.reason, 'ReplicaSetUpdated')
    assert.equal(progressing?.lastUpdateTime, '2026-01-01T00:00:00Z')
    assert.equal(progressing?.lastTransitionTime, at(599))
  })

  it('is not judged without a deadline', () => {
    const deployment = one(5000, { progressDeadlineSeconds: 2 ** 31 - 1 })
    const made = planOf(deployment, [setOf(deployment, 'a', { status: stuck })])
    assert.deepEqual(
      statusOf(made).conditions?.map(({ type }) => type),
      ['Available'],
    )
  })

  it('carries the failure of a ReplicaSet, the newest first, and drops it when it is over', () => {
    const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'no quota', lastTransitionTime: at(9) }
    const deployment = one(5)
    const failing = planOf(deployment, [setOf(deployment, 'a', { status: { ...stuck, conditions: [failure] } })])
    assert.deepEqual(
      statusOf(failing).conditions?.find(({ type }) => type === 'ReplicaFailure'),
      { ...failure, lastUpdateTime: at(9) },
    )
    const failed = { ...deployment, status: { ...status(5), conditions: [...(status(5).conditions ?? []), failure] } }
    const cured = planOf(failed, [setOf(deployment, 'a', { status: stuck })])
    assert.equal(reasonOf(cured, 'ReplicaFailure'), undefined)
    assert.equal(statusOf(cured).conditions?.length, 2)
  })
})
