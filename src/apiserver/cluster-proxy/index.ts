/**
 * `clusters/NAME/proxy/PATH`: a request to a member through the hub. Who may is decided here by the verb on `clusters/proxy`,
 * and what they may do there by the member, to which the hub says for whom it asks; credentials of the caller never travel.
 */
import type { Clock } from '../../base/clock.ts'
import { Cluster } from '../../kinds/karmada/cluster.ts'
import type { KindDefinition, SubresourceInfo, UserInfo } from '../../kinds/kind.ts'
import { badRequestError, failure, StatusError, tooManyRequestsError } from '../../kube/status.ts'
import type { ApiRequest, ApiResponse } from '../http.ts'
import { isTrue, parseRequestInfo, type RequestInfo } from '../request-info.ts'
import type { ForwardHandlers } from '../route.ts'
import { header, type Scope } from '../scope.ts'
import { converseWith } from './conversation.ts'
import { targetOf, unavailable } from './credentials.ts'
import { answeredHeaders, forwardedHeaders, impersonationOf } from './headers.ts'
import type { MemberAnswer, MemberRequest, MemberWays } from './member-way.ts'
import { createOpenWays, type TakenWay } from './open-ways.ts'
import { memberPath } from './path.ts'
import { createPlaces } from './places.ts'
import { streamed } from './stream.ts'

export type { MemberWays } from './member-way.ts'

const PROXY: SubresourceInfo = {
  name: 'proxy',
  verbs: ['create', 'delete', 'get', 'patch', 'update'],
  responseKind: { group: Cluster.group, version: Cluster.storageVersion, kind: 'ClusterProxyOptions' },
}

/** The kinds as a server with ways to members has them. */
export const withProxy = (kinds: readonly KindDefinition[]): KindDefinition[] =>
  kinds.map((kind) =>
    kind.group === Cluster.group && kind.plural === Cluster.plural ? { ...kind, subresources: [...kind.subresources, PROXY] } : kind,
  )

export interface ClusterProxyOptions extends MemberWays {
  clock: Clock
  authorize(user: UserInfo, info: RequestInfo): void
}

export interface ClusterProxy {
  handlers: ForwardHandlers
  stop(): void
}

/** Until the member begins to answer: one that hangs must not take the room of the hub, or of other members. */
const WAITING = { perCluster: 100, inAll: 1000 }
/** Answers that stream included. */
const OPEN = { perCluster: 1000, inAll: 10_000 }

export function createClusterProxy(options: ClusterProxyOptions): ClusterProxy {
  const ways = createOpenWays(options, options.clock)
  const waiting = createPlaces(WAITING)
  const open = createPlaces(OPEN)

  async function proxy(scope: Scope): Promise<ApiResponse> {
    const { info, request } = scope
    const path = memberPath(info, request.url)
    const isConversation = request.canConverse === true
    if (!isConversation) checkUpgrade(scope)
    // Whoever may only read does not get to run commands by asking with GET, as WebSockets do.
    if (isConversation) options.authorize(scope.user, { ...info, verb: 'create' })
    const target = targetOf(scope)
    const headers = {
      ...forwardedHeaders(request.headers),
      ...impersonationOf(scope.user, { resource: scope.served.groupResource, cluster: info.name }),
    }
    const stopWaiting = waiting.take(info.name)
    const leave = open.take(info.name)
    let taken: TakenWay | undefined
    const done = (): void => {
      taken?.release()
      leave?.()
    }
    try {
      if (stopWaiting === undefined || leave === undefined)
        throw tooManyRequestsError(`too many requests to cluster ${JSON.stringify(info.name)} are under way`, 1)
      taken = ways.take(target)
      if (taken === undefined) throw unavailable(info.name, 'this server knows no way to it')
      const { way } = taken
      if (!isConversation) return answerOf(scope, await way.request(asRequest(request, path, headers)), done)
      if (way.connect === undefined) throw badRequestError('commands and terminals do not go through the proxy of this cluster')
      return await converseWith(way.connect.bind(way), { path, headers, signal: request.signal }, done)
    } catch (error) {
      done()
      throw explained(error, info.name)
    } finally {
      stopWaiting?.()
    }
  }

  function explained(error: unknown, cluster: string): unknown {
    if (error instanceof StatusError) return error
    const refusal = options.refusalOf(error)
    if (refusal !== undefined) return new StatusError(refusal)
    return unavailable(cluster, error instanceof Error ? error.message : String(error))
  }

  return {
    handlers: { [`${Cluster.group}/${Cluster.plural}/${PROXY.name}`]: proxy },
    stop: () => ways.close(),
  }
}

/** Connections that become something else are forwarded only where we know what they become. */
function checkUpgrade(scope: Scope): void {
  const upgrade = header(scope.request, 'upgrade')
  if (upgrade === undefined) return
  throw badRequestError(
    `the proxy of a cluster speaks WebSocket with the protocols v5.channel.k8s.io and v4.channel.k8s.io, not ${JSON.stringify(upgrade)}: use kubectl 1.30 or newer`,
  )
}

function asRequest({ method, body, signal }: ApiRequest, path: string, headers: MemberRequest['headers']): MemberRequest {
  const there = parseRequestInfo(method, path)
  const isFollowing = there.subresource === 'log' && isTrue(there.query.get('follow'))
  const isWatching = there.verb === 'watch' || isTrue(there.query.get('watch'))
  return { method, path, headers, body, signal, isStream: isWatching || isFollowing || there.subresource === 'proxy' }
}

const NO_BODY = new Set([204, 304])

function answerOf({ info, request }: Scope, answer: MemberAnswer, done: () => void): ApiResponse {
  const refuse = (error: StatusError): never => {
    answer.cancel()
    throw error
  }
  // The client's own credentials were fine: it must not throw them away.
  if (answer.status === 401) refuse(unavailable(info.name, 'it does not accept the credentials of the hub'))
  // A member does not send our clients, with their credentials, to anybody else.
  if (answer.status >= 300 && answer.status < 400 && answer.status !== 304)
    refuse(failure(502, 'BadGateway', `cluster ${JSON.stringify(info.name)} answered with a redirection, which is not followed`))
  const headers = answeredHeaders(answer.headers)
  if (NO_BODY.has(answer.status) || info.method === 'HEAD') {
    answer.cancel()
    done()
    return { status: answer.status, headers }
  }
  // A client that is gone before the body was asked for must not hold the connection.
  const onGone = (): void => {
    answer.cancel()
    done()
  }
  request.signal?.addEventListener('abort', onGone, { once: true })
  return { status: answer.status, headers, body: streamed(answer, done) }
}
