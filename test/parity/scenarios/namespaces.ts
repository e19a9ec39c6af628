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
import { type Scenario, type Stage, scenario } from '../scenario.ts'
import { asking, claim, deployment, pod, quota, service } from './objects.ts'
import { gone, podsIn, rolledOut } from './waits.ts'

const used = (stage: Stage, resource: string, amount: string) =>
  stage.until(`${amount} ${resource} are used`, async () => (await stage.get(RESOURCE_QUOTAS, 'room'))?.status?.used?.[resource] === amount)

const tokenSecret = (name: string, account: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, annotations: { 'kubernetes.io/service-account.name': account } },
  type: 'kubernetes.io/service-account-token',
})

const account = (name: string): ServiceAccount => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })

/** Keys and what surrounds them: contents are secrets of the one server. */
async function noteSecrets(stage: Stage, label: string): Promise<void> {
  const secrets = await stage.list(SECRETS)
  stage.note(
    label,
    secrets.map(({ metadata, data, type }) => ({
      name: metadata.name,
      type,
      keys: Object.keys(data ?? {}).sort(),
      namespace: Buffer.from(data?.namespace ?? '', 'base64').toString() === stage.namespace,
      annotations: Object.keys(metadata.annotations ?? {}).sort(),
    })),
  )
}

