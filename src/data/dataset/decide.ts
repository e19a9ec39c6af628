/**
 * What a dataset is: not bound, bound, failed or updating, and why, in one sentence. Pure. A dataset that was bound stays so
 * while its cache is merely disturbed: it fails when a component is gone, when its runtime is no longer served, or when its
 * sources cannot be mounted again.
 */
import { deepEqual } from '../../base/json.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { referenceProblem } from '../../kinds/fluid/reference.ts'
import { findCondition } from '../../kube/conditions.ts'
import { checkDns1035Label } from '../../kube/names.ts'
import { READY_MESSAGE, UPDATED_MESSAGE, UPDATING_MESSAGE } from './conditions.ts'
import type { Observed, Service } from './observe.ts'
import { type Broken, brokenBy, waitedFor } from './readiness.ts'
import { outdatedPod, replacesPods } from './replacement.ts'
import { type RequestedRuntime, requestedRuntime } from './requested-runtime.ts'
import { boundType, type Choice, type Runtime } from './runtimes.ts'
import { shown } from './text.ts'

export type Standing = (
  | /** Not bound, or no more. */
  { phase: 'NotBound'; sentence: string; request?: RequestedRuntime }
  | { phase: 'Failed'; sentence: string }
  /** The mounts are changed; those from before are served meanwhile. */
  | { phase: 'Updating'; message: string }
  | { phase: 'Bound'; message: string }
) & {
  /** Everything else is ready: the sources can be mounted, where they are not. */
  isMountable?: boolean
}

/** How the message of failed mounting begins. */
const MOUNT_FAILS = 'the sources cannot be mounted: '
const MOUNTING = 'the sources are being mounted'

export const isMountFailure = (message: string | undefined): boolean => message?.startsWith(MOUNT_FAILS) === true

export function decide(observed: Observed): Standing {
  const { dataset, choice, service } = observed
  const { name = '' } = dataset.metadata
  if (checkDns1035Label(name).length > 0)
    return notBound(
      `${name} cannot be the name of a dataset: choose one that starts with a letter and has only lower case letters, digits and '-'`,
    )
  const problem = referenceProblem(dataset.spec?.mounts)
  if (problem !== undefined) return notBound(shown(problem))
  if (choice.runtime === undefined || service === undefined) return withoutRuntime(observed)
  const isBound = boundType(dataset.status) === choice.runtime.type
  if (service.refused !== undefined) return isBound ? failed(shown(service.refused)) : notBound(shown(service.refused))
  const served = { dataset, runtime: choice.runtime.object, prepared: service.prepared, pods: service.pods }
  if (!isBound) {
    const missing = waitedFor(served)
    return missing === undefined ? { ...binding(dataset, service), isMountable: true } : notBound(missing)
  }
  const { phase } = dataset.status ?? {}
  const broken = brokenBy(served)
  const replacing = phase !== 'Failed' && replacesPods(dataset) ? replacementOf(service, broken) : undefined
  if (replacing !== undefined) return { phase: 'Updating', message: replacing }
  // Back from a failure only when everything is ready again.
  const sentence = broken?.sentence ?? (phase === 'Failed' ? waitedFor(served) : undefined)
  return sentence === undefined ? { ...keeping(dataset, service), isMountable: true } : failed(sentence)
}

/** Pods with other volumes come one by one, and nothing is mounted in those that go. */
function replacementOf({ prepared, pods }: Working, broken: Broken | undefined): string | undefined {
  if (broken !== undefined) return broken.isPassing ? UPDATING_MESSAGE : undefined
  return outdatedPod(prepared, pods) === undefined ? undefined : UPDATING_MESSAGE
}

const notBound = (sentence: string): Standing => ({ phase: 'NotBound', sentence })
const failed = (sentence: string): Standing => ({ phase: 'Failed', sentence })

