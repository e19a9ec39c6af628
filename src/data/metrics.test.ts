import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Registry } from 'prom-client'
import type { Informer } from '../client/cache/informer.ts'
import { ObjectCache } from '../client/cache/object-cache.ts'
import type { KubeObject } from '../kube/meta.ts'
import { keyOfResource, type Resource } from '../kube/resource.ts'
import { DATA_METRICS, dataMetrics } from './metrics.ts'

function aRegistry() {
  const caches = new Map<string, ObjectCache>()
  const cacheOf = (plural: string): ObjectCache => {
    const found = caches.get(plural) ?? new ObjectCache()
    caches.set(plural, found)
    return found
  }
  const registry = new Registry()
  const of = (resource: Resource): Informer => {
    assert.match(keyOfResource(resource), /data\.fluid\.io/)
    const cache = cacheOf(resource.plural)
    return { subscribe: (handler: Parameters<ObjectCache['subscribe']>[0]) => cache.subscribe(handler) } as unknown as Informer
  }
  return { registry, cacheOf, start: () => dataMetrics(registry, { of }) }
}

let revision = 0
const object = (name: string, status?: object): KubeObject => ({
  apiVersion: 'data.fluid.io/v1alpha1',
  kind: 'X',
  metadata: { namespace: 'a', name, uid: name, resourceVersion: String(++revision) },
  ...(status === undefined ? {} : { status }),
})
const served = (status: string, reason: string) => ({ conditions: [{ type: 'Served', status, reason }] })

async function seriesOf(registry: Registry): Promise<Record<string, number>> {
  const metrics = await registry.getMetricsAsJSON()
  return Object.fromEntries(
    metrics.flatMap(({ name, values }) => values.map(({ labels, value }) => [`${name} ${Object.values(labels).join()}`, value])),
  )
}

describe('metrics of datasets', () => {
  it('are the figures of their statuses, and go with them', async () => {
    const { registry, cacheOf, start } = aRegistry()
    const datasets = cacheOf('datasets')
    datasets.put(object('early', { ufsTotal: '1.50GiB', fileNum: '7' }))
    start()
    datasets.put(object('unknown', { ufsTotal: '[Calculating]', fileNum: '[Calculating]' }))
    datasets.put(object('simulated', { ufsTotal: 'N/A', fileNum: `9${'9'.repeat(400)}` }))
    datasets.put(object('new'))
    datasets.put(object('late', { ufsTotal: '[Calculating]', fileNum: '3' }))
    datasets.put(object('late', { ufsTotal: '544.77MiB', fileNum: '3' }))
    assert.deepEqual(await seriesOf(registry), {
      'dataset_ufs_file_num a/early': 7,
      'dataset_ufs_total_size a/early': 1.5 * 1024 ** 3,
      'dataset_ufs_file_num a/late': 3,
      'dataset_ufs_total_size a/late': Math.trunc(544.77 * 1024 ** 2),
    })
    datasets.remove(object('early'))
    datasets.put(object('late', { fileNum: '3' }))
    assert.deepEqual(await seriesOf(registry), { 'dataset_ufs_file_num a/late': 3 })
  })

  it('count what goes wrong with runtimes, once each time', async () => {
    const { registry, cacheOf, start } = aRegistry()
    start()
    const [caches, alluxios] = [cacheOf('cacheruntimes'), cacheOf('alluxioruntimes')]
    caches.put(object('one', { worker: { phase: 'NotReady' } }))
    caches.put(object('one', served('False', 'NoSuchClass')))
    caches.put(object('one', { ...served('False', 'NoSuchClass'), worker: { phase: '' } }))
    caches.put(object('one', served('True', 'Served')))
    caches.put(object('one', served('False', 'NoSuchClass')))
    for (const phase of ['NotReady', 'Ready', 'NotReady', 'NotReady', 'PartialReady', 'NotReady', 'Ready'])
      alluxios.put(object('two', { masterPhase: 'Ready', workerPhase: phase }))
    assert.deepEqual(await seriesOf(registry), {
      'runtime_setup_error_total cacheruntime,a/one': 2,
      'runtime_sync_healthcheck_error_total alluxioruntime,a/two': 2,
    })
    caches.remove(object('one'))
    alluxios.remove(object('two'))
    assert.deepEqual(await seriesOf(registry), {})
  })

  it('are limited in number, and free for others again', async () => {
    const { registry, cacheOf, start } = aRegistry()
    start()
    const datasets = cacheOf('datasets')
    for (let i = 0; i <= 5000; i++) datasets.put(object(`d${i}`, { fileNum: '1' }))
    assert.equal(Object.keys(await seriesOf(registry)).length, 5000)
    datasets.remove(object('d5000'))
    datasets.remove(object('d0'))
    datasets.put(object('d5001', { fileNum: '1' }))
    assert.equal((await seriesOf(registry))['dataset_ufs_file_num a/d5001'], 1)
  })

  it('are those that the reference declares', async () => {
    const { registry, start } = aRegistry()
    start()
    const metrics = await registry.getMetricsAsJSON()
    assert.deepEqual(metrics.map(({ name }) => name).sort(), Object.keys(DATA_METRICS.declared).sort())
  })
})
