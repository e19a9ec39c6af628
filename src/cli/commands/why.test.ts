import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import pc from 'picocolors'
import { seededRandom } from '../../base/random.ts'
import { type Client, createClient } from '../../client/client.ts'
import { ApiError } from '../../client/errors.ts'
import { inProcessTransport } from '../../client/in-process.ts'
import type { Transport } from '../../client/transport.ts'
import { clusterOf, inThisProcess } from '../../composition.ts'
import { AUTHORITY, SERVICE_ACCOUNT_KEY } from '../../faultsim/world/fixed-keys.ts'
import { gateExplainer } from '../../gate/explain/index.ts'
import { CLUSTERS, PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { CONFIG_MAPS, JOBS } from '../../kinds/kubernetes/resources.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { groupVersion } from '../../kube/meta.ts'
import { refOfKey } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import { MODULES } from '../../modules.ts'
import { createMemoryStore } from '../../store/index.ts'
import { fakeMachine } from '../fake-machine.ts'
import { CommandError } from '../machine.ts'
import { realClock } from '../testing.ts'
import { whyText } from '../why-text.ts'
import { type WhyOptions, whyFrom } from './why.ts'

describe('sluice why', () => {
  const keys = { adminToken: 'admin', serviceAccountKey: SERVICE_ACCOUNT_KEY, clientAuthority: AUTHORITY }
  const store = createMemoryStore({ clock: realClock }).cluster('hub')
  const server = clusterOf({ bare: false, clock: realClock, random: seededRandom(1), port: 1, ...keys, role: 'hub', store })
  const client = createClient({ transport: inThisProcess(server), clock: realClock, random: seededRandom(1), userAgent: 'test' })
  before(async () => {
    await server.ready
    const metadata = { name: 'settings', namespace: 'default' }
    await client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  })

  async function ask(kind: string, name: string, options: WhyOptions = {}): Promise<{ out: string; error: string | undefined }> {
    const machine = fakeMachine()
    try {
      await whyFrom(machine, { client, where: 'the hub', namespace: 'default', explainers: [] }, { kind, name }, options)
      return { out: machine.said.out, error: undefined }
    } catch (error) {
      assert.ok(error instanceof CommandError)
      return { out: machine.said.out, error: error.message }
    }
  }

  it('explains what is there', async () => {
    const { out, error } = await ask('configmap', 'settings')
    assert.equal(error, undefined)
    assert.match(out, /^ConfigMap default\/settings\n(?:.*\n)*.*no policy selects it/)
  })

  const missing =
    'there is no ConfigMap default/nothing on the hub: create it on the hub, or name its namespace with -n; see: sluice get configmaps -A'
  it('fails for what is not there, with what to do', async () =>
    assert.deepEqual(await ask('configmap', 'nothing'), { out: '', error: missing }))

  it('fails for it as JSON, too, which is JSON all the same', async () => {
    const { out, error } = await ask('cm', 'nothing', { output: 'json' })
    assert.equal(error, missing)
    const { state, fix } = JSON.parse(out) as { state: string; fix: string }
    assert.deepEqual([state, fix], ['fails', 'create it on the hub, or name its namespace with -n'])
  })

  it('knows that some things lie in no namespace', async () => {
    const { error } = await ask('clusterrole', 'nothing')
    assert.equal(error, 'there is no ClusterRole nothing on the hub: create it on the hub; see: sluice get clusterroles')
  })
})

describe('sluice why on a member', () => {
  const keys = { adminToken: 'admin', serviceAccountKey: SERVICE_ACCOUNT_KEY, clientAuthority: AUTHORITY }
  const store = createMemoryStore({ clock: realClock }).cluster('member1')
  const server = clusterOf({ bare: false, clock: realClock, random: seededRandom(1), port: 1, ...keys, role: 'member', store })
  const client = createClient({ transport: inThisProcess(server), clock: realClock, random: seededRandom(1), userAgent: 'test' })
  before(() => server.ready)

  const table: [string, string, string][] = [
    [
      'what only a hub explains: ask it',
      'dataload',
      'member1 is no hub, and explains only datasets, their runtimes and pods; ask a hub with --context (that of sluice up is called hub): sluice why dataload/x -n default --context hub',
    ],
    [
      'what is not there: what is',
      'dataset',
      'there is no Dataset default/x in this cluster: create it, name its namespace with -n, or another cluster with --context; see: kubectl get datasets -A --context member1',
    ],
  ]
  for (const [name, kind, expected] of table)
    it(`says of ${name}`, async () => {
      const member = { client, where: 'member1', namespace: 'default', explainers: MODULES.flatMap(({ explainers }) => explainers) }
      await assert.rejects(
        whyFrom(fakeMachine(), member, { kind, name: 'x' }, { context: 'member1' }),
        (error) => error instanceof CommandError && error.message === expected,
      )
    })
})

describe('sluice why on data dependencies', () => {
  const keys = { adminToken: 'admin', serviceAccountKey: SERVICE_ACCOUNT_KEY, clientAuthority: AUTHORITY }
  const store = createMemoryStore({ clock: realClock }).cluster('hub')
  const server = clusterOf({ bare: false, clock: realClock, random: seededRandom(1), port: 1, ...keys, role: 'hub', store })
  const clientOver = (transport: Transport): Client =>
    createClient({ transport, clock: realClock, random: seededRandom(1), userAgent: 'test' })
  const admin = clientOver(inThisProcess(server))
  /** May read Jobs and claims of one namespace, and nothing else. */
  const tenant = clientOver(inProcessTransport(server, { name: 'ann', groups: ['system:authenticated'] }))

  before(async () => {
    await server.ready
    for (const name of ['east', 'west', 'north']) await aCluster(name, name !== 'north')
    const selector = { apiVersion: 'batch/v1', kind: 'Job', name: 'report' }
    await create(PROPAGATION_POLICIES, 'default/batch', { spec: { resourceSelectors: [selector] } })
    await create(DATA_SOURCES, 'sales-1', { spec: dataOf('table', 'sales', ['west', 'north']), status: REFS })
    await create(DATA_SOURCES, 'clicks-view', { spec: dataOf('view', 'clicks', ['east']) })
    await create(JOBS, 'default/report', { spec: JOB }, CLAIMED)
    await aClaim('sales', BOUND)
    await aClaim('clicks', WAITING)
    const annotations = { ...CLAIMED.annotations, ...HELD }
    await create(RESOURCE_BINDINGS, 'default/report-job', { spec: { resource: REPORT, suspension: { scheduling: true } } }, { annotations })
    const readers = [{ apiGroup: RBAC, kind: 'User', name: 'ann' }]
    await create(ROLES, 'default/reads', { rules: [readOnly('batch', 'jobs'), readOnly(DATA_SOURCES.group, 'datasourceclaims')] })
    await create(ROLE_BINDINGS, 'default/reads', { roleRef: { apiGroup: RBAC, kind: 'Role', name: 'reads' }, subjects: readers })
  })

  async function ask(kind: string, name: string, client = admin, options: WhyOptions = {}): Promise<string> {
    const machine = fakeMachine()
    const hub = { client, where: 'the hub', namespace: 'default', explainers: [gateExplainer] }
    await whyFrom(machine, hub, { kind, name }, options)
    return machine.said.out
  }
  const lines = (...all: string[]): string => `${all.join('\n')}\n`

  it('explains a workload by its claims, the sources and the clusters', async () => {
    assert.equal(
      await ask('job', 'report'),
      lines(
        'Job default/report',
        '  ✓ template  Job default/report is on the hub',
        '  ✓ policy    PropagationPolicy default/batch selects it',
        '  ✓ binding   ResourceBinding default/report-job',
        `  … data      claim clicks: NoSuchSource: ${NOT_THERE}`,
        '  ✓ data      claim sales: DataSource sales-1, in north (not ready), west',
        '  … gate      held: NoSuchSource',
        `  … schedule  scheduling is suspended: claim clicks: ${NOT_THERE}`,
        '',
        `… it is held (NoSuchSource): claim clicks: ${NOT_THERE}`,
        '  To do: ask an administrator to register a DataSource of system hive, type table, name clicks, or annotate the workload that makes it with sluice.dev/produces: hive/table/clicks',
      ),
    )
  })

  it('explains a claim that waits, under each of its names', async () => {
    const expected = lines(
      'DataSourceClaim default/clicks',
      '  ✓ claim     hive/table/clicks, for Job report',
      `  … resolved  NoSuchSource: ${NOT_THERE}`,
      '      DataSource clicks-view is of hive/view, not of hive/table',
      '      DataSource sales-1 is for sales, not for clicks',
      '  … workload  Job report is held: NoSuchSource',
      '      sluice why job/report -n default',
      '',
      `… NoSuchSource: ${NOT_THERE}`,
      '  To do: ask an administrator to register a DataSource of system hive, type table, name clicks, or annotate the workload that makes it with sluice.dev/produces: hive/table/clicks',
    )
    for (const kind of ['dsc', 'datasourceclaim', 'DataSourceClaims', 'datasourceclaims.datadependency.volcano.sh'])
      assert.equal(await ask(kind, 'clicks'), expected, kind)
  })

  it('explains a claim that is bound while its workload waits for another', async () => {
    const text = await ask('dsc', 'sales')
    assert.match(text, /✓ resolved {2}DataSource sales-1 is bound\n {2}✓ ready {5}the data is in north \(not ready\), west\n/)
    assert.match(text, /To do: see what it waits for: sluice why job\/report -n default\n$/)
  })

  it('explains a source', async () => {
    assert.equal(
      await ask('datasource', 'sales-1'),
      lines(
        'DataSource sales-1',
        '  ✓ source    hive/table/sales',
        '  ✓ made      no workload has made it',
        '  ✓ clusters  the data is in north (not ready), west',
        '  ✓ claims    1 claim is bound: default/sales',
        '  ✓ deletion  deleting it unbinds its claim first: what runs stays, what is new waits for another source',
        '      reclaim policy Retain: it stays when its last claim is gone',
        '',
        '✓ its data is in north (not ready), west; 1 claim is bound',
      ),
    )
  })

  it('gives machines the same', async () => {
    const { state, fix, links, clusters } = JSON.parse(await ask('dsc', 'clicks', admin, { output: 'json' })) as Record<string, unknown>
    assert.equal(state, 'waits')
    assert.match(String(fix), /^ask an administrator/)
    assert.deepEqual(
      (links as { what: string; state: string }[]).map((link) => `${link.what} ${link.state}`),
      ['claim ok', 'resolved waits', 'workload waits'],
    )
    assert.deepEqual(clusters, [])
  })

  it('fails for a claim that is not there', async () => {
    await assert.rejects(
      ask('dsc', 'nothing'),
      /there is no DataSourceClaim default\/nothing on the hub.*see: sluice get datasourceclaims -A/,
    )
  })

  describe('for a tenant', () => {
    it('explains a workload by the claims, which are his own', async () => {
      const text = await ask('job', 'report', tenant)
      assert.match(text, /✓ data {6}claim sales: DataSource sales-1, which may not be read by you\n/)
      assert.match(text, /rights {4}you may not read its binding, clusters, policies\n/)
      assert.match(text, /\n… it waits \(NoSuchSource\): claim clicks: .*\n {2}To do: ask an administrator to register/)
    })

    it('explains a claim without naming sources that he cannot see', async () => {
      const text = await ask('dsc', 'clicks', tenant)
      assert.match(text, /DataSources may not be read by you: which of them come near is not shown\n/)
      assert.match(text, /workload {2}Job report: its binding may not be read by you\n/)
      assert.doesNotMatch(text, /clicks-view/)
    })

    it('refuses what he may not read at all', async () => {
      await assert.rejects(ask('datasource', 'sales-1', tenant), (error) => error instanceof ApiError && error.code === 403)
    })
  })

  it('asks the hub a handful of times, whatever there is', async () => {
    let requests = 0
    const inner = inThisProcess(server)
    const request: Transport['request'] = (asked) => {
      requests += 1
      return inner.request(asked)
    }
    const counting = clientOver({ ...inner, request })
    const counted = async (kind: string, name: string): Promise<number> => {
      requests = 0
      await ask(kind, name, counting)
      return requests
    }
    assert.ok((await counted('datasource', 'sales-1')) <= 4)
    assert.ok((await counted('dsc', 'clicks')) <= 12, 'one per kind of workload, and a few')
    const before = await counted('job', 'report')
    assert.ok(before <= 12)
    for (let i = 0; i < 20; i++) await aClaim(`other-${i}`, WAITING, 'somebody-else')
    assert.equal(await counted('job', 'report'), before)
  })

  it('says nothing about data where claims are not served', async () => {
    const other = createMemoryStore({ clock: realClock }).cluster('hub')
    const modules = MODULES.filter(({ name }) => name !== 'gate')
    const bare = clusterOf({ bare: false, clock: realClock, random: seededRandom(1), port: 1, ...keys, role: 'hub', store: other, modules })
    await bare.ready
    const client = clientOver(inThisProcess(bare))
    await client.create(JOBS, { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'report', namespace: 'default' }, spec: JOB })
    assert.doesNotMatch(await ask('job', 'report', client), /data|gate/)
  })

  /** With its status, if it has one. */
  async function create(
    resource: Resource,
    key: string,
    body: { status?: object; [field: string]: unknown },
    more: object = {},
  ): Promise<void> {
    const { namespace, name } = refOfKey(key)
    const { status, ...rest } = body
    const metadata = { name, ...(namespace === '' ? {} : { namespace }), ...more }
    const apiVersion = groupVersion(resource.group, resource.version)
    const created = await admin.create(resource, { apiVersion, kind: resource.kind, metadata, ...rest })
    if (status !== undefined) await admin.update(resource, { ...created, status }, { subresource: 'status' })
  }

  const aCluster = (name: string, isReady: boolean): Promise<void> =>
    create(CLUSTERS, name, {
      spec: { syncMode: 'Push' },
      status: { conditions: [condition('Ready', isReady ? 'True' : 'False', 'r', 'm')] },
    })

  /** On data of its own name. */
  const aClaim = (name: string, status: object, job = 'report'): Promise<void> => {
    const workload = { apiVersion: 'batch/v1', kind: 'Job', name: job }
    return create(DATA_SOURCE_CLAIMS, `default/${name}`, {
      spec: { system: 'hive', dataSourceType: 'table', dataSourceName: name, workload },
      status,
    })
  }
})

