import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { runParts, summarise } from '../parts.mjs'
import { runPart } from './run-part.mjs'

const logs = mkdtempSync(path.join(os.tmpdir(), 'sluice-parts-'))
after(() => rmSync(logs, { recursive: true, force: true }))

/** Commands end one after the other as given: [exit code, output]. */
function scripted(...endings) {
  const commands = []
  const run = async (command) => {
    commands.push(command.join(' '))
    const [code, output] = endings[commands.length - 1]
    return { code, output, seconds: 1, cpuSeconds: 0.5 }
  }
  return { run, commands }
}

const ONE_FAILED = [1, 'failed: the story\twhy\n7 passed, 1 failed\n']
const real = { name: 'test:real', command: ['real'], again: (name) => ['real', '--only', name] }

describe('a part that talks to real programs', () => {
  it('is flaky where a test fails once and then passes by itself', async () => {
    const { run, commands } = scripted(ONE_FAILED, [0, '1 passed, 0 failed\n'])
    const { passed, failed, flaky, failures, seconds, cpuSeconds } = await runPart(real, logs, run)
    assert.deepEqual(commands, ['real', 'real --only the story'])
    assert.deepEqual({ passed, failed, flaky, failures }, { passed: 8, failed: 0, flaky: ['the story'], failures: [] })
    assert.deepEqual({ seconds, cpuSeconds }, { seconds: 2, cpuSeconds: 1 })
  })

  it('fails where a test fails twice', async () => {
    const { run, commands } = scripted(ONE_FAILED, [1, '0 passed, 1 failed\n'])
    const { passed, failed, flaky, failures } = await runPart(real, logs, run)
    assert.equal(commands.length, 2)
    assert.deepEqual({ passed, failed, flaky }, { passed: 7, failed: 1, flaky: [] })
    assert.deepEqual(failures, [{ name: 'the story', why: 'why' }])
  })

  it('fails where one of two fails twice, and still names the other', async () => {
    const { run } = scripted([1, 'failed: a\nfailed: b\n5 passed, 2 failed\n'], [0, '1 passed, 0 failed\n'], [1, '0 passed, 1 failed\n'])
    const { passed, failed, flaky, failures } = await runPart(real, logs, run)
    assert.deepEqual({ passed, failed, flaky }, { passed: 6, failed: 1, flaky: ['a'] })
    assert.deepEqual(
      failures.map(({ name }) => name),
      ['b'],
    )
  })

  it('does not take a second try that ran nothing for a pass', async () => {
    for (const nothing of ['0 passed, 0 failed\n', 'skipped: no kubectl\n0 passed, 0 failed, 1 skipped\n']) {
      const { run } = scripted(ONE_FAILED, [0, nothing])
      assert.equal((await runPart(real, logs, run)).failed, 1)
    }
  })

  it('is not tried again where so many fail that it is no accident', async () => {
    const many = Array.from({ length: 6 }, (_, i) => `failed: story ${i}\n`).join('')
    const { run, commands } = scripted([1, `${many}0 passed, 6 failed\n`])
    assert.equal((await runPart(real, logs, run)).failed, 6)
    assert.equal(commands.length, 1)
  })

  it('is tried again as a whole where its tests build on each other', async () => {
    const output = '    not ok 1 - one\n    not ok 2 - two\nnot ok 1 - suite\n# pass 3\n# fail 2\n'
    const { run, commands } = scripted([1, output], [0, '# pass 5\n# fail 0\n'])
    const { passed, failed, flaky } = await runPart({ name: 'test:e2e', command: ['e2e'], again: true }, logs, run)
    assert.deepEqual(commands, ['e2e', 'e2e'])
    assert.deepEqual({ passed, failed, flaky }, { passed: 5, failed: 0, flaky: ['one', 'two'] })
  })
})

