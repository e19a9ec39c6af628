/**
 * The contract between the API server and whoever serves a subresource or a path from outside it: what a handler is given
 * and what it gives back. The server has authenticated and authorized the request, found the kind and checked the verb.
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
  /** Throws the refusal unless the caller may do this as well. */
  authorize(info: RequestInfo): void
}

export interface Subresource {
  /** The kind it is added to. */
  of: { group: string; plural: string }
  info: SubresourceInfo
  /** Makes the whole answer: what the client accepts is for the handler to judge. */
  handle(call: SubresourceCall): Promise<ApiResponse>
  /** Lets go of connections when the server stops. */
  stop?(): void
}

/** A path outside the resource API; undefined where the path is not its own. */
export type HttpPath = (info: RequestInfo) => ApiResponse | Promise<ApiResponse> | undefined
