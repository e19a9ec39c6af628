/** A testbed over a client of a member: the same for both setups; how time passes and where calls run is passed in. */
import assert from 'node:assert/strict'
import type { Client } from '../../src/client/client.ts'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIMES, DATASETS, THIN_RUNTIMES } from '../../src/kinds/fluid/resources.ts'
import { CONFIG_MAPS, EVENTS, PERSISTENT_VOLUME_CLAIMS, PODS, SERVICES } from '../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'
import type { Place } from '../fleet/story.ts'
import { placeOn } from '../fleet/testbed.ts'
import type { DataTestbed } from './story.ts'

/** On the nodes of a story: its mark. */
export const STORY_LABEL = 'example.com/story'

export interface DataTestbedDeps {
  client: Client
  /** Runs a call in the right context: inside the world, or directly. */
  inside<T>(work: () => Promise<T>): Promise<T>
  nowMs(): number
  pass(ms: number): Promise<void>
  /** Until nothing of the story changes; `versions` returns the versions of all its objects as one text. */
  settle(versions: () => Promise<string>): Promise<void>
  lookEveryMs: number
  patienceMs: number
  /** They have the label of the story. */
  nodes: DataTestbed['nodes']
  namespace: string
  /** Is in the names of everything without a namespace that belongs to this story. */
  mark: string
}

export interface PreparedTestbed {
  testbed: DataTestbed
  /** Removes what has no namespace. */
  tidy(): Promise<void>
}

const SHOWN_CHARACTERS = 12_000
const MOVED: readonly Resource[] = [
  DATASETS,
  CACHE_RUNTIMES,
  THIN_RUNTIMES,
  ADVANCED_STATEFUL_SETS,
  PODS,
  PERSISTENT_VOLUME_CLAIMS,
  CONFIG_MAPS,
  SERVICES,
  EVENTS,
]

export function testbedOn(deps: DataTestbedDeps): PreparedTestbed {
  const { mark, nodes, client, inside } = deps
  const outside: [Resource, string][] = []
  const placeIn = (namespace: string): Place =>
    placeOn({ inside }, { name: 'member', client }, namespace, (resource, name) => outside.push([resource, name]))
  const places = new Map([[deps.namespace, placeIn(deps.namespace)]])
  const objects = async (): Promise<KubeObject[]> => {
    const lists = [...places.values()].flatMap((place) => MOVED.map((resource) => place.list(resource as Resource<KubeObject>)))
    return (await Promise.all(lists)).flat()
  }
  const within = (namespace: string): DataTestbed => {
    const place = places.get(namespace) ?? placeIn(namespace)
    places.set(namespace, place)
    return { ...shared, ...place, namespace }
  }
  const shared: Omit<DataTestbed, keyof Place | 'namespace'> = {
    within,
    nodes,
    ownNodes: { nodeSelectorTerms: [{ matchExpressions: [{ key: STORY_LABEL, operator: 'In', values: [mark] }] }] },
    unique: (base) => `${base}-${mark}`,
    async until(what, check) {
      const deadline = deps.nowMs() + deps.patienceMs
      while (!(await check())) {
        if (deps.nowMs() > deadline) assert.fail(`not seen within ${deps.patienceMs / 1000} s: ${what}\n${reported(await objects())}`)
        await deps.pass(deps.lookEveryMs)
      }
    },
    settle: () =>
      deps.settle(async () => (await objects()).map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`).join('\n')),
  }
  const tidy = async (): Promise<void> => {
    for (const [resource, name] of outside.reverse()) await placeIn(deps.namespace).delete(resource, name)
  }
  return { testbed: within(deps.namespace), tidy }
}

/** What a user would look at first. */
function reported(objects: readonly KubeObject[]): string {
  const lines = objects.flatMap(({ kind, metadata, status, type, reason, message }) => {
    if (kind === 'Event') return [`${type} ${reason}: ${message}`]
    if (kind === 'ConfigMap' || kind === 'Service') return []
    return [`${kind} ${metadata.name} ${JSON.stringify({ gone: metadata.deletionTimestamp, status })}`]
  })
  return lines.join('\n').slice(0, SHOWN_CHARACTERS)
}
