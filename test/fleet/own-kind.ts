/** A small kind of one story's own: defined at the hub and carried to every member by a policy, as people do with theirs. */

import { isNotFound } from '../../src/client/errors.ts'
import { CLUSTERS } from '../../src/kinds/karmada/resources.ts'
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'
import { reaches } from './looks.ts'
import { aClusterPropagationPolicy, on, selectorOf } from './manifests.ts'
import type { FleetStage, Place } from './story.ts'

type Fields = Record<string, unknown>

export interface OwnKind {
  readonly resource: Resource
  readonly apiVersion: string
  readonly kind: string
  /** One of them, with this spec. */
  make(name: string, spec?: Fields): KubeObject
}

/** `Boat` in a group that no other story has; members serve it when this returns, and the hub knows that. */
export async function ownKind(stage: FleetStage, scope: 'Namespaced' | 'Cluster' = 'Namespaced'): Promise<OwnKind> {
  return installed(stage, { ...boatsOf(stage), namespaced: scope === 'Namespaced' })
}

/** `Boat`, known to the hub alone. */
export const kindOfTheHub = (stage: FleetStage): Promise<OwnKind> => defined(stage, boatsOf(stage))

const boatsOf = (stage: FleetStage): Resource => ({
  group: `${stage.unique('sea')}.dev`,
  version: 'v1',
  plural: 'boats',
  kind: 'Boat',
  namespaced: true,
})

/** Any kind, by its real name: not for stories beside others that do the same. */
export async function installed(stage: FleetStage, resource: Resource): Promise<OwnKind> {
  const kind = await defined(stage, resource)
  await bringToMembers(stage, kind)
  return kind
}

async function defined(stage: FleetStage, resource: Resource): Promise<OwnKind> {
  await stage.hub.create(definitionOf(resource))
  await stage.until(`${resource.plural} on the hub`, () => isServed(stage, resource))
  const { kind } = resource
  const apiVersion = `${resource.group}/${resource.version}`
  return { resource, apiVersion, kind, make: (name, spec = {}) => ({ apiVersion, kind, metadata: { name }, spec }) }
}

async function isServed(stage: FleetStage, resource: Resource): Promise<boolean> {
  try {
    await stage.hub.list(resource, { namespace: stage.namespace })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/** By a policy; the kind stays where its objects leave. */
export async function bringToMembers(stage: FleetStage, { resource, apiVersion }: OwnKind): Promise<void> {
  const definition = definitionOf(resource)
  const placement = { ...on(...stage.members), clusterTolerations: [{ operator: 'Exists' }] }
  await stage.hub.create(aClusterPropagationPolicy(stage.unique(resource.plural), [selectorOf(definition)], placement))
  await reaches(stage, CUSTOM_RESOURCE_DEFINITIONS, definition.metadata.name ?? '', stage.members)
  await stage.until(`members that serve ${apiVersion}`, async () => (await serving(stage, apiVersion)) === stage.members.length)
}

/** Operations of the interpreter, each with the body of its Lua function. */
export type Rules = Readonly<Record<string, string>>

/** Teaches the fleet about a kind. */
export async function teach(stage: FleetStage, { apiVersion, kind }: OwnKind, rules: Rules): Promise<void> {
  const customizations = Object.fromEntries(Object.entries(rules).map(([operation, luaScript]) => [operation, { luaScript }]))
  await stage.hub.create({
    apiVersion: 'config.karmada.io/v1alpha1',
    kind: 'ResourceInterpreterCustomization',
    metadata: { name: stage.unique('rules') },
    spec: { target: { apiVersion, kind }, customizations },
  } as KubeObject)
}

/** Writes the status of one of them in a member: there, nobody else does. */
export const report = (place: Place, { resource }: OwnKind, name: string, status: Fields): Promise<unknown> =>
  place.patch(resource, name, { status }, { subresource: 'status' })

async function serving(stage: FleetStage, groupVersion: string): Promise<number> {
  const clusters = await stage.hub.list(CLUSTERS)
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
