/** What people do with data and the workloads that need it; an entry that is listed more than once is drawn more often. */
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { claims } from './claims.ts'
import { policies } from './policies.ts'
import { sources } from './sources.ts'
import { workloads } from './workloads.ts'

export const GENERATORS: readonly Generator[] = [...workloads, sources, sources, claims, claims, policies]
