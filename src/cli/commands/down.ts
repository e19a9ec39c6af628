/** `sluice down`: asks the process of a data directory to stop, and waits until it has. */
import { sleep } from '../../base/clock.ts'
import { dataDir, readRun } from '../data-dir.ts'
import { CommandError, type Machine } from '../machine.ts'

const PATIENCE_MS = 60_000
const LOOK_EVERY_MS = 50

export async function down(machine: Machine, options: { dataDir?: string }): Promise<void> {
  const dir = dataDir(machine, options.dataDir)
  if (!(await machine.files.exists(dir.path)))
    throw new CommandError(`there is no data directory ${dir.path}; name the right one with --data-dir`)
  const run = await readRun(machine, dir)
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
