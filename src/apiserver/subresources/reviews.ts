/** Mounts the reviews of `auth/` as resources: they are created, answered and never stored. */
import { header } from '../../kube/http.ts'
import type { Review } from '../auth/index.ts'
import { decodeBody, decodeVirtual } from '../codec.ts'
import { parseWriteOptions } from '../options.ts'
import { respond } from '../respond.ts'
import type { SpecialHandlers, SubresourceHandler } from '../route.ts'
import { type Scope, warn } from '../scope.ts'
import { trackManagedFields } from '../write/managed-fields.ts'

const TOKEN_REQUEST = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' } as const

export function reviewHandlers(reviews: ReadonlyMap<string, Review>): SpecialHandlers {
  const handlers: Record<string, SubresourceHandler> = {}
  for (const [key, review] of reviews)
    handlers[key] = async (scope, negotiated) => {
      const options = parseWriteOptions('CreateOptions', scope.info.query, { userAgent: header(scope.request, 'user-agent') ?? '' })
      const object =
        scope.info.subresource === 'token'
          ? decodeVirtual(scope, TOKEN_REQUEST)
          : reviewed(scope, options.fieldManager, options.fieldValidation)
      const { namespace, name } = scope.info
      const answer = review(object, { user: scope.user, namespace, name, warn: (text) => warn(scope, text) })
      return respond(201, answer, negotiated.format, scope.warnings)
    }
  return handlers
}

/** Managed fields are tracked although nothing is stored: the answer shows them, as the real server's does. */
function reviewed(scope: Scope, manager: string, fieldValidation: 'Strict' | 'Warn' | 'Ignore') {
  return trackManagedFields(scope, { live: undefined, next: decodeBody(scope, fieldValidation), manager })
}
