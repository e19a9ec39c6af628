/** Which of the candidates are used: all of them, unless the placement spreads by cluster or region. */
import { isOrderSeen } from '../assign.ts'
import type { Candidates } from '../candidate.ts'
import { constraintOn, type Demand, isPlacedWhole } from '../demand.ts'
import { selectByCluster } from './by-cluster.ts'
import { selectByRegion } from './by-region.ts'
import type { Selection } from './selection.ts'

export function selectClusters(demand: Demand, all: Candidates): Selection {
  const { placement } = demand
  if ((placement.spreadConstraints ?? []).length === 0 || ignoresSpread(demand))
    return { selected: isOrderSeen(demand) ? all.preferred : all.byName, selectsAll: true, whyNot: () => '' }
  const candidates = all.preferred
  const region = constraintOn(placement, 'region')
  const cluster = constraintOn(placement, 'cluster')
  if (region !== undefined) return selectByRegion({ demand, candidates, region, cluster })
  if (cluster !== undefined) return selectByCluster(candidates, cluster, neededReplicas(demand))
  return { problem: 'just support cluster and region spread constraint' }
}

/** Static weights determine on their own which clusters take part. */
function ignoresSpread({ strategy, placement }: Demand): boolean {
  const preference = placement.replicaScheduling?.weightPreference
  return strategy === 'StaticWeight' && (preference === undefined || (preference.staticWeightList ?? []).length > 0)
}

/** Undefined: free capacity does not matter. */
function neededReplicas(demand: Demand): number | undefined {
  if (demand.strategy === 'Duplicated') return undefined
  return isPlacedWhole(demand) ? 1 : demand.replicas
}
