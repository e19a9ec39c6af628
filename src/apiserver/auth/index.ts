export { MASTERS } from '../../kinds/identity.ts'
export { resourceAttributes } from './attributes.ts'
export { type Authenticator, createAuthenticator } from './authenticate.ts'
export { type ClusterAuthorizer, createAuthorizer } from './authorizer.ts'
export { checkEscalation, isRbacResource } from './escalation.ts'
export { type AuthGate, createGate } from './gate.ts'
export { readSigningKey } from './jwt.ts'
export { createRbac, RBAC_GROUP, RBAC_RESOURCES, type Rbac } from './rbac.ts'
export { createReviews, type Review } from './reviews.ts'
export {
  createServiceAccountTokens,
  legacyClaims,
  type ServiceAccountTokens,
} from './service-account-token.ts'
