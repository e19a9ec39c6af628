/** What people do with datasets; an entry that is listed more than once is drawn more often. */
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { classes } from './classes.ts'
import { datasets } from './datasets.ts'
import { disturbances } from './disturbances.ts'
import { runtimes } from './runtimes.ts'

export const GENERATORS: readonly Generator[] = [...datasets, ...runtimes, ...runtimes, classes, ...disturbances]
