/**
 * The contract between the API server and the external handler of a subresource or a path: what a handler is given
 * and what it returns. The server has authenticated and authorized the request, found the kind and checked the verb.
 */
import type { ApiRequest, ApiResponse } from '../kube/http.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { RequestInfo } from '../kube/request-info.ts'
import type { GroupResource } from '../kube/status.ts'
import type { SubresourceInfo, UserInfo } from './kind.ts'

export interface SubresourceCall {
  request: ApiRequest
  info: RequestInfo
  user: UserInfo
  /** The resource that the subresource belongs to, as messages name it. */
  resource: GroupResource
  /** What is stored now, frozen. */
  read(of: { group: string; resource: string }, namespace: string, name: string): KubeObject | undefined
  /** Throws the refusal unless the caller is allowed this as well. */
  authorize(info: RequestInfo): void
}

export interface Subresource {
  /** The kind it is added to. */
  of: { group: string; plural: string }
  info: SubresourceInfo
  /** Makes the whole answer: content negotiation is up to the handler. */
  handle(call: SubresourceCall): Promise<ApiResponse>
  /** Closes connections when the server stops. */
  stop?(): void
}

/** A path outside the resource API; undefined if the path is not this handler's. */
export type HttpPath = (info: RequestInfo) => ApiResponse | Promise<ApiResponse> | undefined
