import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aClusterRole, aConfigMap, aNamespace, anEvent, blockedBy, ownedBy } from '../../faultsim/builders/index.ts'
import { expectGone, expectThere } from '../../faultsim/expect/index.ts'
import { survives } from '../../faultsim/survives.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { CLUSTER_ROLES, CONFIG_MAPS, EVENTS, NAMESPACES, SERVICE_ACCOUNTS } from '../../kinds/kubernetes/resources.ts'
import { eventTtl } from './event-ttl/controller.ts'
import { GARBAGE_COLLECTOR } from './garbage/run.ts'
import { roleAggregation } from './role-aggregation/controller.ts'
import { rootCa } from './root-ca/controller.ts'
import { defaultServiceAccount } from './service-account/controller.ts'

const HOUR_MS = 3_600_000
const FEEDS = { metadata: { labels: { feeds: 'sum' } } }
const SUM = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { feeds: 'sum' } }] } }
const rule = (resource: string) => ({ rules: [{ apiGroups: [''], resources: [resource], verbs: ['get'] }] })

async function ownersAndOwned(cluster: WorldCluster): Promise<void> {
  for (const owner of ['behind', 'before']) {
    const one = await cluster.create(aConfigMap(`default/${owner}`))
    for (const n of [1, 2]) await cluster.create(aConfigMap(`default/${owner}-${n}`, ownedBy(owner === 'before' ? blockedBy(one) : one)))
  }
}

describe('housekeeping', () => {
  survives(
    { name: 'minicluster.housekeeping.namespace' },
    {
      steps: [
        (cluster) => cluster.create(aNamespace('a')),
        (cluster) => cluster.create(aConfigMap('a/held', { metadata: { finalizers: ['example.com/hold'] } })),
        (cluster) => cluster.delete(NAMESPACES, 'a'),
        (cluster) => cluster.patch(CONFIG_MAPS, 'a/held', { metadata: { finalizers: null } }),
        (cluster) => cluster.create(aNamespace('a')),
      ],
      invariants: [
        {
          says: 'nothing lives in a namespace that is gone',
          broken(objects) {
            const names = new Set(objects.list('namespaces').map((namespace) => namespace.metadata.name))
            return objects.list('configmaps').find((map) => !names.has(map.metadata.namespace))?.metadata.name
          },
        },
      ],
      async atRest(cluster) {
        assert.deepEqual((await expectThere(cluster, NAMESPACES, 'a')).status, { phase: 'Active' })
        await expectGone(cluster, CONFIG_MAPS, 'a/held')
      },
    },
  )

  survives(defaultServiceAccount, {
    role: 'hub',
    steps: [(cluster) => cluster.create(aNamespace('a')), (cluster) => cluster.delete(SERVICE_ACCOUNTS, 'a/default')],
    atRest: async (cluster) => void (await expectThere(cluster, SERVICE_ACCOUNTS, 'a/default')),
  })

  survives(
    rootCa(() => ''),
    {
      role: 'hub',
      steps: [
        (cluster) => cluster.create(aNamespace('a')),
        (cluster) => cluster.patch(CONFIG_MAPS, 'a/kube-root-ca.crt', { data: { 'ca.crt': 'forged' } }),
        (cluster) => cluster.delete(CONFIG_MAPS, 'a/kube-root-ca.crt'),
        async (cluster) => cluster.rotateAuthority('-----BEGIN CERTIFICATE-----\nnew\n-----END CERTIFICATE-----\n'),
      ],
      async atRest(cluster) {
        const map = await expectThere(cluster, CONFIG_MAPS, 'a/kube-root-ca.crt')
        assert.match((map.data as Record<string, string>)['ca.crt'] ?? '', /new/)
      },
    },
  )

  survives(roleAggregation, {
    steps: [
      (cluster) => cluster.create(aClusterRole('one', rule('pods'), FEEDS)),
      (cluster) => cluster.create(aClusterRole('sum', SUM)),
      (cluster) => cluster.create(aClusterRole('two', rule('secrets'), FEEDS)),
      (cluster) => cluster.patch(CLUSTER_ROLES, 'sum', { rules: [] }),
      (cluster) => cluster.delete(CLUSTER_ROLES, 'one'),
    ],
    async atRest(cluster) {
      assert.deepEqual((await expectThere(cluster, CLUSTER_ROLES, 'sum')).rules, rule('secrets').rules)
    },
  })

  survives(eventTtl(), {
    steps: [
      (cluster) => cluster.create(anEvent('default/early')),
      (cluster) => cluster.advance(HOUR_MS / 2),
      (cluster) => cluster.create(anEvent('default/late')),
      (cluster) => cluster.advance(HOUR_MS / 2 + 60_000),
    ],
    async atRest(cluster) {
      await expectGone(cluster, EVENTS, 'default/early')
      await expectThere(cluster, EVENTS, 'default/late')
    },
  })

  survives(
    { name: GARBAGE_COLLECTOR },
    {
      steps: [
        ownersAndOwned,
        (cluster) => cluster.delete(CONFIG_MAPS, 'default/behind'),
        (cluster) => cluster.delete(CONFIG_MAPS, 'default/before', { propagationPolicy: 'Foreground' }),
        ownersAndOwned,
        (cluster) => cluster.delete(CONFIG_MAPS, 'default/behind', { propagationPolicy: 'Orphan' }),
      ],
      async atRest(cluster) {
        const left = (await cluster.list(CONFIG_MAPS, { namespace: 'default' })).map((map) => map.metadata.name)
        assert.deepEqual(left, ['before', 'before-1', 'before-2', 'behind-1', 'behind-2', 'kube-root-ca.crt'])
      },
    },
  )
})
