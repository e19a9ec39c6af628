/** Which changes of claims, sources and clusters can change what a workload is allowed: the others wake nobody. */
import { deepEqual } from '../../base/json.ts'
import type { Cluster } from '../../kinds/karmada/index.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { ON_LOCALITY_CHANGE, SOURCE_VERSION } from '../../kinds/volcano/well-known.ts'
import { claimState } from '../claim/state.ts'
import { isReady } from './decide.ts'

export const isSameClaim = (old: DataSourceClaim, claim: DataSourceClaim): boolean =>
  old.metadata.uid === claim.metadata.uid &&
  old.metadata.generation === claim.metadata.generation &&
  old.metadata.deletionTimestamp === claim.metadata.deletionTimestamp &&
  old.metadata.annotations?.[ON_LOCALITY_CHANGE] === claim.metadata.annotations?.[ON_LOCALITY_CHANGE] &&
  deepEqual(claimState(old), claimState(claim))

export const isSameSource = (old: DataSource, source: DataSource): boolean =>
  old.metadata.uid === source.metadata.uid &&
  old.metadata.deletionTimestamp === source.metadata.deletionTimestamp &&
  old.metadata.annotations?.[SOURCE_VERSION] === source.metadata.annotations?.[SOURCE_VERSION] &&
  deepEqual(old.spec, source.spec)

/** What affinities look at, and whether it is ready. */
export const areSameTraits = (old: Cluster, cluster: Cluster): boolean =>
  isReady(old) === isReady(cluster) &&
  old.metadata.uid === cluster.metadata.uid &&
  deepEqual(old.metadata.labels ?? {}, cluster.metadata.labels ?? {}) &&
  old.spec.provider === cluster.spec.provider &&
  old.spec.region === cluster.spec.region &&
  deepEqual(old.spec.zones ?? [], cluster.spec.zones ?? [])
