/**
 * How a worker hands over before it goes: for how long it may, what it says of it, and the mark by which a controller that was
 * restarted knows whom it was leading out, and since when. Pure.
 */
import { isJsonObject } from '../../base/json.ts'
import { type Because, REASONS } from './choose.ts'

/** On a runtime: for how many seconds a worker that leaves may hand over; 0: it goes at once. */
const HANDOVER_SECONDS = 'sluice.dev/handover-seconds'
const DEFAULT_SECONDS = 600
export const MOST_HANDOVER_SECONDS = 86_400

/** What is no number of seconds is no wish. */
export function handoverMs(annotations: Readonly<Record<string, string>> = {}): number {
  const text = Object.hasOwn(annotations, HANDOVER_SECONDS) ? (annotations[HANDOVER_SECONDS] ?? '') : ''
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : DEFAULT_SECONDS
  return Math.min(seconds, MOST_HANDOVER_SECONDS) * 1000
}

/** In bytes. */
export interface HandedOver {
  moved: number
  dropped: number
  left: number
}

/** The last line of what a command prints that tells amounts. */
export function handedOverIn(text: string): HandedOver | undefined {
  for (const line of text.trimEnd().split('\n').reverse()) {
    const amounts = amountsIn(line)
    if (amounts !== undefined) return amounts
  }
  return undefined
}

function amountsIn(line: string): HandedOver | undefined {
  let found: unknown
  try {
    found = JSON.parse(line)
  } catch {
    // Some other output, or the rest of a line that was cut.
    return undefined
  }
  if (!isJsonObject(found)) return undefined
  const { moved, dropped, left } = found
  return isAmount(moved) && isAmount(dropped) && isAmount(left) ? { moved, dropped, left } : undefined
}

const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** On the set of the workers: who is being led out. */
export const LEAVING_WORKER = 'sluice.dev/leaving-worker'

export interface Leaving {
  pod: string
  uid: string
  sinceMs: number
  /** Why it was chosen. */
  because?: Because
}

export const leavingText = ({ pod, uid, sinceMs, because }: Leaving): string =>
  [pod, uid, new Date(sinceMs).toISOString(), ...(because === undefined ? [] : [because])].join(' ')

/** Undefined: nobody is, or what is written there says nothing. */
export function leavingIn(annotations: Readonly<Record<string, string>> = {}): Leaving | undefined {
  const text = Object.hasOwn(annotations, LEAVING_WORKER) ? (annotations[LEAVING_WORKER] ?? '') : ''
  const [pod = '', uid = '', since = '', why] = text.split(' ')
  const sinceMs = Date.parse(since)
  const because = REASONS.find((reason) => reason === why)
  return pod === '' || uid === '' || Number.isNaN(sinceMs)
    ? undefined
    : { pod, uid, sinceMs, ...(because === undefined ? {} : { because }) }
}

const MOST_WORDS = 64
const LONGEST_COMMAND = 16_384

/** The command in an annotation of a class, a JSON list of words; undefined: there is none that could be run. */
export function commandIn(text: string | undefined): string[] | undefined {
  if (text === undefined || text.length > LONGEST_COMMAND) return undefined
  let words: unknown
  try {
    words = JSON.parse(text)
  } catch {
    // No command: workers go without it.
    return undefined
  }
  if (!Array.isArray(words) || words.length > MOST_WORDS || !words.every((word): word is string => typeof word === 'string'))
    return undefined
  return (words[0] ?? '') === '' ? undefined : words
}
