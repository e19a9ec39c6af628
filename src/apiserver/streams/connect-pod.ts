/** `pods/exec` and `pods/attach`: authorization, the container, whether its node can be reached, and then the conversation. */

import { type ApiResponse, header } from '../../kube/http.ts'
import type { NodeConnection, PodContainer, StreamRequest } from '../../kube/node-connections.ts'
import { badRequestError, failure } from '../../kube/status.ts'
import type { Scope } from '../scope.ts'
import { commandStatus, startConversation, success } from './conversation.ts'

/** Concurrent conversations; each holds a process and a connection. */
const MAX_CONVERSATIONS = 1000

/** Counts open conversations, to bound them. */
export interface OpenConversations {
  count: number
}

export interface ConnectTarget {
  of: PodContainer
  node: NodeConnection
}

export function connectPod(scope: Scope, { of, node }: ConnectTarget, open: OpenConversations): ApiResponse {
  const { query, subresource } = scope.info
  const request = streamRequest(query)
  const command = query.getAll('command')
  if (subresource === 'exec' && command.length === 0) throw badRequestError('you must specify at least one command for the container')
  if (scope.request.canConverse !== true) throw upgradeNeeded(header(scope.request, 'upgrade'))
  if (open.count >= MAX_CONVERSATIONS)
    throw failure(429, 'TooManyRequests', 'too many commands and terminals are open; try again later', { retryAfterSeconds: 1 })
  return {
    status: 101,
    headers: {},
    converse(peer) {
      open.count++
      return startConversation(peer, {
        open: (output) => (subresource === 'exec' ? node.exec(of, { ...request, command }, output) : node.attach(of, request, output)),
        statusOf: subresource === 'exec' ? commandStatus(command) : success,
        onEnd: () => {
          open.count--
        },
      })
    },
  }
}

const isSet = (value: string | null): boolean => value !== null && value !== 'false' && value !== '0'

/** With a terminal there is only one output stream. */
function streamRequest(query: URLSearchParams): StreamRequest {
  const tty = isSet(query.get('tty'))
  const request = {
    stdin: isSet(query.get('stdin')),
    stdout: isSet(query.get('stdout')),
    stderr: isSet(query.get('stderr')) && !tty,
    tty,
  }
  if (!request.stdin && !request.stdout && !request.stderr) throw badRequestError('you must specify at least 1 of stdin, stdout, stderr')
  return request
}

function upgradeNeeded(upgrade: string | undefined): Error {
  if (upgrade === undefined) return badRequestError('Upgrade request required')
  if (/^spdy\//i.test(upgrade))
    return badRequestError(
      'this server speaks WebSocket for commands and terminals, not SPDY: use kubectl 1.30 or newer (and leave KUBECTL_REMOTE_COMMAND_WEBSOCKETS unset)',
    )
  return badRequestError('unable to upgrade: this server speaks WebSocket with the protocols v5.channel.k8s.io and v4.channel.k8s.io')
}
