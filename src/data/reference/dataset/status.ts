/**
 * The status of a reference, whole: that of its original without what belongs to the original's tenant alone. Options of mounts,
 * names of data operations and the texts of conditions stay where they are; for each condition there is a sentence of our own.
 * Texts, lists and maps are bounded, whatever the original says. Pure.
 */
import type { Dataset, DatasetStatus, Mount } from '../../../kinds/fluid/index.ts'
import { publicMount, withoutCredentials } from '../../../kinds/fluid/reference.ts'
import { RUNTIME_CATEGORY } from '../../../kinds/fluid/well-known.ts'
import { findCondition } from '../../../kube/conditions.ts'
import { conditionsOf, READY_MESSAGE, ready, type Said, UPDATED_MESSAGE, unready, updating, waiting } from '../../dataset/conditions.ts'
import { unbound } from '../../dataset/status.ts'
import { shown } from '../../dataset/text.ts'
import { WITHDRAWN } from '../indexes.ts'
import type { Standing } from './decide.ts'
import type { Observed } from './observe.ts'

type Status = Partial<DatasetStatus>

const LONGEST_FIGURE = 64
const LONGEST_ADDRESS = 512
const MOST_FIGURES = 32
export const MOST_MOUNTS = 100

export function statusOf(observed: Observed, standing: Standing, held?: Said): DatasetStatus {
  const { dataset, nowMs, taken } = observed
  const before: Status = dataset.status ?? {}
  const beside: Said[] = [
    ...(taken === undefined || standing.is === 'waiting'
      ? []
      : [{ type: 'NameTaken', status: 'True', reason: 'NameTaken', message: taken } as const]),
    ...(held === undefined ? [] : [held]),
  ]
  const conditions = conditionsOf(before.conditions, [...saidOf(observed, standing), ...beside], nowMs)
  switch (standing.is) {
    case 'waiting':
      return { ...withoutForeign(unbound(before)), phase: 'NotBound', conditions }
    case 'lost':
      return { ...withoutForeign(before), phase: 'Failed', conditions }
    case 'mirrored':
      return { ...figuresOf(standing.status), phase: standing.phase, runtimes: [ownRuntime(dataset)], conditions }
  }
}

/** What a dataset that refers to another one never has, whatever it was before. */
function withoutForeign({ datasetRef: _, operationRef: _operations, ...rest }: Status): Status {
  return rest
}

const ownRuntime = ({ metadata: { namespace = '', name = '' } }: Dataset) => ({
  name,
  namespace,
  category: RUNTIME_CATEGORY,
  type: 'thin',
  masterReplicas: 0,
})

const bounded = (mount: Mount): Mount =>
  Object.fromEntries(
    Object.entries(mount).map(([name, value]) => [name, typeof value === 'string' ? shown(value, LONGEST_ADDRESS) : value]),
  ) as Mount

function figuresOf({ mounts, ufsTotal, fileNum, cacheStates, hcfs }: DatasetStatus): Status {
  const figures = Object.entries(cacheStates ?? {}).slice(0, MOST_FIGURES)
  return {
    ...(mounts === undefined ? {} : { mounts: mounts.slice(0, MOST_MOUNTS).map(publicMount).map(bounded) }),
    ...(ufsTotal === undefined ? {} : { ufsTotal: shown(ufsTotal, LONGEST_FIGURE) }),
    ...(fileNum === undefined ? {} : { fileNum: shown(fileNum, LONGEST_FIGURE) }),
    ...(cacheStates === undefined
      ? {}
      : { cacheStates: Object.fromEntries(figures.map(([name, value]) => [name.slice(0, LONGEST_FIGURE), shown(value, LONGEST_FIGURE)])) }),
    ...(hcfs?.endpoint === undefined ? {} : { hcfs: { endpoint: shown(withoutCredentials(hcfs.endpoint), LONGEST_ADDRESS) } }),
  }
}

function saidOf({ referred }: Observed, standing: Standing): Said[] {
  const where = `${referred.namespace}/${referred.name}`
  switch (standing.is) {
    case 'waiting': {
      const withdrawn: Said = { type: WITHDRAWN, status: 'True', reason: 'NoConsent', message: standing.sentence }
      return [waiting(standing.sentence), ...(standing.isWithdrawn === true ? [withdrawn] : [])]
    }
    case 'lost':
      return [unready(), waiting(standing.sentence)]
    case 'mirrored':
      return [...mirroredSaid(standing.status, where), ...mirrorSaid(standing.mirrorProblem)]
  }
}

const MESSAGES: ReadonlySet<string> = new Set([READY_MESSAGE, UPDATED_MESSAGE])

function mirroredSaid({ conditions = [], phase }: DatasetStatus, where: string): Said[] {
  const has = (type: string, status: string): boolean => findCondition(conditions, type)?.status === status
  const see = `see Dataset ${where}, or ask its owner`
  const message = findCondition(conditions, 'Ready')?.message ?? ''
  const isFailed = phase === 'Failed'
  return [
    isFailed || has('Ready', 'False') ? unready() : ready(MESSAGES.has(message) ? message : READY_MESSAGE),
    ...(isFailed ? [waiting(`Dataset ${where}, to which this one refers, has failed: ${see}`)] : []),
    ...(phase === 'Updating' ? [updating(`the mounts of Dataset ${where} are being changed: ${see}`)] : []),
    ...(has('Simulated', 'True')
      ? [
          {
            type: 'Simulated',
            status: 'True',
            reason: 'Simulated',
            message: `the pods of Dataset ${where} run nothing, so no byte is cached`,
          } as const,
        ]
      : []),
    ...(has('Reported', 'False')
      ? [
          {
            type: 'Reported',
            status: 'False',
            reason: 'ReportFailed',
            message: `the cache of Dataset ${where} does not report how much it holds, what is shown is old: ${see}`,
          } as const,
        ]
      : []),
    ...(has('SourcesListed', 'False')
      ? [
          {
            type: 'SourcesListed',
            status: 'False',
            reason: 'ListingFailed',
            message: `a source of Dataset ${where} cannot be listed now, what was found of it before is served: ${see}`,
          } as const,
        ]
      : []),
  ]
}

const mirrorSaid = (problem: string | undefined): Said[] =>
  problem === undefined ? [] : [{ type: 'Mirrored', status: 'False', reason: 'NotCopied', message: shown(problem, LONGEST_ADDRESS) }]
