/** Every engine, by the kind of runtime that it serves. */
import { withBoundedReplicas } from './bounded-replicas.ts'
import { cacheEngine } from './cache/engine.ts'
import type { Engine } from './engine.ts'
import { withinHostPaths } from './host-paths.ts'
import { servingOwnData } from './own-data.ts'
import { withShortNames } from './short-names.ts'
import { thinEngine } from './thin/engine.ts'
import { alluxioEngine, jindoEngine, juicefsEngine } from './translated/engine.ts'
import { efcEngine, vineyardEngine } from './unserved/engine.ts'

export const ENGINES: readonly Engine[] = [cacheEngine, alluxioEngine, juicefsEngine, jindoEngine, thinEngine, efcEngine, vineyardEngine]
  .map(servingOwnData)
  .map(withinHostPaths)
  .map(withBoundedReplicas)
  .map(withShortNames)
