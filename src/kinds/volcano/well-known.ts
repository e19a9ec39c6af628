/** Names on the wire of data dependencies: volcano-global's, and those of `sluice.dev` that extend them. */

export const DATA_DEPENDENCY_GROUP = 'datadependency.volcano.sh'

/** On a binding, `"true"`: its placement is narrowed to where its data is, and it was released. */
export const PLACEMENT_INJECTED = 'datadependency.volcano.sh/placement-injected'
/** On a source while claims are bound to it. */
export const DATA_SOURCE_FINALIZER = 'datadependency.volcano.sh/datasource-finalizer'
/** volcano-global puts it on claims; ours need none, so it is removed where it is found. */
export const DATA_SOURCE_CLAIM_FINALIZER = 'datadependency.volcano.sh/finalizer'

// On a workload.
/** Names of claims of its namespace, separated by commas: it waits for them even before they exist. */
export const CLAIMS_ANNOTATION = 'sluice.dev/claims'
/** What it makes: `system/type/name`, separated by commas. */
export const PRODUCES_ANNOTATION = 'sluice.dev/produces'

// On a claim.
/** What happens to running work when the data moves: `Ignore` (default) or `Move`. */
export const ON_LOCALITY_CHANGE = 'sluice.dev/on-locality-change'

// On a source that a workload made.
/** Who made it: `output/jobs.batch/daily`. */
export const PROVISIONED_BY = 'sluice.dev/provisioned-by'
/** The namespace of the workload that made it, which decides who may use it. */
export const PRODUCER_NAMESPACE = 'sluice.dev/producer-namespace'
/** `v1`, `v2`, …: counts the runs that made it. */
export const SOURCE_VERSION = 'sluice.dev/version'
/** The run that made this version: the same run never counts twice. */
export const SOURCE_RUN = 'sluice.dev/run'

/** Why a claim waits, as one word. */
export type WaitReason =
  | 'NoSuchSource'
  | 'NotProducedYet'
  | 'ProducerFailed'
  | 'DependencyCycle'
  | 'SourceGoing'
  | 'NoLocality'
  | 'NoCommonCluster'
  | 'DataClusterUnavailable'
  | 'NotPermitted'

/** Why a workload is held: because a claim waits, or for reasons of its own. */
export type HoldReason = WaitReason | 'NoSuchClaim' | 'NotResolved' | 'InvalidAnnotation' | 'TooManyClaims'

export const HOLD_REASONS: readonly HoldReason[] = Object.freeze([
  'InvalidAnnotation',
  'TooManyClaims',
  'NoSuchClaim',
  'NotResolved',
  'NoSuchSource',
  'NotProducedYet',
  'ProducerFailed',
  'DependencyCycle',
  'SourceGoing',
  'NotPermitted',
  'NoLocality',
  'DataClusterUnavailable',
  'NoCommonCluster',
])

/** At most this many claims are listed on a source. */
export const MOST_CLAIM_REFS = 100
