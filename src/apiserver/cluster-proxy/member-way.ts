/**
 * The way from a hub to a member, as the proxy needs it. Kept structural, so that the server does not import the client:
 * every transport of the client fits.
 */
import type { KubeObject } from '../../kube/meta.ts'
import type { Status } from '../../kube/status.ts'

export interface MemberRequest {
  method: string
  /** Path with query, starting with `/`. */
  path: string
  headers: Record<string, string | string[]>
  body?: Uint8Array
  signal?: AbortSignal
  /** May be silent for long (watch, log -f). */
  isStream?: boolean
}

export interface MemberAnswer {
  status: number
  /** Lower-case names. */
  headers: Record<string, string | string[] | undefined>
  /** Must be read to its end or `cancel`led. */
  body: AsyncIterable<Uint8Array>
  cancel(): void
}

export interface MemberChannels {
  send(channel: number, body: Uint8Array): Promise<void>
  pause(): void
  resume(): void
  close(): void
}

export interface MemberWay {
  request(request: MemberRequest): Promise<MemberAnswer>
  /** For commands and terminals; not every way has it. */
  connect?(
    request: Pick<MemberRequest, 'path' | 'headers' | 'signal'>,
    handlers: { message(channel: number, body: Uint8Array): void; closed(error: Error | undefined): void },
  ): Promise<MemberChannels>
  close(): Promise<void>
}

export interface ProxyCredentials {
  token: string
  caBundle: string
}

export interface MemberWays {
  /** Undefined where there is no way to the cluster. Each way is closed by who asked for it. */
  connect(cluster: KubeObject, credentials: ProxyCredentials): MemberWay | undefined
  /** What the member itself answered, where that is why a conversation did not begin. */
  refusalOf(error: unknown): Status | undefined
}
