import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import type { Everything } from '../client/cache/everything.ts'
import { controllersOf } from '../controllers.ts'
import { GARBAGE_COLLECTOR } from '../minicluster/housekeeping/garbage/run.ts'
import { type Sources, withoutSurvival } from './registered.ts'
import { World } from './world/index.ts'

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
  for (const role of ['hub', 'member'] as const)
    it(`of a ${role}`, async () => {
      const names = [...(await namesOf(role)), GARBAGE_COLLECTOR]
      assert.ok(names.length > 5, names.join())
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

/** The list as a world runs it. */
async function namesOf(role: 'hub' | 'member'): Promise<string[]> {
  const names: string[] = []
  const isMember = role === 'member'
  const world = new World({
    hub: !isMember,
    members: isMember ? 1 : 0,
    nodes: 1,
    controllers: (options) => {
      for (const { name } of controllersOf(role, { ...options, everything: {} as Everything })) names.push(name)
      return { busy: () => [], lookAgain: () => undefined, stop: async () => undefined }
    },
  })
  await world.start()
  await world.stop()
  return names
}
