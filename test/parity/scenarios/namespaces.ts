/** What namespaces have: quotas that count, accounts with tokens, and their end. */
import { messageOf } from '../../../src/base/error-text.ts'
import {
  CLUSTER_ROLES,
  CONFIG_MAPS,
  NAMESPACES,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  RESOURCE_QUOTAS,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../../src/kinds/kubernetes/resources.ts'
import type { ClusterRole, Secret, ServiceAccount } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, scenario, type Testbed } from '../scenario.ts'
import { asking, claim, deployment, pod, quota, service } from './objects.ts'
import { gone, podsIn, rolledOut } from './waits.ts'

const used = (testbed: Testbed, resource: string, amount: string) =>
  testbed.until(
    `${amount} ${resource} are used`,
    async () => (await testbed.get(RESOURCE_QUOTAS, 'room'))?.status?.used?.[resource] === amount,
  )

const tokenSecret = (name: string, account: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, annotations: { 'kubernetes.io/service-account.name': account } },
  type: 'kubernetes.io/service-account-token',
})

const account = (name: string): ServiceAccount => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })

/** Keys and what surrounds them: contents are secrets of the one server. */
async function noteSecrets(testbed: Testbed, label: string): Promise<void> {
  const secrets = await testbed.list(SECRETS)
  testbed.note(
    label,
    secrets.map(({ metadata, data, type }) => ({
      name: metadata.name,
      type,
      keys: Object.keys(data ?? {}).sort(),
      namespace: Buffer.from(data?.namespace ?? '', 'base64').toString() === testbed.namespace,
      annotations: Object.keys(metadata.annotations ?? {}).sort(),
    })),
  )
}

