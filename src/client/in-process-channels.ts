/** Channels to a server in the same process: maps channel numbers to calls, and calls back to channel numbers. */
import { CHANNEL } from './exec.ts'
import type { InProcessConversation, InProcessPeer } from './in-process.ts'
import type { ChannelHandlers, Channels } from './transport.ts'
import { TransportError } from './transport.ts'

export function converse(
  start: (peer: InProcessPeer) => InProcessConversation,
  signal: AbortSignal | undefined,
  handlers: ChannelHandlers,
): Channels {
  let isPaused = false
  let isClosed = false
  let onDrain: (() => void) | undefined
  const finish = (error: Error | undefined): void => {
    if (isClosed) return
    isClosed = true
    signal?.removeEventListener('abort', leave)
    handlers.closed(error)
  }
  const deliver = (channel: number, chunk: Uint8Array): boolean => {
    if (!isClosed) handlers.message(channel, chunk)
    return !isPaused
  }
  const conversation = start({
    stdout: (chunk) => deliver(CHANNEL.stdout, chunk),
    stderr: (chunk) => deliver(CHANNEL.stderr, chunk),
    onDrain(callback) {
      onDrain = callback
    },
    end(status) {
      if (!isClosed) handlers.message(CHANNEL.error, Buffer.from(JSON.stringify(status)))
      finish(undefined)
    },
  })
  const leave = (): void => {
    if (isClosed) return
    finish(undefined)
    conversation.leave()
  }
  if (signal?.aborted) leave()
  signal?.addEventListener('abort', leave, { once: true })
  return {
    async send(channel, body) {
      if (isClosed) throw new TransportError('the command cannot be written to: it has ended')
      if (channel === CHANNEL.stdin) await conversation.input(body)
      else if (channel === CHANNEL.close) conversation.endInput()
      else if (channel === CHANNEL.resize) {
        const { Width, Height } = JSON.parse(Buffer.from(body).toString('utf8')) as { Width: number; Height: number }
        conversation.resize(Width, Height)
      }
    },
    pause() {
      isPaused = true
    },
    resume() {
      isPaused = false
      const drained = onDrain
      onDrain = undefined
      drained?.()
    },
    close: leave,
  }
}
