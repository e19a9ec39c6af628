import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { realClock } from '../../cli/testing.ts'
import type { Client } from '../../client/client.ts'
import type { TransportRequest, TransportResponse } from '../../client/transport.ts'
import type { Cluster } from '../../kinds/karmada/cluster.ts'
import { createMemberAsker, type FleetQuery, MemberProblem, openMembers } from './members.ts'

const PODS = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }
const QUERY: FleetQuery = {
  resource: 'pods',
  atHub: PODS,
  namespace: 'shop',
  name: undefined,
  selector: 'a in (b)',
  accept: 'application/json',
}
const aCluster = (name: string, spec: object = {}): Cluster =>
  ({ metadata: { name }, spec: { syncMode: 'Push', secretRef: { namespace: 'default', name }, ...spec } }) as Cluster
const SECRET = { data: { token: Buffer.from('t').toString('base64') } }

const answer = (status: number, body: unknown): TransportResponse => ({
  status,
  headers: {},
  cancel: () => undefined,
  body: (async function* () {
    yield Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  })(),
})

function asker(request: (request: TransportRequest) => Promise<TransportResponse>, timeoutMs?: number) {
  const hub = { get: async () => SECRET } as unknown as Client
  const connect = () => ({ request, close: async () => undefined })
  return createMemberAsker({ open: openMembers(hub, connect), clock: realClock, random: seededRandom(1), timeoutMs })
}

async function read(request: (request: TransportRequest) => Promise<TransportResponse>, cluster = aCluster('m')): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const pages of asker(request).pages(cluster, QUERY)) found.push(...pages.map(({ body }) => body))
  return found
}

const problem = (text: RegExp) => (error: unknown) => error instanceof MemberProblem && text.test(error.message)

describe('a member asked for a list', () => {
  it('gives it page by page, and what is left of it after its history moved on', async () => {
    const asked: string[] = []
    const found = await read(async ({ path }) => {
      asked.push(path)
      const token = new URLSearchParams(path.split('?')[1]).get('continue')
      if (token === null) return answer(200, { items: [1], metadata: { continue: 'old' } })
      if (token === 'old') return answer(410, { kind: 'Status', code: 410, reason: 'Expired', metadata: { continue: 'fresh' } })
      return answer(200, { items: [2], metadata: {} })
    })
    assert.deepEqual(
      found.map((page) => (page as { items: number[] }).items),
      [[1], [2]],
    )
    assert.deepEqual(asked, [
      '/api/v1/namespaces/shop/pods?labelSelector=a+in+%28b%29&limit=500',
      '/api/v1/namespaces/shop/pods?labelSelector=a+in+%28b%29&limit=500&continue=old',
      '/api/v1/namespaces/shop/pods?labelSelector=a+in+%28b%29&limit=500&continue=fresh',
    ])
  })

  it('or a reason', async () => {
    const forbidden = { kind: 'Status', code: 403, message: 'pods is forbidden' }
    await assert.rejects(
      read(async () => answer(403, forbidden)),
      problem(/^pods is forbidden$/),
    )
    await assert.rejects(
      read(async () => answer(200, '<html>')),
      problem(/^does not answer: the answer is not JSON/),
    )
    const none = async (): Promise<TransportResponse> => assert.fail('nobody is asked without credentials')
    await assert.rejects(read(none, aCluster('m', { secretRef: undefined })), problem(/^the hub has no credentials for it$/))
    await assert.rejects(
      read(async () => answer(410, { kind: 'Status', code: 410, message: 'too old' })),
      problem(/^too old$/),
    )
  })

  it('is one of at most 16 at once, and nobody is forgotten', async () => {
    let running = 0
    let most = 0
    const one = asker(async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running--
      return answer(200, { items: [] })
    })
    const all = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        let pages = 0
        for await (const page of one.pages(aCluster(`m${i}`), QUERY)) pages += page.length
        return pages
      }),
    )
    assert.deepEqual([all.length, new Set(all), most], [50, new Set([1]), 16])
  })

  it('does not hold others up when it hangs', async () => {
    const hanging = asker(() => new Promise(() => undefined), 20)
    const all = Array.from({ length: 40 }, (_, i) => hanging.pages(aCluster(`m${i}`), QUERY).next())
    for (const one of all) await assert.rejects(one, problem(/^does not answer within 0.02 s$/))
  })
})
