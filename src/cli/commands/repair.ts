/** `sluice repair`: recovers a damaged store as far as it can be read, and reports the consequences. */
import { type RepairReport, repairJournal, StoreRefusedError } from '../../store/index.ts'
import { dataDir, readRun } from '../data-dir.ts'
import { CommandError, type Machine } from '../machine.ts'
import { startProgress } from '../progress.ts'

export async function repair(machine: Machine, options: { dataDir?: string }): Promise<void> {
  const dir = dataDir(machine, options.dataDir)
  if (!(await machine.files.exists(dir.store)))
    throw new CommandError(`there is no store in ${dir.path}; name the right place with --data-dir`)
  const run = await readRun(machine, dir)
  if (run !== undefined) throw new CommandError(`process ${run.pid} serves ${dir.path}; stop it first: sluice down --data-dir ${dir.path}`)
  const progress = startProgress(machine)
  progress.step('reading the store')
  try {
    const report = await repairJournal(dir.store, { clock: machine.clock })
    progress.done()
    machine.out(describe(report, dir.path))
  } catch (error) {
    throw error instanceof StoreRefusedError ? new CommandError(error.message, error) : error
  } finally {
    progress.done()
  }
}

const OUTCOME_TEXT: Record<RepairReport['outcome'], string> = {
  intact: 'Nothing that is needed was damaged.',
  'history lost': 'Every object is there. Watches from before the repair must start over, which clients do by themselves.',
  'writes lost': 'What was written after the damaged place is lost. Revisions have jumped ahead, so that clients notice and read again.',
}

function describe(report: RepairReport, path: string): string {
  const lines = [...report.damage.map((damage) => `found: ${damage}`), OUTCOME_TEXT[report.outcome]]
  if (report.setAside.length > 0) lines.push('The damaged files are kept beside the store:', ...report.setAside.map((file) => `  ${file}`))
  return `${lines.join('\n')}\n\nStart it with: sluice up --data-dir ${path}\n`
}
