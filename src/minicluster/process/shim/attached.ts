/** Serves clients attached to the program: its output from now on, its input, the size of its terminal. */
import type { ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { createFrameReader, FRAME, frame } from '../frames.ts'
import type { LogStream } from '../log-line.ts'
import { INPUT_SOCKET } from '../run-files.ts'
import { resizeTerminal } from '../terminal.ts'

export interface Attached {
  write(stream: LogStream, chunk: Buffer): void
  close(): void
}

/** A client that does not read is disconnected, rather than holding up the program. */
const MAX_BEHIND_BYTES = 8 * 1024 * 1024

export function serveAttached({ child, tty }: { child: ChildProcess; tty: boolean }): Attached {
  const clients = new Set<Socket>()
  child.stdin?.on('error', () => undefined)
  const resize = (size: string): void => {
    const [columns = 0, rows = 0] = size.split(' ').map(Number)
    void resizeTerminal(child.pid ?? 0, columns, rows)
  }
  const server = createServer((socket) => {
    clients.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => clients.delete(socket))
    const read = createFrameReader((kind, body) => {
      if (kind === FRAME.input && child.stdin?.writable && !child.stdin.write(body)) {
        socket.pause()
        child.stdin.once('drain', () => socket.resume())
      } else if (kind === FRAME.endInput) child.stdin?.end()
      else if (kind === FRAME.resize && tty) resize(body.toString('latin1'))
    })
    socket.on('data', (chunk: Buffer) => {
      if (!read(chunk)) socket.destroy()
    })
  })
  server.on('error', () => undefined)
  rmSync(INPUT_SOCKET, { force: true })
  server.listen(INPUT_SOCKET)
  return {
    write(stream, chunk) {
      for (const socket of clients) {
        if (socket.writableLength > MAX_BEHIND_BYTES) socket.destroy()
        else socket.write(frame(stream === 'stdout' ? FRAME.stdout : FRAME.stderr, chunk))
      }
    },
    close() {
      for (const socket of clients) socket.end()
      server.close()
    },
  }
}
