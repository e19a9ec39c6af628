/** A defective twin of the reference controllers: it differs in one thing, which an oracle must find. */
import type { Controller, Plan } from '../../runtime/controller.ts'
import type { Oracle } from '../prover/failure.ts'
import { type Observed as CardObserved, card } from '../reference/card/controller.ts'
import type { Board } from '../reference/greeting/board.ts'
import { greeting } from '../reference/greeting/controller.ts'
import type { Observed } from '../reference/greeting/plan.ts'
import type { Cast } from '../reference/world.ts'
import type { WorldCluster } from '../world/index.ts'

export interface Planted {
  name: string
  /** How it differs from the correct one, in one sentence. */
  differs: string
  caughtBy: Oracle
  /** The first seed that finds it, counted from 1; or, if no seed finds it soon, the enumerated fault that does. */
  foundBy: { seed: number } | { fault: string; of: 'greeting' | 'card' }
  cast: Cast
}

/** What a twin replaces. `right` is the correct behaviour. */
interface Twin<O> {
  plan?(observed: O, right: (observed: O) => Plan): Plan
  observe?(observed: O, live: { client: Parameters<Controller['observe']>[3] }): O | Promise<O>
  also?: Partial<Controller>
}

/** Created anew for every process, so that its in-memory state is lost with the process. */
export function greetingTwin(
  twin: (right: Controller) => Twin<Observed>,
  boardOf: (board: Board, cluster: WorldCluster) => Board = (board) => board,
): Cast {
  return (board, cluster) => [changed(greeting(boardOf(board, cluster)), twin), card]
}

export function cardTwin(twin: (right: Controller) => Twin<CardObserved>): Cast {
  return (board) => [greeting(board), changed(card, twin)]
}

function changed<O>(right: Controller, twin: (right: Controller) => Twin<O>): Controller {
  const { plan, observe, also } = twin(right)
  const rightPlan = (observed: O): Plan => right.plan(observed)
  return {
    ...right,
    ...also,
    async observe(key, primary, read, client) {
      const observed = (await right.observe(key, primary, read, client)) as O
      return observe === undefined ? observed : observe(observed, { client })
    },
    plan: (observed) => (plan === undefined ? right.plan(observed) : plan(observed as O, rightPlan)),
  }
}