export const NAMESPACE_SCENARIOS: readonly Scenario[] = [
  scenario('quota: counts pods and what they ask for', async (stage) => {
    await stage.create(quota('room', { pods: '3', 'requests.cpu': '4', 'requests.memory': '8Gi', 'count/deployments.apps': '2' }))
    await used(stage, 'pods', '0')
    await stage.noteAll('empty', RESOURCE_QUOTAS)
    await stage.create(pod('one', {}, asking('1500m', '2Gi')))
    await stage.create(pod('two', {}, asking('500m')))
    await podsIn(stage, 2, 'Running')
    await used(stage, 'pods', '2')
    await stage.noteAll('two', RESOURCE_QUOTAS)
    await stage.delete(PODS, 'one')
    await used(stage, 'pods', '1')
    await stage.noteAll('one', RESOURCE_QUOTAS)
  }),
  scenario('quota: finished pods count no more', async (stage) => {
    await stage.create(quota('room', { pods: '2', 'count/pods': '5' }))
    await used(stage, 'pods', '0')
    await stage.create(pod('once', {}, { restartPolicy: 'Never' }))
    const [once] = await podsIn(stage, 1, 'Running')
    await used(stage, 'pods', '1')
    await stage.finish(once ?? pod(''), 0)
    await used(stage, 'pods', '0')
    await stage.noteAll('finished', RESOURCE_QUOTAS)
  }),
  scenario('quota: counts objects of other kinds', async (stage) => {
    await stage.create(
      quota('room', {
        services: '5',
        'services.nodeports': '2',
        configmaps: '9',
        persistentvolumeclaims: '3',
        'requests.storage': '10Gi',
        secrets: '9',
      }),
    )
    await used(stage, 'services', '0')
    await stage.create(service('web'))
    await stage.create(service('open', { type: 'NodePort' }))
    await stage.create(claim('data', '3Gi', { storageClassName: '' }))
    await stage.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } })
    await used(stage, 'services', '2')
    await used(stage, 'configmaps', '2')
    await stage.noteAll('counted', RESOURCE_QUOTAS)
    await stage.delete(SERVICES, 'open')
    await stage.delete(PERSISTENT_VOLUME_CLAIMS, 'data')
    await used(stage, 'services', '1')
    await used(stage, 'requests.storage', '0')
    await stage.noteAll('fewer', RESOURCE_QUOTAS)
  }),
  scenario('quota: of best effort pods only', async (stage) => {
    await stage.create(quota('room', { pods: '2' }, { scopes: ['BestEffort'] }))
    await used(stage, 'pods', '0')
    await stage.create(pod('cheap'))
    await stage.create(pod('dear', {}, asking('1')))
    await podsIn(stage, 2, 'Running')
    await used(stage, 'pods', '1')
    await stage.noteAll('one', RESOURCE_QUOTAS)
  }),
  scenario('quota: changed limits are taken over', async (stage) => {
    await stage.create(quota('room', { pods: '1' }))
    await used(stage, 'pods', '0')
    await stage.patch(RESOURCE_QUOTAS, 'room', { spec: { hard: { pods: '5', secrets: '4' } } })
    await used(stage, 'secrets', '0')
    await stage.noteAll('changed', RESOURCE_QUOTAS)
  }),
  scenario('quota: refuses, and says what', async (stage) => {
    await stage.create(quota('room', { pods: '1', 'requests.cpu': '1' }))
    await used(stage, 'pods', '0')
    const refusal = async (name: string, spec: Record<string, unknown>): Promise<string> => {
      try {
        await stage.create(pod(name, {}, spec))
        return 'created'
      } catch (error) {
        return messageOf(error)
      }
    }
    stage.note('no request', await refusal('a', {}))
    stage.note('too much', await refusal('b', asking('2')))
    stage.note('fits', await refusal('c', asking('1')))
    stage.note('one too many', await refusal('d', asking('100m')))
  }),
  scenario('account: a token secret is filled', async (stage) => {
    await stage.create(account('robot'))
    await stage.create(tokenSecret('robot-token', 'robot'))
    await stage.until('a token', async () => (await stage.get(SECRETS, 'robot-token'))?.data?.token !== undefined)
    await noteSecrets(stage, 'filled')
    await stage.noteAll('account', SERVICE_ACCOUNTS)
    await stage.delete(SERVICE_ACCOUNTS, 'robot')
    await gone(stage, SECRETS, 'robot-token')
    await noteSecrets(stage, 'gone')
  }),
  scenario('account: a token secret of nobody is deleted', async (stage) => {
    await stage.create(tokenSecret('ghost-token', 'ghost'))
    await gone(stage, SECRETS, 'ghost-token')
    await noteSecrets(stage, 'gone')
  }),
  scenario('account: default comes back', async (stage) => {
    const before = await stage.get(SERVICE_ACCOUNTS, 'default')
    await stage.delete(SERVICE_ACCOUNTS, 'default')
    await stage.until('again', async () => {
      const now = await stage.get(SERVICE_ACCOUNTS, 'default')
      return now !== undefined && now.metadata.uid !== before?.metadata.uid
    })
    await stage.noteAll('again', SERVICE_ACCOUNTS)
  }),
  scenario('namespace: the root certificate comes back', async (stage) => {
    await stage.patch(CONFIG_MAPS, 'kube-root-ca.crt', { data: { 'ca.crt': 'wrong', more: 'x' } })
    await stage.until(
      'repaired',
      async () => (await stage.get(CONFIG_MAPS, 'kube-root-ca.crt'))?.data?.['ca.crt']?.startsWith('-----BEGIN') === true,
    )
    const { metadata, data } = (await stage.get(CONFIG_MAPS, 'kube-root-ca.crt')) ?? { metadata: {} }
    stage.note('repaired', { keys: Object.keys(data ?? {}), annotations: metadata.annotations })
  }),
  scenario('namespace: deleted with everything in it', async (stage) => {
    const name = `${stage.namespace}-sub`
    await stage.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    await stage.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'held', namespace: name, finalizers: ['parity.test/hold'] },
    })
    await stage.delete(NAMESPACES, name)
    await stage.until('it says what holds it', async () =>
      ((await stage.get(NAMESPACES, name))?.status?.conditions ?? []).some(
        ({ type, status }) => type === 'NamespaceFinalizersRemaining' && status === 'True',
      ),
    )
    await stage.noteAll('held', NAMESPACES)
  }),
  scenario(
    'namespace: a deployment in a full one says so',
    async (stage) => {
      await stage.create(quota('room', { pods: '1' }))
      await used(stage, 'pods', '0')
      await stage.create(deployment('web', 2))
      await stage.until('it says so', async () => {
        const [web] = await stage.list({ group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true })
        const conditions = (web as { status?: { conditions?: { type: string }[] } } | undefined)?.status?.conditions
        return conditions?.some(({ type }) => type === 'ReplicaFailure') === true
      })
      await stage.delete(RESOURCE_QUOTAS, 'room')
      await rolledOut(stage, 'web')
      stage.note('up', true)
    },
    { slow: true },
  ),
  scenario('roles: rules are gathered by label', async (stage) => {
    const role = (name: string, rest: Partial<ClusterRole>, labels?: Record<string, string>): ClusterRole => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: `${stage.namespace}-${name}`, labels },
      ...rest,
    })
    const label = { 'parity.test/gather': stage.namespace }
    const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] })
    await stage.create(role('all', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: label }] } }))
    await stage.create(role('b', { rules: [rule('pods')] }, label))
    await stage.create(role('a', { rules: [rule('secrets'), rule('pods')] }, label))
    const gathered = (count: number) =>
      stage.until(`${count} rules`, async () => ((await stage.get(CLUSTER_ROLES, `${stage.namespace}-all`))?.rules ?? []).length === count)
    await gathered(2)
    await stage.noteAll('gathered', CLUSTER_ROLES)
    await stage.delete(CLUSTER_ROLES, `${stage.namespace}-a`)
    await gathered(1)
    await stage.noteAll('fewer', CLUSTER_ROLES)
  }),
]
