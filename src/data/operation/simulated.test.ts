import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { simulatedBefore, simulatedEnd, simulationNow } from './simulated.ts'
import { anOperation, CREATED } from './testing.ts'

const pod = (because?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', annotations: because === undefined ? {} : { 'sluice.dev/simulated-because': because } },
})
const NAME = { kind: 'DataLoad', namespace: 'default', name: 'one' } as const
const withInfos = (infos: object) => anOperation('DataLoad', { status: { phase: 'Complete', infos } })

describe('whether a run is simulated', () => {
  it('is so when one of its pods is, with the same reason in whatever order they are found', () => {
    const [a, b, real] = [pod('a'), pod('b'), pod()]
    for (const pods of [
      [a, b, real],
      [real, b, a],
    ])
      assert.equal(simulationNow(withInfos({}), pods), 'nothing of its Job runs: a')
    assert.equal(simulationNow(withInfos({ simulated: 'of the run before' }), [real]), undefined)
  })
  it('is what was said, while there are no pods', () => {
    assert.equal(simulationNow(withInfos({ simulated: 'so' }), []), 'so')
    assert.equal(simulationNow(withInfos({}), []), undefined)
  })
  it('is said in one line of bounded length', () => {
    const text = simulationNow(withInfos({}), [pod(`x\n${'y'.repeat(5000)}`)]) ?? ''
    assert.ok(text.length <= 512 && !text.includes('\n'))
  })
  it('is the reason of its end, and keeps why it failed', () => {
    const end = { type: 'Failed', reason: 'DeadlineExceeded', message: 'too long', at: CREATED, duration: '1s' } as const
    assert.equal(simulatedEnd(end, undefined), end)
    assert.deepEqual(simulatedEnd(end, 'so'), { ...end, reason: 'Simulated', message: 'so (DeadlineExceeded: too long)' })
    assert.equal(simulatedEnd({ ...end, type: 'Complete' }, 'so').message, 'so')
  })
  it('is said on from step to step', () => {
    assert.equal(simulatedBefore(withInfos({}), NAME), undefined)
    const said = simulatedBefore(withInfos({ simulated: 'so' }), NAME)
    assert.equal(said, 'DataLoad "default/one" is only simulated: so')
    assert.equal(simulatedBefore(withInfos({ simulatedBefore: said }), { ...NAME, name: 'two' }), said)
  })
})
