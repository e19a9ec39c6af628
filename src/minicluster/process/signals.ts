/** Signals to a run: to its first process, as container runtimes send them, which has to pass them on; SIGKILL goes to all. */
import { constants as system } from 'node:os'
import { isAlive, sendSignal } from './process-table.ts'
import { endProcesses, type KnownRun } from './run-store.ts'

/** A run that has ended or is unknown is left alone; one that is about to start gets the signal once it has. */
export async function signalRun(run: KnownRun | undefined, name: string): Promise<void> {
  const signal = signalNamed(name)
  if (signal === undefined) throw new Error(`${name} is no signal of this system`)
  if (run?.state.phase === 'starting' && run.pendingSignal !== 'SIGKILL') run.pendingSignal = signal
  const { running } = run ?? {}
  if (run === undefined || run.state.phase !== 'running' || running === undefined) return
  if (signal === 'SIGKILL') return endProcesses(running)
  if (!isAlive(running.program)) return
  sendSignal(running.program.pid, signal)
}

/** With or without SIG; real-time signals have no names in Node. */
function signalNamed(name: string): NodeJS.Signals | undefined {
  const full = name.startsWith('SIG') ? name : `SIG${name}`
  return Object.hasOwn(system.signals, full) ? (full as NodeJS.Signals) : undefined
}
