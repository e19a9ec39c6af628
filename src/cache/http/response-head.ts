/**
 * The head of an HTTP/1.1 answer, read strictly: what is ambiguous about where an answer ends is refused, because on a kept
 * connection it would turn the rest of one answer into the next. Pure.
 */
export interface ResponseHead {
  status: number
  /** Names in lower case; of a header that came twice the first. */
  headers: ReadonlyMap<string, string>
  bodyBytes: number
  isKept: boolean
}

/** The answer cannot be understood. */
export class BadResponse extends Error {
  override readonly name = 'BadResponse'
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [^\r\n]*)?$/
const HEADER_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*(.*?)[ \t]*$/
const LENGTH = /^(0|[1-9][0-9]{0,14})$/
const MOST_LINES = 100

/** `text`: all lines, without the empty one at the end. */
export function parseResponseHead(text: string, method: string): ResponseHead {
  const lines = text.split('\r\n')
  const first = STATUS_LINE.exec(lines[0] ?? '')
  if (first === null) throw new BadResponse('the answer is not HTTP/1.1')
  if (lines.length > MOST_LINES) throw new BadResponse(`the answer has more than ${MOST_LINES} headers`)
  const status = Number(first[2])
  const headers = new Map<string, string>()
  for (const line of lines.slice(1)) {
    const match = HEADER_LINE.exec(line)
    if (match === null) throw new BadResponse('a header of the answer cannot be read')
    const [name, value] = [(match[1] ?? '').toLowerCase(), match[2] ?? '']
    if (name === 'content-length' && headers.has(name) && headers.get(name) !== value) throw new BadResponse('the answer has two lengths')
    if (!headers.has(name)) headers.set(name, value)
  }
  if (headers.has('transfer-encoding')) throw new BadResponse('the answer does not say its length beforehand')
  const connection = headers.get('connection')?.toLowerCase()
  return {
    status,
    headers,
    bodyBytes: bodyBytesOf(headers.get('content-length'), status, method),
    isKept: first[1] === '1' ? connection !== 'close' : connection === 'keep-alive',
  }
}

function bodyBytesOf(length: string | undefined, status: number, method: string): number {
  if (method === 'HEAD' || status === 204 || status === 304 || status < 200) return 0
  if (length === undefined || !LENGTH.test(length)) throw new BadResponse('the answer does not say its length beforehand')
  return Number(length)
}
