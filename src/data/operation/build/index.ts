/** From a data operation to the objects that carry it out, or to the reason why there are none. Pure. */
import type { DataLoad } from '../../../kinds/fluid/index.ts'
import { backupWork } from './backup.ts'
import { loadProblem, loadWork } from './load.ts'
import { migrateWork } from './migrate.ts'
import { processWork } from './process.ts'
import { type NoProgram, programProblem } from './program.ts'
import { type BuildInput, type OperationProgram, type Work, type Workload, workloadOf } from './workload.ts'

export type { BuildInput, OperationProgram, Workload }
export type Built = { workload: Workload; refused?: undefined } | { refused: NoProgram; workload?: undefined }

const WORK: Readonly<Record<string, (input: BuildInput, program: OperationProgram) => Work>> = {
  DataLoad: loadWork,
  DataMigrate: migrateWork,
  DataBackup: backupWork,
}

export function build(input: BuildInput): Built {
  const { operation, program } = input
  if (operation.kind === 'DataProcess') return { workload: workloadOf(input, processWork(input)) }
  const refused = programProblem(input)
  if (refused !== undefined) return { refused }
  const path = operation.kind === 'DataLoad' ? loadProblem(operation as DataLoad) : undefined
  if (path !== undefined) return { refused: { reason: 'PathNotSupported', message: path } }
  const work = WORK[operation.kind]
  if (work === undefined || program === undefined) throw new Error(`${operation.kind} is no data operation`)
  return { workload: workloadOf(input, work(input, program)) }
}
