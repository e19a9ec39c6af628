/** Volcano's kinds that Sluice serves: one line per kind, and the types that other code uses. */
import type { OwnKind } from '../schema/define-kind.ts'
import { DataSource } from './data-source.ts'
import { DataSourceClaim } from './data-source-claim.ts'

export type { DataSourceLocality, DataSourceSpec, DataSourceStatus } from './data-source.ts'
export type { DataSourceClaimSpec, DataSourceClaimStatus } from './data-source-claim.ts'
export { DataSource, DataSourceClaim }

export const volcanoKinds: readonly OwnKind[] = Object.freeze([DataSource, DataSourceClaim])
