import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Cluster } from '../../apiserver/cluster.ts'
import { type Listener, listen, openKeyDirectory } from '../../apiserver/listener/index.ts'
import { ensurePki, type Pki } from '../../apiserver/pki/index.ts'
import { SCRIPTED_OBJECTS, scriptedNode } from '../../apiserver/streams/scripted-node.ts'
import { settle } from '../../apiserver/testing.ts'
import { seededRandom } from '../../base/random.ts'
import { memberAccess } from '../../cli/member-access.ts'
import { realClock } from '../../cli/testing.ts'
import { type Client, createClient } from '../../client/client.ts'
import { undiciTransport } from '../../client/transport/undici.ts'
import { readAll, type Transport, TransportError } from '../../client/transport.ts'
import { clusterOf } from '../../composition.ts'
import { AUTHORITY, SERVICE_ACCOUNT_KEY } from '../../faultsim/world/fixed-keys.ts'
import { createMemoryStore } from '../../store/index.ts'

const ADMIN = { name: 'admin', groups: ['system:masters'] }
const CLUSTERS = '/apis/cluster.karmada.io/v1alpha1/clusters'

describe('clusters/proxy over TLS on both sides', () => {
  const memory = createMemoryStore({ clock: realClock })
  const keys = { serviceAccountKey: SERVICE_ACCOUNT_KEY, clientAuthority: AUTHORITY }
  const common = { bare: false, clock: realClock, random: seededRandom(1), port: 1, ...keys }
  const node = scriptedNode()
  const member = clusterOf({ ...common, role: 'member', adminToken: 'of-the-member', store: memory.cluster('member1'), nodes: node })
  const connectMember = memberAccess(() => [], 'http').connect
  const hub = clusterOf({ ...common, role: 'hub', adminToken: 'of-the-hub', store: memory.cluster('hub'), connectMember })
  const listeners: Listener[] = []
  const errors: unknown[] = []
  let directory = ''
  let pki: Pki
  /** Sends half of every answer. */
  let broken: Server
  const transports: Transport[] = []

  const create = async (on: Cluster, url: string, object: unknown): Promise<void> => {
    const body = Buffer.from(JSON.stringify(object))
    const { status } = await on.handle({ method: 'POST', url, headers: { 'content-type': 'application/json' }, as: ADMIN, body })
    assert.equal(status, 201, url)
  }
  const serve = async (cluster: Cluster): Promise<string> => {
    const tls = { ...pki.serving, clientAuthority: pki.authority }
    const listener = await listen({ handle: cluster.handle, tls, clock: realClock, port: 0, onError: (error) => errors.push(error) })
    listeners.push(listener)
    return `https://127.0.0.1:${listener.port}`
  }
  let hubUrl = ''
  const proxied = (cluster: string): { transport: Transport; client: Client } => {
    const transport = undiciTransport({ server: `${hubUrl}${CLUSTERS}/${cluster}/proxy`, ca: pki.authority, token: () => 'of-the-hub' })
    transports.push(transport)
    return { transport, client: createClient({ transport, clock: realClock, random: seededRandom(1), userAgent: 'test' }) }
  }

  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'sluice-proxy-'))
    pki = await ensurePki({ directory: await openKeyDirectory(directory), clock: realClock, random: seededRandom(3) })
    await Promise.all([hub.ready, member.ready])
    const memberUrl = await serve(member)
    hubUrl = await serve(hub)
    broken = createServer({ cert: pki.serving.certificate, key: pki.serving.key }, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write('half')
      setTimeout(() => response.destroy(), 50)
    })
    broken.listen(0, '127.0.0.1')
    await once(broken, 'listening')
    const data = { token: Buffer.from('of-the-member').toString('base64'), caBundle: Buffer.from(pki.authority).toString('base64') }
    await create(hub, '/api/v1/namespaces/default/secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'member' }, data })
    for (const [name, apiEndpoint] of [
      ['member1', memberUrl],
      ['broken', `https://127.0.0.1:${(broken.address() as AddressInfo).port}`],
      ['away', 'https://127.0.0.1:1'],
    ]) {
      const spec = { syncMode: 'Push', id: name, apiEndpoint, secretRef: { namespace: 'default', name: 'member' } }
      await create(hub, CLUSTERS, { apiVersion: 'cluster.karmada.io/v1alpha1', kind: 'Cluster', metadata: { name }, spec })
    }
    const rbac = 'rbac.authorization.k8s.io'
    const rules = [{ apiGroups: ['cluster.karmada.io'], resources: ['clusters/proxy'], verbs: ['*'] }]
    await create(hub, `/apis/${rbac}/v1/clusterroles`, {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'proxy' },
      rules,
    })
    await create(hub, `/apis/${rbac}/v1/clusterrolebindings`, {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'proxy' },
      subjects: [{ kind: 'Group', apiGroup: rbac, name: 'dev' }],
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'proxy' },
    })
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
    await create(member, '/api/v1/namespaces/default/serviceaccounts', account)
    for (const [url, object] of SCRIPTED_OBJECTS) await create(member, url, object)
  })
  after(async () => {
    await Promise.all(transports.map((transport) => transport.close()))
    hub.stop()
    member.stop()
    await Promise.all(listeners.map((listener) => listener.stop(0)))
    broken.close()
    await rm(directory, { recursive: true, force: true })
    assert.deepEqual(errors, [])
  })

  it('tells the member who asks, group by group', async () => {
    const { transport } = proxied('member1')
    const answer = await transport.request({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      headers: { 'content-type': 'application/json', 'impersonate-user': 'jane', 'impersonate-group': ['dev', 'a, b'] },
      body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
    })
    const { status } = JSON.parse((await readAll(answer.body)).toString()) as { status: { userInfo: object } }
    assert.deepEqual([answer.status, status.userInfo], [201, { username: 'jane', groups: ['dev', 'a, b', 'system:authenticated'] }])
  })

  it('streams watches, and runs commands', async () => {
    const { client } = proxied('member1')
    const NODES = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true }
    const { resourceVersion } = await client.list(NODES, { namespace: 'default' })
    const events = client.watch(NODES, { namespace: 'default', resourceVersion })
    const next = events.next()
    await create(member, '/api/v1/namespaces/default/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } })
    const event = await next
    assert.equal(event.done ? '' : event.value.object.metadata.name, 'new')
    await events.return(undefined)
    const command = await client.exec({ namespace: 'default', name: 'on-served' }, { command: ['cat'], stdin: true })
    while (node.sessions.length === 0) await settle()
    const [session] = node.sessions
    await command.write('input')
    session?.output.stdout(Buffer.from('output'))
    while (session?.received.length === 0) await settle()
    session?.exit(0)
    assert.equal((await readAll(command.stdout)).toString(), 'output')
    assert.equal((await command.result).exitCode, 0)
    assert.equal(session?.received[0], 'input input')
  })

  it('an answer that breaks off does not look whole, in HTTP/1.1 and in HTTP/2', async () => {
    const answer = await proxied('broken').transport.request({ method: 'GET', path: '/version', headers: {} })
    assert.equal(answer.status, 200)
    await assert.rejects(readAll(answer.body), TransportError)
    const session = connectHttp2(hubUrl, { ca: pki.authority })
    const stream = session.request({ ':path': `${CLUSTERS}/broken/proxy/version`, authorization: 'Bearer of-the-hub' })
    stream.resume()
    const [error] = (await once(stream, 'error')) as [Error]
    assert.match(error.message, /NGHTTP2_INTERNAL_ERROR/)
    session.close()
  })

  it('says that a member is away', async () => {
    const answer = await proxied('away').transport.request({ method: 'GET', path: '/version', headers: {} })
    assert.equal(answer.status, 503)
    assert.match(
      (await readAll(answer.body)).toString(),
      /cluster \\"away\\" cannot be reached: the connection to https:\/\/127.0.0.1:1 failed/,
    )
  })
})