describe('a part', () => {
  const plain = { name: 'virtual', command: ['virtual'] }

  it('gets no second try unless it says so', async () => {
    const { run, commands } = scripted(ONE_FAILED)
    const { failed, flaky } = await runPart(plain, logs, run)
    assert.deepEqual({ failed, flaky, commands }, { failed: 1, flaky: [], commands: ['virtual'] })
  })

  it('counts as one where it prints no counts', async () => {
    const countsOf = async (ending) => {
      const { passed, failed } = await runPart(plain, logs, scripted(ending).run)
      return [passed, failed]
    }
    assert.deepEqual(await countsOf([0, 'all is well\n']), [1, 0])
    assert.deepEqual(await countsOf([1, 'nothing is well\n']), [0, 1])
  })

  it('fails where it ran nothing, and is skipped where it says why', async () => {
    assert.equal((await runPart(plain, logs, scripted([0, '# pass 0\n# fail 0\n']).run)).failed, 1)
    const { passed, failed, skipped } = await runPart(plain, logs, scripted([0, 'skipped: no Go\n0 passed, 0 failed, 1 skipped\n']).run)
    assert.deepEqual({ passed, failed, skipped }, { passed: 0, failed: 0, skipped: ['no Go'] })
  })

  it('takes over what a run inside it found flaky', async () => {
    const { run } = scripted([0, 'flaky: unit tests: a socket\n9 passed, 0 failed\n'])
    const { passed, flaky } = await runPart(plain, logs, run)
    assert.deepEqual({ passed, flaky }, { passed: 9, flaky: ['unit tests: a socket'] })
  })
})

describe('a run of parts', () => {
  const node = (name, code, more = {}) => ({ name, command: [process.execPath, '-e', code], ...more })

  /** Where a run prints, and its lines. */
  function paper() {
    let text = ''
    return {
      write(more) {
        text += more
      },
      lines: () => text.trimEnd().split('\n'),
    }
  }

  it('ends with the closing line alone, after what was skipped, flaky and failed', () => {
    const results = [
      { name: 'a', passed: 3, failed: 0, skipped: ['no Go'], flaky: ['the story'], failures: [], seconds: 1, cpuSeconds: 1 },
      { name: 'b', passed: 1, failed: 1, skipped: [], flaky: [], failures: [{ name: 'c' }], seconds: 1, cpuSeconds: undefined },
    ]
    const out = paper()
    assert.equal(summarise(results, out), 1)
    assert.deepEqual(out.lines().slice(-4), ['skipped: a: no Go', 'flaky: a: the story', 'failed: b: c', '4 passed, 1 failed, 1 skipped'])
  })

  it('is not lost by a flaky test', () => {
    const results = [{ name: 'a', passed: 3, failed: 0, skipped: [], flaky: ['the story'], failures: [], seconds: 1, cpuSeconds: 1 }]
    assert.equal(summarise(results, paper()), 0)
  })

  it('ends each stage before the next, runs lanes beside each other, and measures CPU', async () => {
    const busy = 'const until = Date.now() + 300; while (Date.now() < until);'
    const wait = 'setTimeout(() => {}, 600)'
    const stages = [[node('first', '')], [node('computes', busy), node('computes too', busy), node('waits', wait, { lane: 'waiting' })]]
    const began = Date.now()
    const out = paper()
    const results = await runParts(stages, { logs, out })
    assert.deepEqual(
      results.map(({ name, failed }) => [name, failed]),
      ['first', 'computes', 'computes too', 'waits'].map((name) => [name, 0]),
    )
    const sequential = results.reduce((sum, { seconds }) => sum + seconds, 0)
    assert.ok((Date.now() - began) / 1000 < sequential, 'lanes overlap')
    assert.match(out.lines().at(-1), / … ok, [\d.]+ s$/)
    const [, computes, , waits] = results
    if (computes.cpuSeconds !== undefined) assert.ok(computes.cpuSeconds > waits.cpuSeconds, `${computes.cpuSeconds} > ${waits.cpuSeconds}`)
  })
})
