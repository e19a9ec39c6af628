import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { beginningOf } from '../../seeded/run-script.ts'
import { memberWorld } from '../../seeded/worlds/member.ts'
import type { WorldSnapshot } from '../../world/snapshot.ts'
import { PLANTED_IN_DATA } from './index.ts'
import { provePlanted, worldWith } from './planted.ts'

const OTHERS = Array.from({ length: 60 }, (_, i) => i + 1)

describe('a bug that is planted into the controllers of datasets is found', () => {
  let from: WorldSnapshot
  before(async () => {
    from = await beginningOf(memberWorld())
  })

  for (const planted of PLANTED_IN_DATA)
    it(`${planted.name}: ${planted.caughtBy}`, async () => {
      // What a seed leads to changes with every controller of a member: the one that found it last is tried first.
      for (const seed of [planted.foundBy.seed, ...OTHERS]) {
        const { failure } = await provePlanted(planted, { world: worldWith(planted), seed, from })
        if (failure === undefined) continue
        assert.equal(failure.oracle, planted.caughtBy, failure.message)
        // And the correct one passes where the defective one fails.
        return assert.equal((await provePlanted(planted, { world: memberWorld(), seed, from })).failure, undefined)
      }
      assert.fail(`it is not found by seeds 1 to ${OTHERS.length}`)
    })
})
