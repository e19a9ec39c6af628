import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../client/client.ts'
import { CONFIG_MAPS, PODS } from '../kinds/kubernetes/resources.ts'
import type { Access } from './controller.ts'
import { declaredClient } from './declared-client.ts'

const OF = { namespace: 'n', name: 'a' }
const OBJECT = { apiVersion: 'v1', kind: 'ConfigMap', metadata: OF }

/** Every call of a client that does nothing, with what it needs. */
const CALLS: [verb: string, access: Access, call: (client: Client) => Promise<unknown>][] = [
  ['get', { resource: CONFIG_MAPS, verbs: ['get'] }, (client) => client.get(CONFIG_MAPS, OF)],
  ['get', { resource: PODS, subresource: 'status', verbs: ['get'] }, (client) => client.get(PODS, OF, { subresource: 'status' })],
  ['list', { resource: CONFIG_MAPS, verbs: ['list'] }, (client) => client.list(CONFIG_MAPS)],
  ['watch', { resource: CONFIG_MAPS, verbs: ['watch'] }, async (client) => client.watch(CONFIG_MAPS, { resourceVersion: '1' }).next()],
  ['create', { resource: CONFIG_MAPS, verbs: ['create'] }, (client) => client.create(CONFIG_MAPS, OBJECT)],
  ['update', { resource: CONFIG_MAPS, verbs: ['update'] }, (client) => client.update(CONFIG_MAPS, OBJECT)],
  ['patch', { resource: CONFIG_MAPS, verbs: ['patch'] }, (client) => client.patch(CONFIG_MAPS, OF, { type: 'merge', body: {} })],
  ['apply', { resource: CONFIG_MAPS, verbs: ['patch'] }, (client) => client.apply(CONFIG_MAPS, OBJECT, { fieldManager: 'm' })],
  ['delete', { resource: CONFIG_MAPS, verbs: ['delete'] }, (client) => client.delete(CONFIG_MAPS, OF)],
  [
    'deleteCollection',
    { resource: CONFIG_MAPS, verbs: ['deletecollection'] },
    (client) => client.deleteCollection(CONFIG_MAPS, { namespace: 'n' }),
  ],
  ['log', { resource: PODS, subresource: 'log', verbs: ['get'] }, (client) => client.log(OF)],
  ['exec', { resource: PODS, subresource: 'exec', verbs: ['create'] }, (client) => client.exec(OF, { command: ['x'] })],
]

function recording(): { client: Client; calls: string[] } {
  const calls: string[] = []
  const answer = (name: string) => async (): Promise<unknown> => void calls.push(name)
  const client = new Proxy({} as Client, {
    get: (_target, name: string) =>
      name === 'watch'
        ? async function* () {
            calls.push('watch')
            yield { type: 'ADDED', object: OBJECT }
          }
        : answer(name),
  })
  return { client, calls }
}

describe('a client that is reduced to what was declared', () => {
  for (const [verb, access, call] of CALLS)
    it(`${verb} of ${access.resource.plural}${access.subresource === undefined ? '' : `/${access.subresource}`}: only if it is declared`, async () => {
      const { client, calls } = recording()
      await call(declaredClient(client, 'x', [access]))
      assert.deepEqual(calls, [verb])
      const others = CALLS.filter(([, other]) => `${other.resource.plural} ${other.subresource} ${other.verbs}` !== keyOf(access))
      const without = declaredClient(
        client,
        'x',
        others.map(([, other]) => other),
      )
      await assert.rejects(call(without), /^Error: x may not .*: add it to its `access`$/)
      await assert.rejects(call(declaredClient(client, 'x', [{ ...access, in: 'members' }])), /x may not/)
      assert.deepEqual(calls, [verb])
    })

  it('has no paths of its own, and does not close what it shares', async () => {
    const { client, calls } = recording()
    const reduced = declaredClient(client, 'x', [])
    await assert.rejects(reduced.raw({ method: 'GET', path: '/version' }), /x may not ask for \/version/)
    await reduced.close()
    assert.deepEqual(calls, [])
  })
})

const keyOf = ({ resource, subresource, verbs }: Access): string => `${resource.plural} ${subresource} ${verbs}`
