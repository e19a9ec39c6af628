/** A testbed over clients of a hub and its members: the same for both setups; how time passes and where calls run is passed in. */
import assert from 'node:assert/strict'
import type { Client } from '../../src/client/client.ts'
import { ifFound, isConflict } from '../../src/client/errors.ts'
import { resourceOfObject } from '../../src/faultsim/world/resources.ts'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS, WORKS } from '../../src/kinds/karmada/resources.ts'
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS, EVENTS, JOBS } from '../../src/kinds/kubernetes/resources.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../src/kinds/volcano/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'
import { HELD_BECAUSE } from '../../src/runtime/seams/narrowing.ts'
import type { Answer, Listener } from './listening.ts'
import type { Elsewhere, FleetTestbed, Place } from './story.ts'

export interface TestbedDeps {
  hub: Client
  members: readonly { name: string; client: Client }[]
  /** Runs a call in the right context: inside the world, or directly. */
  inside<T>(work: () => Promise<T>): Promise<T>
  nowMs(): number
  pass(ms: number): Promise<void>
  /** Polling interval. */
  lookEveryMs: number
  /** Time limit for polling. */
  patienceMs: number
  /** Until nothing of the story changes; `versions` returns the versions of all its objects as one text. */
  settle(versions: () => Promise<string>): Promise<void>
  /** A server that the controllers of the hub can call. */
  listen(answer: Answer): Promise<Listener>
  /** Stops the controllers of the hub, calls `meanwhile`, and starts them again. */
  restart(meanwhile: () => Promise<void>): Promise<void>
}

export interface PreparedTestbed {
  testbed: FleetTestbed
  /** Removes what could affect others. */
  tidy(): Promise<void>
}

const SHOWN_CHARACTERS = 12_000

/** `mark` is in the names of everything that belongs to this story, and in nothing else. */
export function testbedOn(deps: TestbedDeps, mark: string): PreparedTestbed {
  const namespace = `story-${mark}`
  const outside: [Resource, string][] = []
  const listeners: Listener[] = []
  const hub = placeOn(deps, { name: 'hub', client: deps.hub }, namespace, (resource, name) => outside.push([resource, name]))
  const members = deps.members.map((member) => placeOn(deps, member, namespace))
  const [first, second, third] = members
  if (first === undefined || second === undefined || third === undefined) throw new Error('a fleet has three members')
  const testbed: FleetTestbed = {
    namespace,
    hub,
    members: [first, second, third],
    unique: (base) => `${base}-${mark}`,
    async until(what, check) {
      const deadline = deps.nowMs() + deps.patienceMs
      while (!(await check())) {
        if (deps.nowMs() > deadline)
          assert.fail(`not seen within ${deps.patienceMs / 1000} s: ${what}\n${reported(await objectsOf(deps, mark))}`)
        await deps.pass(deps.lookEveryMs)
      }
    },
    settle: () => deps.settle(() => versionsOf(deps, mark)),
    async listen(answer) {
      const listener = await deps.listen(answer)
      listeners.push(listener)
      return listener
    },
    pass: (seconds) => deps.pass(seconds * 1000),
    restart: (meanwhile = async () => undefined) => deps.restart(meanwhile),
  }
  const tidy = async (): Promise<void> => {
    for (const [resource, name] of outside.reverse()) await hub.delete(resource, name)
    // The next story may define one of the same name: a server keeps it until its objects are gone.
    for (const [resource, name] of outside)
      if (resource.plural === CUSTOM_RESOURCE_DEFINITIONS.plural)
        await testbed.until(`${name} gone`, async () => (await hub.get(resource, name)) === undefined)
    for (const listener of listeners) await listener.close()
  }
  return { testbed, tidy }
}

type Note = (resource: Resource, name: string) => void

