import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CONFIG_MAPS, EVERY_RESOURCE, PODS, SECRETS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Action } from './controller.ts'
import { declaredCheck } from './declared-writes.ts'

const of: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'n' } }
const ACTIONS: Record<string, Action> = {
  apply: { do: 'apply', resource: PODS, object: of },
  create: { do: 'create', resource: PODS, object: of },
  patch: { do: 'patch', resource: PODS, of, patch: {} },
  status: { do: 'patch', resource: PODS, of, patch: {}, subresource: 'status' },
  update: { do: 'update', resource: PODS, object: of },
  post: { do: 'post', resource: PODS, of, subresource: 'binding', body: of },
  delete: { do: 'delete', resource: PODS, of },
  'delete-collection': { do: 'delete-collection', resource: PODS, namespace: 'n' },
}

describe('declared writes', () => {
  /** Each declaration allows exactly these of the actions above. */
  const table: [string, Parameters<typeof declaredCheck>[1], string[]][] = [
    ['nothing', [], []],
    ['patch', [{ resource: PODS, verbs: ['patch'] }], ['apply', 'patch']],
    ['create', [{ resource: PODS, verbs: ['create'] }], ['create']],
    ['update', [{ resource: PODS, verbs: ['update'] }], ['update']],
    ['a subresource', [{ resource: PODS, subresource: 'status', verbs: ['patch', 'update'] }], ['status']],
    ['a subresource to post to', [{ resource: PODS, subresource: 'binding', verbs: ['create'] }], ['post']],
    ['deletion', [{ resource: PODS, verbs: ['delete'] }], ['delete']],
    ['deletion of all', [{ resource: PODS, verbs: ['deletecollection'] }], ['delete-collection']],
    ['another resource', [{ resource: SECRETS, verbs: ['create', 'patch', 'update', 'delete', 'deletecollection'] }], []],
    ['everything', [{ resource: EVERY_RESOURCE, verbs: ['delete', 'deletecollection'] }], ['delete', 'delete-collection']],
    ['verbs that are no writes', [{ resource: PODS, verbs: ['get', 'list', 'escalate'] }], []],
  ]
  for (const [name, writes, allowed] of table)
    it(`${name}`, () => {
      const check = declaredCheck('some.controller', writes)
      const passed = Object.keys(ACTIONS).filter((key) => check(ACTIONS[key] as Action).wrong === undefined)
      assert.deepEqual(passed, allowed)
    })

  it('says what to add, and never names what was not declared', () => {
    const check = declaredCheck('some.controller', [
      { resource: EVERY_RESOURCE, verbs: ['delete'] },
      { resource: PODS, subresource: 'status', verbs: ['patch'] },
    ])
    assert.deepEqual(check(ACTIONS.patch as Action), {
      name: 'undeclared',
      wrong: 'some.controller may not patch pods: add it to its `writes`',
    })
    assert.deepEqual(check({ do: 'delete', resource: { ...CONFIG_MAPS, plural: 'of-a-user' }, of }), { name: '*' })
    assert.deepEqual(check(ACTIONS.status as Action), { name: 'pods/status' })
  })
})
