/** Volcano's resources by the names that controllers use; each has the type of its objects. */
import { DataSource, DataSourceClaim } from './index.ts'

export const DATA_SOURCES = DataSource.resource
export const DATA_SOURCE_CLAIMS = DataSourceClaim.resource
