/**
 * What narrowings have done to a binding, from its marks alone: the fleet does not know why a module holds or narrows
 * something, but it knows who does, which objects it comes from and which clusters are left. Pure.
 */
import type { Binding, Cluster, Placement } from '../../kinds/karmada/index.ts'
import { HELD_REASON, NARROWED_BY, NO_CLUSTER_ALLOWED, RELEASED, recordedHold, releasedAllow } from '../../runtime/seams/narrowing.ts'
import { claimOf } from '../detector/claim.ts'
import type { DecisionRecord } from '../scheduler/decision.ts'
import { policyText } from './policies.ts'

/** Where to look for the end of a hold. */
export function holdFix({ metadata: { annotations = {}, namespace } }: Binding): string {
  const [first] = recordedHold(annotations).by
  if (first !== undefined)
    return `see what holds it: sluice why ${first.kind.toLowerCase()}/${first.name}${namespace === undefined ? '' : ` -n ${namespace}`}`
  const facts = [...textsOf('reason ', annotations[HELD_REASON]), ...textsOf('from ', annotations[NARROWED_BY])]
  return `change what the message names${facts.length === 0 ? '' : ` (${facts.join(', ')})`}: it goes on by itself then`
}

const textsOf = (before: string, text: string | undefined): string[] => (text === undefined ? [] : [`${before}${text}`])

/** A binding that narrowings have restricted. */
export interface NarrowedBinding {
  /** The narrowings, by name. */
  by: string
  /** The clusters they allow; undefined when that is not recorded. */
  allow: readonly string[] | undefined
  /** No cluster is in both that and the placement of the policy. */
  isEmpty: boolean
  /** The policy in words. */
  policy: string
}

export function narrowedBinding(binding: Binding): NarrowedBinding | undefined {
  const { annotations = {} } = binding.metadata
  const by = annotations[NARROWED_BY]?.split(',').join(', ')
  const isEmpty = isClosed(binding.spec.placement)
  if (by === undefined && !isEmpty) return undefined
  const claim = claimOf(binding)
  return {
    by: by ?? 'something',
    allow: releasedAllow(annotations[RELEASED]),
    isEmpty,
    policy: claim === undefined ? 'the policy' : policyText(claim),
  }
}

/** No part of the placement has a cluster left. */
function isClosed({ clusterAffinity, clusterAffinities = [] }: Placement = {}): boolean {
  const groups = clusterAffinities.length > 0 ? clusterAffinities : [clusterAffinity]
  return groups.every((group) => group?.clusterNames?.includes(NO_CLUSTER_ALLOWED) === true)
}

export const allowedText = ({ by, allow }: NarrowedBinding): string =>
  allow === undefined ? `${by} narrows it` : `${by} allows only ${namesText(allow)}`

const MOST_NAMES = 10

function namesText(names: readonly string[]): string {
  if (names.length === 0) return 'no cluster'
  const shown = names.slice(0, MOST_NAMES).join(', ')
  return names.length > MOST_NAMES ? `${shown} and ${names.length - MOST_NAMES} more` : shown
}

export interface Seen {
  record: DecisionRecord | undefined
  /** Undefined when they may not be read. */
  clusters: readonly Cluster[] | undefined
}

/** Why a binding that was narrowed finds no cluster; undefined when clusters that are allowed have reasons of their own. */
export function narrowedFailure(narrowed: NarrowedBinding, seen: Seen): { says: string; fix: string } | undefined {
  const { by, allow, isEmpty, policy } = narrowed
  if (!isEmpty && (allow === undefined || reasonOfAllowed(narrowed, seen) !== undefined)) return undefined
  if (allow === undefined)
    return {
      says: `no cluster is left: what ${by} allows and the placement of ${policy} have none in common`,
      fix: `let the placement of ${policy} include a cluster that ${by} allows`,
    }
  const { clusters } = seen
  const names = namesText(allow)
  if (allow.length > 0 && clusters !== undefined && joinedOf(allow, clusters).length === 0)
    return {
      says: `no cluster is left: ${by} allows only ${names}, and none of them is joined`,
      fix: `join one of ${names}: sluice join NAME --cluster-kubeconfig FILE`,
    }
  return {
    says: `no cluster is left: ${by} allows only ${names}, and the placement of ${policy} none of them`,
    fix: `let the placement of ${policy} include one of ${names}`,
  }
}

function joinedOf(allow: readonly string[], clusters: readonly Cluster[]): string[] {
  const joined = new Set(clusters.map(({ metadata }) => metadata.name ?? ''))
  return allow.filter((name) => joined.has(name))
}

/** What clusters that are allowed say, unless it is that the placement does not match: the others do not matter. */
export function reasonOfAllowed({ allow = [] }: NarrowedBinding, { record, clusters = [] }: Seen): string | undefined {
  const isAllowed = new Set(allow)
  const said = (record?.clusters ?? []).filter(({ name }) => isAllowed.has(name))
  const own = said.find(({ why }) => !isAboutPlacement(why))
  if (own !== undefined) return own.why
  // A record names only some clusters, but counts the reasons of all.
  if (joinedOf(allow, clusters).length <= said.length) return undefined
  return Object.keys(record?.others ?? {}).find((why) => !isAboutPlacement(why))
}

const isAboutPlacement = (why: string): boolean => why.includes('placement cluster affinity')
