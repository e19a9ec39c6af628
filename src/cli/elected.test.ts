import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { createClient } from '../client/client.ts'
import { isNotFound } from '../client/errors.ts'
import { type Transport, TransportError } from '../client/transport.ts'
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, LEASES, NAMESPACES } from '../kinds/kubernetes/resources.ts'
import type { Lease } from '../kinds/kubernetes/types.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'
import { MODULES } from '../modules.ts'
import { type Elected, runElected } from './elected.ts'
import { aServer, realClock, type TestServer, until } from './testing.ts'

const ANYWHERE = { host: '127.0.0.1', port: 0 }
const LEASE = { namespace: 'kube-system', name: 'sluice-member' }
const MUTATING: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'mutatingwebhookconfigurations',
  kind: 'MutatingWebhookConfiguration',
  namespaced: false,
}

interface Process extends Elected {
  log: string[]
  /** Requests that change something, as they were sent. */
  writes: string[]
  cut(how: 'nothing' | 'reads' | 'everything'): void
}

const undo: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

async function aTestServer(): Promise<TestServer> {
  const server = await aServer()
  undo.push(() => server.close())
  await server.client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'work' } })
  return server
}

async function aProcess(server: TestServer, role: 'hub' | 'member' = 'member'): Promise<Process> {
  const log: string[] = []
  const writes: string[] = []
  const streams: (() => void)[] = []
  let isCut: Parameters<Process['cut']>[0] = 'nothing'
  const transport: Transport = {
    async request(request) {
      const isWrite = request.method !== 'GET'
      if (isCut === 'everything' || (isCut === 'reads' && !isWrite && !request.path.includes('/leases/')))
        throw new TransportError('cut off')
      if (isWrite && !request.path.includes('/leases')) writes.push(`${request.method} ${request.path}`)
      const response = await server.transport.request(request)
      if (request.isStream === true) streams.push(() => response.cancel())
      return response
    },
    close: async () => undefined,
  }
  const { machine } = server
  const client = createClient({ transport, clock: realClock, random: machine.random, userAgent: 'test' })
  const write = (level: string, message: string, fields = {}): void => void log.push(`${level} ${message} ${JSON.stringify(fields)}`)
  const own = { role, client, transport, log: { write }, lease: { ...LEASE, name: `sluice-${role}` }, modules: MODULES, authority: 'PEM' }
  const elected = await runElected({ machine, ...own, health: ANYWHERE, webhook: ANYWHERE, webhookUrl: undefined })
  let isStopped = false
  const stop = async (): Promise<void> => {
    if (isStopped) return
    isStopped = true
    await elected.stop()
  }
  undo.push(stop)
  const cut: Process['cut'] = (how) => {
    isCut = how
    if (how !== 'nothing') for (const end of streams.splice(0)) end()
  }
  return { ...elected, stop, log, writes, cut }
}

