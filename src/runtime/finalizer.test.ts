import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PODS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { addFinalizer, hasFinalizer, removeFinalizer } from './finalizer.ts'

const held = (...finalizers: string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', resourceVersion: '3', finalizers },
})

describe('finalizers', () => {
  it('are added once and removed alone; those of others stay where they are', () => {
    const none: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }
    assert.deepEqual([hasFinalizer(none, 'own'), hasFinalizer(held('x', 'own'), 'own')], [false, true])
    const patchOf = (action: object): unknown => (action as { patch: unknown }).patch
    assert.deepEqual(patchOf(addFinalizer(PODS, none, 'own')), { metadata: { finalizers: ['own'] } })
    assert.deepEqual(patchOf(addFinalizer(PODS, held('x'), 'own')), { metadata: { finalizers: ['x', 'own'] } })
    assert.deepEqual(patchOf(removeFinalizer(PODS, held('x', 'own', 'y'), 'own')), { metadata: { finalizers: ['x', 'y'] } })
  })

  it('are written with the version of the object that was seen', () => {
    const of = held('x')
    for (const action of [addFinalizer(PODS, of, 'own'), removeFinalizer(PODS, of, 'x')])
      assert.deepEqual([action.do, 'of' in action && action.of], ['patch', of])
  })
})
