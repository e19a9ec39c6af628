/**
 * The one next step for everything that a workload or a claim can wait for: a sentence with a command in it where there is
 * one. Pure. What a message of `gate.claim` names (a workload, the members of a cycle) is read from the message, because
 * nothing else tells it in a few requests.
 */
import { dataNameText } from '../../kinds/volcano/annotations.ts'
import type { DataSourceClaim } from '../../kinds/volcano/index.ts'
import { isSeedForm } from '../../kinds/volcano/matching.ts'
import { CLAIMS_ANNOTATION, type HoldReason, PRODUCES_ANNOTATION } from '../../kinds/volcano/well-known.ts'
import { formatSelectorObject } from '../../kube/selector.ts'
import { dataNameOf } from '../claim/deps.ts'
import { namesText } from '../narrowing/sets.ts'
import { WORKLOAD_KINDS } from '../workload/index.ts'
import { commonOf } from './places.ts'

/** Something that is waited for. */
export interface Wait {
  reason: string
  message: string
  /** Of the claims and the workload. */
  namespace: string
  /** The name of the claim that it comes from. */
  claim?: string
  /** The claim itself, if it is there. */
  of?: DataSourceClaim
  /** The source that it comes from. */
  source?: string
  /** Where the data of the claims is that are met. */
  sets?: readonly DataSet[]
  /** The command line words for the policy: `propagationpolicy web -n shop`. */
  policy?: string
  /** The command line words for the workload: `job report -n default`. */
  workload?: string
}

export interface DataSet {
  claim: string
  source: string
  clusters: readonly string[]
}

export interface WorkloadRef {
  kind: string
  namespace: string
  name: string
}

/** `sluice why job/daily -n default`. */
export const whyCommand = ({ kind, namespace, name }: WorkloadRef): string =>
  `sluice why ${kind.toLowerCase()}/${name}${namespace === '' ? '' : ` -n ${namespace}`}`

const WORKLOAD = /^([A-Z][A-Za-z0-9]*) ([a-z0-9.-]+)\/([^\s,/]+)[ ,]/

/** The workload with which a message begins: `Job default/daily makes …`. */
export function workloadIn(message: string): WorkloadRef | undefined {
  const [, kind = '', namespace = '', name = ''] = WORKLOAD.exec(message) ?? []
  return kind === '' ? undefined : { kind, namespace, name }
}

const GATE_RUNS = 'see that the gate runs on this hub: sluice up, or sluice controllers --role hub'

type Fix = (wait: Wait) => string

const FIXES: Readonly<Record<HoldReason | 'NoWorkload' | 'NotScheduled', Fix>> = {
  NoSuchClaim: ({ claim = 'NAME', namespace }) =>
    `create DataSourceClaim ${claim} (kubectl apply -n ${namespace} -f FILE), or take it out of the annotation ${CLAIMS_ANNOTATION}`,
  NoSuchSource: noSuchSource,
  NotProducedYet({ message, of }) {
    const maker = workloadIn(message)
    if (maker === undefined) return 'see how the workload that makes it is doing: sluice why KIND/NAME'
    return hasEnd(maker)
      ? `see how ${textOf(maker)} is doing: ${whyCommand(maker)}`
      : `${textOf(maker)} never finishes: let a Job make it, or ${register(of)}`
  },
  ProducerFailed({ message }) {
    const maker = workloadIn(message)
    const where = maker === undefined ? 'the workload that makes it' : textOf(maker)
    return `see why ${where} failed, and run it again${maker === undefined ? '' : `: ${whyCommand(maker)}`}`
  },
  DependencyCycle({ message, namespace, claim = 'NAME' }) {
    const members = message.slice(message.lastIndexOf(': ') + 2)
    return `break the cycle at one of its claims (${members}): kubectl edit dsc ${claim} -n ${namespace}`
  },
  SourceGoing({ message, source, of }) {
    const name = /DataSource (\S+) is being deleted/.exec(message)?.[1] ?? source ?? 'NAME'
    return `wait until DataSource ${name} is gone (kubectl get datasource ${name}), then ${register(of)}`
  },
  NoLocality: ({ source = 'NAME' }) =>
    `join one of its clusters (sluice join NAME --cluster-kubeconfig FILE), or correct spec.locality: kubectl edit datasource ${source}`,
  NoCommonCluster: noCommonCluster,
  DataClusterUnavailable: ({ message }) => `bring one of these clusters back (kubectl get clusters): ${clustersIn(message)}`,
  NotPermitted: ({ namespace }) =>
    [
      `ask who owns the data for a ReferenceGrant from DataSourceClaim of namespace ${namespace} to DataSource`,
      'in the namespace that makes it, or an administrator for a DataSource',
    ].join(' '),
  InvalidAnnotation: ({ workload = 'KIND NAME' }) => `correct it: kubectl annotate ${workload} --overwrite ${CLAIMS_ANNOTATION}=NAME,NAME`,
  TooManyClaims: ({ workload = 'KIND NAME' }) => `let fewer claims concern ${workload}: kubectl get dsc shows those of its namespace`,
  NotResolved: () => `look again in a moment; if it stays like this, ${GATE_RUNS}`,
  NoWorkload: ({ of }) => noWorkload(of),
  NotScheduled: ({ message }) => aboutWorkload(message) ?? 'look again in a moment',
}

