/** What stories check in members, each with its failure message. */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '../../src/client/errors.ts'
import type { ClusterResourceBinding, ResourceBinding, Work } from '../../src/kinds/karmada/index.ts'
import { bindingName, executionNamespace, workName } from '../../src/kinds/karmada/names.ts'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS, WORKS } from '../../src/kinds/karmada/resources.ts'
import {
  CLUSTER_PROPAGATION_POLICY_ID,
  CLUSTER_PROPAGATION_POLICY_NAME,
  PROPAGATION_POLICY_ID,
  PROPAGATION_POLICY_NAME,
} from '../../src/kinds/karmada/well-known.ts'
import { EVENTS } from '../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'
import type { Elsewhere, FleetTestbed, Place } from './story.ts'

const namesOf = (places: readonly Place[]): string => places.map(({ name }) => name).join(', ')

/** Until each of these members has it, as wanted. */
export function reaches<T extends KubeObject>(
  testbed: FleetTestbed,
  resource: Resource<T>,
  name: string,
  places: readonly Place[],
  isAsWanted: (object: T) => boolean = () => true,
): Promise<void> {
  return testbed.until(`${resource.kind} ${name} in ${namesOf(places)}, as wanted`, async () => {
    for (const place of places) {
      const object = await place.get(resource, name)
      if (object === undefined || !isAsWanted(object)) return false
    }
    return true
  })
}

/** Until none of these members has it (any more). */
export function leaves(testbed: FleetTestbed, resource: Resource, name: string, places: readonly Place[]): Promise<void> {
  return testbed.until(`no ${resource.kind} ${name} in ${namesOf(places)}`, async () => {
    for (const place of places) if ((await place.get(resource, name)) !== undefined) return false
    return true
  })
}

/** These members have it and the others do not; call `settle` first where it must not arrive later either. */
export async function isOnlyIn(testbed: FleetTestbed, resource: Resource, name: string, places: readonly Place[]): Promise<void> {
  await reaches(testbed, resource, name, places)
  await testbed.settle()
  const found: string[] = []
  for (const place of testbed.members) if ((await place.get(resource, name)) !== undefined) found.push(place.name)
  assert.deepEqual(found, places.map((place) => place.name).sort(), `where ${resource.kind} ${name} is`)
}

/** Of a namespaced object of the story. */
export const bindingOf = (testbed: FleetTestbed, kind: string, name: string): Promise<ResourceBinding | undefined> =>
  testbed.hub.get(RESOURCE_BINDINGS, bindingName(kind, name))

export const clusterBindingOf = (testbed: FleetTestbed, kind: string, name: string): Promise<ClusterResourceBinding | undefined> =>
  testbed.hub.get(CLUSTER_RESOURCE_BINDINGS, bindingName(kind, name))

/** The Work for a namespaced object of the story in a member. */
export const workOf = (testbed: FleetTestbed, place: Place, kind: string, name: string): Promise<Work | undefined> =>
  testbed.hub.get(WORKS, workName(kind, name, testbed.namespace), { namespace: executionNamespace(place.name) })

/** The same for cluster-scoped objects. */
export const clusterWorkOf = (testbed: FleetTestbed, place: Place, kind: string, name: string): Promise<Work | undefined> =>
  testbed.hub.get(WORKS, workName(kind, name, undefined), { namespace: executionNamespace(place.name) })

/** The names of the policy that claims it, according to its own metadata: namespaced, or cluster-scoped. */
export function claimOf(object: KubeObject | undefined): { policy?: string; clusterPolicy?: string } {
  const { labels = {}, annotations = {} } = object?.metadata ?? {}
  const policy = labels[PROPAGATION_POLICY_ID] === undefined ? undefined : annotations[PROPAGATION_POLICY_NAME]
  const clusterPolicy = labels[CLUSTER_PROPAGATION_POLICY_ID] === undefined ? undefined : annotations[CLUSTER_PROPAGATION_POLICY_NAME]
  return { ...(policy === undefined ? {} : { policy }), ...(clusterPolicy === undefined ? {} : { clusterPolicy }) }
}

export function isClaimed(
  testbed: FleetTestbed,
  resource: Resource,
  name: string,
  by: { policy?: string; clusterPolicy?: string },
): Promise<void> {
  return testbed.until(`${resource.kind} ${name} is claimed by ${JSON.stringify(by)}`, async () =>
    isDeepStrictEqual(claimOf(await testbed.hub.get(resource, name)), by),
  )
}

/** Until an event of the story's namespace (or of `where`) says so, about the object of that name if given. */
export function eventAppears(testbed: FleetTestbed, reason: string, message: RegExp, where?: Elsewhere, about?: string): Promise<void> {
  return testbed.until(`an event ${reason} ${message}`, async () =>
    (await testbed.hub.list(EVENTS, where)).some(
      (event) =>
        event.reason === reason && message.test(String(event.message)) && (about === undefined || event.involvedObject?.name === about),
    ),
  )
}

/** The server's message for a request that it must refuse. */
export async function refusalOf(request: Promise<unknown>): Promise<string> {
  const said = await request.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(said instanceof ApiError, `the request should have been refused, not ${said === undefined ? 'accepted' : String(said)}`)
  return said.message
}
