/**
 * A line of a container's log, as container runtimes write it: `<time> <stdout|stderr> <F|P> <text>`. P marks a partial
 * line: too long for one entry, or not terminated when the program ended.
 */
export type LogStream = 'stdout' | 'stderr'

export interface LogLine {
  /** RFC 3339 with nanoseconds, UTC. */
  time: string
  stream: LogStream
  isPartial: boolean
  text: Uint8Array
}

/** Longer lines are written in parts. */
const MAX_LINE_BYTES = 16 * 1024
/** A log is rotated at this size, and the previously rotated one is deleted. */
export const MAX_LOG_BYTES = 10 * 1024 * 1024
export const LOG = 'log'
export const OLD_LOG = 'log.1'

export const NEWLINE = Buffer.from('\n')

/** What a line begins with, before its text. */
export const lineHead = (line: Omit<LogLine, 'text'>): Buffer => Buffer.from(`${line.time} ${line.stream} ${line.isPartial ? 'P' : 'F'} `)

export const formatLine = (line: LogLine): Buffer => Buffer.concat([lineHead(line), line.text, NEWLINE])

const HEAD = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z) (stdout|stderr) ([FP]) /
const MAX_HEAD_BYTES = 48

/** Without its newline; undefined when it is not a log line. */
export function parseLine(line: Buffer): LogLine | undefined {
  const head = HEAD.exec(line.subarray(0, MAX_HEAD_BYTES).toString('latin1'))
  if (head === null) return undefined
  const [whole, time = '', stream, tag] = head
  return { time, stream: stream === 'stderr' ? 'stderr' : 'stdout', isPartial: tag === 'P', text: line.subarray(whole.length) }
}

/** `nanos` below the millisecond, 0 to 999999. */
export const timeText = (ms: number, nanos: number): string =>
  `${new Date(ms).toISOString().slice(0, 23)}${String(nanos).padStart(6, '0')}Z`

/** Splits chunks of output into lines; an incomplete line waits for the next chunk. */
export interface LineCutter {
  cut(chunk: Buffer, emit: (text: Buffer, isPartial: boolean) => void): void
  /** No more will come: what is left is a line that was never terminated. */
  flush(emit: (text: Buffer, isPartial: boolean) => void): void
}

export function createLineCutter(maxBytes = MAX_LINE_BYTES): LineCutter {
  let waiting: Buffer = Buffer.alloc(0)
  return {
    cut(chunk, emit) {
      const bytes = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
      let at = 0
      for (let end = bytes.indexOf(10); at < bytes.length; ) {
        if (end >= 0 && end - at <= maxBytes) {
          emit(bytes.subarray(at, end), false)
          at = end + 1
          end = bytes.indexOf(10, at)
        } else if (bytes.length - at > maxBytes) {
          emit(bytes.subarray(at, at + maxBytes), true)
          at += maxBytes
        } else break
      }
      // A copy: the chunk may be large, and its owner may use it again.
      waiting = Buffer.from(bytes.subarray(at))
    },
    flush(emit) {
      if (waiting.length > 0) emit(waiting, true)
      waiting = Buffer.alloc(0)
    },
  }
}