describe('the text of an explanation', () => {
  it('lets nobody write into the terminal of whoever asks', () => {
    const says = 'evil\u001b[2J\u202e\nsecond'
    const template = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'b' }
    const text = whyText(
      { template, state: 'waits', says, fix: says, links: [{ what: 'data', state: 'ok', says, more: [says] }], clusters: [], others: {} },
      pc.createColors(false),
    )
    assert.match(text, /evil\\u\{1b\}\[2J\\u\{202e\} second/)
    assert.equal(text.split('\n').length, 7, 'a line break in a text makes no line')
    for (const char of ['\u001b', '\u202e']) assert.equal(text.includes(char), false)
  })
})

const NOW = '2026-01-01T00:00:00Z'
const NOT_THERE = 'there is no DataSource for hive/table/clicks, and no workload says that it makes it'
const RBAC = 'rbac.authorization.k8s.io'
const rbac = (plural: string, kind: string): Resource => ({ group: RBAC, version: 'v1', plural, kind, namespaced: true })
const readOnly = (group: string, plural: string) => ({ apiGroups: [group], resources: [plural], verbs: ['get', 'list'] })
const dataOf = (type: string, name: string, clusterNames: string[]) => ({ system: 'hive', type, name, locality: { clusterNames } })
const ROLES = rbac('roles', 'Role')
const ROLE_BINDINGS = rbac('rolebindings', 'RoleBinding')
const REPORT = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name: 'report' }
const JOB = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } }
const CLAIMED = {
  labels: { 'propagationpolicy.karmada.io/permanent-id': 'p1' },
  annotations: { 'propagationpolicy.karmada.io/namespace': 'default', 'propagationpolicy.karmada.io/name': 'batch' },
}
const HELD = {
  'sluice.dev/narrowed-by': 'gate',
  'sluice.dev/held-reason': 'NoSuchSource',
  'sluice.dev/held-because': `claim clicks: ${NOT_THERE}`,
  'sluice.dev/held-by': 'DataSourceClaim/clicks',
}
const REFS = { claimRefs: [{ namespace: 'default', name: 'sales' }], boundClaims: 1 }
const condition = (type: string, status: string, reason: string, message: string) => ({
  type,
  status,
  reason,
  message,
  observedGeneration: 1,
  lastTransitionTime: NOW,
})
const WAITING = {
  phase: 'Pending',
  conditions: [
    condition('Resolved', 'False', 'NoSuchSource', NOT_THERE),
    condition('Ready', 'Unknown', 'NotResolved', 'no DataSource is bound'),
    condition('Placed', 'Unknown', 'NotResolved', 'no DataSource is bound'),
  ],
}
const BOUND = {
  phase: 'Bound',
  boundTo: 'sales-1',
  boundDataSource: 'sales-1',
  conditions: [
    condition('Resolved', 'True', 'SourceFound', 'DataSource sales-1 matches'),
    condition('Ready', 'True', 'Available', 'DataSource sales-1 is in a cluster that is ready'),
    condition('Placed', 'False', 'NoSuchSource', `Job default/report is held: claim clicks: ${NOT_THERE}`),
    condition('Bound', 'True', 'BindingSuccessful', 'DataSource sales-1 is bound'),
  ],
}
