/** The workloads of a claim, and those that make what it asks for, as their bindings show them. */
import type { Binding, ResourceBinding } from '../../kinds/karmada/index.ts'
import { bindingName } from '../../kinds/karmada/names.ts'
import { RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { type DataName, parseClaims } from '../../kinds/volcano/annotations.ts'
import type { DataSourceClaim } from '../../kinds/volcano/index.ts'
import { isSeedForm } from '../../kinds/volcano/matching.ts'
import { DATA_SOURCE_CLAIMS } from '../../kinds/volcano/resources.ts'
import { sourceObjectName } from '../../kinds/volcano/source-name.ts'
import { CLAIMS_ANNOTATION, HOLD_REASONS } from '../../kinds/volcano/well-known.ts'
import { type KubeObject, parseGroupVersion } from '../../kube/meta.ts'
import { keyOfObject, refOfKey } from '../../kube/object-reference.ts'
import type { Reader } from '../../runtime/controller.ts'
import { HELD_REASON, isHeldByUs, RELEASED } from '../../runtime/seams/narrowing.ts'
import type { Producer } from '../output/producers.ts'
import { progressOf, workloadKindOf } from '../workload/index.ts'
import type { WaitsOf } from './cycle.ts'
import type { Maker } from './decide.ts'
import { type ClaimDeps, dataNameOf } from './deps.ts'
import type { Workload } from './placed.ts'
import type { Consent } from './sources.ts'
import { claimState } from './state.ts'

/** The binding of a template; undefined while there is none, or while the one of its name belongs to something else. */
export function bindingOf({ apiVersion, kind, metadata }: KubeObject, read: Reader): ResourceBinding | undefined {
  const { namespace = '', name = '', uid } = metadata
  const binding = read.get(RESOURCE_BINDINGS, namespace, bindingName(kind, name))
  const of = binding?.spec?.resource
  if (of === undefined || binding?.metadata.deletionTimestamp !== undefined) return undefined
  const isSameKind = of.kind === kind && parseGroupVersion(of.apiVersion).group === parseGroupVersion(apiVersion).group
  return isSameKind && of.name === name && (!of.uid || of.uid === uid) ? binding : undefined
}

const textOf = ({ kind, metadata }: KubeObject): string => `${kind} ${keyOfObject({ metadata })}`

/** Those that count as workloads. What a selector matches may be anything. */
export function workloadsOf(claim: DataSourceClaim, { claimed }: ClaimDeps, read: Reader): Workload[] {
  const workloads: Workload[] = []
  for (const { object } of claimed.of(claim)) {
    const binding = bindingOf(object, read)
    if (isWorkload(object, binding, claim)) workloads.push({ name: textOf(object), binding })
  }
  return workloads
}

function isWorkload(template: KubeObject, binding: Binding | undefined, claim: DataSourceClaim): boolean {
  if (!isSeedForm(claim) || workloadKindOf(template.apiVersion, template.kind) !== undefined) return true
  const { annotations } = template.metadata
  const named = annotations?.[CLAIMS_ANNOTATION] === undefined ? [] : (parseClaims(annotations[CLAIMS_ANNOTATION]).value ?? [])
  if (named.includes(claim.metadata.name ?? '')) return true
  if (binding === undefined) return false
  const { replicas, components = [] } = binding.spec
  return replicas !== undefined || components.length > 0 || isHeldByUs(binding) || binding.metadata.annotations?.[RELEASED] !== undefined
}

/** Who makes the data that a claim asks for, as far as the claim may use it. */
export function producersFor(claim: DataSourceClaim, data: DataName | undefined, { producers }: ClaimDeps, consent: Consent): Producer[] {
  if (data === undefined) return []
  return producers.of(data).filter(({ template: { metadata } }) => {
    const { namespace = '', deletionTimestamp } = metadata
    return deletionTimestamp === undefined && consent.mayUse(claim, { namespace, name: sourceObjectName(data, namespace) })
  })
}

export function makerOf({ template }: Producer, claim: DataSourceClaim, read: Reader): Maker {
  const { apiVersion, kind, metadata } = template
  const workload = workloadKindOf(apiVersion, kind)
  const binding = bindingOf(template, read)
  const state = workload === undefined || binding === undefined ? 'not-scheduled' : progressOf(workload, binding).state
  return {
    name: textOf(template),
    isForeign: metadata.namespace !== claim.metadata.namespace,
    hasEnd: workload !== undefined && !workload.isEndless,
    state,
    heldReason: heldReasonOf(binding),
  }
}

/** Whoever may write bindings can write anything there: only a word that we write ourselves is repeated. */
const heldReasonOf = (binding: ResourceBinding | undefined): string | undefined =>
  HOLD_REASONS.find((reason) => reason === binding?.metadata.annotations?.[HELD_REASON])

/** What a claim waits for, and what those wait for. `start` counts as unresolved, the others by their status. */
export function waitsFrom(start: DataSourceClaim, { deps, read, consent }: { deps: ClaimDeps; read: Reader; consent: Consent }): WaitsOf {
  const startKey = keyOfObject(start)
  const claimAt = (key: string): DataSourceClaim | undefined => {
    if (key === startKey) return start
    const { namespace, name } = refOfKey(key)
    return read.get(DATA_SOURCE_CLAIMS, namespace, name)
  }
  const isUnresolved = (key: string): boolean => key === startKey || isWaitingForSource(claimAt(key))
  return (key) => {
    const claim = claimAt(key)
    if (claim === undefined) return []
    const waits: string[][] = []
    for (const producer of producersFor(claim, dataNameOf(claim), deps, consent)) {
      const { state, hasEnd } = makerOf(producer, claim, read)
      if (state === 'failed' || !hasEnd) continue
      // Once it is placed, it waits for nothing any more.
      const isWaiting = state === 'held' || state === 'not-scheduled'
      waits.push(isWaiting ? deps.claimed.claimsOf(producer.template).filter(isUnresolved) : [])
    }
    return waits
  }
}

/** Not one that nobody has looked at: it may be resolved in a moment. */
function isWaitingForSource(claim: DataSourceClaim | undefined): boolean {
  if (claim === undefined) return false
  const { isCurrent, source, waits } = claimState(claim)
  return isCurrent && source === undefined && waits !== undefined
}
