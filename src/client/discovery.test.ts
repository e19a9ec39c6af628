import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from './client.ts'
import { discoverResources } from './discovery.ts'

const LIST = {
  items: [{ metadata: {}, versions: [{ version: 'v1', resources: [{ resource: 'pods', scope: 'Namespaced', verbs: ['list'] }] }] }],
}

/** Answers each path with a status and a body. */
function answering(answers: Record<string, [number, unknown]>): Client {
  async function* body(value: unknown): AsyncGenerator<Uint8Array> {
    yield Buffer.from(JSON.stringify(value))
  }
  const raw: Client['raw'] = async ({ path }) => {
    const [status, value] = answers[path] ?? [404, {}]
    return { status, headers: {}, body: body(value), cancel: () => undefined }
  }
  return { raw } as Partial<Client> as Client
}

describe('discovery', () => {
  it('names every resource once', async () => {
    const found = await discoverResources(answering({ '/api': [200, LIST], '/apis': [200, { items: [] }] }))
    assert.deepEqual(
      found.map(({ plural, version }) => [plural, version]),
      [['pods', 'v1']],
    )
  })

  // Taking that for an answer would mean that nothing is left in a namespace, or that a kind has gone.
  for (const path of ['/api', '/apis'])
    for (const code of [429, 503, 401])
      it(`fails when ${path} is refused with ${code}`, async () => {
        const status = { kind: 'Status', status: 'Failure', message: 'not now', code }
        const answers = { '/api': [200, LIST], '/apis': [200, LIST], [path]: [code, status] } as Record<string, [number, unknown]>
        await assert.rejects(discoverResources(answering(answers)), /not now/)
      })
})
