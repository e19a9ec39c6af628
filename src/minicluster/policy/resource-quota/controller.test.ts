import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError } from '../../../client/errors.ts'
import { aConfigMap, aDefinition, aWidget } from '../../../faultsim/builders/index.ts'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import { CONFIG_MAPS, PODS, RESOURCE_QUOTAS, SERVICES } from '../../../kinds/kubernetes/resources.ts'
import type { Pod, ResourceQuota, ResourceQuotaSpec } from '../../../kinds/kubernetes/types.ts'
import { quantityOf } from '../../../kube/quantity.ts'
import { plan } from './plan.ts'

const MEMBER = { members: 1, hub: false }

const aQuota = (name: string, hard: ResourceQuotaSpec['hard'], more: ResourceQuotaSpec = {}): ResourceQuota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name, namespace: 'default' },
  spec: { hard, ...more },
})

function aPod(name: string, requests: Record<string, string> = {}, spec: Pod['spec'] = {}): Pod {
  const containers = [{ name: 'main', image: 'work', resources: { requests } }]
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec: { containers, ...spec } }
}

async function statusOf(cluster: WorldCluster, name: string): Promise<ResourceQuota['status']> {
  return ((await cluster.get(RESOURCE_QUOTAS, `default/${name}`)) as ResourceQuota | undefined)?.status
}

const usedOf = async (cluster: WorldCluster, name: string) => (await statusOf(cluster, name))?.used

describe('resource quotas', () => {
  story(
    'what is used follows what exists',
    async (world) => {
      const { member } = world
      await member.create(aPod('before', { cpu: '100m' }))
      await member.create(
        aQuota('all', { pods: '3', 'requests.cpu': '1', 'count/configmaps': '10', services: '2', 'services.nodeports': 1 }),
      )
      await world.settle()
      const { hard, used } = (await statusOf(member, 'all')) ?? {}
      assert.deepEqual(hard, { pods: '3', 'requests.cpu': '1', 'count/configmaps': '10', services: '2', 'services.nodeports': '1' })
      // The namespace contains kube-root-ca.crt.
      assert.deepEqual(used, { pods: '1', 'requests.cpu': '100m', 'count/configmaps': '1', services: '1', 'services.nodeports': '0' })
      await member.create(aPod('one', { cpu: '250m' }))
      await member.create(aPod('two', { cpu: '250m' }))
      await member.create(aConfigMap('default/map'))
      await world.settle()
      assert.deepEqual(await usedOf(member, 'all'), {
        pods: '3',
        'requests.cpu': '600m',
        'count/configmaps': '2',
        services: '1',
        'services.nodeports': '0',
      })
      await assert.rejects(member.create(aPod('three', { cpu: '250m' })), (error) => error instanceof ApiError && error.code === 403)
      // What is deleted or has ended gives back what it used.
      await member.delete(PODS, 'default/one', { gracePeriodSeconds: 0 })
      await member.patch(PODS, 'default/two', { status: { phase: 'Succeeded' } }, 'status')
      await member.delete(CONFIG_MAPS, 'default/map')
      await world.settle()
      assert.deepEqual(await usedOf(member, 'all'), {
        pods: '1',
        'requests.cpu': '100m',
        'count/configmaps': '1',
        services: '1',
        'services.nodeports': '0',
      })
      await member.create(aPod('three', { cpu: '250m' }))
    },
    MEMBER,
  )

  story(
    'a quota that changes is counted anew',
    async (world) => {
      const { member } = world
      await member.create(aQuota('all', { pods: '3', 'count/nowhere.example.com': '5' }))
      await world.settle()
      // That kind is not served, so its number is unknown.
      assert.deepEqual(await statusOf(member, 'all'), { hard: { pods: '3', 'count/nowhere.example.com': '5' }, used: { pods: '0' } })
      await member.update(RESOURCE_QUOTAS, 'default/all', (quota) => {
        quota.spec = { hard: { 'count/services': '4', 'count/resourcequotas': '1' } }
      })
      await world.settle()
      assert.deepEqual(await statusOf(member, 'all'), {
        hard: { 'count/services': '4', 'count/resourcequotas': '1' },
        used: { 'count/services': '1', 'count/resourcequotas': '1' },
      })
      await member.delete(SERVICES, 'default/kubernetes')
      await world.settle()
      assert.equal((await usedOf(member, 'all'))?.['count/services'], '0')
    },
    MEMBER,
  )

  story(
    'custom resources count as well',
    async (world) => {
      const { member } = world
      await member.create(aDefinition('Widget'))
      await world.settle()
      await member.create(aWidget('default/one'))
      await member.create(aQuota('widgets', { 'count/widgets.example.com': '2' }))
      await world.settle()
      assert.deepEqual(await usedOf(member, 'widgets'), { 'count/widgets.example.com': '1' })
      await member.delete({ group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true }, 'default/one')
      await world.settle()
      assert.deepEqual(await usedOf(member, 'widgets'), { 'count/widgets.example.com': '0' })
    },
    MEMBER,
  )

  story(
    'scopes choose what counts',
    async (world) => {
      const { member } = world
      await member.create(aQuota('best', { pods: '5' }, { scopes: ['BestEffort'] }))
      await member.create(
        aQuota('rest', { pods: '5' }, { scopeSelector: { matchExpressions: [{ scopeName: 'NotBestEffort', operator: 'Exists' }] } }),
      )
      await member.create(aQuota('ending', { pods: '5' }, { scopes: ['Terminating'] }))
      await world.settle()
      await member.create(aPod('modest'))
      await member.create(aPod('asking', { cpu: '1', memory: '1Gi' }, { activeDeadlineSeconds: 100 }))
      await member.create(aPod('asking-too', { cpu: '1', memory: '1Gi' }))
      await world.settle()
      const used = async () => Promise.all(['best', 'rest', 'ending'].map(async (name) => (await usedOf(member, name))?.pods))
      assert.deepEqual(await used(), ['1', '2', '1'])
      await member.delete(PODS, 'default/asking', { gracePeriodSeconds: 0 })
      await world.settle()
      assert.deepEqual(await used(), ['1', '1', '0'])
    },
    MEMBER,
  )

  it('does not take back what a cache has not seen yet', () => {
    const quota: ResourceQuota = { ...aQuota('q', { pods: '3' }), status: { hard: { pods: '3' }, used: { pods: '2' } } }
    const none = new Map([['pods', quantityOf(0)]])
    assert.deepEqual(plan({ quota, counted: [{ names: ['pods'], state: 'unsure' }] }), { actions: [], requeueAfterMs: 10_000 })
    assert.deepEqual(plan({ quota, counted: [{ names: ['pods'], state: 'behind' }] }), { actions: [], requeueAfterMs: 100 })
    assert.equal(plan({ quota, counted: [{ names: ['pods'], state: 'counted', used: none }] }).actions.length, 1)
  })

  survives(
    { name: 'minicluster.policy.resource-quota' },
    {
      steps: [
        (cluster) => cluster.create(aQuota('all', { pods: '2', 'count/configmaps': '5' })),
        (cluster) => cluster.create(aPod('one')),
        (cluster) => cluster.create(aConfigMap('default/map')),
        (cluster) => cluster.delete(PODS, 'default/one', { gracePeriodSeconds: 0 }),
        (cluster) => cluster.delete(CONFIG_MAPS, 'default/map'),
      ],
      async atRest(cluster) {
        assert.deepEqual(await usedOf(cluster, 'all'), { pods: '0', 'count/configmaps': '1' })
      },
    },
  )
})
