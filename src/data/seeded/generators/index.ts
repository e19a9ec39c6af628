/** What people do with datasets; an entry that is listed more than once is drawn more often. */
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { classes } from './classes.ts'
import { datasets } from './datasets.ts'
import { disturbances } from './disturbances.ts'
import { grants } from './grants.ts'
import { readersOfAllKinds } from './readers.ts'
import { sharing } from './references.ts'
import { runtimes } from './runtimes.ts'
import { scales } from './scales.ts'

const OWN: readonly Generator[] = [...datasets, ...runtimes, ...runtimes, classes, ...readersOfAllKinds, ...disturbances]
/** One cache for many namespaces, shrunk under its readers. */
const SHARED: readonly Generator[] = [
  ...sharing,
  grants,
  grants,
  ...readersOfAllKinds,
  ...scales,
  ...datasets,
  ...runtimes,
  ...disturbances,
]

/** One worker after another leaves, and others come, while what the caches say of them changes. */
const SCALED: readonly Generator[] = [...scales, ...scales, ...readersOfAllKinds, ...disturbances]

export const GENERATORS: readonly Generator[] = [...OWN, ...sharing, grants, ...scales]
export const FOCUSES: readonly (readonly Generator[])[] = [OWN, SHARED, SCALED]
