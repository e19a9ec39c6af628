/** Commands and terminals in a member: connects the client's channels with the member's, at the pace of the slower side. */

import type { Channels, ConnectRequest, Transport } from '../../client/transport.ts'
import type { ApiResponse, Conversation, ConversationPeer } from '../../kube/http.ts'
import { failure, type Status } from '../../kube/status.ts'

const STDIN = 0
const STDOUT = 1
const STDERR = 2
const ERROR = 3
const RESIZE = 4
const CLOSE = 255

/** Rejects when the member refuses; the client's upgrade is accepted only after the member's. */
export async function converseWith(
  connect: NonNullable<Transport['connect']>,
  request: ConnectRequest,
  onEnd: () => void,
): Promise<ApiResponse> {
  const relay = new Relay(onEnd)
  const channels = await connect(request, relay)
  relay.join(channels)
  return { status: 101, headers: {}, converse: (peer) => relay.begin(peer) }
}

class Relay {
  readonly #onEnd: () => void
  #peer: ConversationPeer | undefined
  #channels: Channels | undefined
  /** Output that arrived before the client could receive it: little, because the member's channels are paused. */
  #early: (() => void)[] = []
  #ending = ''

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  join(channels: Channels): void {
    this.#channels = channels
    channels.pause()
  }

  begin(peer: ConversationPeer): Conversation {
    this.#peer = peer
    for (const body of this.#early.splice(0)) body()
    const channels = this.#channels
    channels?.resume()
    const send = async (channel: number, body: Uint8Array): Promise<void> => {
      // If it has ended, the client learns how on its own channel.
      await channels?.send(channel, body).catch(() => undefined)
    }
    return {
      input: (chunk) => send(STDIN, chunk),
      endInput: () => void send(CLOSE, Uint8Array.of(STDIN)),
      resize: (columns, rows) => void send(RESIZE, Buffer.from(JSON.stringify({ Width: columns, Height: rows }))),
      leave: () => channels?.close(),
    }
  }

  readonly message = (channel: number, body: Uint8Array): void => {
    if (channel === ERROR) this.#ending += Buffer.from(body).toString('utf8')
    else if (this.#peer === undefined) this.#early.push(() => this.message(channel, body))
    else if (channel === STDOUT || channel === STDERR) this.#body(this.#peer, channel, body)
  }

  readonly closed = (error: Error | undefined): void => {
    this.#onEnd()
    const end = (): void => this.#peer?.end(endingOf(this.#ending, error))
    if (this.#peer === undefined) this.#early.push(end)
    else end()
  }

  #body(peer: ConversationPeer, channel: number, body: Uint8Array): void {
    if (body.length === 0) return
    const isTaken = channel === STDOUT ? peer.stdout(body) : peer.stderr(body)
    if (isTaken) return
    this.#channels?.pause()
    peer.onDrain(() => this.#channels?.resume())
  }
}

function endingOf(text: string, error: Error | undefined): Status {
  try {
    const status = JSON.parse(text) as Status | null
    if (status !== null && typeof status === 'object' && status.kind === 'Status') return status
  } catch (wrong) {
    if (!(wrong instanceof SyntaxError)) throw wrong
  }
  return failure(500, 'InternalError', `the cluster did not say how it ended${error === undefined ? '' : `: ${error.message}`}`).status
}
