export { type Attributes, type Authorizer, type Decision, forbiddenFor, pathAttributes, resourceAttributes } from './attributes.ts'
export { type Authenticator, type AuthenticatorOptions, createAuthenticator } from './authenticate.ts'
export { type ClusterAuthorizer, createAuthorizer, type RuleReport } from './authorizer.ts'
export { type BootstrapOptions, bootstrapObjects, missingObjects } from './bootstrap.ts'
export { checkEscalation, type EscalationDeps, isRbacResource, type RbacWrite } from './escalation.ts'
export { type AuthGate, createGate } from './gate.ts'
export { ANONYMOUS, AUTHENTICATED, MASTERS, serviceAccountGroups, serviceAccountName, UNAUTHENTICATED } from './identity.ts'
export { impersonate } from './impersonate.ts'
export { readSigningKey, type SigningKey } from './jwt.ts'
export { createRbac, RBAC_GROUP, RBAC_RESOURCES, type Rbac, type RbacResource } from './rbac.ts'
export { createReviews, type Review, type ReviewContext, type ReviewDeps } from './reviews.ts'
export {
  createServiceAccountTokens,
  DEFAULT_ISSUER,
  type ServiceAccountTokenDeps,
  type ServiceAccountTokens,
} from './service-account-token.ts'
