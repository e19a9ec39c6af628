/**
 * How far a program says it is, and how an operation shows it. Any container may answer on that port, so everything about the
 * answer is checked. Pure.
 */
import { isJsonObject, type JsonObject } from '../../../base/json.ts'
import { shown } from '../../dataset/text.ts'

export interface Figures {
  step?: string
  bytesDone: number
  filesDone: number
  /** Absent while they still grow: what is done of them would look like more than it is. */
  bytesTotal?: number
  filesTotal?: number
  bytesPerSecond?: number
  secondsLeft?: number
  /** What it waits for, or what went wrong last. */
  message?: string
}

/** What programs promise is a quarter of it. */
export const ANSWER_BYTES = 4096

const LONGEST_STEP = 32
const LONGEST_MESSAGE = 300

/** Throws when it is none. Members that are not known, or make no sense, are left out. */
export function parseFigures(text: string): Figures {
  if (text.length > ANSWER_BYTES) throw new Error(`the progress has more than ${ANSWER_BYTES} bytes`)
  const found = parsed(text)
  if (!isJsonObject(found)) throw new Error('the progress is no JSON object')
  const [bytesDone, filesDone] = [countIn(found, 'bytesDone'), countIn(found, 'filesDone')]
  if (bytesDone === undefined || filesDone === undefined) throw new Error('the progress does not say how much is done')
  const isTotalKnown = own(found, 'isTotalKnown') === true
  return defined({
    step: textIn(found, 'step', LONGEST_STEP),
    bytesDone,
    filesDone,
    bytesTotal: isTotalKnown ? atLeast(bytesDone, countIn(found, 'bytesTotal')) : undefined,
    filesTotal: isTotalKnown ? atLeast(filesDone, countIn(found, 'filesTotal')) : undefined,
    bytesPerSecond: countIn(found, 'bytesPerSecond'),
    secondsLeft: countIn(found, 'secondsLeft'),
    message: textIn(found, 'message', LONGEST_MESSAGE),
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the progress is not JSON')
  }
}

const own = (found: JsonObject, name: string): unknown => (Object.hasOwn(found, name) ? found[name] : undefined)

function countIn(found: JsonObject, name: string): number | undefined {
  const value = own(found, name)
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? Math.abs(value) : undefined
}

function textIn(found: JsonObject, name: string, most: number): string | undefined {
  const value = own(found, name)
  const text = typeof value === 'string' ? shown(value, most) : ''
  return text === '' ? undefined : text
}

const atLeast = (done: number, total: number | undefined): number | undefined => (total === undefined || total < done ? undefined : total)

const defined = (figures: { [Name in keyof Figures]: Figures[Name] | undefined }): Figures =>
  Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== undefined)) as unknown as Figures

/** In `status.infos`, instead of figures: why there are none. */
export const PROGRESS_INFO = 'progress'

const NAMES: readonly (keyof Figures)[] = [
  'step',
  'bytesDone',
  'bytesTotal',
  'filesDone',
  'filesTotal',
  'bytesPerSecond',
  'secondsLeft',
  'message',
]

export const infosOf = (figures: Figures): Record<string, string> =>
  Object.fromEntries(NAMES.flatMap((name) => (figures[name] === undefined ? [] : [[name, String(figures[name])]])))

const KEYS: ReadonlySet<string> = new Set([...NAMES, PROGRESS_INFO])

export const withoutProgress = (infos: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(infos).filter(([key]) => !KEYS.has(key)))
