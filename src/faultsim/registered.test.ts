import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { GARBAGE_COLLECTOR } from '../minicluster/housekeeping/garbage/run.ts'
import { MODULES } from '../modules.ts'
import { type Sources, withoutSurvival } from './registered.ts'

function projectSources(): Sources {
  const files = ['src', 'test', 'examples'].filter((root) => existsSync(root)).flatMap((root) => testsBelow(root))
  return {
    read: (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined),
    tests: files.map((file) => readFileSync(file, 'utf8').replaceAll(`name: GARBAGE_COLLECTOR`, `name: '${GARBAGE_COLLECTOR}'`)),
  }
}

function testsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name)
    return entry.isDirectory() ? testsBelow(full) : entry.name.endsWith('.test.ts') ? [full] : []
  })
}

describe('every controller is registered with the prover', () => {
  for (const module of MODULES)
    it(`of ${module.name}`, () => {
      const names = [...module.declaredControllers().map(({ name }) => name), ...(module.loopNames ?? [])]
      assert.ok(names.length > 2, names.join())
      assert.deepEqual(withoutSurvival(names, projectSources()), [], 'these controllers have no survives(…) line in a test')
    })

  it('and one that is not would be found', () => {
    const read = (file: string) => (file === 'src/room/one/controller.ts' ? 'export const one = defineController({' : undefined)
    assert.deepEqual(withoutSurvival(['room.one'], { read, tests: ['survives(another, {})', 'one()'] }), ['room.one'])
    assert.deepEqual(withoutSurvival(['room.one'], { read, tests: ['  survives(\n    one,'] }), [])
    assert.deepEqual(withoutSurvival(['room.two'], { read, tests: ["survives({ name: 'room.two' }, {})"] }), [])
    assert.deepEqual(withoutSurvival(['room.two'], { read, tests: ["survives({ name: 'room.two.more' }, {})"] }), ['room.two'])
  })
})
