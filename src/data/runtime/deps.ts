/** What the controller of a kind of runtime is given. */
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Engine, EngineOptions } from '../engines/engine.ts'

export interface RuntimeDeps {
  /** The engine of that kind. */
  engine: Engine
  options: EngineOptions
  /** For the keys that masters and workers share. */
  random: Random
  /** Bounds commands in pods. */
  clock: Clock
}
