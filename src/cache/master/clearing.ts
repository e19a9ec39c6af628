/** Asks all workers to remove their blocks, because the dataset is deleted. Asked again it goes on. */
import { isJsonObject } from '../../base/json.ts'
import type { Members } from './members.ts'

export interface ClearProgress {
  state: 'clearing' | 'cleared'
  /** Blocks that are still there. */
  left: number
  /** Workers that did not answer: nobody knows what they have. */
  silent: number
}

/** Workers that are asked at the same time. */
const AT_ONCE = 16

export interface ClearingOptions {
  members(): Members
  /** `POST /v1/clear` of a worker; resolves to its answer. */
  askToClear(address: string, signal: AbortSignal): Promise<unknown>
}

export async function clearAll({ members, askToClear }: ClearingOptions, signal: AbortSignal): Promise<ClearProgress> {
  const queue = members().byName.values()
  let [left, silent] = [0, 0]
  const ask = async (): Promise<void> => {
    for (const { address } of queue) {
      // Its silence is the answer; the log of the worker says more.
      const answer = await askToClear(address, signal).catch(() => undefined)
      if (isJsonObject(answer) && typeof answer.left === 'number') left += answer.left
      else silent++
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
  return { state: left + silent === 0 ? 'cleared' : 'clearing', left, silent }
}
