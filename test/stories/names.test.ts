import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { it } from 'node:test'
import { MODULES } from '../../src/modules.ts'

it('a controller is where its name says, and says what it writes', () => {
  const controllers = MODULES.flatMap((module) => module.declaredControllers())
  assert.ok(controllers.length > 40)
  assert.equal(new Set(controllers.map((controller) => controller.name)).size, controllers.length)
  for (const { name, writes, effects = [] } of controllers) {
    assert.ok(existsSync(`src/${name.replace(/\.cluster-scoped$/, '').replaceAll('.', '/')}/controller.ts`), name)
    assert.ok(writes.length + effects.length > 0 && writes.every((write) => write.verbs.length > 0), name)
  }
})
