import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { utf8Of } from '../../base/byte-text.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { createMemoryStore } from '../../store/index.ts'
import { differences, type EndState, endStateOf } from './end-state.ts'

async function stateOf(objects: readonly KubeObject[]): Promise<EndState> {
  const store = createMemoryStore({ clock: { now: () => 0, after: () => () => undefined } }).cluster('hub')
  for (const object of objects) {
    const key = `${object.kind.toLowerCase()}s/${object.metadata.namespace}/${object.metadata.name}`
    await store.commit({ key, type: 'put', expect: 'any', encode: () => ({ text: utf8Of(JSON.stringify(object)) }) })
  }
  return endStateOf(store, 0)
}

const uid = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`
const owner = (n: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Owner',
  metadata: { namespace: 'a', name: 'web', uid: uid(n), resourceVersion: String(n) },
})
const child = (n: number, name: string, more: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Child',
  metadata: {
    namespace: 'a',
    name,
    uid: uid(n + 1),
    creationTimestamp: `2026-01-01T00:00:0${n}Z`,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Owner', name: 'web', uid: uid(n) }],
  },
  ...more,
})

describe('the end state', () => {
  it('is the same for other uids, versions, times and made-up names', async () => {
    const one = await stateOf([owner(1), child(1, 'web-bcdfg', { to: 'ann' }), child(1, 'web-xxxxx', { to: 'bob' })])
    const two = await stateOf([owner(5), child(5, 'web-zz222', { to: 'bob' }), child(5, 'web-k4k4k', { to: 'ann' })])
    assert.deepEqual(differences(one, two), [])
  })

  it('shows what is missing, too much or different', async () => {
    const one = await stateOf([owner(1), child(1, 'web-bcdfg', { to: 'ann' })])
    assert.deepEqual(differences(one, await stateOf([owner(1)])), ['childs/a/web-* is missing'])
    assert.deepEqual(differences(await stateOf([owner(1)]), one), ['childs/a/web-* is there, and should not be'])
    const other = await stateOf([owner(1), child(1, 'web-bcdfg', { to: 'bob' })])
    assert.deepEqual(differences(one, other), ['childs/a/web-* .to is "bob" instead of "ann"'])
  })

  it('knows whose a child is', async () => {
    const stranger = {
      ...child(1, 'web-bcdfg'),
      metadata: { ...child(1, 'web-bcdfg').metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'Owner', name: 'web', uid: uid(9) }] },
    }
    assert.equal(differences(await stateOf([owner(1), child(1, 'web-bcdfg')]), await stateOf([owner(1), stranger])).length, 0)
    // A reference to an owner that is gone is a leak, which another oracle finds; here the owner's name counts.
    const renamed = { ...owner(1), metadata: { ...owner(1).metadata, name: 'other' } }
    assert.ok(differences(await stateOf([owner(1)]), await stateOf([renamed])).length > 0)
  })

  it('counts what was observed as current or behind, not as a number', async () => {
    const at = (generation: number, observedGeneration: number): KubeObject => ({
      ...owner(1),
      metadata: { ...owner(1).metadata, generation },
      status: { observedGeneration },
    })
    assert.deepEqual(differences(await stateOf([at(1, 1)]), await stateOf([at(4, 4)])), [])
    assert.equal(differences(await stateOf([at(1, 1)]), await stateOf([at(4, 3)])).length, 1)
  })
})
