import assert from 'node:assert/strict'
import https from 'node:https'
import { describe, it } from 'node:test'
import { createClient } from '../client/client.ts'
import { TransportError } from '../client/transport.ts'
import { type Admission, defineAdmission } from '../kinds/admission.ts'
import { NAMESPACES } from '../kinds/kubernetes/resources.ts'
import type { OwnKind } from '../kinds/schema/define-kind.ts'
import type { Resource } from '../kube/resource.ts'
import { forbiddenError } from '../kube/status.ts'
import { aServer, realClock, type TestServer } from './testing.ts'
import { type RegisteredWebhooks, serveAndRegister } from './webhooks.ts'

const configurations = (kind: string): Resource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced: false,
})
const MUTATING = configurations('MutatingWebhookConfiguration')
const VALIDATING = configurations('ValidatingWebhookConfiguration')

/** Reads a namespace, and refuses pods if its label says so. */
const guard = defineAdmission({
  name: 'Guard',
  resources: [{ group: '', resource: 'pods' }],
  operations: ['CREATE'],
  reads: [{ group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false }],
  mutate({ namespace, name }, { read }) {
    const found = read.get({ group: '', resource: 'namespaces' }, '', namespace)
    if (found?.metadata.labels?.closed === 'yes') throw forbiddenError({ group: '', resource: 'pods' }, name, 'closed')
  },
})
const ownKind = { group: 'data.example.dev', kind: 'Set', definition: {} } as unknown as OwnKind
const strict = defineAdmission({
  name: 'Strict',
  resources: [{ group: 'data.example.dev', resource: 'sets' }],
  operations: ['CREATE'],
  validate: () => undefined,
})

interface Setting {
  server: TestServer
  log: string[]
  webhooks: RegisteredWebhooks | undefined
}

async function serve(admissions: readonly Admission[], more: { webhookUrl?: string; server?: TestServer } = {}): Promise<Setting> {
  const server = more.server ?? (await aServer())
  const log: string[] = []
  const write = (level: string, message: string, fields = {}): void => void log.push(`${level} ${message} ${JSON.stringify(fields)}`)
  const { client, machine } = server
  const webhook = { host: '127.0.0.1', port: 0 }
  const own = { machine, role: 'member', client, log: { write }, kinds: [ownKind], webhook, webhookUrl: more.webhookUrl }
  return { server, log, webhooks: await serveAndRegister({ ...own, admissions, signal: new AbortController().signal }) }
}

interface Webhook {
  name: string
  failurePolicy: string
  clientConfig: { url: string; caBundle: string }
}
const registered = async ({ server }: Setting, resource: Resource): Promise<Webhook[]> =>
  (await server.client.list(resource)).items.flatMap(({ webhooks }) => webhooks as Webhook[])

/** As the API server calls it: trusting only the registered bundle. */
function review({ clientConfig }: Webhook, request: object): Promise<{ response: { allowed: boolean; status?: { message?: string } } }> {
  const ca = Buffer.from(clientConfig.caBundle, 'base64').toString('utf8')
  return new Promise((resolve, reject) => {
    const call = https.request(clientConfig.url, { method: 'POST', ca, agent: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')) as never))
    })
    call.on('error', reject)
    call.end(JSON.stringify({ kind: 'AdmissionReview', request }))
  })
}

describe('our webhooks on a server', { timeout: 60_000 }, () => {
  it('are registered by URL and authority, and judge with what their caches show', async () => {
    const setting = await serve([guard])
    const [webhook] = await registered(setting, MUTATING)
    assert.ok(webhook !== undefined)
    const pod = { uid: 'r', operation: 'CREATE', name: 'p', object: { metadata: { name: 'p' } } }
    assert.equal((await review(webhook, { ...pod, namespace: 'default' })).response.allowed, true)
    const closed = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shut', labels: { closed: 'yes' } } }
    await setting.server.client.create(NAMESPACES, closed)
    const judged = async () => (await review(webhook, { ...pod, namespace: 'shut' })).response
    while ((await judged()).allowed) await new Promise((resolve) => setTimeout(resolve, 10))
    assert.match((await judged()).status?.message ?? '', /pods "p" is forbidden: closed/)
    await setting.webhooks?.stop()
    await assert.rejects(review(webhook, pod), /ECONNREFUSED/)
    setting.server.close()
  })

  it('that fail open are taken back; those that fail closed stay', async () => {
    const injected = defineAdmission({ ...guard, name: 'Injected', label: { key: 'inject', value: 'yes' }, failurePolicy: 'Fail' })
    const mixed = await serve([guard, injected])
    assert.equal((await registered(mixed, MUTATING)).length, 2)
    await mixed.webhooks?.takeBack()
    assert.deepEqual(
      (await registered(mixed, MUTATING)).map(({ name }) => name),
      ['injected.mutate.sluice.dev'],
      'also beside others that do not',
    )
    await mixed.webhooks?.stop()
    const setting = await serve([guard, strict], { server: mixed.server })
    assert.deepEqual([(await registered(setting, MUTATING)).length, (await registered(setting, VALIDATING)).length], [1, 1])
    await setting.webhooks?.takeBack()
    await setting.webhooks?.takeBack()
    assert.deepEqual(await registered(setting, MUTATING), [])
    assert.deepEqual(
      (await registered(setting, VALIDATING)).map(({ failurePolicy }) => failurePolicy),
      ['Fail'],
    )
    await setting.webhooks?.stop()
    const again = await serve([guard, strict], { server: setting.server })
    const [before, after] = [setting, again].map(({ webhooks }) => webhooks?.conversion.caBundle)
    assert.notEqual(before, after, 'each process has an authority of its own')
    assert.equal((await registered(again, VALIDATING))[0]?.clientConfig.caBundle, after, 'and what stayed is told of it')
    await again.webhooks?.stop()
    again.server.close()
  })

  it('are reached where they are said to be', async () => {
    const setting = await serve([guard], { webhookUrl: 'https://sluice.example:9443' })
    assert.equal((await registered(setting, MUTATING))[0]?.clientConfig.url, 'https://sluice.example:9443/mutate/guard')
    assert.equal(setting.webhooks?.conversion.url, 'https://sluice.example:9443/convert')
    await setting.webhooks?.stop()
    setting.server.close()
  })

  it('are not there when there is nothing to serve', async () => {
    const setting = await serve([])
    assert.equal(setting.webhooks, undefined)
    setting.server.close()
  })

  it('do not wait for caches when nobody wants them any more, and say what they cannot follow', async () => {
    const server = await aServer()
    const transport = {
      ...server.transport,
      request: async (): Promise<never> => {
        throw new TransportError('cut off')
      },
    }
    const client = createClient({ transport, clock: realClock, random: server.machine.random, userAgent: 'test' })
    const end = new AbortController()
    const log: string[] = []
    const write = (level: string, message: string): void => {
      log.push(`${level} ${message}`)
      end.abort(new Error('enough'))
    }
    const own = { machine: server.machine, role: 'member', client, log: { write }, kinds: [], admissions: [guard] }
    const webhook = { host: '127.0.0.1', port: 0 }
    await assert.rejects(serveAndRegister({ ...own, webhook, webhookUrl: undefined, signal: end.signal }), /enough/)
    assert.equal(log[0], 'warn cannot follow a resource')
    server.close()
  })
})