export const NAMESPACE_SCENARIOS: readonly Scenario[] = [
  scenario('quota: counts pods and what they ask for', async (testbed) => {
    await testbed.create(quota('room', { pods: '3', 'requests.cpu': '4', 'requests.memory': '8Gi', 'count/deployments.apps': '2' }))
    await used(testbed, 'pods', '0')
    await testbed.noteAll('empty', RESOURCE_QUOTAS)
    await testbed.create(pod('one', {}, asking('1500m', '2Gi')))
    await testbed.create(pod('two', {}, asking('500m')))
    await podsIn(testbed, 2, 'Running')
    await used(testbed, 'pods', '2')
    await testbed.noteAll('two', RESOURCE_QUOTAS)
    await testbed.delete(PODS, 'one')
    await used(testbed, 'pods', '1')
    await testbed.noteAll('one', RESOURCE_QUOTAS)
  }),
  scenario('quota: finished pods count no more', async (testbed) => {
    await testbed.create(quota('room', { pods: '2', 'count/pods': '5' }))
    await used(testbed, 'pods', '0')
    await testbed.create(pod('once', {}, { restartPolicy: 'Never' }))
    const [once] = await podsIn(testbed, 1, 'Running')
    await used(testbed, 'pods', '1')
    await testbed.finish(once ?? pod(''), 0)
    await used(testbed, 'pods', '0')
    await testbed.noteAll('finished', RESOURCE_QUOTAS)
  }),
  scenario('quota: counts objects of other kinds', async (testbed) => {
    await testbed.create(
      quota('room', {
        services: '5',
        'services.nodeports': '2',
        configmaps: '9',
        persistentvolumeclaims: '3',
        'requests.storage': '10Gi',
        secrets: '9',
      }),
    )
    await used(testbed, 'services', '0')
    await testbed.create(service('web'))
    await testbed.create(service('open', { type: 'NodePort' }))
    await testbed.create(claim('data', '3Gi', { storageClassName: '' }))
    await testbed.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } })
    await used(testbed, 'services', '2')
    await used(testbed, 'configmaps', '2')
    await testbed.noteAll('counted', RESOURCE_QUOTAS)
    await testbed.delete(SERVICES, 'open')
    await testbed.delete(PERSISTENT_VOLUME_CLAIMS, 'data')
    await used(testbed, 'services', '1')
    await used(testbed, 'requests.storage', '0')
    await testbed.noteAll('fewer', RESOURCE_QUOTAS)
  }),
  scenario('quota: of best effort pods only', async (testbed) => {
    await testbed.create(quota('room', { pods: '2' }, { scopes: ['BestEffort'] }))
    await used(testbed, 'pods', '0')
    await testbed.create(pod('cheap'))
    await testbed.create(pod('dear', {}, asking('1')))
    await podsIn(testbed, 2, 'Running')
    await used(testbed, 'pods', '1')
    await testbed.noteAll('one', RESOURCE_QUOTAS)
  }),
  scenario('quota: changed limits are taken over', async (testbed) => {
    await testbed.create(quota('room', { pods: '1' }))
    await used(testbed, 'pods', '0')
    await testbed.patch(RESOURCE_QUOTAS, 'room', { spec: { hard: { pods: '5', secrets: '4' } } })
    await used(testbed, 'secrets', '0')
    await testbed.noteAll('changed', RESOURCE_QUOTAS)
  }),
  scenario('quota: refuses, and says what', async (testbed) => {
    await testbed.create(quota('room', { pods: '1', 'requests.cpu': '1' }))
    await used(testbed, 'pods', '0')
    const refusal = async (name: string, spec: Record<string, unknown>): Promise<string> => {
      try {
        await testbed.create(pod(name, {}, spec))
        return 'created'
      } catch (error) {
        return messageOf(error)
      }
    }
    testbed.note('no request', await refusal('a', {}))
    testbed.note('too much', await refusal('b', asking('2')))
    testbed.note('fits', await refusal('c', asking('1')))
    testbed.note('one too many', await refusal('d', asking('100m')))
  }),
  scenario('account: a token secret is filled', async (testbed) => {
    await testbed.create(account('robot'))
    await testbed.create(tokenSecret('robot-token', 'robot'))
    await testbed.until('a token', async () => (await testbed.get(SECRETS, 'robot-token'))?.data?.token !== undefined)
    await noteSecrets(testbed, 'filled')
    await testbed.noteAll('account', SERVICE_ACCOUNTS)
    await testbed.delete(SERVICE_ACCOUNTS, 'robot')
    await gone(testbed, SECRETS, 'robot-token')
    await noteSecrets(testbed, 'gone')
  }),
  scenario('account: a token secret of nobody is deleted', async (testbed) => {
    await testbed.create(tokenSecret('ghost-token', 'ghost'))
    await gone(testbed, SECRETS, 'ghost-token')
    await noteSecrets(testbed, 'gone')
  }),
  scenario('account: default comes back', async (testbed) => {
    const before = await testbed.get(SERVICE_ACCOUNTS, 'default')
    await testbed.delete(SERVICE_ACCOUNTS, 'default')
    await testbed.until('again', async () => {
      const now = await testbed.get(SERVICE_ACCOUNTS, 'default')
      return now !== undefined && now.metadata.uid !== before?.metadata.uid
    })
    await testbed.noteAll('again', SERVICE_ACCOUNTS)
  }),
  scenario('namespace: the root certificate comes back', async (testbed) => {
    await testbed.patch(CONFIG_MAPS, 'kube-root-ca.crt', { data: { 'ca.crt': 'wrong', more: 'x' } })
    await testbed.until(
      'repaired',
      async () => (await testbed.get(CONFIG_MAPS, 'kube-root-ca.crt'))?.data?.['ca.crt']?.startsWith('-----BEGIN') === true,
    )
    const { metadata, data } = (await testbed.get(CONFIG_MAPS, 'kube-root-ca.crt')) ?? { metadata: {} }
    testbed.note('repaired', { keys: Object.keys(data ?? {}), annotations: metadata.annotations })
  }),
  scenario('namespace: deleted with everything in it', async (testbed) => {
    const name = `${testbed.namespace}-sub`
    await testbed.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    await testbed.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'held', namespace: name, finalizers: ['parity.test/hold'] },
    })
    await testbed.delete(NAMESPACES, name)
    await testbed.until('it says what holds it', async () =>
      ((await testbed.get(NAMESPACES, name))?.status?.conditions ?? []).some(
        ({ type, status }) => type === 'NamespaceFinalizersRemaining' && status === 'True',
      ),
    )
    await testbed.noteAll('held', NAMESPACES)
  }),
  scenario(
    'namespace: a deployment in a full one says so',
    async (testbed) => {
      await testbed.create(quota('room', { pods: '1' }))
      await used(testbed, 'pods', '0')
      await testbed.create(deployment('web', 2))
      await testbed.until('it says so', async () => {
        const [web] = await testbed.list({ group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true })
        const conditions = (web as { status?: { conditions?: { type: string }[] } } | undefined)?.status?.conditions
        return conditions?.some(({ type }) => type === 'ReplicaFailure') === true
      })
      await testbed.delete(RESOURCE_QUOTAS, 'room')
      await rolledOut(testbed, 'web')
      testbed.note('up', true)
    },
    { slow: true },
  ),
  scenario('roles: rules are gathered by label', async (testbed) => {
    const role = (name: string, rest: Partial<ClusterRole>, labels?: Record<string, string>): ClusterRole => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: `${testbed.namespace}-${name}`, labels },
      ...rest,
    })
    const label = { 'parity.test/gather': testbed.namespace }
    const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] })
    await testbed.create(role('all', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: label }] } }))
    await testbed.create(role('b', { rules: [rule('pods')] }, label))
    await testbed.create(role('a', { rules: [rule('secrets'), rule('pods')] }, label))
    const gathered = (count: number) =>
      testbed.until(
        `${count} rules`,
        async () => ((await testbed.get(CLUSTER_ROLES, `${testbed.namespace}-all`))?.rules ?? []).length === count,
      )
    await gathered(2)
    await testbed.noteAll('gathered', CLUSTER_ROLES)
    await testbed.delete(CLUSTER_ROLES, `${testbed.namespace}-a`)
    await gathered(1)
    await testbed.noteAll('fewer', CLUSTER_ROLES)
  }),
]
