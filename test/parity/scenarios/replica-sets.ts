/** ReplicaSets: which pods are theirs, which go first, and what is reported when none may be created. */
import { PODS, REPLICA_SETS, RESOURCE_QUOTAS } from '../../../src/kinds/kubernetes/resources.ts'
import { type Scenario, scenario } from '../scenario.ts'
import { NOWHERE, pod, quota, replicaSet, template } from './objects.ts'
import { gone, isUp, podsIn, seen } from './waits.ts'

const ALL = [REPLICA_SETS, PODS] as const
const COST = 'controller.kubernetes.io/pod-deletion-cost'

export const REPLICA_SET_SCENARIOS: readonly Scenario[] = [
  scenario('replica set: comes up', async (testbed) => {
    await testbed.create(replicaSet('web', 2))
    await isUp(testbed, 'web')
    await testbed.noteAll('up', ...ALL)
    await testbed.noteEvents('up')
  }),
  scenario('replica set: adopts matching orphans and makes the rest', async (testbed) => {
    await testbed.create(pod('mine', { app: 'web' }))
    await testbed.create(pod('other', { app: 'other' }))
    await podsIn(testbed, 2, 'Running')
    await testbed.create(replicaSet('web', 2))
    await isUp(testbed, 'web')
    await testbed.noteAll('adopted', ...ALL)
    await testbed.noteEvents('adopted')
  }),
  scenario('replica set: too many orphans, some go', async (testbed) => {
    for (const name of ['a', 'b', 'c']) await testbed.create(pod(name, { app: 'web' }))
    await podsIn(testbed, 3, 'Running')
    await testbed.create(replicaSet('web', 1))
    await isUp(testbed, 'web')
    testbed.note('pods', (await podsIn(testbed, 1, 'Running')).length)
    await testbed.noteAll('fewer', REPLICA_SETS)
  }),
  scenario('replica set: releases a relabelled pod', async (testbed) => {
    await testbed.create(replicaSet('web', 2))
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.patch(PODS, first?.metadata.name ?? '', { metadata: { labels: { app: 'freed' } } })
    await podsIn(testbed, 3, 'Running')
    await isUp(testbed, 'web')
    await testbed.noteAll('released', ...ALL)
  }),
  scenario('replica set: the cheapest pods go first', async (testbed) => {
    await testbed.create(replicaSet('web', 3))
    const pods = await podsIn(testbed, 3, 'Running')
    for (const [i, one] of pods.entries())
      await testbed.patch(PODS, one.metadata.name ?? '', {
        metadata: { annotations: { [COST]: String([5, -10, 20][i]), 'parity.test/i': String(i) } },
      })
    await testbed.patch(REPLICA_SETS, 'web', { spec: { replicas: 1 } })
    await isUp(testbed, 'web')
    await testbed.noteAll('left', ...ALL)
  }),
  scenario('replica set: pods that are not ready go before ready ones', async (testbed) => {
    await testbed.create(replicaSet('web', 3))
    const pods = await podsIn(testbed, 3, 'Running')
    for (const [i, one] of pods.entries())
      await testbed.patch(PODS, one.metadata.name ?? '', { metadata: { annotations: { 'parity.test/i': String(i) } } })
    await testbed.setReady(pods[1] ?? pod(''), false)
    await seen(testbed, REPLICA_SETS, 'web', ({ status }) => status?.readyReplicas === 2)
    await testbed.noteAll('one is not', ...ALL)
    await testbed.patch(REPLICA_SETS, 'web', { spec: { replicas: 2 } })
    await isUp(testbed, 'web')
    await testbed.noteAll('left', ...ALL)
  }),
  scenario('replica set: refused by a quota', async (testbed) => {
    await testbed.create(quota('few', { pods: '1' }))
    await testbed.until('the quota is counted', async () => (await testbed.get(RESOURCE_QUOTAS, 'few'))?.status?.hard !== undefined)
    await testbed.create(replicaSet('web', 2))
    await seen(testbed, REPLICA_SETS, 'web', ({ status }) => status?.availableReplicas === 1 && status.conditions !== undefined)
    const { status } = (await testbed.get(REPLICA_SETS, 'web')) ?? {}
    const failure = status?.conditions?.find(({ type }) => type === 'ReplicaFailure')
    testbed.note('condition', {
      status: failure?.status,
      reason: failure?.reason,
      saysQuota: /^pods "web-\w+" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1$/.test(
        failure?.message ?? '',
      ),
    })
    await testbed.delete(RESOURCE_QUOTAS, 'few')
    await isUp(testbed, 'web')
    await testbed.noteAll('allowed', ...ALL)
  }),
  scenario('replica set: failed pods are replaced', async (testbed) => {
    await testbed.create(replicaSet('web', 2))
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.finish(first ?? pod(''), 1)
    await podsIn(testbed, 2, 'Running')
    await isUp(testbed, 'web')
    await testbed.noteAll('replaced', ...ALL)
  }),
  scenario('replica set: pods without a node are not ready', async (testbed) => {
    await testbed.create(replicaSet('web', 2, { template: template('web', 'app:1', NOWHERE) }))
    await podsIn(testbed, 2, 'Pending')
    await testbed.noteAll('pending', ...ALL)
    await testbed.noteEvents('pending')
  }),
  scenario('replica set: waits minReadySeconds', async (testbed) => {
    await testbed.create(replicaSet('web', 2, { minReadySeconds: 8 }))
    await seen(testbed, REPLICA_SETS, 'web', ({ status }) => status?.readyReplicas === 2)
    await testbed.noteAll('ready', ...ALL)
    await isUp(testbed, 'web')
    await testbed.noteAll('available', ...ALL)
  }),
  scenario('replica set: deleted, its pods orphaned and adopted again', async (testbed) => {
    await testbed.create(replicaSet('web', 2))
    await isUp(testbed, 'web')
    await testbed.delete(REPLICA_SETS, 'web', { propagationPolicy: 'Orphan' })
    await gone(testbed, REPLICA_SETS, 'web')
    await testbed.noteAll('orphans', ...ALL)
    await testbed.create(replicaSet('web', 2))
    await isUp(testbed, 'web')
    await testbed.noteAll('adopted', ...ALL)
  }),
]
