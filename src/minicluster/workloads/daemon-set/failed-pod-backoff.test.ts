import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFailedPodBackoff } from './failed-pod-backoff.ts'

describe('the backoff of failed daemon pods', () => {
  it('doubles from a second to 15 minutes, and asking twice does not count twice', () => {
    const backoff = createFailedPodBackoff()
    let now = 0
    const waited: number[] = []
    for (let i = 0; i < 13; i++) {
      const wait = backoff.waitMs('here', `pod-${i}`, now)
      waited.push(wait / 1000)
      now += wait
      if (wait > 0) assert.equal(backoff.waitMs('here', `pod-${i}`, now), 0)
      assert.equal(backoff.waitMs('here', `pod-${i}`, now), 0, 'again')
    }
    assert.deepEqual(waited, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900])
  })

  it('is of one place, and forgotten after half an hour', () => {
    const backoff = createFailedPodBackoff()
    assert.equal(backoff.waitMs('here', 'a', 0), 0)
    assert.equal(backoff.waitMs('there', 'b', 0), 0)
    assert.equal(backoff.waitMs('here', 'c', 400), 600)
    assert.equal(backoff.waitMs('here', 'c', 1_800_001), 0)
    assert.equal(backoff.waitMs('here', 'd', 1_800_002), 999, 'it began anew')
  })
})
