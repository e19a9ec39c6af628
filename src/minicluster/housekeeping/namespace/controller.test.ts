import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CONFIG_MAPS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Observed, plan } from './controller.ts'

const GONE = '2026-01-01T00:00:00Z'
const NOW = Date.UTC(2026, 0, 1, 0, 1)
const WIDGETS = { group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true }
const namespace = (more: Partial<KubeObject> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'a', resourceVersion: '5', deletionTimestamp: GONE },
  spec: { finalizers: ['kubernetes', 'example.com/mine'] },
  ...more,
})
const child = (deletionTimestamp?: string, finalizers?: string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x', deletionTimestamp, finalizers },
})
const observed = (more: Partial<Observed>): Observed => ({ namespace: namespace(), remaining: [], isUnwatched: false, nowMs: NOW, ...more })

describe('what is done about a namespace', () => {
  it('nothing while it lives, or when it is gone', () => {
    assert.deepEqual(plan(observed({ remaining: undefined })).actions, [])
    assert.deepEqual(plan(observed({ namespace: undefined, remaining: undefined })).actions, [])
  })

  it('everything not yet marked is deleted first, resource by resource', () => {
    const remaining = [
      { resource: CONFIG_MAPS, objects: [child(), child(GONE)] },
      { resource: WIDGETS, objects: [child(GONE, ['f'])] },
    ]
    assert.deepEqual(plan(observed({ remaining })).actions, [{ do: 'delete-collection', resource: CONFIG_MAPS, namespace: 'a' }])
  })

  it('an empty one is let go, and keeps the finalizers of others', () => {
    const [action] = plan(observed({})).actions
    assert.ok(action?.do === 'update')
    assert.deepEqual([action.subresource, action.object.spec], ['finalize', { finalizers: ['example.com/mine'] }])
    assert.equal(action.object.metadata.resourceVersion, '5')
  })

  it('what remains is said once, with the time it began', () => {
    const remaining = [{ resource: WIDGETS, objects: [child(GONE, ['f', 'g']), child(GONE, ['f'])] }]
    const [action] = plan(observed({ remaining })).actions
    assert.ok(action?.do === 'patch')
    const { conditions } = (action.patch as { status: { conditions: Record<string, string>[] } }).status
    assert.equal(conditions.length, 5)
    assert.ok(conditions.every((condition) => condition.lastTransitionTime === '2026-01-01T00:01:00Z'))
    assert.equal(conditions[3]?.message, 'Some resources are remaining: widgets.example.com has 2 resource instances')
    assert.equal(
      conditions[4]?.message,
      'Some content in the namespace has finalizers remaining: f in 2 resource instances, g in 1 resource instances',
    )
    const said = namespace({ status: { conditions } })
    assert.deepEqual(plan(observed({ namespace: said, remaining, nowMs: NOW + 60_000 })).actions, [])
  })

  it('only what cannot be watched is looked for again', () => {
    const remaining = [{ resource: WIDGETS, objects: [child(GONE, ['f'])] }]
    assert.equal(plan(observed({ remaining })).requeueAfterMs, undefined)
    assert.equal(plan(observed({ remaining, isUnwatched: true })).requeueAfterMs, 1000)
  })
})
