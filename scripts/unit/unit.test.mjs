import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { OWN_PROCESS } from './areas.mjs'
import { USES_THE_MACHINE, usesTheMachine } from './real-programs.mjs'
import { runTests } from './run-tests.mjs'
import { tryAgain } from './second-try.mjs'

const FOLDER = `dist/test-of-runner-${process.pid}`
/** Fails on its first run. */
const ONCE = `import { existsSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
describe('a socket', () => {
  it('is there', () => undefined)
  it('answers', () => {
    if (existsSync('${FOLDER}/ran')) return
    writeFileSync('${FOLDER}/ran', '')
    throw new Error('not the first time')
  })
})
`
const ALWAYS = "import { it } from 'node:test'\nit('fails', () => { throw new Error('always') })\n"
const STRAY = "import { it } from 'node:test'\nit('leaves a rejection behind', () => void Promise.reject(new Error('stray')))\n"
const SOUND = "import { it } from 'node:test'\nit('holds', async (t) => void (await t.test('inside', () => undefined)))\n"

const LATE = `import { describe, it } from 'node:test'
describe('a suite', async () => {
  await new Promise((resolve) => setTimeout(resolve, 10))
  it('is late', () => undefined)
})
`

const files = {
  once: `${FOLDER}/once.test.ts`,
  always: `${FOLDER}/always.test.ts`,
  stray: `${FOLDER}/stray.test.ts`,
  sound: `${FOLDER}/sound.test.ts`,
  late: `${FOLDER}/late.test.ts`,
}
before(() => {
  mkdirSync(FOLDER, { recursive: true })
  for (const [name, text] of Object.entries({ once: ONCE, always: ALWAYS, stray: STRAY, sound: SOUND, late: LATE }))
    writeFileSync(files[name], text)
})
after(() => rmSync(FOLDER, { recursive: true, force: true }))

/** End to end: real test files, real processes. */
async function run(chosen, mayTryAgain) {
  rmSync(`${FOLDER}/ran`, { force: true })
  const first = await runTests(chosen, { captures: true })
  const lines = []
  const tried = []
  const again = (which) => {
    tried.push(...which)
    return runTests(which, { concurrency: 1, captures: true })
  }
  const status = first.status === 0 ? 0 : await tryAgain(first, again, { mayTryAgain, say: (text) => void lines.push(...text.split('\n')) })
  return { first, status, tried, lines }
}

describe('the runner of unit tests', () => {
  it('knows the file of every test', async () => {
    const { first, status } = await run([files.sound, files.once].sort(), () => false)
    assert.equal(status, 1)
    assert.deepEqual(
      first.tests.map(({ file, names, hasFailed }) => [file, names.join(' > '), hasFailed]),
      [
        [files.once, 'a socket > is there', false],
        [files.once, 'a socket > answers', true],
        [files.once, 'a socket', true],
        [files.sound, 'holds > inside', false],
        [files.sound, 'holds', false],
      ],
    )
  })

  it('names a test of the machine that fails once as flaky, and counts it as passed', async () => {
    const { status, tried, lines } = await run([files.once, files.sound], (file) => file === files.once)
    assert.deepEqual({ status, tried }, { status: 0, tried: [files.once] })
    assert.deepEqual(lines.slice(-2), [`flaky: ${files.once}: a socket > answers`, '4 passed, 0 failed'])
  })

  it('fails where a test of the machine fails twice', async () => {
    const { status, tried, lines } = await run([files.always], () => true)
    assert.deepEqual({ status, tried }, { status: 1, tried: [files.always] })
    assert.deepEqual(lines.slice(-2), [`failed: ${files.always}: fails`, '0 passed, 1 failed'])
  })

  it('gives a test in virtual time no second try', async () => {
    const { status, tried } = await run([files.once], () => false)
    assert.deepEqual({ status, tried }, { status: 1, tried: [] })
    const mixed = await run([files.once, files.always], (file) => file === files.once)
    assert.deepEqual({ status: mixed.status, tried: mixed.tried }, { status: 1, tried: [files.once] })
    assert.ok(mixed.lines.includes(`flaky: ${files.once}: a socket > answers`))
    assert.ok(mixed.lines.includes(`failed: ${files.always}: fails`))
    assert.equal(mixed.lines.at(-1), '2 passed, 1 failed')
  })

  it('fails where a test leaves a rejection that nobody handles', async () => {
    const { first, status, lines } = await run([files.stray], () => false)
    assert.deepEqual({ first: first.status, status }, { first: 1, status: 1 })
    assert.match(first.output, /unhandledRejection: Error: stray/)
    assert.deepEqual(lines, [])
  })

  it('refuses tests that are registered when their suite is no longer known', async () => {
    assert.equal((await runTests([files.late], { captures: true })).status, 1)
  })

  it('has lists that name no folder that is gone', () => {
    for (const place of [...OWN_PROCESS, ...USES_THE_MACHINE]) assert.ok(existsSync(place), place)
  })

  it('knows what uses the machine', () => {
    assert.ok(usesTheMachine('src/minicluster/process/machine.test.ts'))
    assert.ok(!usesTheMachine('src/fleet/scheduler/schedule.test.ts'))
    assert.ok(!usesTheMachine('src/store/journal/recovery.test.ts'))
  })
})