function withoutRuntime({ dataset, choice, lastFailure }: Observed): Standing {
  const { namespace = '', name = '' } = dataset.metadata
  const { others, going } = choice
  if (others.length > 0) return notBound(`${listed(others)} have the name of this dataset: delete all but one`)
  const [first] = going
  if (first !== undefined) return notBound(`waits until ${first.kind} ${name} is gone, which is being deleted`)
  const request = dataset.metadata.deletionTimestamp === undefined ? requestedRuntime(dataset) : undefined
  if (request === undefined)
    return notBound(
      `no runtime is named ${name}: create one of that name in namespace ${namespace}, or annotate this dataset with sluice.dev/runtime: builtin`,
    )
  if (request.problem !== undefined) return notBound(request.problem)
  const what = `its CacheRuntime ${name}`
  const sentence = lastFailure === undefined ? `${what} is being created` : `${what} cannot be created: ${shown(lastFailure)}`
  return { phase: 'NotBound', sentence, request }
}

const listed = (runtimes: readonly Runtime[]): string =>
  runtimes.map(({ kind, object }) => `${kind} ${object.metadata.name ?? ''}`).join(', ')

/** What is said about runtimes beside the one that is used. */
export function secondRuntime({ runtime, others }: Choice): string | undefined {
  if (runtime === undefined || others.length === 0) return undefined
  const [verb, pronoun] = others.length === 1 ? ['has', 'it'] : ['have', 'them']
  return `${listed(others)} ${verb} the name of this dataset, too, which uses its ${runtime.kind}: delete ${pronoun}`
}

type Working = Extract<Service, { refused?: undefined }>

/** A dataset that is not bound yet, and whose components are ready. */
function binding(dataset: Dataset, service: Working): Standing {
  const mounting = mountingOf(service)
  if (mounting.is === 'done') return { phase: 'Bound', message: READY_MESSAGE }
  const before = findCondition(dataset.status?.conditions, 'NotReady')?.message
  return notBound(mounting.is === 'failed' ? mounting.message : isMountFailure(before) ? (before ?? '') : mounting.message)
}

/** A dataset that was bound, and whose components are there. */
function keeping({ spec, status }: Dataset, service: Working): Standing {
  const isChanged = !deepEqual(spec?.mounts ?? [], status?.mounts ?? [])
  const mounting = mountingOf(service)
  const messageOf = (type: string): string => findCondition(status?.conditions, type)?.message ?? ''
  if (mounting.is === 'done') {
    if (isChanged || status?.phase === 'Updating') return { phase: 'Bound', message: UPDATED_MESSAGE }
    return { phase: 'Bound', message: messageOf('Ready') === UPDATED_MESSAGE ? UPDATED_MESSAGE : READY_MESSAGE }
  }
  if (isChanged || status?.phase === 'Updating') {
    const before = messageOf('Updating')
    return { phase: 'Updating', message: mounting.is === 'failed' ? mounting.message : isMountFailure(before) ? before : UPDATING_MESSAGE }
  }
  if (mounting.is === 'failed') return failed(mounting.message)
  // After a restart of this process or of the master, until it is mounted again, it is what it was.
  if (status?.phase === 'Failed') return failed(isMountFailure(messageOf('NotReady')) ? messageOf('NotReady') : mounting.message)
  return { phase: 'Bound', message: messageOf('Ready') === UPDATED_MESSAGE ? UPDATED_MESSAGE : READY_MESSAGE }
}

type Mounting = { is: 'done' } | { is: 'failed' | 'pending'; message: string }

function mountingOf({ prepared, simulated, mount }: Working): Mounting {
  const { mountUfs } = prepared
  if (mountUfs === undefined || simulated !== undefined) return { is: 'done' }
  if (mount === undefined)
    return { is: 'pending', message: `waits for container ${mountUfs.container} of pod ${mountUfs.pod} to mount the sources` }
  if (mount.outcome?.state === 'done') return { is: 'done' }
  if (mount.outcome?.state === 'failed') return { is: 'failed', message: shown(`${MOUNT_FAILS}${mount.outcome.message}`) }
  return { is: 'pending', message: MOUNTING }
}
