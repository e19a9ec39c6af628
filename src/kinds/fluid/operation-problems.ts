/**
 * What is wrong with the spec of a data operation, in Fluid's words and with what to do: said at admission, and in the condition
 * of an operation that came in without it. Looks at the operation alone. Pure.
 */
import { index } from '../../kube/field-error.ts'
import { scheduleProblem } from '../kubernetes/rules/workloads/cron-schedule.ts'
import { quoted } from '../volcano/annotations.ts'
import type { DataBackup, DataLoad, DataMigrate } from './index.ts'
import { parseMountPoint } from './mount-point.ts'
import { type Operation, runAfterOf, type Target, targetOf } from './operation.ts'
import { longestOperationName } from './operation-names.ts'
import { pathProblem } from './paths.ts'
import { processProblems } from './process-problems.ts'

export interface OperationProblem {
  /** The reason of the event and of the condition; Fluid's where it has one. */
  reason: string
  field: string
  message: string
}

export function operationProblems(operation: Operation): OperationProblem[] {
  return [...targetProblems(operation), ...ownProblems(operation), ...policyProblems(operation), ...runAfterProblems(operation)]
}

function ownProblems(operation: Operation): OperationProblem[] {
  if (operation.kind === 'DataLoad') return loadProblems(operation as DataLoad)
  if (operation.kind === 'DataMigrate') return migrateProblems(operation as DataMigrate)
  return operation.kind === 'DataBackup' ? backupProblems(operation as DataBackup) : processProblems(operation)
}

/** Of each kind as Fluid says it; a backup cannot name another namespace. */
const NOT_SAME: Readonly<Record<string, (name: string) => string>> = {
  DataLoad: (name) => `dataLoad(${name}) namespace is not same as dataset`,
  DataMigrate: () => 'DataMigrate namespace is not same as dataset',
  DataProcess: () => "DataProcess's namespace is not same as its spec.dataset",
}

function targetProblems(operation: Operation): OperationProblem[] {
  const target = targetOf(operation)
  if (target === undefined) {
    if (operation.kind === 'DataMigrate') return []
    return [{ reason: 'TargetDatasetNotFound', field: 'spec.dataset', message: 'no dataset is named: say which one' }]
  }
  const { namespace = '', name = '' } = operation.metadata
  const says = NOT_SAME[operation.kind]
  if (target.namespace === namespace || says === undefined) return []
  return [elsewhere(target, `${says(name)}: ${aDatasetHere(operation.kind, target)}`)]
}

const elsewhere = ({ field }: Target, message: string): OperationProblem => ({
  reason: 'TargetDatasetNamespaceNotSame',
  field: `${field}.namespace`,
  message,
})

const aDatasetHere = (kind: string, { namespace, name }: Target): string =>
  kind === 'DataProcess'
    ? `create it in namespace ${namespace}, or make a Dataset here that mounts dataset://${namespace}/${name}`
    : `create it in namespace ${namespace}`

const loadProblems = ({ spec }: DataLoad): OperationProblem[] =>
  (spec?.target ?? []).flatMap(({ path, replicas = 1 }, i) => {
    const field = index('spec.target', i)
    const problem = pathProblem(path)
    return [
      ...(problem === undefined ? [] : [{ reason: 'PathNotSupported', field: `${field}.path`, message: problem }]),
      ...(replicas < 0
        ? [{ reason: 'DataOperationNotValid', field: `${field}.replicas`, message: `${replicas} copies cannot be made: write 1 or more` }]
        : []),
    ]
  })

function migrateProblems(migrate: DataMigrate): OperationProblem[] {
  const { metadata, spec } = migrate
  const target = targetOf(migrate)
  const both = (['from', 'to'] as const).flatMap((end) => {
    const field = `spec.${end}`
    const { dataset, externalStorage } = spec?.[end] ?? {}
    if ((dataset === undefined) === (externalStorage === undefined))
      return [{ reason: 'DataOperationNotValid', field, message: 'it names one place: give either dataset or externalStorage' }]
    if (dataset === undefined) return storageProblems(end, externalStorage?.uri ?? '')
    const path = pathProblem(dataset.path ?? '')
    const isElsewhere = dataset.namespace !== '' && dataset.namespace !== metadata.namespace && target?.field !== `${field}.dataset`
    return [
      ...(path === undefined ? [] : [{ reason: 'PathNotSupported', field: `${field}.dataset.path`, message: path }]),
      ...(isElsewhere
        ? [
            elsewhere(
              { field: `${field}.dataset`, namespace: dataset.namespace, name: dataset.name },
              `no pod can mount a dataset of another namespace: make a Dataset here that mounts dataset://${dataset.namespace}/${dataset.name}, and name it instead`,
            ),
          ]
        : []),
    ]
  })
  const hasDataset = spec?.from?.dataset !== undefined || spec?.to?.dataset !== undefined
  return hasDataset || spec === undefined
    ? both
    : [...both, { reason: 'TargetDatasetNotFound', field: 'spec.to', message: 'no dataset takes part: name one in from or in to' }]
}