const readyz = async ({ healthAddress }: Elected): Promise<string> => {
  const answer = await fetch(`${healthAddress}/readyz`)
  return `${answer.status} ${(await answer.text()).trim()}`
}
const found = async (server: TestServer, resource: Resource, of: { namespace?: string; name: string }): Promise<KubeObject | undefined> => {
  try {
    return await server.client.get(resource, of)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
const holderOf = async (server: TestServer): Promise<string | undefined> =>
  ((await found(server, LEASES, LEASE)) as Lease | undefined)?.spec?.holderIdentity
const hasCertificate = async (server: TestServer): Promise<boolean> =>
  (await found(server, CONFIG_MAPS, { namespace: 'work', name: 'kube-root-ca.crt' })) !== undefined
/** What is left when nobody serves them: pods that asked to be changed are not let through unchanged. */
const CLOSED = ['dataset-locality.mutate.sluice.dev', 'dataset-sidecar.mutate.sluice.dev', 'data-operation.mutate.sluice.dev']
const mutating = async (server: TestServer): Promise<string[]> => {
  const { webhooks = [] } = ((await found(server, MUTATING, { name: 'sluice-member' })) ?? {}) as { webhooks?: { name: string }[] }
  return webhooks.map(({ name }) => name)
}
const runs = (process: Process): boolean => process.log.some((line) => line.includes('controllers run'))

describe('a process of controllers', { timeout: 60_000 }, () => {
  it('leads, installs, registers and works, says when it is ready, and gives everything back in order', async () => {
    const server = await aTestServer()
    const process = await aProcess(server)
    await until(async () => (await hasCertificate(server)) && (await readyz(process)) === '200 ok')
    const crds = await server.client.list(CUSTOM_RESOURCE_DEFINITIONS)
    const groups = crds.items.map(({ metadata }) => metadata.name?.split('.').slice(1).join('.'))
    assert.deepEqual([...new Set(groups)].sort(), ['data.fluid.io', 'gateway.networking.k8s.io', 'workload.fluid.io'])
    const { webhooks } = (await found(server, MUTATING, { name: 'sluice-member' })) as { webhooks?: { clientConfig: { url: string } }[] }
    assert.match(webhooks?.at(-1)?.clientConfig.url ?? '', /^https:\/\/127\.0\.0\.1:\d+\/mutate\/run-placement$/)
    assert.match(await (await fetch(`${process.healthAddress}/metrics`)).text(), /sluice_controller_passes_total\{/)
    const atEnd: string[] = []
    const request = server.transport.request.bind(server.transport)
    server.transport.request = async (asked) => {
      if (asked.method !== 'GET') atEnd.push(`${asked.method} ${asked.path.split('/').at(-1)?.split('?')[0]}`)
      return request(asked)
    }
    await process.stop()
    assert.deepEqual(atEnd.slice(-2), ['PATCH sluice-member', 'PUT sluice-member'], 'webhooks are taken back before the lease is')
    assert.deepEqual([await holderOf(server), await mutating(server)], ['', CLOSED])
    await assert.rejects(fetch(`${process.healthAddress}/healthz`))
  })

  it('of a hub brings the kinds of the fleet to a server that has none of them, and guards them', async () => {
    const server = await aTestServer()
    const process = await aProcess(server, 'hub')
    await until(() => runs(process))
    const crds = (await server.client.list(CUSTOM_RESOURCE_DEFINITIONS)).items
    assert.equal(crds.filter(({ metadata }) => metadata.name?.endsWith('.karmada.io')).length, 11)
    const converted = crds.filter(({ spec }) => (spec as { conversion?: { strategy?: string } }).conversion?.strategy === 'Webhook')
    assert.deepEqual(
      converted.map(({ metadata }) => metadata.name),
      ['referencegrants.gateway.networking.k8s.io'],
    )
    const webhooks = (await found(server, MUTATING, { name: 'sluice-hub' }))?.webhooks as { name: string; failurePolicy: string }[]
    assert.ok(webhooks.some(({ name }) => name === 'propagation-policy.mutate.sluice.dev'))
    assert.deepEqual([...new Set(webhooks.map(({ failurePolicy }) => failurePolicy))], ['Fail'])
  })

  it('waits while another leads, changes nothing meanwhile, and is ready to take over', async () => {
    const server = await aTestServer()
    const first = await aProcess(server)
    await until(() => runs(first))
    const second = await aProcess(server)
    await until(() => second.log.some((line) => line.includes('another process leads')))
    assert.deepEqual([second.writes, await readyz(second)], [[], '200 ok'])
    await first.stop()
    await until(() => runs(second))
  })

  it('that loses the lease sends nothing more, takes nothing back and ends', async () => {
    const server = await aTestServer()
    const process = await aProcess(server)
    await until(async () => runs(process) && (await hasCertificate(server)))
    const lease = (await server.client.get(LEASES, LEASE)) as Lease
    await server.client.update(LEASES, { ...lease, spec: { ...lease.spec, holderIdentity: 'another', renewTime: lease.spec?.renewTime } })
    assert.equal(await process.failed, 'the lease was lost')
    process.writes.length = 0
    await server.client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late' } })
    await process.stop()
    assert.deepEqual(process.writes, [])
    assert.equal(await holderOf(server), 'another')
    assert.notEqual(await found(server, MUTATING, { name: 'sluice-member' }), undefined, 'it may be that of the next one by now')
  })

  it('says that it is not ready when its caches cannot follow, and is again when they can', async () => {
    const server = await aTestServer()
    const process = await aProcess(server)
    await until(async () => runs(process) && (await readyz(process)) === '200 ok')
    process.cut('reads')
    await until(async () => /^503 the cache of \w+ cannot follow its server$/.test(await readyz(process)))
    assert.ok(process.log.some((line) => line.startsWith('warn cannot follow a resource')))
    assert.equal((await fetch(`${process.healthAddress}/healthz`)).status, 200, 'it lives all the same')
    process.cut('nothing')
    await until(async () => (await readyz(process)) === '200 ok')
  })

  it('ends with the reason when it cannot begin, and leaves no webhook behind that it may take back', async () => {
    const server = await aTestServer()
    const request = server.transport.request.bind(server.transport)
    server.transport.request = async (asked) => {
      if (asked.method === 'POST' && asked.path.includes('customresourcedefinitions')) throw new TransportError('no definitions today')
      return request(asked)
    }
    const process = await aProcess(server)
    assert.match(await process.failed, /no definitions today/)
    assert.deepEqual(await mutating(server), CLOSED)
    assert.equal(await readyz(process), '503 starting')
    await process.stop()
    assert.equal(await holderOf(server), '')
  })

  it('leaves modules to those who do their work already', async () => {
    const server = await aTestServer()
    const spec = { holderIdentity: 'kcm', leaseDurationSeconds: 15, renewTime: new Date(Date.now()).toISOString().replace('Z', '000Z') }
    await server.client.create(LEASES, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'kube-system', name: 'kube-controller-manager' },
      spec,
    } satisfies Lease)
    const process = await aProcess(server)
    await until(() => runs(process))
    const modules = process.log.filter((line) => line.includes('a module stands back')).map((line) => /"module":"(\w+)"/.exec(line)?.[1])
    assert.deepEqual(modules, ['housekeeping', 'minicluster'])
    assert.deepEqual(await mutating(server), CLOSED, 'the placement of pods is not registered')
    assert.equal(await hasCertificate(server), false)
  })
})
