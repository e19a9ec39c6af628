import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Registry } from 'prom-client'
import type { Informer } from '../client/cache/informer.ts'
import { ObjectCache } from '../client/cache/object-cache.ts'
import type { KubeObject } from '../kube/meta.ts'
import { registerGateMetrics } from './metrics.ts'

const informerOf = (cache: ObjectCache): Informer =>
  ({ subscribe: (handler: Parameters<ObjectCache['subscribe']>[0]) => cache.subscribe(handler) }) as unknown as Informer

let revision = 0
const object = (name: string, more: { annotations?: Record<string, string>; status?: unknown }): KubeObject => ({
  apiVersion: 'x/v1',
  kind: 'X',
  metadata: { namespace: 'a', name, uid: name, resourceVersion: String(++revision), annotations: more.annotations },
  status: more.status,
})
const held = (name: string, reason: string, by = 'gate'): KubeObject =>
  object(name, { annotations: { 'sluice.dev/held-reason': reason, 'sluice.dev/narrowed-by': by } })

async function seriesOf(registry: Registry): Promise<Record<string, number>> {
  const metrics = await registry.getMetricsAsJSON()
  return Object.fromEntries(
    metrics.flatMap(({ name, values }) => values.map(({ labels, value }) => [`${name} ${Object.values(labels).join()}`, value])),
  )
}

describe('metrics of the gate', () => {
  it('count held bindings by reason and claims by phase, as they come, change and go', async () => {
    const [claims, bindings] = [new ObjectCache(), new ObjectCache()]
    const registry = new Registry()
    bindings.put(held('a', 'NoSuchSource'))
    registerGateMetrics(registry, { claims: informerOf(claims), bindings: informerOf(bindings) })
    bindings.put(held('b', 'NoSuchSource'))
    bindings.put(held('c', 'NoCommonCluster'))
    bindings.put(held('of another', 'NoSuchSource', 'queue'))
    bindings.put(held('made up', `x${'y'.repeat(1000)}`))
    bindings.put(object('free', {}))
    claims.put(object('one', {}))
    claims.put(object('two', { status: { phase: 'Bound' } }))
    assert.deepEqual(await seriesOf(registry), {
      'sluice_gate_held_bindings NoSuchSource': 2,
      'sluice_gate_held_bindings NoCommonCluster': 1,
      'sluice_gate_held_bindings Other': 1,
      'sluice_gate_claims Pending': 1,
      'sluice_gate_claims Bound': 1,
    })
    bindings.put(object('b', {}))
    bindings.remove(held('c', 'NoCommonCluster'))
    claims.put(object('one', { status: { phase: 'Bound' } }))
    const after = await seriesOf(registry)
    assert.equal(after['sluice_gate_held_bindings NoSuchSource'], 1)
    assert.equal(after['sluice_gate_held_bindings NoCommonCluster'], 0)
    assert.deepEqual([after['sluice_gate_claims Pending'], after['sluice_gate_claims Bound']], [0, 2])
  })
})
