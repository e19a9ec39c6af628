/** Wires authentication and authorization to a server: RBAC follows the store, tokens are checked against it. */
import type { Admission } from '../kinds/admission.ts'
import { defineAdmission } from '../kinds/admission.ts'
import type { UserInfo } from '../kinds/kind.ts'
import type { KubeObject } from '../kube/meta.ts'
import {
  type Authenticator,
  type ClusterAuthorizer,
  checkEscalation,
  createAuthenticator,
  createAuthorizer,
  createGate,
  createRbac,
  createReviews,
  createServiceAccountTokens,
  RBAC_GROUP,
  RBAC_RESOURCES,
  type Rbac,
  type Review,
  readSigningKey,
  type ServiceAccountTokens,
} from './auth/index.ts'
import { bucketOf } from './catalog.ts'
import type { ServerContext } from './scope.ts'
import type { Gate } from './server.ts'
import { admissionReader } from './write/admit.ts'

export interface AccessOptions {
  /** Fixed tokens and the users they stand for. */
  staticTokens: readonly { token: string; user: UserInfo }[]
  /** PEM of the key that signs service-account tokens. */
  serviceAccountKey: string
  issuer?: string
}

export interface Access {
  gate: Gate
  reviews: ReadonlyMap<string, Review>
  escalation: Admission
  serviceAccounts: ServiceAccountTokens
  authenticator: Authenticator
  authorizer: ClusterAuthorizer
}

export function createAccess(context: ServerContext, options: AccessOptions): Access {
  const { clock, random } = context
  const read = admissionReader(context)
  const rbac = createRbac()
  followRbac(context, rbac)
  const authorizer = createAuthorizer(rbac, read)
  const serviceAccounts = createServiceAccountTokens({
    keys: [readSigningKey(options.serviceAccountKey)],
    issuer: options.issuer,
    read,
    clock,
    random,
  })
  const authenticator = createAuthenticator({ staticTokens: options.staticTokens, serviceAccounts })
  return {
    gate: createGate(authenticator, authorizer),
    reviews: createReviews({ authorizer, authenticator, serviceAccounts, read, clock }),
    escalation: escalationAdmission(rbac, authorizer),
    serviceAccounts,
    authenticator,
    authorizer,
  }
}

/** The index starts from what is stored and then receives every change; both are synchronous, so nothing is missed in between. */
function followRbac(context: ServerContext, rbac: Rbac): void {
  const { store } = context.objects
  for (const resource of RBAC_RESOURCES) {
    const prefix = `${bucketOf(RBAC_GROUP, resource)}/`
    const range = store.range(prefix)
    for (const version of range.versions) notify(version.object() as KubeObject, false)
    store.watch(prefix, {
      after: range.revision,
      onEvent: (event) => notify(event.version.object() as KubeObject, event.type === 'delete'),
    })
    function notify(object: KubeObject, isGone: boolean): void {
      rbac.apply(resource, object.metadata.namespace ?? '', object.metadata.name ?? '', isGone ? undefined : object)
    }
  }
}

/** The last admission step of every cluster; it needs access control itself to decide. */
export const ESCALATION: Pick<Admission, 'name' | 'about' | 'resources' | 'operations'> = {
  name: 'rbac-escalation',
  about: 'Nobody hands out rights that they do not have, unless they may `bind` or `escalate`.',
  resources: RBAC_RESOURCES.map((resource) => ({ group: RBAC_GROUP, resource })),
  operations: ['CREATE', 'UPDATE'],
}

function escalationAdmission(rbac: Rbac, authorizer: ClusterAuthorizer): Admission {
  return defineAdmission({
    ...ESCALATION,
    validate(request) {
      if (request.object === undefined) return undefined
      const { user, resource, namespace, object, oldObject } = request
      const requestName = request.operation === 'CREATE' ? '' : request.name
      checkEscalation({ user, resource, namespace, requestName, object, old: oldObject }, { rbac, authorizer })
      return undefined
    },
  })
}
