/** What is left of an answer to be compared: status, a few headers, and the normalised body. */
import type { Names } from './names.ts'
import { normalise, normaliseText } from './normalise.ts'
import { removeAt, valueAt } from './pointer.ts'
import type { RawAnswer } from './send.ts'
import type { Answer, Json, Step } from './transcript.ts'

const COMPARED_HEADERS = ['location', 'retry-after', 'www-authenticate', 'content-encoding', 'allow']

/** `path` is the one that was really sent: whether it is a watch depends on it. */
export function reduceAnswer(step: Step & { path: string }, raw: RawAnswer, names: Names): Answer {
  const answer: Answer = { status: raw.status }
  const headers = comparedHeaders(raw, names)
  if (Object.keys(headers).length > 0) answer.responseHeaders = headers
  if (step.compare === 'status') return answer
  if (step.compare === 'prefix') return { ...answer, responsePrefix: raw.bytes.subarray(0, 4).toString('hex') }
  if (step.compare === 'nonempty') return { ...answer, responseNonEmpty: raw.bytes.length > 0 }
  const text = raw.bytes.toString()
  names.learnGenerated(step, text)
  if (/[?&]watch=(1|true)/.test(step.path) && raw.status === 200) return { ...answer, responseEvents: watchEvents(step, text, names) }
  const json = parsedOrNothing(text)
  if (json === undefined) return { ...answer, responseText: normaliseText(text, names) }
  const body = normalise(json, { names, keepManagedFields: step.managedFields === true })
  for (const pointer of step.ignore ?? []) removeAt(body, pointer)
  for (const pointer of step.unordered ?? []) sortByText(valueAt(body, pointer))
  return { ...answer, responseBody: body }
}

function comparedHeaders(raw: RawAnswer, names: Names): Record<string, string | string[]> {
  const out: Record<string, string | string[]> = {}
  const type = raw.headers['content-type']
  if (typeof type === 'string' && type !== '' && type !== 'application/json') out['content-type'] = type
  const warnings = raw.rawHeaders.filter((_, i) => i % 2 === 1 && raw.rawHeaders[i - 1]?.toLowerCase() === 'warning')
  if (warnings.length > 0) out.warning = warnings.map((warning) => normaliseText(warning, names))
  for (const name of COMPARED_HEADERS) {
    const value = raw.headers[name]
    if (value !== undefined) out[name] = normaliseText(String(value), names)
  }
  return out
}

interface WatchEvent {
  type?: string
  object?: { metadata?: { annotations?: Record<string, string> } }
}

function watchEvents(step: Step, text: string, names: Names): Json[] {
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Json)
    .map((event) =>
      normalise(event, {
        names,
        keepManagedFields: step.managedFields === true,
        isBookmark: (event as WatchEvent | null)?.type === 'BOOKMARK',
      }),
    )
  const kept = step.bookmarks === true ? events : events.filter((event) => !isPlainBookmark(event as WatchEvent | null))
  for (const pointer of step.ignore ?? []) removeAt(kept, pointer)
  return kept
}

/** A bookmark that only carries progress; the one that ends the initial events carries meaning. */
function isPlainBookmark(event: WatchEvent | null): boolean {
  return event?.type === 'BOOKMARK' && !event.object?.metadata?.annotations?.['k8s.io/initial-events-end']
}

/** JSON objects and lists are bodies; anything else is text. */
export function parsedOrNothing(text: string): Json | undefined {
  try {
    const json = JSON.parse(text) as Json
    return typeof json === 'object' ? json : undefined
  } catch {
    return undefined
  }
}

function sortByText(list: Json | undefined): void {
  if (Array.isArray(list)) list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}