/** Requests without a namespace go to `own`; `note` is told of new objects that have none. */
export function placeOn(
  { inside }: Pick<TestbedDeps, 'inside'>,
  { name: place, client }: { name: string; client: Client },
  own: string,
  note?: Note,
): Place {
  const at = ({ namespaced }: Resource, name: string, { namespace = own }: Elsewhere = {}) => (namespaced ? { namespace, name } : { name })
  return {
    name: place,
    create(object, resource = resourceOfObject(object)) {
      if (!resource.namespaced) note?.(resource, object.metadata.name ?? '')
      const placed = resource.namespaced ? { ...object, metadata: { namespace: own, ...object.metadata } } : object
      return inside(() => client.create(resource, placed)) as never
    },
    get: (resource, name, where) => inside(() => ifFound(client.get(resource, at(resource, name, where)))) as never,
    async list(resource, { namespace = own, labelSelector } = {}) {
      const options = resource.namespaced ? { namespace, labelSelector } : { labelSelector }
      return (await inside(() => client.list(resource, options))).items as never
    },
    async update(resource, name, change, where) {
      for (;;) {
        try {
          return await inside(async () => {
            const object = await client.get(resource, at(resource, name, where))
            change(object as never)
            return (await client.update(resource, object)) as never
          })
        } catch (error) {
          if (!isConflict(error)) throw error
        }
      }
    },
    patch: (resource, name, body, { subresource, ...where } = {}) =>
      inside(() => client.patch(resource, at(resource, name, where), { type: 'merge', body, subresource })),
    async delete(resource, name, { namespace, ...options } = {}) {
      // As kubectl does; for a Job the server itself would leave behind what it owns.
      const how = { propagationPolicy: 'Background', ...options } as const
      await inside(() => ifFound(client.delete(resource, at(resource, name, { namespace }), how)))
    },
  }
}

const IN_MEMBERS: readonly Resource[] = [DEPLOYMENTS, CONFIG_MAPS, JOBS]
const OF_NAMESPACE: readonly Resource[] = [RESOURCE_BINDINGS, DATA_SOURCE_CLAIMS, EVENTS, ...IN_MEMBERS]

/** What a story moves, in its namespace and without one; Works show in the status of their bindings. */
async function movedBy({ hub, members, inside }: TestbedDeps, mark: string): Promise<KubeObject[]> {
  const namespace = `story-${mark}`
  const lists = await Promise.all([
    ...OF_NAMESPACE.map((resource) => inside(() => hub.list(resource, { namespace }))),
    ...[CLUSTER_RESOURCE_BINDINGS, DATA_SOURCES].map((resource) => inside(() => hub.list(resource))),
    ...members.flatMap(({ client }) => IN_MEMBERS.map((resource) => inside(() => client.list(resource, { namespace })))),
  ])
  return ofStory(
    lists.flatMap(({ items }) => items as KubeObject[]),
    mark,
  )
}

async function versionsOf(deps: TestbedDeps, mark: string): Promise<string> {
  return (await movedBy(deps, mark)).map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`).join('\n')
}

/** Including the Works, which are many on a shared fleet. */
async function objectsOf(deps: TestbedDeps, mark: string): Promise<KubeObject[]> {
  const { items } = await deps.inside(() => deps.hub.list(WORKS))
  return [...(await movedBy(deps, mark)), ...ofStory(items, mark)]
}

const ofStory = (objects: readonly KubeObject[], mark: string): KubeObject[] =>
  objects.filter((object) => JSON.stringify(object).includes(mark))

/** What a user would look at first: the state of bindings, Works and claims, and the events. */
function reported(objects: readonly KubeObject[]): string {
  const lines = objects.flatMap(({ kind, metadata, spec, status, type, reason, message }) => {
    if (kind === 'Event') return [`${type} ${reason}: ${message}`]
    if (kind !== 'Work' && !kind.endsWith('Binding') && kind !== 'DataSourceClaim') return []
    const { clusters, requiredBy, suspendDispatching } = (spec ?? {}) as Record<string, unknown>
    const { conditions, aggregatedStatus } = (status ?? {}) as Record<string, unknown>
    const { namespace, name, annotations, deletionTimestamp: gone } = metadata
    const held = annotations?.[HELD_BECAUSE]
    const shown = { gone, held, clusters, requiredBy, suspendDispatching, conditions, aggregatedStatus }
    return [`${kind} ${namespace}/${name} ${JSON.stringify(shown)}`]
  })
  return lines.join('\n').slice(0, SHOWN_CHARACTERS)
}
