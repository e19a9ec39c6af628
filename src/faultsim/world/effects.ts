/**
 * The world outside the API: what effects of controllers do there. A script stands in for the real thing; it runs outside
 * the controllers' process, so that what was started continues when the process dies, and only its answer is lost.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import type { Controller, Effect, EffectContext, EffectRequest, Plan } from '../../runtime/controller.ts'

/** The result of an effect. It takes `afterMs` of the world's time (default 10). */
export type EffectScript = (input: unknown, call: EffectCall) => unknown

export interface EffectCall {
  name: string
  key: string
  /** Which call of this key it is, from 1. */
  attempt: number
}

/**
 * `fail-before`: nothing is done. `fail-after`: it is done, and the answer is lost. `late`: it fails at once, but is still
 * done a little later. `never`: no answer ever comes.
 */
export type EffectFault = 'fail-before' | 'fail-after' | 'late' | 'never'

const LATENCY_MS = 10
const LATE_MS = 2000

export class ScriptedEffects {
  /** Every call, in order. */
  readonly calls: EffectCall[] = []
  /** Decides the fault of a call; undefined leaves it alone. */
  interfere: ((call: EffectCall) => EffectFault | undefined) | undefined
  readonly #clock: Clock
  readonly #scripts = new Map<string, EffectScript>()
  readonly #attempts = new Map<string, number>()
  readonly #things = new Map<string, unknown>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** From now on the script decides the result of this effect; it may throw. */
  script(name: string, script: EffectScript): void {
    this.#scripts.set(name, script)
  }

  /** Something outside the API that outlives every process; created on first use. */
  thing<T>(name: string, make: (clock: Clock) => T): T {
    if (!this.#things.has(name)) this.#things.set(name, make(this.#clock))
    return this.#things.get(name) as T
  }

  /** A controller whose effects happen here. */
  adapt(controller: Controller): Controller {
    if (controller.effects === undefined) return controller
    const plan = (observed: unknown): Plan => {
      const planned = controller.plan(observed)
      return { ...planned, effects: planned.effects?.map((request) => this.#adapted(request)) }
    }
    return { ...controller, plan }
  }

  #adapted(request: EffectRequest): EffectRequest {
    const { effect } = request
    return { ...request, effect: { ...effect, run: (input, context) => this.#run(effect, input, context) } }
  }

  async #run(effect: Effect, input: unknown, context: EffectContext): Promise<unknown> {
    const id = `${effect.name} ${context.key}`
    const attempt = (this.#attempts.get(id) ?? 0) + 1
    this.#attempts.set(id, attempt)
    const call = { name: effect.name, key: context.key, attempt }
    this.calls.push(call)
    const fault = this.interfere?.(call)
    await sleep(this.#clock, LATENCY_MS)
    if (fault === 'fail-before') throw new Error(`${effect.name} failed, as planned`)
    const script = this.#scripts.get(effect.name)
    const act = async (): Promise<unknown> => (script === undefined ? effect.run(input, context) : script(input, call))
    if (fault === 'late') {
      // Nobody hears how it ends.
      void sleep(this.#clock, LATE_MS)
        .then(act)
        .catch(() => undefined)
      throw new Error(`${effect.name} was given up, as planned`)
    }
    const value = await act()
    if (fault === 'fail-after') throw new Error(`${effect.name} was done, and its answer was lost, as planned`)
    if (fault === 'never') return new Promise(() => undefined)
    return value
  }
}
