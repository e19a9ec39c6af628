/** GET of one object: the stored bytes as they are, unless a version or another shape was asked for. */
import { bytesOf } from '../../base/byte-text.ts'
import type { ApiResponse } from '../../kube/http.ts'
import { notFoundError } from '../../kube/status.ts'
import type { Negotiated } from '../negotiation.ts'
import { isServedAsStored, keyOf, readVersion } from '../objects.ts'
import { respondBytes, respondObject } from '../respond.ts'
import type { Scope } from '../scope.ts'
import { parseExactRevision, waitForRevision } from './revision.ts'

export async function get(scope: Scope, negotiated: Negotiated): Promise<ApiResponse> {
  const { served, server, info } = scope
  const revision = parseExactRevision(info.query.get('resourceVersion') ?? '')
  if (revision !== undefined) await waitForRevision(scope, revision)
  const version = server.objects.store.get(keyOf(served, info.namespace, info.name))
  if (version === undefined) throw notFoundError(served.groupResource, info.name)
  if (negotiated.shape === 'object' && negotiated.format === 'json' && isServedAsStored(served, version))
    return respondBytes(200, bytesOf(version.text), { warnings: scope.warnings })
  return respondObject(scope, negotiated, 200, readVersion(served, version))
}
