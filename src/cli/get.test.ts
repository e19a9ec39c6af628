import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { parse } from 'yaml'
import { seededRandom } from '../base/random.ts'
import { type Client, createClient } from '../client/client.ts'
import { discoverResources } from '../client/discovery.ts'
import { inProcessTransport } from '../client/in-process.ts'
import type { ConnectMember } from '../client/members.ts'
import { namedResource } from '../client/named-resource.ts'
import { type Transport, TransportError } from '../client/transport.ts'
import { clusterOf, inThisProcess } from '../composition.ts'
import { AUTHORITY, SERVICE_ACCOUNT_KEY } from '../faultsim/world/fixed-keys.ts'
import { DATASETS } from '../kinds/fluid/resources.ts'
import { CLUSTERS } from '../kinds/karmada/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'
import { MODULES } from '../modules.ts'
import { createMemoryStore } from '../store/index.ts'
import { type Fleet, type GetOptions, getFrom } from './commands/get.ts'
import { type FakeMachine, fakeMachine } from './fake-machine.ts'
import { CommandError } from './machine.ts'
import { runCommand } from './program.ts'
import { realClock, until } from './testing.ts'

const core = (plural: string, kind: string, namespaced = true): Resource => ({ group: '', version: 'v1', plural, kind, namespaced })
const CONFIG_MAPS = core('configmaps', 'ConfigMap')
const MANAGED = { 'karmada.io/managed': 'true' }

const aConfigMap = (name: string, namespace = 'default', labels: Record<string, string> = {}, data = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data }) as KubeObject

const WIDGETS: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.dev' },
  spec: {
    group: 'example.dev',
    scope: 'Cluster',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        additionalPrinterColumns: [
          { name: 'Size', type: 'string', jsonPath: '.size' },
          { name: 'Colour', type: 'string', jsonPath: '.colour', priority: 1 },
        ],
      },
    ],
  },
}

/** Without what depends on elapsed time. */
const squeezed = (rows: readonly string[]): string[] => rows.map((row) => row.replace(/\b\d+[smh]\b/g, 'AGE').replace(/ +/g, ' '))

