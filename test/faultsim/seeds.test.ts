import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { proveScript, proveSeed } from '../../src/faultsim/seeded/prove-seed.ts'
import { beginningOf } from '../../src/faultsim/seeded/run-script.ts'
import type { Script } from '../../src/faultsim/seeded/script.ts'
import { composedWorld } from '../../src/faultsim/seeded/worlds/composed.ts'
import { memberWorld } from '../../src/faultsim/seeded/worlds/member.ts'
import { referenceWorld } from '../../src/faultsim/seeded/worlds/reference.ts'

const FOLDER = path.join('test', 'faultsim', 'seeds')

describe('seeds that once failed', () => {
  const worlds = [referenceWorld(), composedWorld(), memberWorld()]
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.json')))
    it(file, async () => {
      const script = JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')) as Script
      const world = worlds.find(({ name }) => name === script.world)
      assert.ok(world !== undefined, `there is no world ${script.world}`)
      assert.deepEqual((await proveScript(world, script, await beginningOf(world))).failure, undefined)
    })
})

describe('a few seeds', () => {
  it('of the reference world', async () => {
    const world = referenceWorld()
    const from = await beginningOf(world)
    let hits = 0
    for (let seed = 1; seed <= 10; seed++) {
      const { failure, hits: done, script } = await proveSeed(world, seed, from)
      assert.deepEqual(failure, undefined, `seed ${seed}`)
      hits += done.length + script.moments.length
    }
    assert.ok(hits > 20, `only ${hits} faults in ten seeds`)
  })

  it('of the composed world', async () => {
    const world = composedWorld()
    const { failure, figures } = await proveSeed(world, 1, await beginningOf(world))
    assert.deepEqual(failure, undefined)
    assert.ok(figures.writes > 10)
  })
})
