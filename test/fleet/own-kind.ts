/** A small kind of one story's own: defined at the hub and propagated to every member by a policy, as users do with theirs. */

import { isNotFound } from '../../src/client/errors.ts'
import { CLUSTERS } from '../../src/kinds/karmada/resources.ts'
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'
import { reaches } from './expectations.ts'
import { aClusterPropagationPolicy, on, selectorOf } from './manifests.ts'
import type { FleetTestbed, Place } from './story.ts'

type Fields = Record<string, unknown>

export interface OwnKind {
  readonly resource: Resource
  readonly apiVersion: string
  readonly kind: string
  /** One of them, with this spec. */
  make(name: string, spec?: Fields): KubeObject
}

/** `Boat` in a group that no other story has; members serve it when this returns, and the hub knows that. */
export async function ownKind(testbed: FleetTestbed, scope: 'Namespaced' | 'Cluster' = 'Namespaced'): Promise<OwnKind> {
  return installed(testbed, { ...boatsOf(testbed), namespaced: scope === 'Namespaced' })
}

/** `Boat`, known to the hub alone. */
export const kindOfTheHub = (testbed: FleetTestbed): Promise<OwnKind> => defined(testbed, boatsOf(testbed))

const boatsOf = (testbed: FleetTestbed): Resource => ({
  group: `${testbed.unique('sea')}.dev`,
  version: 'v1',
  plural: 'boats',
  kind: 'Boat',
  namespaced: true,
})

/** Any kind, by its real name: not for stories that run concurrently with others that do the same. */
export async function installed(testbed: FleetTestbed, resource: Resource): Promise<OwnKind> {
  const kind = await defined(testbed, resource)
  await bringToMembers(testbed, kind)
  return kind
}

async function defined(testbed: FleetTestbed, resource: Resource): Promise<OwnKind> {
  await testbed.hub.create(definitionOf(resource))
  await testbed.until(`${resource.plural} on the hub`, () => isServed(testbed, resource))
  const { kind } = resource
  const apiVersion = `${resource.group}/${resource.version}`
  return { resource, apiVersion, kind, make: (name, spec = {}) => ({ apiVersion, kind, metadata: { name }, spec }) }
}

async function isServed(testbed: FleetTestbed, resource: Resource): Promise<boolean> {
  try {
    await testbed.hub.list(resource, { namespace: testbed.namespace })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/** By a policy; the kind stays when its objects leave. */
export async function bringToMembers(testbed: FleetTestbed, { resource, apiVersion }: OwnKind): Promise<void> {
  const definition = definitionOf(resource)
  const placement = { ...on(...testbed.members), clusterTolerations: [{ operator: 'Exists' }] }
  await testbed.hub.create(aClusterPropagationPolicy(testbed.unique(resource.plural), [selectorOf(definition)], placement))
  await reaches(testbed, CUSTOM_RESOURCE_DEFINITIONS, definition.metadata.name ?? '', testbed.members)
  await testbed.until(`members that serve ${apiVersion}`, async () => (await serving(testbed, apiVersion)) === testbed.members.length)
}

/** Operations of the interpreter, each with the body of its Lua function. */
export type Rules = Readonly<Record<string, string>>

/** Customizes the fleet's interpreter for a kind. */
export async function teach(testbed: FleetTestbed, { apiVersion, kind }: OwnKind, rules: Rules): Promise<void> {
  const customizations = Object.fromEntries(Object.entries(rules).map(([operation, luaScript]) => [operation, { luaScript }]))
  await testbed.hub.create({
    apiVersion: 'config.karmada.io/v1alpha1',
    kind: 'ResourceInterpreterCustomization',
    metadata: { name: testbed.unique('rules') },
    spec: { target: { apiVersion, kind }, customizations },
  } as KubeObject)
}

/** Writes the status of one of them in a member, where nothing else does. */
export const report = (place: Place, { resource }: OwnKind, name: string, status: Fields): Promise<unknown> =>
  place.patch(resource, name, { status }, { subresource: 'status' })

async function serving(testbed: FleetTestbed, groupVersion: string): Promise<number> {
  const clusters = await testbed.hub.list(CLUSTERS)
  return clusters.filter(({ status }) => status?.apiEnablements?.some((enabled) => enabled.groupVersion === groupVersion)).length
}

function definitionOf({ group, version, plural, kind, namespaced }: Resource): KubeObject {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
    },
  }
}
