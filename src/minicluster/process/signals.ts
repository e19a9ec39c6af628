/** Signals to a run as a whole. */
import { constants as system } from 'node:os'
import { isAlive, processesOf, sendSignal } from './process-table.ts'
import { endProcesses, type KnownRun } from './run-store.ts'

/** A run that has ended, or that nobody knows, is left alone. */
export async function signalRun(run: KnownRun | undefined, name: string): Promise<void> {
  const { running } = run ?? {}
  if (run === undefined || run.state.phase !== 'running' || running === undefined) return
  const signal = signalNamed(name)
  if (signal === undefined) throw new Error(`${name} is no signal of this system`)
  if (signal === 'SIGKILL') return endProcesses(run.record, running)
  if (!isAlive(running.program)) return
  // The program leads a group of its own; in a namespace of its own its first process hears only what it listens to.
  if (!sendSignal(-running.program.pid, signal)) sendSignal(running.program.pid, signal)
  if (run.record.launch.ownsProcesses) return
  for (const pid of processesOf(running.program.pid, run.record.launch.mark)) if (pid !== running.program.pid) sendSignal(pid, signal)
}

/** With or without SIG; real-time signals have no names in Node. */
function signalNamed(name: string): NodeJS.Signals | undefined {
  const full = name.startsWith('SIG') ? name : `SIG${name}`
  return Object.hasOwn(system.signals, full) ? (full as NodeJS.Signals) : undefined
}
