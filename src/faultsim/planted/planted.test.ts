import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { card } from '../reference/card/controller.ts'
import { greeting } from '../reference/greeting/controller.ts'
import { survivalOf } from '../reference/survival.ts'
import { proveSeed } from '../seeded/prove-seed.ts'
import { beginningOf } from '../seeded/run-script.ts'
import { referenceWorld } from '../seeded/worlds/reference.ts'
import { proveSurvival } from '../survives.ts'
import type { WorldSnapshot } from '../world/snapshot.ts'
import { PLANTED } from './index.ts'

const NO_BOARD = { put: async () => undefined, takeDown: async () => undefined }

describe('a planted bug is found, and by the oracle that says what is wrong', () => {
  let from: WorldSnapshot
  before(async () => {
    from = await beginningOf(referenceWorld())
  })

  for (const { name, caughtBy, foundBy, cast } of PLANTED)
    it(`${name}: ${caughtBy}`, async () => {
      if ('seed' in foundBy) {
        const { failure } = await proveSeed(referenceWorld(cast), foundBy.seed, from)
        assert.equal(failure?.oracle, caughtBy, failure?.message)
        // And the correct one passes where the defective one fails.
        assert.equal((await proveSeed(referenceWorld(), foundBy.seed, from)).failure, undefined)
        return
      }
      const target = foundBy.of === 'card' ? card : greeting(NO_BOARD)
      const { failures } = await proveSurvival(target, survivalOf(cast), foundBy.fault)
      assert.deepEqual(
        failures.map(({ oracle }) => oracle),
        [caughtBy],
        failures[0]?.message,
      )
    })

  it('there are enough of them, each with a name of its own', () => {
    assert.ok(PLANTED.length >= 15)
    assert.equal(new Set(PLANTED.map(({ name }) => name)).size, PLANTED.length)
  })
})
