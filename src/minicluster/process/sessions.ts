/** Commands in containers, and containers' terminals, as sessions with a remote client. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { constants as system } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import type { ExecSession, ExecStart } from '../kubelet/container-machine.ts'
import { createFrameReader, FRAME, frame } from './frames.ts'
import { descendantsOf, sendSignal } from './process-table.ts'
import { INPUT_SOCKET } from './run-files.ts'
import { resizeTerminal } from './terminal.ts'

export interface CommandLine {
  command: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
  tty: boolean
}

/** Resolves once it runs; rejects with the system's error when it cannot be started. */
export function startSession(line: CommandLine, output: Pick<ExecStart, 'stdout' | 'stderr'>): Promise<ExecSession> {
  const [program = '', ...args] = line.command
  const child = spawn(program, args, { cwd: line.cwd, env: { ...line.env }, detached: true, stdio: 'pipe' })
  const exited = exitOf(child)
  child.stdout.on('data', (chunk: Buffer) => output.stdout(chunk))
  child.stderr.on('data', (chunk: Buffer) => (line.tty ? output.stdout(chunk) : output.stderr(chunk)))
  child.stdin.on('error', () => undefined)
  const streams: Readable[] = [child.stdout, child.stderr]
  const session: ExecSession = {
    exited,
    write: (chunk) => written(child.stdin, chunk),
    endInput: () => void child.stdin.end(),
    resize: (columns, rows) => {
      if (line.tty) void resizeTerminal(child.pid ?? 0, columns, rows)
    },
    pause() {
      for (const stream of streams) stream.pause()
    },
    resume() {
      for (const stream of streams) stream.resume()
    },
    kill() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      // Looked up before anything is killed: a process that loses its parent is no longer found below it.
      for (const pid of [...descendantsOf(child.pid), child.pid]) sendSignal(pid, 'SIGKILL')
      // The rest of the output is discarded, but it must be read for the pipes to close.
      for (const stream of streams) stream.resume()
    },
  }
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(session))
    child.once('error', reject)
  })
}

/** After the last output: 'close' comes when the pipes are read to their end. */
function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.on('close', (code, signal) => resolve(signal === null ? (code ?? 255) : 128 + system.signals[signal]))
  })
}

/** Input that nothing reads any more is lost, as on a pipe whose reader has left. */
function written(stream: Writable, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writable) stream.write(chunk, () => resolve())
    else resolve()
  })
}

/** `exitCode` settles when the run has ended. */
export async function attachSession(directory: string, start: Omit<ExecStart, 'command'>, exitCode: Promise<number>): Promise<ExecSession> {
  const socket = await connectTo(directory)
  const read = createFrameReader((kind, body) => {
    if (kind === FRAME.stdout) start.stdout(body)
    else if (kind === FRAME.stderr) start.stderr(body)
  })
  socket.on('data', (chunk: Buffer) => {
    if (!read(chunk)) socket.destroy()
  })
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return {
    exited: closed.then(() => exitCode),
    write: (chunk) => written(socket, frame(FRAME.input, chunk)),
    endInput: () => void socket.write(frame(FRAME.endInput, Buffer.alloc(0))),
    resize: (columns, rows) => void socket.write(frame(FRAME.resize, Buffer.from(`${columns} ${rows}`))),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    kill: () => void socket.destroy(),
  }
}

/** The path of a socket must be short, but that of a data directory may be long: it is reached through an open directory. */
async function connectTo(directory: string): Promise<Socket> {
  const fd = openSync(directory, 'r')
  try {
    const socket = connect(`/proc/self/fd/${fd}/${INPUT_SOCKET}`)
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return socket
  } finally {
    closeSync(fd)
  }
}
