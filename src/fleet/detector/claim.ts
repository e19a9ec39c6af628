/**
 * Claims: which policy a template, and the binding made from it, belongs to. Labels and annotations are Karmada's, so that
 * its tools keep working; a claim of one kind replaces one of the other.
 */
import type { Policy } from '../../kinds/karmada/index.ts'
import {
  CLUSTER_PROPAGATION_POLICY_ID,
  CLUSTER_PROPAGATION_POLICY_NAME,
  PROPAGATION_POLICY_ID,
  PROPAGATION_POLICY_NAME,
  PROPAGATION_POLICY_NAMESPACE,
} from '../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'

export interface Claim {
  /** Empty for a ClusterPropagationPolicy. */
  namespace: string
  name: string
  id: string
}

const LABELS = [PROPAGATION_POLICY_ID, CLUSTER_PROPAGATION_POLICY_ID]
const ANNOTATIONS = [PROPAGATION_POLICY_NAMESPACE, PROPAGATION_POLICY_NAME, CLUSTER_PROPAGATION_POLICY_NAME]

/** All keys of a claim on an object. */
export const CLAIM_KEYS: ReadonlySet<string> = new Set([...LABELS, ...ANNOTATIONS])

export const isOfCluster = ({ namespace }: Claim): boolean => namespace === ''

/** Set at admission; a policy that bypassed admission is identified by its uid. */
export function permanentIdOf({ metadata }: Policy): string {
  const label = isClusterPolicy({ metadata }) ? CLUSTER_PROPAGATION_POLICY_ID : PROPAGATION_POLICY_ID
  return metadata.labels?.[label] || (metadata.uid ?? '')
}

const isClusterPolicy = ({ metadata }: Pick<KubeObject, 'metadata'>): boolean => (metadata.namespace ?? '') === ''

export const claimBy = (policy: Policy): Claim => ({
  namespace: policy.metadata.namespace ?? '',
  name: policy.metadata.name ?? '',
  id: permanentIdOf(policy),
})

/** A claim of a namespaced policy takes precedence over one of a cluster policy. An incomplete claim is none. */
export function claimOf({ metadata }: KubeObject): Claim | undefined {
  const { labels = {}, annotations = {} } = metadata
  const of = (namespace: string | undefined, name: string | undefined, id: string | undefined): Claim | undefined =>
    namespace !== undefined && name && id ? { namespace, name, id } : undefined
  const own = annotations[PROPAGATION_POLICY_NAMESPACE]
  return (
    (own ? of(own, annotations[PROPAGATION_POLICY_NAME], labels[PROPAGATION_POLICY_ID]) : undefined) ??
    of('', annotations[CLUSTER_PROPAGATION_POLICY_NAME], labels[CLUSTER_PROPAGATION_POLICY_ID])
  )
}

export const isSameClaim = (a: Claim | undefined, b: Claim | undefined): boolean =>
  a?.namespace === b?.namespace && a?.name === b?.name && a?.id === b?.id

type Changes = Record<string, string | null>

/** Labels and annotations that make this claim the only one on an object; undefined: none at all. */
export function claimChanges(claim: Claim | undefined): { labels: Changes; annotations: Changes } {
  const labels: Changes = Object.fromEntries(LABELS.map((key) => [key, null]))
  const annotations: Changes = Object.fromEntries(ANNOTATIONS.map((key) => [key, null]))
  if (claim === undefined) return { labels, annotations }
  if (isOfCluster(claim)) {
    labels[CLUSTER_PROPAGATION_POLICY_ID] = claim.id
    annotations[CLUSTER_PROPAGATION_POLICY_NAME] = claim.name
  } else {
    labels[PROPAGATION_POLICY_ID] = claim.id
    annotations[PROPAGATION_POLICY_NAMESPACE] = claim.namespace
    annotations[PROPAGATION_POLICY_NAME] = claim.name
  }
  return { labels, annotations }
}

export interface MetadataChanges {
  labels?: Changes
  annotations?: Changes
}

/** Those of the wanted changes that would change something; undefined when none would. */
export function neededChanges({ metadata }: KubeObject, wanted: MetadataChanges): MetadataChanges | undefined {
  const labels = differing(metadata.labels, wanted.labels)
  const annotations = differing(metadata.annotations, wanted.annotations)
  if (labels === undefined && annotations === undefined) return undefined
  return { ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) }
}

function differing(current: Record<string, string> | undefined, wanted: Changes = {}): Changes | undefined {
  const entries = Object.entries(wanted).filter(([key, value]) => (current?.[key] ?? null) !== value)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}
