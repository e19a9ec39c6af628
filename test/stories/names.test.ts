import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { it } from 'node:test'
import type { Everything } from '../../src/client/cache/everything.ts'
import { controllersOf } from '../../src/controllers.ts'

it('a controller is where its name says, and says what it writes', () => {
  // Nothing runs here, so nothing has to be known about everything.
  const facts = { authority: () => '', everything: {} as Everything }
  for (const role of ['hub', 'member'] as const) {
    const controllers = controllersOf(role, facts)
    assert.equal(new Set(controllers.map((controller) => controller.name)).size, controllers.length)
    for (const { name, writes } of controllers) {
      assert.ok(existsSync(`src/${name.replaceAll('.', '/')}/controller.ts`), name)
      assert.ok(writes.length > 0 && writes.every((write) => write.verbs.length > 0), name)
    }
  }
})
