/** The log of one run: lines with time and stream, rotated when it grows too large. A full disk loses lines, not the program. */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'
import { createLineCutter, LOG, type LogStream, lineHead, MAX_LOG_BYTES, NEWLINE, OLD_LOG, timeText } from '../log-line.ts'

export interface LogFile {
  write(stream: LogStream, chunk: Buffer): void
  /** A last line without a newline is written as a partial one. */
  close(): void
}

/** In the working directory, which is the run's. */
export function openLog(now: () => { ms: number; nanos: number }, maxBytes = MAX_LOG_BYTES): LogFile {
  let fd = openSync(LOG, 'a', 0o600)
  let size = fstatSync(fd).size
  const cutters = { stdout: createLineCutter(), stderr: createLineCutter() }

  function append(parts: readonly Buffer[]): void {
    if (parts.length === 0) return
    const bytes = Buffer.concat(parts)
    try {
      if (size > 0 && size + bytes.length > maxBytes) {
        renameSync(LOG, OLD_LOG)
        closeSync(fd)
        fd = openSync(LOG, 'a', 0o600)
        size = 0
      }
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
      size += bytes.length
    } catch {
      size = maxBytes
    }
  }

  const collect = (stream: LogStream, cut: (emit: (text: Buffer, isPartial: boolean) => void) => void): void => {
    const { ms, nanos } = now()
    const time = timeText(ms, nanos)
    const heads = { whole: lineHead({ time, stream, isPartial: false }), partial: lineHead({ time, stream, isPartial: true }) }
    const parts: Buffer[] = []
    cut((text, isPartial) => parts.push(isPartial ? heads.partial : heads.whole, text, NEWLINE))
    append(parts)
  }

  return {
    write: (stream, chunk) => collect(stream, (emit) => cutters[stream].cut(chunk, emit)),
    close() {
      for (const stream of ['stdout', 'stderr'] as const) collect(stream, (emit) => cutters[stream].flush(emit))
      closeSync(fd)
    },
  }
}
