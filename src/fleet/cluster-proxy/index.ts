/**
 * `clusters/NAME/proxy/PATH`: a request to a member through the hub. The hub authorizes the verb on `clusters/proxy`; what
 * the caller may do in the member is decided there, because the hub impersonates the caller. The caller's credentials are
 * never passed on.
 */

import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import { ApiError } from '../../client/errors.ts'
import type { ConnectMember } from '../../client/members.ts'
import type { TransportRequest, TransportResponse } from '../../client/transport.ts'
import { Cluster } from '../../kinds/karmada/cluster.ts'
import type { SubresourceInfo } from '../../kinds/kind.ts'
import type { Subresource, SubresourceCall } from '../../kinds/subresource.ts'
import { type ApiRequest, type ApiResponse, header } from '../../kube/http.ts'
import { isTrue, parseRequestInfo } from '../../kube/request-info.ts'
import { badRequestError, failure, StatusError, tooManyRequestsError } from '../../kube/status.ts'
import { converseWith } from './conversation.ts'
import { targetOf, unavailable } from './credentials.ts'
import { answeredHeaders, forwardedHeaders, impersonationOf } from './headers.ts'
import { createOpenTransports, type TakenTransport } from './open-transports.ts'
import { memberPath } from './path.ts'
import { createSlots } from './slots.ts'
import { streamed } from './stream.ts'

const PROXY: SubresourceInfo = {
  name: 'proxy',
  verbs: ['create', 'delete', 'get', 'patch', 'update'],
  responseKind: { group: Cluster.group, version: Cluster.storageVersion, kind: 'ClusterProxyOptions' },
}

export interface ClusterProxyOptions {
  connect: ConnectMember
  clock: Clock
}

/** Until the member begins to answer: a member that hangs must not use up the slots of the hub, or of other members. */
const WAITING = { perCluster: 100, inAll: 1000 }
/** Including answers that stream. */
const OPEN = { perCluster: 1000, inAll: 10_000 }

export function clusterProxy({ connect, clock }: ClusterProxyOptions): Subresource {
  const transports = createOpenTransports((cluster, credentials) => connect(cluster, credentials, 'proxy'), clock)
  const waiting = createSlots(WAITING)
  const open = createSlots(OPEN)

  async function proxy(call: SubresourceCall): Promise<ApiResponse> {
    const { info, request } = call
    const path = memberPath(info, request.url)
    const isConversation = request.canConverse === true
    if (!isConversation) checkUpgrade(request)
    // A caller who may only read must not run commands through GET, which is what WebSockets use.
    if (isConversation) call.authorize({ ...info, verb: 'create' })
    const target = targetOf(call)
    const headers = {
      ...forwardedHeaders(request.headers),
      ...impersonationOf(call.user, { resource: call.resource, cluster: info.name }),
    }
    const stopWaiting = waiting.take(info.name)
    const leave = open.take(info.name)
    let taken: TakenTransport | undefined
    const done = (): void => {
      taken?.release()
      leave?.()
    }
    try {
      if (stopWaiting === undefined || leave === undefined)
        throw tooManyRequestsError(`too many requests to cluster ${JSON.stringify(info.name)} are under way`, 1)
      taken = transports.take(target)
      if (taken === undefined) throw unavailable(info.name, 'this server knows no way to it')
      const { transport } = taken
      if (!isConversation) return answerOf(call, await transport.request(asRequest(request, path, headers)), done)
      if (transport.connect === undefined) throw badRequestError('commands and terminals do not go through the proxy of this cluster')
      return await converseWith(transport.connect.bind(transport), { path, headers, signal: request.signal }, done)
    } catch (error) {
      done()
      throw explained(error, info.name)
    } finally {
      stopWaiting?.()
    }
  }

  return { of: { group: Cluster.group, plural: Cluster.plural }, info: PROXY, handle: proxy, stop: () => transports.close() }
}

function explained(error: unknown, cluster: string): unknown {
  if (error instanceof StatusError) return error
  // If a conversation could not begin, the reason is the member's own answer.
  if (error instanceof ApiError) return new StatusError({ ...error.status, code: error.code })
  return unavailable(cluster, messageOf(error))
}

/** Connection upgrades are forwarded only where the new protocol is known. */
function checkUpgrade(request: ApiRequest): void {
  const upgrade = header(request, 'upgrade')
  if (upgrade === undefined) return
  throw badRequestError(
    `the proxy of a cluster speaks WebSocket with the protocols v5.channel.k8s.io and v4.channel.k8s.io, not ${JSON.stringify(upgrade)}: use kubectl 1.30 or newer`,
  )
}

function asRequest({ method, body, signal }: ApiRequest, path: string, headers: TransportRequest['headers']): TransportRequest {
  const there = parseRequestInfo(method, path)
  const isFollowing = there.subresource === 'log' && isTrue(there.query.get('follow'))
  const isWatching = there.verb === 'watch' || isTrue(there.query.get('watch'))
  return { method, path, headers, body, signal, isStream: isWatching || isFollowing || there.subresource === 'proxy' }
}

const NO_BODY = new Set([204, 304])

function answerOf({ info, request }: SubresourceCall, answer: TransportResponse, done: () => void): ApiResponse {
  const refuse = (error: StatusError): never => {
    answer.cancel()
    throw error
  }
  // The client's own credentials were valid: it must not discard them.
  if (answer.status === 401) refuse(unavailable(info.name, 'it does not accept the credentials of the hub'))
  // A member must not redirect our clients, with their credentials, anywhere else.
  if (answer.status >= 300 && answer.status < 400 && answer.status !== 304)
    refuse(failure(502, 'BadGateway', `cluster ${JSON.stringify(info.name)} answered with a redirection, which is not followed`))
  const headers = answeredHeaders(answer.headers)
  if (NO_BODY.has(answer.status) || info.method === 'HEAD') {
    answer.cancel()
    done()
    return { status: answer.status, headers }
  }
  // A client that is gone before the body was read must not keep the connection open.
  const onGone = (): void => {
    answer.cancel()
    done()
  }
  request.signal?.addEventListener('abort', onGone, { once: true })
  return { status: answer.status, headers, body: streamed(answer, done) }
}
