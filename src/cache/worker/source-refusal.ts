/**
 * What a worker answers instead of a block when its source does not give it. A source's own words may hold an address with
 * credentials, so whatever is quoted from one is cleaned and cut.
 */
import { messageOf } from '../../base/error-text.ts'
import { HttpError } from '../http/errors.ts'
import { SourceChanged, SourceRefused } from '../sources/source.ts'

export const changed = (): HttpError =>
  new HttpError(409, 'Changed', 'the file has another version by now: ask the master for it, and read that from its beginning')

/** Why the source did not give a block. */
export function sourceRefusal(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof SourceChanged) return changed()
  if (error instanceof SourceRefused) return new HttpError(502, 'SourceRefused', cleaned(messageOf(error)))
  return new HttpError(502, 'SourceFailed', `the source cannot be read: ${cleaned(messageOf(error))}`)
}

const LONGEST = 300

/** Without credentials in addresses, without queries (they hold signatures), without control characters. */
export const cleaned = (text: string): string =>
  text
    .slice(0, 4 * LONGEST)
    .replace(/:\/\/[^\s/@]*@/g, '://')
    .replace(/\?[^\s"']*/g, '')
    .replace(/((?:authorization|secret|token|password|signature|credential)[\w-]*["']?\s*[:=]\s*).*/gi, '$1…')
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, LONGEST)
