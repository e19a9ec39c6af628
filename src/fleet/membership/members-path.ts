/**
 * POST /sluice.dev/members/NAME/stop and …/start: disconnects a member of this process, and brings it back. For
 * administrators only: no RBAC rule grants the path by default.
 */

import type { HttpPath } from '../../kinds/subresource.ts'
import type { ApiResponse } from '../../kube/http.ts'
import { failure } from '../../kube/status.ts'
import type { MemberSwitch } from '../../runtime/module/module.ts'

const PATH = /^\/sluice\.dev\/members\/([^/]+)\/(stop|start)$/

export const memberPath = (name: string, verb: 'stop' | 'start'): string => `/sluice.dev/members/${encodeURIComponent(name)}/${verb}`

export function membersPath(members: MemberSwitch): HttpPath {
  return (info) => {
    const found = PATH.exec(info.path)
    if (found === null) return undefined
    if (info.method !== 'POST')
      throw failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
    return answer(members, decodeURIComponent(found[1] ?? ''), found[2] as 'stop' | 'start')
  }
}

async function answer(members: MemberSwitch, name: string, verb: 'stop' | 'start'): Promise<ApiResponse> {
  if (!(await members[verb](name))) throw failure(404, 'NotFound', `this process has no member ${JSON.stringify(name)}`, {})
  return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from('{}\n') }
}
