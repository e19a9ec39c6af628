/**
 * One kept connection to a server of blocks, one request at a time, on `net` with `onread`: bytes arrive in a buffer that all
 * connections share (a read and its callback are one turn of the event loop) and are copied once, to where they are wanted.
 * Everything is bounded: the head, the body by the room that was given, silence and the whole by time.
 */
import net from 'node:net'
import { messageOf } from '../../base/error-text.ts'
import { BadResponse, parseResponseHead, type ResponseHead } from './response-head.ts'

export interface ConnectionOptions {
  host: string
  port: number
  receive: Buffer
  connectMs: number
  /** Silence in the middle of a request. */
  idleMs: number
  /** Called once, when the connection cannot be used any more. */
  onEnd(): void
}

export interface ConnectionRequest {
  method: 'GET' | 'HEAD'
  /** The whole head, with the empty line. */
  head: string
  /** Where a good answer goes. */
  into: Buffer
}

export interface ConnectionAnswer extends ResponseHead {
  /** Of an answer that is not good: its beginning. Good ones are in `into`. */
  refusal: Buffer
}

export interface BlockConnection {
  request(request: ConnectionRequest): Promise<ConnectionAnswer>
  destroy(why: Error): void
  isUsable(): boolean
}

const MOST_HEAD_BYTES = 16 * 1024
const MOST_REFUSAL_BYTES = 64 * 1024
const MOST_INTERIM = 8
const EMPTY = Buffer.alloc(0)
/** Waiting connections take nothing from the process's life. */
const IDLE_CLOSE_MS = 30_000

interface Pending {
  request: ConnectionRequest
  resolve(answer: ConnectionAnswer): void
  reject(error: Error): void
  headText: string
  interim: number
  head?: ResponseHead
  target: Buffer
  received: number
}

export function connectBlocks(options: ConnectionOptions): BlockConnection {
  let pending: Pending | undefined
  let isOver = false
  const socket = net.connect({
    host: options.host,
    port: options.port,
    noDelay: true,
    onread: {
      buffer: options.receive,
      callback(count, buffer) {
        take(Buffer.from(buffer.buffer, buffer.byteOffset, count))
        return true
      },
    },
  })
  const end = (error: Error): void => {
    if (isOver) return
    isOver = true
    const waiting = pending
    pending = undefined
    socket.destroy()
    options.onEnd()
    waiting?.reject(error)
  }
  socket.setTimeout(options.connectMs)
  socket.on('connect', () => socket.setTimeout(options.idleMs))
  socket.on('timeout', () => end(new BadResponse(socket.connecting ? 'no connection in time' : 'nothing came for too long')))
  socket.on('error', (error) => end(new BadResponse(messageOf(error))))
  socket.on('end', () => end(new BadResponse('the connection was closed in the middle of an answer')))
  socket.on('close', () => end(new BadResponse('the connection was closed')))

  function take(bytes: Buffer): void {
    // Nothing was asked: whatever this is, the connection is out of step.
    if (pending === undefined) return void end(new BadResponse('the server sent what nobody asked for'))
    try {
      let rest = bytes
      while (pending !== undefined && pending.head === undefined && rest.length > 0) rest = takeHead(pending, rest)
      if (pending?.head !== undefined) takeBody(pending, pending.head, rest)
    } catch (error) {
      end(error instanceof Error ? error : new BadResponse(String(error)))
    }
  }

  function finish(done: Pending, head: ResponseHead, hasMore: boolean): void {
    pending = undefined
    socket.setTimeout(IDLE_CLOSE_MS)
    if (!head.isKept || hasMore) end(new BadResponse('the connection is over'))
    done.resolve({ ...head, refusal: isGood(head) ? EMPTY : done.target.subarray(0, done.received) })
  }

  function takeBody(current: Pending, head: ResponseHead, bytes: Buffer): void {
    const left = head.bodyBytes - current.received
    const count = Math.min(left, bytes.length)
    bytes.copy(current.target, current.received, 0, count)
    current.received += count
    if (count === left) finish(current, head, bytes.length > count)
  }

  return {
    isUsable: () => !isOver && pending === undefined,
    destroy: end,
    request: (request) =>
      new Promise((resolve, reject) => {
        if (isOver || pending !== undefined) return reject(new BadResponse('the connection cannot be used'))
        pending = { request, resolve, reject, headText: '', interim: 0, target: EMPTY, received: 0 }
        if (!socket.connecting) socket.setTimeout(options.idleMs)
        socket.write(request.head)
      }),
  }
}

const isGood = ({ status }: ResponseHead): boolean => status >= 200 && status < 300

/** Returns what follows the head. */
function takeHead(pending: Pending, bytes: Buffer): Buffer {
  const before = pending.headText.length
  pending.headText += bytes.toString('latin1', 0, Math.min(bytes.length, MOST_HEAD_BYTES))
  const at = pending.headText.indexOf('\r\n\r\n', Math.max(0, before - 3))
  if (at < 0) {
    if (pending.headText.length >= MOST_HEAD_BYTES) throw new BadResponse(`the head of the answer is longer than ${MOST_HEAD_BYTES} bytes`)
    return EMPTY
  }
  const head = parseResponseHead(pending.headText.slice(0, at), pending.request.method)
  const rest = bytes.subarray(at + 4 - before)
  pending.headText = ''
  if (head.status < 200) {
    if (head.status === 101 || ++pending.interim > MOST_INTERIM) throw new BadResponse('the server goes on with something else')
    return rest
  }
  if (isGood(head)) {
    if (head.bodyBytes > pending.request.into.length)
      throw new BadResponse(`the answer has ${head.bodyBytes} bytes, more than were asked for`)
    pending.target = pending.request.into
  } else {
    if (head.bodyBytes > MOST_REFUSAL_BYTES) throw new BadResponse(`the server answered ${head.status} with ${head.bodyBytes} bytes`)
    pending.target = Buffer.alloc(head.bodyBytes)
  }
  pending.head = head
  return rest
}
