import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { requestedRuntime } from './requested-runtime.ts'
import { aDataset, MOUNTS } from './testing.ts'

const asked = (annotations: Record<string, string>) => requestedRuntime(aDataset({ mounts: MOUNTS }, annotations))
const specOf = (annotations: Record<string, string>) => asked({ 'sluice.dev/runtime': 'builtin', ...annotations })?.runtime?.spec
const problemOf = (annotations: Record<string, string>) => asked({ 'sluice.dev/runtime': 'builtin', ...annotations })?.problem
const worker = (quota: string) => ({ replicas: 1, tieredStore: { levels: [{ emptyDir: { quota } }] } })

describe('the runtime that annotations ask for', () => {
  it('is none without the annotation', () => assert.equal(asked({ 'sluice.dev/cache-quota': '1Gi' }), undefined))

  it('has one worker with the quota that was asked for, and loads ahead where that was asked for', () => {
    assert.deepEqual(specOf({}), { runtimeClassName: 'builtin', worker: worker('1Gi') })
    assert.deepEqual(specOf({ 'sluice.dev/cache-quota': '2048Mi', 'sluice.dev/preload': 'true' }), {
      runtimeClassName: 'builtin',
      options: { preload: 'true' },
      worker: worker('2Gi'),
    })
  })

  it('is refused with what is wrong', () => {
    assert.match(asked({ 'sluice.dev/runtime': 'No Class' })?.problem ?? '', /cannot be the name of a CacheRuntimeClass/)
    for (const quota of ['', 'much', '-1Gi', '0'])
      assert.match(problemOf({ 'sluice.dev/cache-quota': quota }) ?? '', /is no size above 0/, quota)
    assert.match(problemOf({ 'sluice.dev/preload': 'yes' }) ?? '', /"yes" is neither true nor false/)
  })
})
