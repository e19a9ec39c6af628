/**
 * Discovery documents, made from the catalog: the legacy ones for one group and version each, and the aggregated one that
 * contains everything. Pure; the caller caches them per catalog epoch.
 */
import { createHash } from 'node:crypto'
import type { KindDefinition, SubresourceInfo } from '../../kinds/kind.ts'
import { type GroupVersionKind, groupVersion } from '../../kube/meta.ts'
import { compareVersions } from '../../kube/version-order.ts'
import type { Catalog } from '../catalog.ts'

export interface GroupVersions {
  name: string
  versions: string[]
}

/** Groups in the order the real server lists them: its own by priority. */
const GROUP_ORDER = [
  '',
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
]

/**
 * After those come the groups of fixed kinds, then everything added later, each by name: clients resolve a short name by the
 * first group that has it, so that no definition takes over one of ours.
 */
export function groupsOf(catalog: Pick<Catalog, 'definitions' | 'fixed'>): GroupVersions[] {
  const versions = new Map<string, Set<string>>()
  const fixed = new Set<string>()
  for (const definition of catalog.definitions()) {
    if (catalog.fixed(definition.group, definition.plural) !== undefined) fixed.add(definition.group)
    for (const version of definition.versions) {
      if (!version.served) continue
      const known = versions.get(definition.group) ?? new Set()
      versions.set(definition.group, known.add(version.name))
    }
  }
  const rank = (name: string): number =>
    GROUP_ORDER.includes(name) ? GROUP_ORDER.indexOf(name) : GROUP_ORDER.length + (fixed.has(name) ? 0 : 1)
  return [...versions]
    .map(([name, names]) => ({ name, versions: [...names].sort(compareVersions) }))
    .sort((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1))
}

export function apiVersionsDocument(serverAddress: string): unknown {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }] }
}

const OTHER_PATHS = [
  '/.well-known/openid-configuration',
  '/healthz',
  '/healthz/ping',
  '/livez',
  '/livez/ping',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/openid/v1/jwks',
  '/readyz',
  '/readyz/ping',
  '/readyz/shutdown',
  '/version',
]

/** What `/` lists: every top-level path that is served here. */
export function rootDocument(groups: readonly GroupVersions[]): unknown {
  const named = groups.filter((group) => group.name !== '')
  const paths = named.flatMap((group) => [`/apis/${group.name}`, ...group.versions.map((version) => `/apis/${group.name}/${version}`)])
  return { paths: ['/api', '/api/v1', '/apis', '/apis/', ...paths, ...OTHER_PATHS].sort() }
}

export function groupDocument(group: GroupVersions): Record<string, unknown> {
  const versions = group.versions.map((version) => ({ groupVersion: groupVersion(group.name, version), version }))
  return { name: group.name, versions, preferredVersion: versions[0] }
}

export function groupListDocument(groups: readonly GroupVersions[]): unknown {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.filter((g) => g.name !== '').map(groupDocument) }
}

export function resourceListDocument(definitions: readonly KindDefinition[], group: string, version: string): unknown {
  const resources = served(definitions, group, version).flatMap((definition) => [
    resourceEntry(definition),
    ...definition.subresources.map((subresource) => subresourceEntry(definition, subresource)),
  ])
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: groupVersion(group, version),
    resources,
  }
}

function served(definitions: readonly KindDefinition[], group: string, version: string): KindDefinition[] {
  return definitions
    .filter((definition) => definition.group === group && definition.versions.some((v) => v.name === version && v.served))
    .sort((a, b) => (a.plural < b.plural ? -1 : 1))
}

function resourceEntry(definition: KindDefinition): unknown {
  return {
    name: definition.plural,
    singularName: definition.singular,
    namespaced: definition.namespaced,
    kind: definition.kind,
    verbs: definition.verbs,
    ...(definition.shortNames.length > 0 ? { shortNames: definition.shortNames } : {}),
    ...(definition.categories.length > 0 ? { categories: definition.categories } : {}),
    ...(definition.verbs.includes('watch') ? { storageVersionHash: storageVersionHash(definition) } : {}),
  }
}

function subresourceEntry(definition: KindDefinition, subresource: SubresourceInfo): unknown {
  const { responseKind } = subresource
  const isForeign = responseKind !== undefined && responseKind.group !== '' && responseKind.group !== definition.group
  return {
    name: `${definition.plural}/${subresource.name}`,
    singularName: '',
    namespaced: definition.namespaced,
    ...(isForeign ? { group: responseKind.group, version: responseKind.version } : {}),
    kind: responseKind?.kind ?? definition.kind,
    verbs: subresource.verbs,
  }
}

/** Kinds that the real server stores in another group or version than it serves: the hash uses the stored one. */
const STORED_AS: ReadonlyMap<string, string> = new Map([
  ['events.k8s.io/Event', '/v1/Event'],
  ['admissionregistration.k8s.io/MutatingAdmissionPolicy', 'admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy'],
  ['admissionregistration.k8s.io/MutatingAdmissionPolicyBinding', 'admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicyBinding'],
  ['apiextensions.k8s.io/CustomResourceDefinition', 'apiextensions.k8s.io/v1beta1/CustomResourceDefinition'],
])

/** Changes with the storage version, so that clients notice; the hash is Kubernetes' own. */
function storageVersionHash({ group, kind, storageVersion }: KindDefinition): string {
  const digest = createHash('sha256')
    .update(STORED_AS.get(`${group}/${kind}`) ?? `${group}/${storageVersion}/${kind}`)
    .digest()
  return digest.subarray(0, 8).toString('base64')
}

export function aggregatedDocument(definitions: readonly KindDefinition[], groups: readonly GroupVersions[]): Record<string, unknown> {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map((group) => ({
      metadata: group.name === '' ? {} : { name: group.name },
      versions: group.versions.map((version) => ({
        version,
        resources: served(definitions, group.name, version).map((definition) => aggregatedResource(definition)),
        freshness: 'Current',
      })),
    })),
  }
}

function aggregatedResource(definition: KindDefinition): unknown {
  return {
    resource: definition.plural,
    responseKind: { group: '', version: '', kind: definition.kind },
    scope: definition.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: definition.singular,
    verbs: definition.verbs,
    ...(definition.shortNames.length > 0 ? { shortNames: definition.shortNames } : {}),
    ...(definition.categories.length > 0 ? { categories: definition.categories } : {}),
    ...(definition.subresources.length > 0
      ? {
          subresources: definition.subresources.map((subresource) => ({
            subresource: subresource.name,
            responseKind: responseKindOf(definition, subresource),
            verbs: subresource.verbs,
          })),
        }
      : {}),
  }
}

/** Group and version are given only where they differ from the resource's own. */
function responseKindOf(definition: KindDefinition, { responseKind }: SubresourceInfo): GroupVersionKind {
  if (responseKind !== undefined && responseKind.group !== definition.group) return responseKind
  return { group: '', version: '', kind: responseKind?.kind ?? definition.kind }
}
