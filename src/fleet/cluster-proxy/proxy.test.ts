import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { SCRIPTED_OBJECTS, type ScriptedNode, scriptedNode } from '../../apiserver/streams/scripted-node.ts'
import { settle } from '../../apiserver/testing.ts'
import { seededRandom } from '../../base/random.ts'
import { type Client, createClient } from '../../client/client.ts'
import { inProcessTransport } from '../../client/in-process.ts'
import type { MemberCredentials } from '../../client/members.ts'
import { NetworkLink } from '../../client/network-link.ts'
import { readAll, type Transport, TransportError, type TransportRequest } from '../../client/transport.ts'
import { clusterOf, inThisProcess } from '../../composition.ts'
import { AUTHORITY, SERVICE_ACCOUNT_KEY } from '../../faultsim/world/fixed-keys.ts'
import type { ApiRequest, ApiResponse } from '../../kube/http.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { createMemoryStore } from '../../store/index.ts'
import { manualClock } from '../../store/suite-harness.ts'

const CLUSTERS = '/apis/cluster.karmada.io/v1alpha1/clusters'
const PROXY = `${CLUSTERS}/member1/proxy`
const ADMIN = { name: 'admin', groups: ['system:masters'] }
const JANE = { name: 'jane', groups: ['dev'] }

const encoded = (text: string): string => Buffer.from(text).toString('base64')
const secret = (name: string, data: Record<string, string>): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default' },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, encoded(text)])),
})
const aCluster = (name: string, spec: object = {}): object => ({
  apiVersion: 'cluster.karmada.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name },
  spec: {
    syncMode: 'Push',
    id: name,
    apiEndpoint: `https://${name}.example:6443`,
    secretRef: { namespace: 'default', name: 'hub-token' },
    impersonatorSecretRef: { namespace: 'default', name: 'impersonator-token' },
    ...spec,
  },
})
const grant = (name: string, rules: object[], user: string): [string, object][] => [
  [
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules },
  ],
  [
    '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    },
  ],
]

interface Answer {
  status: number
  headers: ApiResponse['headers']
  text: string
  message: string
}

