/** Names on the wire that are made of the name of a data operation: those of its Job, ConfigMap and pods. All are Fluid's. Pure. */
import type { OperationKind } from './operation-parts.ts'

export interface OperationNames {
  /** The label `release`. */
  release: string
  /** Of the Job or the CronJob. */
  workload: string
  configMap: string
  /** The label `role`, less its end. */
  role: string
}

const ENDS: Readonly<Record<OperationKind, { release: string; workload: string; configMap: string; role: string }>> = {
  DataLoad: { release: '-loader', workload: '-loader-job', configMap: '-loader-data-load-script', role: 'dataload' },
  DataMigrate: { release: '-migrate', workload: '-migrate-migrate', configMap: '-migrate-script', role: 'datamigrate' },
  DataBackup: { release: '-charts', workload: '-pod', configMap: '-script', role: 'databackup' },
  DataProcess: { release: '-processor', workload: '-processor-job', configMap: '-processor-scripts', role: 'dataprocess' },
}

export function operationNames(kind: OperationKind, name: string): OperationNames {
  const { release, workload, configMap, role } = ENDS[kind]
  return { release: `${name}${release}`, workload: `${name}${workload}`, configMap: `${name}${configMap}`, role }
}

/** The name of a Job is a label of its pods; a CronJob adds eleven characters to its own. */
const LONGEST_JOB = 63
const LONGEST_CRON_JOB = 52

export const longestOperationName = (kind: string, policy: string | undefined): number =>
  (policy === 'Cron' ? LONGEST_CRON_JOB : LONGEST_JOB) - (ENDS[kind as OperationKind]?.workload.length ?? 0)

export const OPERATION_FINALIZERS: Readonly<Record<OperationKind, string>> = {
  DataLoad: 'fluid-dataload-controller-finalizer',
  DataMigrate: 'fluid-datamigrate-controller-finalizer',
  DataBackup: 'fluid-databackup-controller-finalizer',
  DataProcess: 'fluid-dataprocess-controller-finalizer',
}