const STORAGE = 'write for example s3://bucket/prefix, pvc://claim/path or local:///path'

function storageProblems(end: 'from' | 'to', uri: string): OperationProblem[] {
  const field = `spec.${end}.externalStorage.uri`
  const says = (message: string): OperationProblem[] => [{ reason: 'PathNotSupported', field, message }]
  const { value, error } = parseMountPoint(uri)
  if (value === undefined) return says(error)
  if (value.kind === 'dataset') return says('it is a dataset: name it in the field dataset')
  if (value.kind === 'web' && end === 'to') return says(`nothing can be written to ${quoted(uri)}: ${STORAGE}`)
  // Any other address is the engine's to read, or to refuse.
  return []
}

const BACKUP_PATH = 'Only support pvc and local path now'

function backupProblems({ spec }: DataBackup): OperationProblem[] {
  const path = spec?.backupPath ?? ''
  const { value, error } = parseMountPoint(path)
  if (value?.kind === 'pvc' || value?.kind === 'local') return []
  const advice = /^(?:pvc|local):\/\//i.test(path) && error !== undefined ? error : 'write pvc://claim/path or local:///path'
  return [{ reason: 'PathNotSupported', field: 'spec.backupPath', message: `${BACKUP_PATH}: ${advice}` }]
}

function policyProblems(operation: Operation): OperationProblem[] {
  const {
    policy,
    schedule = '',
    ttlSecondsAfterFinished: seconds,
  } = (operation.spec ?? {}) as {
    policy?: string
    schedule?: string
    ttlSecondsAfterFinished?: number
  }
  const { name = '' } = operation.metadata
  const longest = longestOperationName(operation.kind, policy)
  const problems: OperationProblem[] = []
  const says = (reason: string, field: string, message: string): void => void problems.push({ reason, field, message })
  if (name.length > longest)
    says(
      'DataOperationNotValid',
      'metadata.name',
      `has ${name.length} characters, and names and labels of its Job are made of it: use at most ${longest}`,
    )
  if (policy === 'OnEvent')
    says(
      'DataOperationNotSupport',
      'spec.policy',
      'OnEvent is never run, as no event is known that could start it: use Once, or Cron with a schedule',
    )
  if (policy === 'Cron') {
    const problem = schedule === '' ? undefined : scheduleProblem(schedule)
    if (schedule === '') says('ScheduleNotSpecified', 'spec.schedule', 'policy Cron needs a schedule: write for example "0 3 * * *"')
    else if (problem !== undefined)
      says(
        'ScheduleNotSpecified',
        'spec.schedule',
        `${quoted(schedule)} is no schedule (${problem}): write for example "0 3 * * *", or "CRON_TZ=Europe/Berlin 0 3 * * *"`,
      )
  }
  if (seconds !== undefined && seconds < 0)
    says(
      'DataOperationNotValid',
      'spec.ttlSecondsAfterFinished',
      `${seconds} is no time: write 0 to delete it at once, or leave it out to keep it`,
    )
  return problems
}

const AFFINITY_POLICIES = ['', 'Require', 'Prefer']

function runAfterProblems(operation: Operation): OperationProblem[] {
  const { policy = '', prefers = [] } = runAfterOf(operation)?.affinityStrategy ?? {}
  const field = 'spec.runAfter.affinityStrategy'
  const weights = prefers.flatMap(({ weight }, i) =>
    weight >= 1 && weight <= 100
      ? []
      : [
          {
            reason: 'DataOperationNotValid',
            field: `${index(`${field}.prefers`, i)}.weight`,
            message: `${weight} is no weight: write 1 to 100`,
          },
        ],
  )
  if (AFFINITY_POLICIES.includes(policy)) return weights
  const message = `${quoted(policy)} is unknown: write Require or Prefer, or leave it out if the nodes do not matter`
  return [{ reason: 'DataOperationNotValid', field: `${field}.policy`, message }, ...weights]
}
