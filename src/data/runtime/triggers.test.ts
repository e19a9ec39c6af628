import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ALLUXIO_RUNTIMES, CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Reader } from '../../runtime/controller.ts'
import type { Engine } from '../engines/engine.ts'
import { ENGINES } from '../engines/index.ts'
import { watchesOf } from './triggers.ts'

const object = (kind: string): KubeObject => ({
  apiVersion: 'data.fluid.io/v1alpha1',
  kind,
  metadata: { namespace: 'default', name: 'demo', uid: kind },
})

const onlyCache = {
  get: (resource: Resource) => (resource === (CACHE_RUNTIMES as Resource) ? object('CacheRuntime') : undefined),
} as unknown as Reader

function engineOf(resource: Resource): Engine {
  const found = ENGINES.find((engine) => engine.resource === resource)
  assert.ok(found !== undefined)
  return found
}

describe('a change of a dataset', () => {
  const keysOf = (resource: Resource) =>
    watchesOf(engineOf(resource))
      .find((watch) => watch.resource === (DATASETS as Resource))
      ?.keysFor(object('Dataset'), onlyCache)

  it('concerns the runtime of its name', () => {
    assert.deepEqual(keysOf(CACHE_RUNTIMES as Resource), [{ namespace: 'default', name: 'demo' }])
  })
  it('is no pass for kinds of which there is none', () => {
    assert.deepEqual(keysOf(ALLUXIO_RUNTIMES as Resource), [])
  })
})
