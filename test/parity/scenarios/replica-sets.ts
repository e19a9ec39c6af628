/** ReplicaSets: whose pods are theirs, which go first, and what is said when none may be made. */
import { PODS, REPLICA_SETS, RESOURCE_QUOTAS } from '../../../src/kinds/kubernetes/resources.ts'
import { type Scenario, scenario } from '../scenario.ts'
import { NOWHERE, pod, quota, replicaSet, template } from './objects.ts'
import { gone, isUp, podsIn, seen } from './waits.ts'

const ALL = [REPLICA_SETS, PODS] as const
const COST = 'controller.kubernetes.io/pod-deletion-cost'

export const REPLICA_SET_SCENARIOS: readonly Scenario[] = [
  scenario('replica set: comes up', async (stage) => {
    await stage.create(replicaSet('web', 2))
    await isUp(stage, 'web')
    await stage.noteAll('up', ...ALL)
    await stage.noteEvents('up')
  }),
  scenario('replica set: adopts matching orphans and makes the rest', async (stage) => {
    await stage.create(pod('mine', { app: 'web' }))
    await stage.create(pod('other', { app: 'other' }))
    await podsIn(stage, 2, 'Running')
    await stage.create(replicaSet('web', 2))
    await isUp(stage, 'web')
    await stage.noteAll('adopted', ...ALL)
    await stage.noteEvents('adopted')
  }),
  scenario('replica set: too many orphans, some go', async (stage) => {
    for (const name of ['a', 'b', 'c']) await stage.create(pod(name, { app: 'web' }))
    await podsIn(stage, 3, 'Running')
    await stage.create(replicaSet('web', 1))
    await isUp(stage, 'web')
    stage.note('pods', (await podsIn(stage, 1, 'Running')).length)
    await stage.noteAll('fewer', REPLICA_SETS)
  }),
  scenario('replica set: releases a relabelled pod', async (stage) => {
    await stage.create(replicaSet('web', 2))
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.patch(PODS, first?.metadata.name ?? '', { metadata: { labels: { app: 'freed' } } })
    await podsIn(stage, 3, 'Running')
    await isUp(stage, 'web')
    await stage.noteAll('released', ...ALL)
  }),
  scenario('replica set: the cheapest pods go first', async (stage) => {
    await stage.create(replicaSet('web', 3))
    const pods = await podsIn(stage, 3, 'Running')
    for (const [i, one] of pods.entries())
      await stage.patch(PODS, one.metadata.name ?? '', {
        metadata: { annotations: { [COST]: String([5, -10, 20][i]), 'parity.test/i': String(i) } },
      })
    await stage.patch(REPLICA_SETS, 'web', { spec: { replicas: 1 } })
    await isUp(stage, 'web')
    await stage.noteAll('left', ...ALL)
  }),
  scenario('replica set: pods that are not ready go before ready ones', async (stage) => {
    await stage.create(replicaSet('web', 3))
    const pods = await podsIn(stage, 3, 'Running')
    for (const [i, one] of pods.entries())
      await stage.patch(PODS, one.metadata.name ?? '', { metadata: { annotations: { 'parity.test/i': String(i) } } })
    await stage.setReady(pods[1] ?? pod(''), false)
    await seen(stage, REPLICA_SETS, 'web', ({ status }) => status?.readyReplicas === 2)
    await stage.noteAll('one is not', ...ALL)
    await stage.patch(REPLICA_SETS, 'web', { spec: { replicas: 2 } })
    await isUp(stage, 'web')
    await stage.noteAll('left', ...ALL)
  }),
  scenario('replica set: refused by a quota', async (stage) => {
    await stage.create(quota('few', { pods: '1' }))
    await stage.until('the quota is counted', async () => (await stage.get(RESOURCE_QUOTAS, 'few'))?.status?.hard !== undefined)
    await stage.create(replicaSet('web', 2))
    await seen(stage, REPLICA_SETS, 'web', ({ status }) => status?.availableReplicas === 1 && status.conditions !== undefined)
    const { status } = (await stage.get(REPLICA_SETS, 'web')) ?? {}
    const failure = status?.conditions?.find(({ type }) => type === 'ReplicaFailure')
    stage.note('condition', {
      status: failure?.status,
      reason: failure?.reason,
      saysQuota: /^pods "web-\w+" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1$/.test(
        failure?.message ?? '',
      ),
    })
    await stage.delete(RESOURCE_QUOTAS, 'few')
    await isUp(stage, 'web')
    await stage.noteAll('allowed', ...ALL)
  }),
  scenario('replica set: failed pods are replaced', async (stage) => {
    await stage.create(replicaSet('web', 2))
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.finish(first ?? pod(''), 1)
    await podsIn(stage, 2, 'Running')
    await isUp(stage, 'web')
    await stage.noteAll('replaced', ...ALL)
  }),
  scenario('replica set: pods without a node are not ready', async (stage) => {
    await stage.create(replicaSet('web', 2, { template: template('web', 'app:1', NOWHERE) }))
    await podsIn(stage, 2, 'Pending')
    await stage.noteAll('pending', ...ALL)
    await stage.noteEvents('pending')
  }),
  scenario('replica set: waits minReadySeconds', async (stage) => {
    await stage.create(replicaSet('web', 2, { minReadySeconds: 8 }))
    await seen(stage, REPLICA_SETS, 'web', ({ status }) => status?.readyReplicas === 2)
    await stage.noteAll('ready', ...ALL)
    await isUp(stage, 'web')
    await stage.noteAll('available', ...ALL)
  }),
  scenario('replica set: deleted, its pods orphaned and adopted again', async (stage) => {
    await stage.create(replicaSet('web', 2))
    await isUp(stage, 'web')
    await stage.delete(REPLICA_SETS, 'web', { propagationPolicy: 'Orphan' })
    await gone(stage, REPLICA_SETS, 'web')
    await stage.noteAll('orphans', ...ALL)
    await stage.create(replicaSet('web', 2))
    await isUp(stage, 'web')
    await stage.noteAll('adopted', ...ALL)
  }),
]
