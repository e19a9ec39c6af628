import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../../base/random.ts'
import type { RunSpec, RunState } from '../kubelet/container-machine.ts'
import { createProcessMachine, type ProcessMachine } from './machine.ts'
import { isAlive, markOf } from './process-table.ts'
import { CLAIM_FILE, type Claim, ENDED_FILE, RUN_FILE, RUNNING_FILE, type Running } from './run-files.ts'
import { aRun, aTestbed, commandLines, isOver, isRunning, logOf, realClock, stateOfRun, type Testbed, until } from './testing.ts'

describe('runs found again', () => {
  let testbed: Testbed
  const open: ProcessMachine[] = []
  before(() => {
    testbed = aTestbed()
  })
  after(() => {
    for (const machine of open) machine.close()
    testbed.clear()
  })
  let count = 0
  const fresh = (): string => path.join(testbed.directory, `machine-${++count}`)
  const machineIn = (directory: string, more: { useNamespaces?: boolean } = {}): ProcessMachine => {
    const machine = createProcessMachine({ directory, clock: realClock, random: seededRandom(1), shim: testbed.shim, ...more })
    open.push(machine)
    return machine
  }
  const runDirectory = (directory: string, { podUid, container, attempt }: RunSpec): string =>
    path.join(directory, 'pods', podUid, 'runs', container, String(attempt))
  const json = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T

  it('is begun once, however often it is tried: after a crash between the record and the start, and by many at once', async () => {
    const directory = fresh()
    const first = machineIn(directory)
    const witness = path.join(testbed.directory, 'witness')
    const run = aRun(['sh', '-c', `echo ran >>"${witness}"`])
    await first.start(run)
    await until(first, run, isOver)
    first.close()
    // The state if Sluice was killed right after the record was written.
    const at = runDirectory(directory, run)
    for (const file of [CLAIM_FILE, RUNNING_FILE, ENDED_FILE, 'log']) rmSync(path.join(at, file), { force: true })
    writeFileSync(witness, '')
    const others = Array.from({ length: 4 }, () => spawn(process.execPath, [testbed.shim, at, path.join(directory, 'notices'), 'n']))
    const second = machineIn(directory)
    const state = await until(second, run, isOver)
    await Promise.all(others.map(async (other) => other.exitCode ?? once(other, 'exit')))
    assert.equal(state.phase === 'exited' && state.exitCode, 0)
    assert.equal(readFileSync(witness, 'utf8'), 'ran\n')
  })

  it('is run once, whenever Sluice is killed while it begins', async () => {
    const witness = path.join(testbed.directory, 'rounds')
    mkdirSync(witness)
    for (let round = 0; round < 5; round++) {
      const runs = [0, 1, 2].map((i) =>
        aRun(['sh', '-c', `echo ran >>"${witness}/${round}-${i}"; exit ${i}`], { podUid: `round-${round}`, container: `c${i}` }),
      )
      const first = testbed.owner()
      await first.call('refusal')
      for (const run of runs) void first.call('start', run).catch(() => undefined)
      // From the first record to the last end.
      await new Promise((resolve) => setTimeout(resolve, round * 40))
      await first.kill()
      const second = testbed.owner()
      for (const run of runs) await second.call('start', run)
      for (const [i, run] of runs.entries()) {
        const state = await second.call<RunState>('over', run)
        assert.equal(state.phase === 'exited' && state.exitCode, i, JSON.stringify(state))
        assert.equal(readFileSync(path.join(witness, `${round}-${i}`), 'utf8'), 'ran\n')
      }
      await second.kill()
    }
  })

  it('ends with its shim: no process is left, and the end is reported', async () => {
    for (const useNamespaces of [true, false]) {
      const directory = fresh()
      const machine = machineIn(directory, { useNamespaces })
      const unusual = `7${process.pid}`
      const run = aRun(['sh', '-c', `setsid sleep ${unusual} & exec sleep ${unusual}`])
      await machine.start(run)
      await until(machine, run, isRunning)
      const claim = json<Claim>(path.join(runDirectory(directory, run), CLAIM_FILE))
      const { program } = json<Running>(path.join(runDirectory(directory, run), RUNNING_FILE))
      process.kill(claim.pid, 'SIGKILL')
      const state = await until(machine, run, isOver)
      assert.equal(state.phase === 'exited' && state.exitCode, 137)
      const left = (): boolean => isAlive(program) || commandLines().some((line) => line.startsWith(`sleep ${unusual}`))
      for (let tries = 0; tries < 100 && left(); tries++) await new Promise((resolve) => setTimeout(resolve, 20))
      assert.equal(left(), false)
    }
  })

  it('does not take another process for its own', async () => {
    const directory = fresh()
    const first = machineIn(directory)
    const run = aRun(['sleep', '60'])
    await first.start(run)
    await until(first, run, isRunning)
    await first.signal(run, 'SIGKILL')
    await until(first, run, isOver)
    first.close()
    const at = runDirectory(directory, run)
    rmSync(path.join(at, ENDED_FILE))
    const bystander = spawn('sleep', ['60'])
    const pid = bystander.pid ?? 0
    // The recorded pids, now the bystander's, with the recorded start times.
    for (const [file, key] of [
      [CLAIM_FILE, undefined],
      [RUNNING_FILE, 'program'],
    ] as const) {
      const value = json<Record<string, Record<string, unknown>>>(path.join(at, file))
      if (key === undefined) Object.assign(value, { pid, startTime: '1' })
      else Object.assign(value[key] ?? {}, { pid, startTime: '1' })
      writeFileSync(path.join(at, file), JSON.stringify(value))
    }
    const second = machineIn(directory)
    assert.equal(stateOfRun(second, run)?.phase, 'exited')
    assert.notEqual(markOf(pid), undefined)
    assert.equal(bystander.exitCode, null)
    bystander.kill('SIGKILL')
  })

  it('survives whatever lies in its directory', () => {
    const names = fc.constantFrom(RUN_FILE, CLAIM_FILE, RUNNING_FILE, ENDED_FILE, 'log', 'x'.repeat(200), '.hidden')
    const contents = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constantFrom(
        'null',
        '[]',
        '{"phase":"exited"}',
        '{"phase":"failed","reason":1}',
        '{"pid":-1,"startTime":"1","bootId":""}',
        '{"__proto__":{"phase":"x"}}',
      ),
    )
    const places = fc.constantFrom(
      '.',
      'pods',
      'pods/p',
      'pods/p/runs',
      'pods/p/runs/c',
      'pods/p/runs/c/0',
      'pods/p/runs/c/00',
      'pods/../notices',
      'pods/p/runs/c/1',
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(places, names, contents), { maxLength: 12 }), (files) => {
        const directory = fresh()
        for (const [place, name, content] of files) {
          mkdirSync(path.join(directory, place), { recursive: true })
          writeFileSync(path.join(directory, place, name), content)
        }
        const machine = machineIn(directory, { useNamespaces: false })
        for (const podUid of machine.pods()) assert.deepEqual(machine.runsOf(podUid), [])
        machine.close()
        rmSync(directory, { recursive: true })
      }),
      { numRuns: 60 },
    )
  })

  it('takes a run whose record is whole and whose rest is not for one that is lost', async () => {
    for (const [file, content] of [
      [CLAIM_FILE, 'garbage'],
      [RUNNING_FILE, '{}'],
    ] as const) {
      const directory = fresh()
      const first = machineIn(directory)
      const run = aRun(['true'])
      await first.start(run)
      await until(first, run, isOver)
      first.close()
      const at = runDirectory(directory, run)
      rmSync(path.join(at, ENDED_FILE))
      writeFileSync(path.join(at, file), content)
      const second = machineIn(directory)
      assert.ok(['failed', 'exited'].includes(stateOfRun(second, run)?.phase ?? ''), JSON.stringify(stateOfRun(second, run)))
    }
  })

  it('needs no namespaces for a program that needs no files, and says why another cannot be run', async () => {
    const machine = machineIn(fresh(), { useNamespaces: false })
    const plain = aRun(['sh', '-c', 'echo here; echo >/dev/stdout again; sleep 0.05; exit 4'])
    await machine.start(plain)
    const state = await until(machine, plain, isOver)
    assert.equal(state.phase === 'exited' && state.exitCode, 4)
    assert.equal(await logOf(machine, plain), 'here\nagain\n')
    const volume = await machine.directory('pod-2', 'v')
    const mounting = aRun(['true'], { podUid: 'pod-2', mounts: [{ source: volume, path: '/v', readOnly: false }] })
    await machine.start(mounting)
    assert.deepEqual(
      { ...(await until(machine, mounting, isOver)), atMs: undefined },
      {
        atMs: undefined,
        phase: 'failed',
        reason: 'CreateContainerError',
        message: 'volumes cannot be mounted: namespaces were not wanted',
      },
    )
    const missing = aRun(['no-such-program'], { podUid: 'pod-3' })
    await machine.start(missing)
    const failed = await until(machine, missing, isOver)
    assert.equal(failed.phase === 'failed' && failed.message, 'exec: "no-such-program": executable file not found in $PATH')
  })

  it('keeps as many attempts as it is told, and removes a pod with all it has', async () => {
    const directory = fresh()
    const machine = machineIn(directory)
    for (const attempt of [0, 1, 2]) {
      const run = aRun(['echo', String(attempt)], { attempt })
      await machine.start(run)
      await until(machine, run, isOver)
    }
    await machine.prune('pod-1', 2)
    assert.deepEqual(
      machine.runsOf('pod-1').map((run) => run.attempt),
      [1, 2],
    )
    assert.deepEqual(readdirSync(path.join(directory, 'pods', 'pod-1', 'runs', 'main')), ['1', '2'])
    appendFileSync(path.join(await machine.directory('pod-1', 'volumes'), 'file'), 'x')
    await machine.remove('pod-1')
    assert.deepEqual([machine.pods(), existsSync(path.join(directory, 'pods', 'pod-1'))], [[], false])
  })
})