describe('clusters/proxy', () => {
  const clock = manualClock(Date.UTC(2026, 0, 1))
  const memory = createMemoryStore({ clock })
  const keys = { adminToken: 'admin', serviceAccountKey: SERVICE_ACCOUNT_KEY, clientAuthority: AUTHORITY }
  const common = { bare: false, clock, random: seededRandom(1), port: 1, ...keys }
  const errors: unknown[] = []
  const onInternalError = (error: unknown): void => void errors.push(error)
  let node: ScriptedNode = scriptedNode()
  const member = clusterOf({
    ...common,
    role: 'member',
    store: memory.cluster('member1'),
    nodes: { find: (one) => node.find(one) },
    onInternalError,
  })
  const link = new NetworkLink()
  let asked: TransportRequest[] = []
  let connected: { cluster: string; credentials: MemberCredentials }[] = []
  let closed = 0
  let instead: ((request: TransportRequest) => ReturnType<Transport['request']>) | undefined
  const hub = clusterOf({
    ...common,
    role: 'hub',
    store: memory.cluster('hub'),
    onInternalError,
    connectMember(cluster, credentials) {
      connected.push({ cluster: cluster.metadata.name ?? '', credentials })
      if (cluster.metadata.name === 'pathless') return undefined
      const memberTransport = link.over(inThisProcess(member))
      return {
        request(request) {
          asked.push(request)
          return instead === undefined ? memberTransport.request(request) : instead(request)
        },
        connect: memberTransport.connect,
        async close() {
          closed++
        },
      }
    },
  })

  const ask = (method: string, url: string, more: Partial<ApiRequest> = {}): Promise<ApiResponse> =>
    hub.handle({ method, url, headers: {}, as: ADMIN, ...more })
  const answerTo = async (method: string, url: string, more: Partial<ApiRequest> = {}): Promise<Answer> => {
    const response = await inProcessTransport({ handle: () => ask(method, url, more) }, ADMIN).request({ method, path: url, headers: {} })
    const text = (await readAll(response.body)).toString()
    const { message = '' } = text.startsWith('{') ? (JSON.parse(text) as { message?: string }) : {}
    return { status: response.status, headers: response.headers as ApiResponse['headers'], text, message }
  }
  const create = async (on: typeof hub, url: string, object: object): Promise<void> => {
    const answer = await on.handle({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      as: ADMIN,
      body: Buffer.from(JSON.stringify(object)),
    })
    assert.equal(answer.status, 201, Buffer.from((answer.body as Uint8Array | undefined) ?? []).toString())
  }
  const clientAs = (as: { name: string; groups: string[] }): Client => {
    const transport = inProcessTransport(hub, as)
    // Like a kubeconfig whose server is that path.
    const below: Transport = {
      request: (request) => transport.request({ ...request, path: PROXY + request.path }),
      connect: (request, handlers) => transport.connect?.({ ...request, path: PROXY + request.path }, handlers) as never,
      close: () => transport.close(),
    }
    return createClient({ transport: below, clock, random: seededRandom(1), userAgent: 'test' })
  }

  before(async () => {
    await Promise.all([hub.ready, member.ready])
    const secrets = '/api/v1/namespaces/default/secrets'
    await create(hub, secrets, secret('hub-token', { token: 'of-the-hub', caBundle: 'the authority' }))
    await create(hub, secrets, secret('impersonator-token', { token: 'of-the-impersonator\n' }))
    await create(hub, secrets, secret('empty', {}))
    await create(hub, CLUSTERS, aCluster('member1'))
    await create(hub, CLUSTERS, aCluster('plain', { impersonatorSecretRef: undefined }))
    await create(hub, CLUSTERS, aCluster('pathless'))
    await create(hub, CLUSTERS, aCluster('homeless', { apiEndpoint: undefined }))
    await create(hub, CLUSTERS, aCluster('tokenless', { impersonatorSecretRef: { namespace: 'default', name: 'empty' } }))
    await create(hub, CLUSTERS, aCluster('secretless', { impersonatorSecretRef: { namespace: 'default', name: 'gone' } }))
    await create(hub, CLUSTERS, aCluster('nameless', { secretRef: undefined, impersonatorSecretRef: undefined }))
    const proxy = { apiGroups: ['cluster.karmada.io'], resources: ['clusters/proxy'] }
    for (const [url, object] of grant('jane', [{ ...proxy, resourceNames: ['member1'], verbs: ['get'] }], 'jane'))
      await create(hub, url, object)
    for (const [url, object] of grant('writer', [{ ...proxy, verbs: ['*'] }], 'writer')) await create(hub, url, object)
    for (const [url, object] of grant(
      'reader',
      [{ apiGroups: [''], resources: ['configmaps', 'nodes'], verbs: ['get', 'list', 'watch'] }],
      'jane',
    ))
      await create(member, url, object)
    const exec = [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['create', 'get'] }]
    for (const user of ['jane', 'writer']) for (const [url, object] of grant(`exec-${user}`, exec, user)) await create(member, url, object)
    await create(member, '/api/v1/namespaces/default/serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default' },
    })
    for (const [url, object] of SCRIPTED_OBJECTS) await create(member, url, object as object)
  })
  after(() => {
    assert.deepEqual(errors, [])
    hub.stop()
    member.stop()
  })
  beforeEach(() => {
    asked = []
    connected = []
    instead = undefined
    node = scriptedNode()
    link.mend()
  })

  it('is in discovery, as Karmada has it', async () => {
    const list = JSON.parse((await answerTo('GET', '/apis/cluster.karmada.io/v1alpha1')).text) as { resources: { name: string }[] }
    assert.deepEqual(
      list.resources.find(({ name }) => name === 'clusters/proxy'),
      {
        name: 'clusters/proxy',
        singularName: '',
        namespaced: false,
        kind: 'ClusterProxyOptions',
        verbs: ['create', 'delete', 'get', 'patch', 'update'],
      },
    )
  })

  it('answers as the member would: lists, tables, versions, discovery, errors', async () => {
    const direct = async (url: string, accept: string): Promise<Answer> => {
      const { status, headers, body } = await member.handle({ method: 'GET', url, headers: { accept }, as: ADMIN })
      const text = Buffer.from(body as Uint8Array).toString()
      return { status, headers, text, message: '' }
    }
    for (const [url, accept] of [
      ['/api/v1/nodes', 'application/json'],
      ['/api/v1/nodes?limit=1', 'application/json;as=Table;v=v1;g=meta.k8s.io'],
      ['/version', '*/*'],
      ['/apis', 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'],
      ['/api/v1/namespaces/default/pods/none', 'application/json'],
      ['/readyz', 'text/plain'],
      ['/', 'application/yaml'],
    ] as const) {
      const [through, there] = [await answerTo('GET', PROXY + url, { headers: { accept } }), await direct(url, accept)]
      assert.deepEqual(
        [through.status, through.text, through.headers['content-type']],
        [there.status, there.text, there.headers['content-type']],
        url,
      )
    }
  })

  it('passes every verb on, with its body', async () => {
    const client = clientAs(ADMIN)
    const CONFIG_MAPS = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true }
    const of = { namespace: 'default', name: 'verbs' }
    const made = await client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: of, data: { a: '1' } } as never)
    await client.update(CONFIG_MAPS, { ...(made as KubeObject), data: { a: '2' } })
    const patched = await client.patch(CONFIG_MAPS, of, { type: 'merge', body: { data: { b: 'ü' } } })
    assert.deepEqual(patched.data, { a: '2', b: 'ü' })
    assert.deepEqual((await client.get(CONFIG_MAPS, of)).data, { a: '2', b: 'ü' })
    await client.delete(CONFIG_MAPS, of)
    await client.deleteCollection(CONFIG_MAPS, { namespace: 'default', labelSelector: 'a=b' })
    assert.deepEqual(
      asked.map(({ method }) => method),
      ['POST', 'PUT', 'PATCH', 'GET', 'DELETE', 'DELETE'],
    )
    const head = await ask('HEAD', `${PROXY}/healthz`)
    assert.equal(head.status, 200)
  })

  it('streams a watch as it happens, and leaves the member when the client leaves', async () => {
    const gone = new AbortController()
    const client = clientAs(JANE)
    const CONFIG_MAPS = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true }
    const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace: 'default' })
    const events = client.watch(CONFIG_MAPS, { namespace: 'default', resourceVersion, signal: gone.signal })
    for (const name of ['first', 'second']) {
      const next = events.next()
      await create(member, '/api/v1/namespaces/default/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
      const event = await next
      assert.equal(event.done ? '' : event.value.object.metadata.name, name)
    }
    assert.equal(asked.at(-1)?.isStream, true)
    const open = (): Promise<string> => member.server.metrics.registry.getSingleMetricAsString('apiserver_registered_watchers')
    assert.match(await open(), /watchers 1$/)
    gone.abort()
    assert.equal((await events.next()).done, true)
    await settle()
    assert.match(await open(), /watchers 0$/)
  })

  it('ends a watch when the cluster is cut off, and says 503 with the reason to who asks next', async () => {
    const answer = await ask('GET', `${PROXY}/api/v1/configmaps?watch=true`)
    let isBroken = false
    assert.ok(typeof answer.body === 'function')
    const stop = answer.body({
      write: () => true,
      onDrain: () => undefined,
      end: () => assert.fail('a broken answer is not whole'),
      breakOff: () => {
        isBroken = true
      },
    })
    await settle()
    link.cut()
    await settle()
    assert.equal(isBroken, true)
    stop()
    const next = await answerTo('GET', `${PROXY}/api/v1/nodes`)
    assert.deepEqual([next.status, next.message], [503, 'cluster "member1" cannot be reached: the cluster is cut off'])
  })

  it('takes no more from the member than the client takes', async () => {
    let given = 0
    instead = async () => ({
      status: 200,
      headers: {},
      cancel: () => undefined,
      body: (async function* () {
        for (; given < 100; given++) yield Buffer.from('x')
      })(),
    })
    const answer = await ask('GET', `${PROXY}/version`)
    assert.ok(typeof answer.body === 'function')
    let goOn: () => void = () => undefined
    let isEnded = false
    let got = 0
    answer.body({
      write: () => ++got >= 50,
      onDrain: (callback) => {
        goOn = callback
      },
      end: () => {
        isEnded = true
      },
    })
    await settle()
    assert.equal(got, 1)
    for (let i = 1; i < 50; i++) {
      goOn()
      await settle(2)
    }
    await settle()
    assert.deepEqual([got, isEnded], [100, true])
  })

  it('follows logs, and runs commands', async () => {
    const log = await clientAs(ADMIN).log({ namespace: 'default', name: 'on-served' }, { follow: true })
    assert.equal((await readAll(log)).toString(), 'a log\n')
    assert.deepEqual(
      node.logRequests.map(({ follow }) => follow),
      [true],
    )
    const command = await clientAs({ name: 'writer', groups: [] }).exec(
      { namespace: 'default', name: 'on-served' },
      { command: ['cat'], stdin: true },
    )
    await settle()
    const session = node.sessions.at(-1)
    assert.ok(session)
    session.output.stdout(Buffer.from('hello'))
    session.output.stderr(Buffer.from('oops'))
    await command.write('input')
    await command.resize(80, 24)
    await command.endInput()
    await settle()
    session.exit(3)
    assert.equal((await readAll(command.stdout)).toString(), 'hello')
    assert.equal((await readAll(command.stderr)).toString(), 'oops')
    assert.equal((await command.result).exitCode, 3)
    assert.deepEqual(session.received, ['input input', 'size 80 24', 'end of input'])
  })

  it('who leaves a command ends it; the member refuses in its own words; who may only read runs none', async () => {
    const pod = { namespace: 'default', name: 'on-served' }
    const left = await clientAs(ADMIN).exec(pod, { command: ['sleep'] })
    await settle()
    left.close()
    await settle()
    assert.deepEqual(node.sessions.at(-1)?.received, ['kill'])
    await assert.rejects(clientAs(ADMIN).exec({ ...pod, name: 'none' }, { command: ['ls'] }), {
      code: 404,
      message: 'pods "none" not found',
    })
    await assert.rejects(clientAs(JANE).exec(pod, { command: ['ls'] }), {
      code: 403,
      message: /User "jane" cannot create resource "clusters\/proxy" in API group "cluster.karmada.io"/,
    })
    assert.equal(node.sessions.length, 1)
    for (const upgrade of ['SPDY/3.1', 'websocket']) {
      const answer = await answerTo('POST', `${PROXY}/api/v1/namespaces/default/pods/on-served/portforward`, { headers: { upgrade } })
      assert.equal(answer.status, 400)
      assert.match(answer.message, /speaks WebSocket with the protocols/)
    }
  })

  it('the hub judges by verb on clusters/proxy and by name', async () => {
    const refused = async (method: string, url: string): Promise<[number, string]> => {
      const { status, message } = await answerTo(method, url, { as: JANE })
      return [status, message]
    }
    assert.equal((await answerTo('GET', `${PROXY}/api/v1/nodes`, { as: JANE })).status, 200)
    assert.deepEqual(await refused('GET', `${CLUSTERS}/plain/proxy/api/v1/nodes`), [
      403,
      'clusters.cluster.karmada.io "plain" is forbidden: User "jane" cannot get resource "clusters/proxy" in API group "cluster.karmada.io" at the cluster scope',
    ])
    for (const [method, verb] of [
      ['POST', 'create'],
      ['PUT', 'update'],
      ['PATCH', 'patch'],
      ['DELETE', 'delete'],
    ] as const) {
      const [status, message] = await refused(method, `${PROXY}/api/v1/namespaces/default/configmaps`)
      assert.deepEqual([status, message.includes(`User "jane" cannot ${verb} resource "clusters/proxy"`)], [403, true])
    }
    assert.equal(
      (await answerTo('GET', `${PROXY}/api/v1/nodes`, { as: undefined, headers: { authorization: 'Bearer wrong' } })).status,
      401,
    )
    assert.equal((await answerTo('GET', `${PROXY}/api/v1/nodes`, { as: undefined })).status, 403)
    assert.equal((await answerTo('OPTIONS', `${PROXY}/api/v1/nodes`)).status, 405)
    assert.equal(asked.length, 1)
  })

  it('the member judges what the caller may do there', async () => {
    const answer = await answerTo('GET', `${PROXY}/api/v1/secrets`, { as: JANE })
    assert.deepEqual(
      [answer.status, answer.message],
      [403, 'secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" at the cluster scope'],
    )
    const writer = await answerTo('GET', `${PROXY}/api/v1/nodes`, { as: { name: 'writer', groups: ['a', 'b'] } })
    assert.match(writer.message, /User "writer" cannot list resource "nodes"/)
    assert.deepEqual(asked.at(-1)?.headers, { 'impersonate-user': 'writer', 'impersonate-group': ['a', 'b'] })
  })

  it('who acts for somebody at the hub is that somebody at the member', async () => {
    const answer = await answerTo('GET', `${PROXY}/api/v1/secrets`, {
      headers: {
        authorization: 'Bearer admin',
        'impersonate-user': 'jane',
        'impersonate-group': ['dev', 'ops'],
        cookie: 'a=b',
        accept: 'application/json',
      },
    })
    assert.equal(answer.status, 403)
    assert.deepEqual(asked.at(-1)?.headers, { accept: 'application/json', 'impersonate-user': 'jane', 'impersonate-group': ['dev', 'ops'] })
  })

  it('takes the credentials of who may act for others, else those of the hub, and the authority of the cluster', async () => {
    await answerTo('GET', `${CLUSTERS}/plain/proxy/version`)
    assert.deepEqual(connected, [{ cluster: 'plain', credentials: { token: 'of-the-hub', caBundle: 'the authority' } }])
    assert.equal(asked.at(-1)?.headers['impersonate-user'], 'admin')
    const url = '/api/v1/namespaces/default/secrets/impersonator-token'
    const body = Buffer.from(JSON.stringify({ data: { token: encoded('of-another') } }))
    await answerTo('PATCH', url, { body, headers: { 'content-type': 'application/merge-patch+json' } })
    const before = closed
    await answerTo('GET', `${PROXY}/version`)
    await answerTo('GET', `${PROXY}/version`)
    assert.deepEqual(connected.slice(1), [{ cluster: 'member1', credentials: { token: 'of-another', caBundle: 'the authority' } }])
    assert.equal(closed, before + 1)
  })

  for (const [cluster, code, message] of [
    ['unknown', 404, 'clusters.cluster.karmada.io "unknown" not found'],
    ['*', 404, 'clusters.cluster.karmada.io "*" not found'],
    ['homeless', 503, 'cluster "homeless" cannot be reached: spec.apiEndpoint is empty'],
    ['pathless', 503, 'cluster "pathless" cannot be reached: this server knows no way to it'],
    ['tokenless', 503, 'cluster "tokenless" cannot be reached: Secret default/empty has no token'],
    ['secretless', 503, 'cluster "secretless" cannot be reached: there is no Secret default/gone'],
    ['nameless', 503, 'cluster "nameless" cannot be reached: it names neither spec.impersonatorSecretRef nor spec.secretRef'],
  ] as const)
    it(`${cluster}: ${code}`, async () => {
      const answer = await answerTo('GET', `${CLUSTERS}/${cluster}/proxy/api`)
      assert.deepEqual([answer.status, answer.message], [code, message])
    })

  it('a member cannot send clients elsewhere, ask them for credentials, set cookies, or make the hub fail', async () => {
    const answering = (status: number, headers: Record<string, string> = {}): void => {
      instead = async () => ({ status, headers, body: (async function* () {})(), cancel: () => undefined })
    }
    for (const status of [301, 302, 307, 308]) {
      answering(status, { location: 'https://evil' })
      const answer = await answerTo('GET', `${PROXY}/api`)
      assert.deepEqual([answer.status, answer.headers.location], [502, undefined])
    }
    answering(401, { 'www-authenticate': 'Basic' })
    const refused = await answerTo('GET', `${PROXY}/api`)
    assert.deepEqual(
      [refused.status, refused.message],
      [503, 'cluster "member1" cannot be reached: it does not accept the credentials of the hub'],
    )
    answering(200, { 'set-cookie': 'a=b', 'content-type': 'text/plain' })
    assert.deepEqual((await answerTo('GET', `${PROXY}/api`)).headers, { 'content-type': 'text/plain' })
    answering(204)
    assert.deepEqual(await ask('DELETE', `${PROXY}/api`), { status: 204, headers: {} })
    instead = () => Promise.reject(new TransportError('the connection failed'))
    assert.deepEqual((await answerTo('GET', `${PROXY}/api`)).message, 'cluster "member1" cannot be reached: the connection failed')
  })

  it('a member that hangs takes only so much room', async () => {
    instead = () => new Promise(() => undefined)
    const hanging = Array.from({ length: 100 }, () => ask('GET', `${PROXY}/api`))
    await settle()
    const more = await answerTo('GET', `${PROXY}/api`)
    assert.deepEqual([more.status, more.message], [429, 'too many requests to cluster "member1" are under way'])
    instead = undefined
    assert.equal((await answerTo('GET', `${CLUSTERS}/plain/proxy/version`)).status, 200)
    assert.equal(hanging.length, 100)
  })
})