describe('sluice get', () => {
  const memory = createMemoryStore({ clock: realClock })
  const keys = { adminToken: 'admin', serviceAccountKey: SERVICE_ACCOUNT_KEY, clientAuthority: AUTHORITY }
  const common = { bare: false, clock: realClock, random: seededRandom(1), port: 1, ...keys }
  const hub = clusterOf({ ...common, role: 'hub', store: memory.cluster('hub') })
  const servers = new Map(
    ['member1', 'member2', 'member3'].map((name) => [name, clusterOf({ ...common, role: 'member', store: memory.cluster(name) })]),
  )
  const clientTo = (transport: Transport): Client =>
    createClient({ transport, clock: realClock, random: seededRandom(1), userAgent: 'test' })
  const at = (name: string): Client => {
    const server = servers.get(name)
    assert.ok(server)
    return clientTo(inThisProcess(server))
  }
  let machine: FakeMachine
  let away = new Map<string, () => Promise<never>>()
  let tokens: string[] = []
  let pages: string[] = []
  let open = 0
  const connect: ConnectMember = (cluster, { token }) => {
    const name = cluster.metadata.name ?? ''
    const server = servers.get(name)
    if (server === undefined) return undefined
    tokens.push(`${name} ${token}`)
    open++
    const inner = inProcessTransport(server, { name: 'hub', groups: ['system:masters'] })
    return {
      request(request) {
        pages.push(`${name} ${request.path}`)
        return away.get(name)?.() ?? inner.request(request)
      },
      async close() {
        open--
      },
    }
  }
  const fleet = (): Fleet => ({
    ...{ hub: clientTo(inThisProcess(hub)), transport: inThisProcess(hub), context: 'hub', connect },
    ...{ namespace: 'default', where: 'the hub', overviews: MODULES.flatMap((module) => module.overviews) },
  })
  const run = async (words: string, options: GetOptions = {}): Promise<string[]> => {
    await getFrom(machine, fleet(), words.split(' '), options)
    return machine.said.out
      .replace(/\b\d+[smh]\b/g, 'AGE')
      .split('\n')
      .slice(0, -1)
  }

  before(async () => {
    await Promise.all([hub.ready, ...[...servers.values()].map(({ ready }) => ready)])
    const client = clientTo(inThisProcess(hub))
    for (const name of servers.keys()) {
      const data = { token: Buffer.from(`of-${name}\n`).toString('base64') }
      await client.create(core('secrets', 'Secret'), {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: 'default' },
        data,
      } as KubeObject)
      const spec = { syncMode: 'Push', id: name, apiEndpoint: `https://${name}`, secretRef: { namespace: 'default', name } }
      await client.create(CLUSTERS, { apiVersion: 'cluster.karmada.io/v1alpha1', kind: 'Cluster', metadata: { name }, spec } as never)
    }
    await at('member2').create(CONFIG_MAPS, aConfigMap('web', 'default', MANAGED, { a: '1', b: '2' }))
    await at('member1').create(CONFIG_MAPS, aConfigMap('web', 'default', { ...MANAGED, app: 'web' }))
    await at('member1').create(CONFIG_MAPS, aConfigMap('own', 'default', { app: 'web' }, { multi: 'line\u2028one\n\n  two: 3\n' }))
    await at('member3').create(CONFIG_MAPS, aConfigMap('zone', 'kube-public'))
    await at('member3').create(
      { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions', kind: '', namespaced: false },
      WIDGETS,
    )
    const widgets = { group: 'example.dev', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: false }
    const widget = { apiVersion: 'example.dev/v1', kind: 'Widget', metadata: { name: 'big' }, size: 'XL', colour: 'red' } as KubeObject
    await until(async () => namedResource(await discoverResources(at('member3')), 'wd') !== undefined)
    await at('member3').create(widgets, widget)
  })
  after(() => {
    for (const one of [hub, ...servers.values()]) one.stop()
  })
  beforeEach(() => {
    machine = Object.assign(fakeMachine(), { clock: realClock })
    away = new Map()
    tokens = []
    pages = []
    open = 0
  })

  it('shows the objects of all clusters in one table', async () => {
    assert.deepEqual(squeezed(await run('cm')), [
      'CLUSTER NAME DATA AGE ADOPTION',
      'member1 own 1 AGE N',
      'member1 web 0 AGE Y',
      'member2 web 2 AGE Y',
    ])
    assert.equal(machine.said.err, '')
    assert.deepEqual(tokens.sort(), ['member1 of-member1', 'member2 of-member2', 'member3 of-member3'])
    assert.equal(open, 0)
  })

  it('of all namespaces, with a name, with labels, of some clusters', async () => {
    const rows = await run('configmaps', { allNamespaces: true, clusters: 'member3, member1' })
    assert.match(rows[0] ?? '', /^CLUSTER +NAMESPACE +NAME +DATA +AGE +ADOPTION$/)
    assert.ok(rows.some((row) => /^member3 +kube-public +zone /.test(row)))
    assert.ok(!rows.some((row) => row.startsWith('member2')))
    for (const [words, options, clusters] of [
      ['cm web', {}, ['member1', 'member2']],
      ['cm/web', {}, ['member1', 'member2']],
      ['cm', { selector: 'app=web' }, ['member1', 'member1']],
      ['ConfigMap zone', { namespace: 'kube-public' }, ['member3']],
      ['ns kube-system', {}, ['member1', 'member2', 'member3']],
    ] as const) {
      machine.said.out = ''
      const found = await run(words, options)
      assert.deepEqual(
        found.slice(1).map((row) => row.split(' ')[0]),
        clusters,
        words,
      )
    }
  })

  it('says which cluster does not serve it, and why another does not answer', async () => {
    away.set('member2', () => Promise.reject(new TransportError('refused\u001b[2J')))
    assert.deepEqual(squeezed(await run('wd', { output: 'wide' })), ['CLUSTER NAME SIZE COLOUR ADOPTION', 'member3 big XL red N'])
    assert.deepEqual(machine.said.err.split('\n'), ['member1: does not serve "wd"', 'member2: does not answer: refused\ufffd[2J', ''])
    machine.said.out = ''
    assert.deepEqual(squeezed(await run('widgets.example.dev')), ['CLUSTER NAME SIZE ADOPTION', 'member3 big XL N'])
  })

  it('waits for nobody for ever', async () => {
    away.set('member2', () => new Promise(() => undefined))
    machine.clock = {
      now: () => realClock.now(),
      after: (delayMs, callback) => realClock.after(delayMs === 10_000 ? 100 : delayMs, callback),
    }
    assert.equal((await run('cm web')).length, 2)
    assert.equal(machine.said.err, 'member2: does not answer within 10 s\n')
  })

  it('fails when no cluster can say anything, or none has what is named', async () => {
    await assert.rejects(
      run('gadgets'),
      (error) => error instanceof CommandError && /none of 3 clusters could say anything about "gadgets"/.test(error.message),
    )
    assert.equal(machine.said.err.split('\n')[0], 'member1: does not serve "gadgets"')
    await assert.rejects(run('cm gone'), /no cluster has cm "gone" in default namespace/)
    await assert.rejects(run('cm', { clusters: 'member1,other' }), /the hub has no cluster "other"/)
    await assert.rejects(run('cm', { clusters: ',' }), /--clusters names no cluster/)
    await assert.rejects(run('cm', { output: 'xml' }), /-o takes wide, json or yaml, not "xml"/)
    await assert.rejects(run('cm/ x y'), /name a resource/)
    const [member] = servers.values()
    assert.ok(member)
    await assert.rejects(
      getFrom(machine, { ...fleet(), hub: clientTo(inThisProcess(member)) }, ['cm'], { allNamespaces: true }),
      /the hub is no hub, and lists only datasets; name one with --context .*: sluice get cm -A --context hub$/,
    )
  })

  describe('of datasets', () => {
    const aDataset = (where: string, mountPoint: string, labels: Record<string, string> = {}): KubeObject => {
      const [namespace = '', name = ''] = where.split('/')
      return {
        apiVersion: 'data.fluid.io/v1alpha1',
        kind: 'Dataset',
        metadata: { namespace, name, labels },
        spec: { mounts: [{ mountPoint }] },
      }
    }
    const status = {
      ...{ phase: 'Bound', ufsTotal: '2.00GiB', fileNum: '17', conditions: [], datasetRef: ['default/cats'] },
      cacheStates: { cached: '1.00GiB', cacheCapacity: '4.00GiB', cachedPercentage: '50.0%' },
    }
    const header = 'CLUSTER NAMESPACE NAME REFERS TO UFS TOTAL SIZE CACHED CACHE CAPACITY CACHED PERCENTAGE PHASE'

    before(async () => {
      for (const name of ['member1', 'member2']) {
        const member = at(name)
        await member.create(DATASETS, aDataset('kube-public/images', 's3://one', MANAGED))
        await member.create(DATASETS, aDataset('default/cats', 'dataset://kube-public/images/cats', name === 'member1' ? MANAGED : {}))
      }
      const ref = { namespace: 'kube-public', name: 'images' }
      await at('member1').patch(DATASETS, ref, { type: 'merge', body: { status }, subresource: 'status' })
    })

    it('shows those with sources and those that refer to them in one table, of each member', async () => {
      assert.deepEqual(squeezed(await run('datasets', { allNamespaces: true })), [
        `${header} AGE ADOPTION`,
        'member1 default cats kube-public/images/cats AGE Y',
        'member2 default cats kube-public/images/cats AGE N',
        'member1 kube-public images 2.00GiB 1.00GiB 4.00GiB 50.0% Bound AGE Y',
        'member2 kube-public images AGE Y',
      ])
    })

    it('counts references on request, and has all that there is as JSON and YAML', async () => {
      const [titles, first] = squeezed(await run('dataset', { namespace: 'kube-public', output: 'wide' }))
      assert.match(titles ?? '', / PHASE REFERENCES HCFS URL TOTAL FILES /)
      assert.match(first ?? '', / Bound 1 17 /)
      for (const output of ['json', 'yaml']) {
        machine.said.out = ''
        const { items } = parse((await run('datasets/images', { namespace: 'kube-public', output })).join('\n')) as {
          items: { cluster: string; object: KubeObject }[]
        }
        assert.deepEqual(
          items.map(({ cluster, object }) => [cluster, object.kind, (object.status as typeof status | undefined)?.datasetRef]),
          [
            ['member1', 'Dataset', ['default/cats']],
            ['member2', 'Dataset', undefined],
          ],
        )
      }
    })

    it('shows those of one cluster that is no hub, too', async () => {
      const member = servers.get('member2')
      assert.ok(member)
      const own = { ...fleet(), hub: clientTo(inThisProcess(member)), transport: inThisProcess(member), context: 'member2' }
      const rows = async (words: string, options: GetOptions): Promise<string[]> => {
        machine.said.out = ''
        await getFrom(machine, own, [words], options)
        return squeezed(machine.said.out.split('\n').slice(0, -1))
      }
      assert.deepEqual(await rows('datasets', { allNamespaces: true }), [
        `${header} AGE ADOPTION`,
        'member2 default cats kube-public/images/cats AGE N',
        'member2 kube-public images AGE Y',
      ])
      assert.match((await rows('dataset/cats', { output: 'json' })).join(''), /"cluster": "member2"/)
      await assert.rejects(rows('datasets/gone', {}), /no cluster has datasets "gone" in default namespace/)
      await assert.rejects(rows('datasets', { clusters: 'member1' }), /has no cluster "member1"/)
      await assert.rejects(rows('cm', {}), /is no hub, and lists only datasets; name one with --context .* sluice get cm --context hub$/)
    })
  })

  it('says that there is nothing', async () => {
    assert.deepEqual(await run('secrets', { namespace: 'kube-public' }), [])
    assert.equal(machine.said.err, 'No resources found in kube-public namespace.\n')
    machine.said.err = ''
    await run('secrets', { allNamespaces: true, selector: 'no=such' })
    assert.equal(machine.said.err, 'No resources found\n')
  })

  it('lists whole objects as JSON and YAML, each beside its cluster', async () => {
    const read = async (
      output: 'json' | 'yaml',
      words = 'cm',
      options: GetOptions = {},
    ): Promise<{ cluster: string; object: KubeObject }[]> => {
      machine.said.out = ''
      await run(words, { output, ...options })
      const list = (output === 'json' ? JSON.parse(machine.said.out) : parse(machine.said.out)) as { kind: string; items: [] }
      assert.equal(list.kind, 'List')
      return list.items
    }
    const json = await read('json')
    assert.deepEqual(
      json.map(({ cluster, object: { apiVersion, kind, metadata } }) => `${cluster} ${apiVersion} ${kind} ${metadata.name}`),
      ['member1 v1 ConfigMap own', 'member1 v1 ConfigMap web', 'member2 v1 ConfigMap web'],
    )
    assert.deepEqual(json[0]?.object.data, { multi: 'line\u2028one\n\n  two: 3\n' })
    assert.deepEqual(await read('yaml'), json)
    for (const output of ['json', 'yaml'] as const) assert.deepEqual(await read(output, 'cm', { selector: 'no=such' }), [])
  })

  it('reads long lists page by page', async () => {
    const COUNT = 1200
    const name = (i: number): string => `many-${String(i).padStart(4, '0')}`
    for (const member of ['member1', 'member2'])
      for (let i = 0; i < COUNT; i++) await at(member).create(CONFIG_MAPS, aConfigMap(name(i), 'kube-node-lease'))
    pages = []
    const rows = await run('cm', { namespace: 'kube-node-lease' })
    assert.equal(rows.length, 2 * COUNT + 1)
    assert.deepEqual(
      rows.slice(1, 5).map((row) => row.split(/ +/).slice(0, 2).join(' ')),
      [`member1 ${name(0)}`, `member2 ${name(0)}`, `member1 ${name(1)}`, `member2 ${name(1)}`],
    )
    assert.equal(pages.filter((page) => page.startsWith('member1')).length, 3)
    machine.said.out = ''
    await run('cm', { namespace: 'kube-node-lease', output: 'json' })
    const { items } = JSON.parse(machine.said.out) as { items: { cluster: string; object: KubeObject }[] }
    assert.deepEqual(
      items.map(({ cluster, object }) => `${object.metadata.name} ${cluster}`),
      Array.from({ length: COUNT }, (_, i) => [`${name(i)} member1`, `${name(i)} member2`]).flat(),
    )
  })

  it('has colours for people only', async () => {
    machine.isTerminal = true
    await run('cm web')
    const coloured = machine.said.out
    machine.isTerminal = false
    machine.said.out = ''
    const plain = await run('cm web')
    const bare = coloured
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
      .replace(/\u001b\[\d+m/g, '')
      .split('\n')
      .slice(0, -1)
    assert.deepEqual(squeezed(bare), squeezed(plain))
  })

  it('is a command', async () => {
    const outside = fakeMachine()
    assert.equal(await runCommand(outside, ['get', 'deploy', '-A']), 1)
    assert.match(outside.said.err, /there is no cluster to talk to/)
    assert.equal(await runCommand(outside, ['get', 'deploy', '-o', 'xml']), 1)
    assert.match(outside.said.err, /-o takes wide, json or yaml/)
  })
})
