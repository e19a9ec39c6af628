/** Asks a program, on a port of its pod, how far it is. Changes nothing; bounded in time and in the size of the answer. */
import type { GetText } from '../../../client/get-text.ts'
import type { Effect } from '../../../runtime/controller.ts'
import { type Heard, heard } from './asking.ts'
import { ANSWER_BYTES, parseFigures } from './figures.ts'

export interface ProgressInput {
  url: string
  askedAtMs: number
  previous: Heard | undefined
}

const ANSWER_MS = 3000
/** Longer than the answer may take: then the end of that is what counts. */
const SLACK_MS = 2000

export const progressEffect = (controller: string, getText: GetText): Effect<ProgressInput, Heard> => ({
  name: `${controller}.ask-progress`,
  about: 'Asks the program of a data operation, on a port of its pod, how far it is.',
  timeoutMs: ANSWER_MS + SLACK_MS,
  // Never fails: how often nobody has answered is part of the outcome.
  async run({ url, askedAtMs, previous }, { signal }) {
    const text = await getText(url, { timeoutMs: ANSWER_MS, maxBytes: ANSWER_BYTES, signal }).catch(() => undefined)
    return heard(text === undefined ? undefined : figuresIn(text), previous, askedAtMs)
  },
})

function figuresIn(text: string) {
  try {
    return parseFigures(text)
  } catch {
    return undefined
  }
}
