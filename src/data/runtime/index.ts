/** The controllers of all kinds of runtimes. */
import type { Controller } from '../../runtime/controller.ts'
import type { Engine } from '../engines/engine.ts'
import { alluxioRuntimeController } from './alluxio/controller.ts'
import { cacheRuntimeController } from './cache/controller.ts'
import type { RuntimeDeps } from './deps.ts'
import { efcRuntimeController } from './efc/controller.ts'
import { jindoRuntimeController } from './jindo/controller.ts'
import { juicefsRuntimeController } from './juicefs/controller.ts'
import { thinRuntimeController } from './thin/controller.ts'
import { vineyardRuntimeController } from './vineyard/controller.ts'

const CONTROLLERS: Readonly<Record<Engine['type'], (deps: RuntimeDeps) => Controller>> = {
  alluxio: alluxioRuntimeController,
  cache: cacheRuntimeController,
  efc: efcRuntimeController,
  jindo: jindoRuntimeController,
  juicefs: juicefsRuntimeController,
  thin: thinRuntimeController,
  vineyard: vineyardRuntimeController,
}

export const runtimeControllers = ({ engines, ...deps }: Omit<RuntimeDeps, 'engine'> & { engines: readonly Engine[] }): Controller[] =>
  engines.map((engine) => CONTROLLERS[engine.type]({ ...deps, engine }))