export const isKnownReason = (reason: string): reason is keyof typeof FIXES => Object.hasOwn(FIXES, reason)

export function fixFor(wait: Wait): string {
  const { reason, claim, namespace } = wait
  // The hold of a workload names the claim first.
  const message = wait.message.replace(/^claim \S+: /, '')
  if (isKnownReason(reason)) return FIXES[reason]({ ...wait, message })
  return claim === undefined ? (aboutWorkload(message) ?? 'change what the message names') : `see: sluice why dsc/${claim} -n ${namespace}`
}

/** For what a workload waits for, of which only a message is known. */
export function aboutWorkload(message: string): string | undefined {
  const workload = workloadIn(message)
  return workload === undefined ? undefined : `see what it waits for: ${whyCommand(workload)}`
}

const textOf = ({ kind, namespace, name }: WorkloadRef): string => `${kind} ${namespace}/${name}`

const hasEnd = (maker: WorkloadRef): boolean => WORKLOAD_KINDS.some(({ kind, isEndless }) => kind === maker.kind && !isEndless)

/** What an administrator would have to create. */
function register(claim: DataSourceClaim | undefined): string {
  const { system = '', dataSourceType = '', dataSourceName = '', attributes = {}, attributesSelector } = claim?.spec ?? {}
  if (claim === undefined || system === '') return 'ask an administrator to register a DataSource'
  const source = `ask an administrator to register a DataSource of system ${system}, type ${dataSourceType}`
  if (isSeedForm(claim)) {
    if (dataSourceName !== '') return `${source} under the name ${dataSourceName}`
    const demands = formatSelectorObject(attributesSelector)
    return demands === '<none>' ? source : `${source} whose attributes fulfil ${demands}`
  }
  const exactly = Object.entries(attributes).map(([key, value]) => `${key}=${value}`)
  return `${source}, name ${dataSourceName}${exactly.length === 0 ? '' : ` and attributes ${exactly.join(', ')}`}`
}

function noSuchSource({ message, of, claim = 'NAME', namespace }: Wait): string {
  // The object that the claim names is there, and something else.
  if (/^DataSource \S+ is of /.test(message))
    return `let the claim name another DataSource, or correct its system and type: kubectl edit dsc ${claim} -n ${namespace}`
  const data = of === undefined ? undefined : dataNameOf(of)
  if (data === undefined) return register(of)
  return `${register(of)}, or annotate the workload that makes it with ${PRODUCES_ANNOTATION}: ${dataNameText(data)}`
}

/** Either the claims exclude each other, or the policy excludes what they allow. */
function noCommonCluster({ sets = [], policy, message }: Wait): string {
  const [first, second] = sets
  if (first === undefined) return aboutWorkload(message) ?? 'let the policy include a cluster that has the data'
  const common = commonOf(sets.map(({ clusters }) => clusters))
  const edit = `kubectl edit datasource ${[...new Set(sets.map(({ source }) => source))].join(' ')}`
  if (second !== undefined && common.length === 0)
    return `bring the data of one to a cluster of the other, and add that cluster to spec.locality: ${edit}`
  const widen = policy === undefined ? '' : ` (kubectl edit ${policy})`
  const clusters = `${common.length > 1 ? 'one of ' : ''}${namesText(common)}`
  return `let the policy include ${clusters}${widen}, or bring the data to a cluster of the policy and add that to spec.locality: ${edit}`
}

function noWorkload(claim: DataSourceClaim | undefined): string {
  const { workload, workloadSelector } = claim?.spec ?? {}
  const { namespace = '' } = claim?.metadata ?? {}
  if (workload !== undefined) return `create ${workload.kind} ${workload.name} in namespace ${namespace}`
  const label = `label a workload of namespace ${namespace} so that the claim selects it (${formatSelectorObject(workloadSelector)})`
  return `${label}, or name the claim in its annotation ${CLAIMS_ANNOTATION}`
}

/** The clusters of which a message says that none is ready. */
function clustersIn(message: string): string {
  return /the data is in (.+), and no such cluster is ready$/.exec(message)?.[1] ?? /is ready: (.+)$/.exec(message)?.[1] ?? message
}
