/** What joining a cluster creates on either side, exactly as Karmada's join does. Pure. */

import type { Cluster, ClusterSpec } from '../../kinds/karmada/index.ts'
import { IMPERSONATOR_SERVICE_ACCOUNT, impersonatorSecret, memberRole, memberServiceAccount } from '../../kinds/karmada/names.ts'
import { CLUSTERS } from '../../kinds/karmada/resources.ts'
import { CLUSTER_NAMESPACE, SYSTEM_LABEL } from '../../kinds/karmada/well-known.ts'
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, NAMESPACES, SECRETS, SERVICE_ACCOUNTS } from '../../kinds/kubernetes/resources.ts'
import { encodeSecretData } from '../../kinds/kubernetes/secret-data.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ObjectRef } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'

/** How a cluster is registered at the hub. */
export interface MemberDescription extends Pick<ClusterSpec, 'insecureSkipTLSVerification' | 'proxyURL' | 'provider' | 'region' | 'zones'> {
  name: string
  /** The uid of its kube-system namespace. */
  id: string
  apiEndpoint: string
  /** Where credentials are stored, on both sides (default karmada-cluster). */
  namespace?: string
}

export interface JoinCredentials {
  token: string
  caBundle: string
  impersonatorToken: string
}

export interface Wanted {
  resource: Resource
  object: KubeObject
}

const labels = { [SYSTEM_LABEL]: 'true' }
const RBAC = 'rbac.authorization.k8s.io'

export const namespaceOf = ({ namespace = CLUSTER_NAMESPACE }: Pick<MemberDescription, 'namespace'>): string => namespace

const aNamespace = (name: string): Wanted => ({
  resource: NAMESPACES,
  object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
})

/** In this order; the member fills in the two Secrets. */
export function objectsInMember(of: Pick<MemberDescription, 'name' | 'namespace'>): Wanted[] {
  const namespace = namespaceOf(of)
  const account = memberServiceAccount(of.name)
  const role = memberRole(of.name)
  const anAccount = (name: string): Wanted => ({
    resource: SERVICE_ACCOUNTS,
    object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name, labels } },
  })
  const rules = [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['get'], nonResourceURLs: ['*'] },
  ]
  return [
    aNamespace(namespace),
    anAccount(IMPERSONATOR_SERVICE_ACCOUNT),
    ...granted(IMPERSONATOR_SERVICE_ACCOUNT, { namespace, name: IMPERSONATOR_SERVICE_ACCOUNT }, IMPERSONATION),
    tokenSecret(namespace, IMPERSONATOR_SERVICE_ACCOUNT),
    anAccount(account),
    ...granted(role, { namespace, name: account }, rules),
    tokenSecret(namespace, account),
  ]
}

/** Users who come through the hub act there as themselves: the impersonator's own rights are limited to this. */
const IMPERSONATION = [{ verbs: ['impersonate'], apiGroups: [''], resources: ['users', 'groups', 'serviceaccounts'] }]

function granted(role: string, account: ObjectRef, rules: readonly object[]): Wanted[] {
  const apiVersion = `${RBAC}/v1`
  const metadata = { name: role, labels }
  const subjects = [{ kind: 'ServiceAccount', ...account }]
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: role }
  return [
    { resource: CLUSTER_ROLES, object: { apiVersion, kind: 'ClusterRole', metadata, rules } },
    { resource: CLUSTER_ROLE_BINDINGS, object: { apiVersion, kind: 'ClusterRoleBinding', metadata, subjects, roleRef } },
  ]
}

function tokenSecret(namespace: string, account: string): Wanted {
  const annotations = { 'kubernetes.io/service-account.name': account }
  const metadata = { namespace, name: account, annotations }
  return { resource: SECRETS, object: { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/service-account-token' } }
}

/** The Secrets come before the Cluster that names them. */
export function objectsAtHub(member: MemberDescription, credentials: JoinCredentials): { before: Wanted[]; cluster: Wanted } {
  const namespace = namespaceOf(member)
  const { caBundle, token, impersonatorToken } = credentials
  const aSecret = (name: string, data: Record<string, string>): Wanted => ({
    resource: SECRETS,
    object: { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name, labels }, type: 'Opaque', data: encodeSecretData(data) },
  })
  return {
    before: [
      aNamespace(namespace),
      aSecret(impersonatorSecret(member.name), { token: impersonatorToken }),
      aSecret(member.name, { caBundle, token }),
    ],
    cluster: { resource: CLUSTERS, object: clusterOf(member) },
  }
}

function clusterOf(member: MemberDescription): Cluster {
  const { name, id, apiEndpoint, insecureSkipTLSVerification, proxyURL, provider, region, zones } = member
  const namespace = namespaceOf(member)
  return {
    apiVersion: `${CLUSTERS.group}/${CLUSTERS.version}`,
    kind: CLUSTERS.kind,
    metadata: { name },
    spec: {
      id,
      syncMode: 'Push',
      apiEndpoint,
      secretRef: { namespace, name },
      impersonatorSecretRef: { namespace, name: impersonatorSecret(name) },
      ...(insecureSkipTLSVerification === true ? { insecureSkipTLSVerification } : {}),
      ...(proxyURL === undefined || proxyURL === '' ? {} : { proxyURL }),
      ...(provider === undefined || provider === '' ? {} : { provider }),
      ...(region === undefined || region === '' ? {} : { region }),
      ...(zones === undefined || zones.length === 0 ? {} : { zones }),
    },
  }
}

/** The Secrets of a Cluster are deleted with it. */
export function ownerReferenceTo({ apiVersion, kind, metadata }: KubeObject): Record<string, unknown> {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }
}
