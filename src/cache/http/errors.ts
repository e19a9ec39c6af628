/**
 * How the cache's servers refuse: a status, a code for programs, a message for people. On the wire it is
 * `{"error": {"code", "message"}}`; whoever reads one gets the same values back.
 */
import { isJsonObject } from '../../base/json.ts'

export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const LONGEST = 1000

export const errorBody = ({ code, message }: { code: string; message: string }): string => JSON.stringify({ error: { code, message } })

/** What an answer with a status above 399 says, as far as it can be read: it may come from anything that listens there. */
export function readErrorBody(status: number, body: Buffer): HttpError {
  let code = 'Unknown'
  let message = `the server answered ${status}`
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'))
    const error = isJsonObject(parsed) && Object.hasOwn(parsed, 'error') ? parsed.error : undefined
    if (isJsonObject(error)) {
      if (typeof error.code === 'string') code = error.code.slice(0, LONGEST)
      if (typeof error.message === 'string') message = error.message.slice(0, LONGEST)
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return new HttpError(status, code, message)
}
