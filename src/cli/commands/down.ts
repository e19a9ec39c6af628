/**
 * `sluice down`: asks the process of a data directory to stop, and waits until it has. Pods outlive a Sluice that was killed; then
 * it is started once more, because only it can end them with grace and knows them all.
 */
import { sleep } from '../../base/clock.ts'
import { type DataDir, dataDir, type Run, readLastRun, readRun } from '../data-dir.ts'
import { CommandError, type Machine } from '../machine.ts'

const PATIENCE_MS = 60_000
const START_MS = 120_000
const LOOK_EVERY_MS = 50

export async function down(machine: Machine, options: { dataDir?: string }): Promise<void> {
  const dir = dataDir(machine, options.dataDir)
  if (!(await machine.files.exists(dir.path)))
    throw new CommandError(`there is no data directory ${dir.path}; name the right one with --data-dir`)
  const run = (await readRun(machine, dir)) ?? (await startedAgain(machine, dir))
  if (run === undefined) {
    machine.out(
      `Nothing runs on ${dir.path}. Start it with: sluice up${options.dataDir === undefined ? '' : ` --data-dir ${options.dataDir}`}\n`,
    )
    return
  }
  machine.processes.signal(run.pid, 'SIGTERM')
  const deadline = machine.clock.now() + PATIENCE_MS
  while (machine.processes.isAlive(run.pid)) {
    if (machine.clock.now() > deadline)
      throw new CommandError(
        `process ${run.pid} has not ended within ${PATIENCE_MS / 1000} s; look at ${dir.log}, or end it yourself: kill -9 ${run.pid} (nothing acknowledged is lost)`,
      )
    await sleep(machine.clock, LOOK_EVERY_MS)
  }
  machine.out('Stopped. Everything is kept; the next start finds it as it was.\n')
}

/** Undefined: nothing can be left, because the last process was stopped in order or ran no pods. */
async function startedAgain(machine: Machine, dir: DataDir): Promise<Run | undefined> {
  const last = await readLastRun(machine, dir)
  if (last === undefined || last.bare) return undefined
  machine.out(`Sluice was killed (process ${last.pid}), which its pods outlive. It is started once more, to end them with grace …\n`)
  const pid = await machine.processes.startDetached(['up', '--data-dir', dir.path, '--quiet'], dir.log)
  const deadline = machine.clock.now() + START_MS
  while (machine.processes.isAlive(pid) && machine.clock.now() < deadline) {
    const run = await readRun(machine, dir)
    if (run?.pid === pid) return run
    await sleep(machine.clock, LOOK_EVERY_MS)
  }
  throw new CommandError(`it did not start, so pods may be running: look at ${dir.log}, then run sluice down again`)
}
