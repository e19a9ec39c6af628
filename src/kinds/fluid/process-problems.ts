/** What is wrong with a DataProcess: its processors, and where they would mount the dataset. Pure. */
import { index } from '../../kube/field-error.ts'
import type { Container, Volume, VolumeMount } from '../kubernetes/types.ts'
import { quoted } from '../volcano/annotations.ts'
import type { DataProcess } from './index.ts'
import type { Operation } from './operation.ts'
import type { OperationProblem } from './operation-problems.ts'
import { cleanPath, pathProblem } from './paths.ts'

export const DATASET_VOLUME = 'fluid-dataset-vol'
export const SCRIPT_VOLUME = 'script-cm-vol'

export function processProblems({ spec }: Operation): OperationProblem[] {
  const { dataset, processor } = (spec ?? {}) as Partial<NonNullable<DataProcess['spec']>>
  return [
    ...mountProblems(dataset?.mountPath ?? '', dataset?.subPath ?? ''),
    ...processorProblems(processor),
    ...conflicts(dataset?.mountPath, processor),
    ...jobProblems(processor?.job),
  ]
}

type Processor = NonNullable<DataProcess['spec']>['processor']

function processorProblems({ job, script, image, shell }: Partial<Processor> = {}): OperationProblem[] {
  const field = 'spec.processor'
  const says = (reason: string, message: string): OperationProblem[] => [{ reason, field, message }]
  if (job === undefined && script === undefined)
    return says('ProcessorNotSpecified', "DataProcess's spec.processor is not specified: give script (or shell), or job")
  if (job !== undefined && script !== undefined)
    return says(
      'MultipleProcessorSpecified',
      `DataProcess has specified multiple processors: remove either ${shell === undefined ? 'script' : 'shell'} or job, or make a DataProcess of each`,
    )
  if (job !== undefined && (job.podSpec?.containers ?? []).length === 0)
    return says('ProcessorNotSpecified', 'its job has no container: give template, or podSpec')
  if (script !== undefined && (script.image ?? '') === '')
    return says(
      'ProcessorNotSpecified',
      `its script needs an image to run in: give ${shell === undefined ? 'script.image' : 'processor.image'}`,
    )
  return image !== undefined && shell === undefined
    ? [
        {
          reason: 'DataOperationNotValid',
          field: `${field}.image`,
          message: 'belongs to shell: give the image in script, or in the containers of job',
        },
      ]
    : []
}

function mountProblems(mountPath: string, subPath: string): OperationProblem[] {
  const says = (field: string, message: string): OperationProblem[] => [
    { reason: 'PathNotSupported', field: `spec.dataset.${field}`, message },
  ]
  const problem = mountPath.startsWith('/') ? pathProblem(mountPath) : `${quoted(mountPath)} is not absolute: write for example /data`
  const sub = subPath.startsWith('/') ? `${quoted(subPath)} is absolute: write the path below the dataset` : pathProblem(subPath)
  return [
    ...(problem === undefined ? [] : says('mountPath', problem)),
    ...(mountPath.includes(':') ? says('mountPath', `${quoted(mountPath)} contains ":", which no pod can mount: choose another path`) : []),
    ...(sub === undefined ? [] : says('subPath', sub)),
  ]
}

interface Mounting {
  field: string
  volumeMounts: readonly VolumeMount[] | undefined
}

function conflicts(mountPath: string | undefined, { job, script }: Partial<Processor> = {}): OperationProblem[] {
  const podSpec = job?.podSpec
  const ofContainers = (field: string, containers: readonly Container[] = []): Mounting[] =>
    containers.map(({ volumeMounts }, i) => ({ field: `${index(field, i)}.volumeMounts`, volumeMounts }))
  const all = [
    { field: 'spec.processor.script.volumeMounts', volumeMounts: script?.volumeMounts },
    ...ofContainers('spec.processor.job.podSpec.containers', podSpec?.containers),
    ...ofContainers('spec.processor.job.podSpec.initContainers', podSpec?.initContainers),
  ]
  return [
    ...all.flatMap(({ field, volumeMounts = [] }) =>
      volumeMounts.flatMap((mount, i) =>
        mountPath !== undefined && cleanPath(mount.mountPath ?? '') === cleanPath(mountPath)
          ? [conflict(`${index(field, i)}.mountPath`, `${quoted(mountPath)} is where the dataset goes: mount the other volume elsewhere`)]
          : [],
      ),
    ),
    ...takenVolumes('spec.processor.script.volumes', script?.volumes),
    ...takenVolumes('spec.processor.job.podSpec.volumes', podSpec?.volumes),
  ]
}

const takenVolumes = (field: string, volumes: readonly Volume[] = []): OperationProblem[] =>
  volumes.flatMap(({ name }, i) =>
    name === DATASET_VOLUME || name === SCRIPT_VOLUME
      ? [conflict(`${index(field, i)}.name`, `${quoted(name)} is the name of a volume that is added: choose another name`)]
      : [],
  )

const conflict = (field: string, message: string): OperationProblem => ({
  reason: 'ConflictMountPath',
  field,
  message: `DataProcess has conflict volume mount paths: ${message}`,
})

/** Whatever takes the Job out of the hands of its operation. */
const REFUSED: Readonly<Partial<Record<keyof NonNullable<Processor['job']>, string>>> = {
  managedBy: 'another program would run the Job: leave it out',
  manualSelector: 'pods of others could be taken for those of the Job: leave it out',
  selector: 'pods of others could be taken for those of the Job: leave it out',
  suspend: 'the Job would never run: let the operation run after another one instead',
  ttlSecondsAfterFinished: 'the Job would go while its operation is still looked at: use spec.ttlSecondsAfterFinished',
}

const jobProblems = (job: Processor['job']): OperationProblem[] =>
  Object.entries(REFUSED).flatMap(([field, message]) => {
    const value = job?.[field as keyof typeof job]
    return value === undefined || value === false
      ? []
      : [{ reason: 'DataOperationNotValid', field: `spec.processor.job.${field}`, message }]
  })
