/** The board outside the cluster, as effects: putting up a notice and taking it down, each once per key whatever happens. */
import type { Effect } from '../../../runtime/controller.ts'

/**
 * What the outside offers. Both calls may be repeated, and may arrive late: of two texts for one id the one of the higher
 * generation wins, and a notice that was taken down stays down.
 */
export interface Board {
  put(notice: Notice): Promise<void>
  takeDown(id: string): Promise<void>
}

export interface Notice {
  id: string
  generation: number
  text: string
}

export interface BoardEffects {
  put: Effect<Notice, 'up'>
  takeDown: Effect<{ id: string }, 'down'>
}

const TIMEOUT_MS = 10_000

export function boardEffects(board: Board): BoardEffects {
  return {
    put: {
      name: 'faultsim.reference.greeting.put',
      about: 'puts the text of a greeting on the board',
      timeoutMs: TIMEOUT_MS,
      run: async (notice) => {
        await board.put(notice)
        return 'up'
      },
    },
    takeDown: {
      name: 'faultsim.reference.greeting.take-down',
      about: 'takes a notice off the board',
      timeoutMs: TIMEOUT_MS,
      run: async ({ id }) => {
        await board.takeDown(id)
        return 'down'
      },
    },
  }
}
