/**
 * The gate in the seeded worlds: sources, claims, workloads that need data and one that makes it; and what must hold for
 * them, whatever fails meanwhile. A seed begins with a workload that runs where its data is.
 */
import type { SeededPart } from '../../runtime/seams/seeded.ts'
import { AT_REST } from './at-rest.ts'
import { claims } from './generators/claims.ts'
import { REPORT, SALES, SYSTEM, TYPE } from './generators/drawing.ts'
import { GENERATORS } from './generators/index.ts'
import { policyOf } from './generators/policies.ts'
import { sources } from './generators/sources.ts'
import { reportOf } from './generators/workloads.ts'
import { INVARIANTS } from './invariants.ts'

const LOCALITY = { clusterNames: ['member1', 'member2'] }
const CLAIM = { system: SYSTEM, dataSourceType: TYPE, dataSourceName: SALES, workload: REPORT }

export const seeded: SeededPart = {
  generators: GENERATORS,
  invariants: INVARIANTS,
  atRest: AT_REST,
  beginning: [
    policyOf('default/data', {}),
    sources.object('sales-1', { system: SYSTEM, type: TYPE, name: SALES, locality: LOCALITY, reclaimPolicy: 'Retain' }),
    claims.object('default/sales', { spec: CLAIM, onMove: null }),
    reportOf({ claims: 'sales', produces: null, isSelected: false, replicas: 1 }),
  ],
}
