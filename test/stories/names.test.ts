import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { it } from 'node:test'
import { NOTHING } from '../../src/client/cache/nothing.ts'
import { controllersOf } from '../../src/controllers.ts'
import { fleetInWords } from '../../src/fleet/ground.ts'

it('a controller is where its name says, and says what it writes', () => {
  const facts = { authority: () => '', everything: NOTHING, fleet: fleetInWords() }
  for (const role of ['hub', 'member'] as const) {
    const controllers = controllersOf(role, facts)
    assert.equal(new Set(controllers.map((controller) => controller.name)).size, controllers.length)
    for (const { name, writes } of controllers) {
      assert.ok(existsSync(`src/${name.replace(/\.cluster-scoped$/, '').replaceAll('.', '/')}/controller.ts`), name)
      assert.ok(writes.length > 0 && writes.every((write) => write.verbs.length > 0), name)
    }
  }
})
