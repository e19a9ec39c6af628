/**
 * Deployments from the hub into every member (Duplicated): how long until each is everywhere, and what that costs. The
 * Deployments are paused, so that every setup measures the same: propagation, and no pods.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, WatchEvent } from '../src/client/client.ts'
import type { Binding } from '../src/kinds/karmada/index.ts'
import { PROPAGATION_POLICIES, RESOURCE_BINDINGS, WORKS } from '../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS, EVENTS, NAMESPACES } from '../src/kinds/kubernetes/resources.ts'
import { isConditionTrue } from '../src/kube/conditions.ts'
import type { KubeObject } from '../src/kube/meta.ts'
import type { Resource } from '../src/kube/resource.ts'
import { cpuMs, residentBytes } from './processes.ts'

/** Hub and members that are up and joined. */
export interface FleetSetup {
  hub: Client
  members: readonly Client[]
  /** All processes that take part, by role. */
  pids: Readonly<Record<string, readonly number[]>>
  /** Stops the fleet's controllers and starts them again; resolves when they run. */
  restart(): Promise<void>
}

export interface PropagationFigures {
  deployments: number
  members: number
  wallMs: number
  cpuMs: Readonly<Record<string, number>>
  /** From the request that creates a Deployment until the last member has it. */
  p50Ms: number
  p99Ms: number
  /** A single one, when nothing else happens. */
  aloneMs: number
  writesPerObject: number
  eventsPerObject: number
  residentBytes: Readonly<Record<string, number>>
  /** Writes of the fleet after its controllers were restarted. */
  writesAfterRestart: number
}

const NAMESPACE = 'bench'
const CREATORS = 16
const LOOK_EVERY_MS = 100
const AT_REST_AFTER_MS = 2000
const REPORT_EVERY_MS = 10_000
const WITHIN_MS = 40 * 60_000
const LOOKED_AT_AFTER_RESTART_MS = 15_000
/** A process that takes less than this part of a core is idle. */
const IDLE_SHARE = 10

export async function measurePropagation(setup: FleetSetup, deployments: number): Promise<PropagationFigures> {
  const { hub, members, pids } = setup
  await hub.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  for (const member of members) await until('the namespace', () => has(member, NAMESPACES, { name: NAMESPACE }))
  await hub.create(PROPAGATION_POLICIES, POLICY)
  const arrivals = await followArrivals(members)
  const rest = await followRest(hub)
  const alone: number[] = []
  for (let i = 0; i < 5; i++) alone.push(await oneAlone(hub, arrivals, `alone-${i}`))
  await rest.settled(5)
  const before = { wall: performance.now(), cpu: cpuOf(pids), revision: await revisionOf(hub), events: await countOf(hub, EVENTS) }
  const sent = new Map<string, number>()
  const names = Array.from({ length: deployments }, (_, i) => `web-${i}`)
  let next = 0
  const create = async (): Promise<void> => {
    for (let i = next++; i < names.length; i = next++) {
      const name = names[i] as string
      sent.set(name, performance.now())
      await hub.create(DEPLOYMENTS, deployment(name))
    }
  }
  await Promise.all(Array.from({ length: CREATORS }, create))
  const last = await untilArrived(arrivals, names)
  const wallMs = last - before.wall
  await rest.settled(deployments + 5)
  const after = { cpu: cpuOf(pids), revision: await revisionOf(hub), events: await countOf(hub, EVENTS) }
  const latencies = names.map((name) => (arrivals.at(name) ?? Number.NaN) - (sent.get(name) ?? Number.NaN)).sort((a, b) => a - b)
  const resident = Object.fromEntries(Object.entries(pids).map(([name, ids]) => [name, residentBytes(ids)]))
  arrivals.stop()
  rest.stop()
  const eventsPerObject = (after.events - before.events) / deployments
  const seconds = (ms: number): string => (ms / 1000).toFixed(1)
  const cpu = Object.keys(pids).reduce((sum, name) => sum + (after.cpu[name] ?? 0) - (before.cpu[name] ?? 0), 0)
  console.error(`everywhere after ${seconds(wallMs)} s, at rest after ${seconds(cpu)} s of processor time; now a restart`)
  const writes = await writesAfter(setup)
  return {
    deployments,
    members: members.length,
    wallMs,
    cpuMs: Object.fromEntries(Object.keys(pids).map((name) => [name, (after.cpu[name] ?? 0) - (before.cpu[name] ?? 0)])),
    p50Ms: latencies[Math.floor(latencies.length / 2)] ?? Number.NaN,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
    aloneMs: alone.sort((a, b) => a - b)[2] ?? Number.NaN,
    // Every write advances the revision by one; what the load itself created is not the fleet's.
    writesPerObject: (after.revision - before.revision) / deployments - 1 - eventsPerObject,
    eventsPerObject,
    residentBytes: resident,
    writesAfterRestart: writes,
  }
}

const POLICY = {
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { name: 'everywhere', namespace: NAMESPACE },
  spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], placement: {} },
}

function deployment(name: string): KubeObject {
  const labels = { app: name }
  const container = { name: 'main', image: 'nginx', resources: { requests: { cpu: '10m', memory: '16Mi' } } }
  const template = { metadata: { labels }, spec: { containers: [container] } }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: NAMESPACE },
    spec: { replicas: 2, paused: true, selector: { matchLabels: labels }, template },
  } as KubeObject
}

interface Arrivals {
  /** When the last member had it; undefined while one has not. */
  at(name: string): number | undefined
  stop(): void
}

async function followArrivals(members: readonly Client[]): Promise<Arrivals> {
  const seen = new Map<string, { count: number; atMs: number }>()
  const stop = new AbortController()
  for (const member of members) {
    const { resourceVersion } = await member.list(DEPLOYMENTS, { namespace: NAMESPACE })
    void follow(member, DEPLOYMENTS, { resourceVersion, signal: stop.signal }, ({ type, object }) => {
      if (type !== 'ADDED') return
      const { name = '' } = object.metadata
      seen.set(name, { count: (seen.get(name)?.count ?? 0) + 1, atMs: performance.now() })
    })
  }
  return {
    at(name) {
      const known = seen.get(name)
      return known?.count === members.length ? known.atMs : undefined
    },
    stop: () => stop.abort(),
  }
}

async function follow(
  client: Client,
  resource: Resource,
  from: { resourceVersion: string; signal: AbortSignal },
  note: (event: WatchEvent) => void,
): Promise<void> {
  const { signal } = from
  let { resourceVersion } = from
  while (!signal.aborted) {
    try {
      for await (const event of client.watch(resource, { namespace: NAMESPACE, resourceVersion, signal })) {
        resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion
        if (event.type !== 'BOOKMARK') note(event)
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}

async function oneAlone(hub: Client, arrivals: Arrivals, name: string): Promise<number> {
  const began = performance.now()
  await hub.create(DEPLOYMENTS, deployment(name))
  const at = await untilArrived(arrivals, [name])
  return at - began
}

/** When the last of them was everywhere. */
async function untilArrived(arrivals: Arrivals, names: readonly string[]): Promise<number> {
  const deadline = performance.now() + WITHIN_MS
  let reportedMs = performance.now()
  for (let left = names; ; ) {
    left = left.filter((name) => arrivals.at(name) === undefined)
    if (left.length === 0) return names.reduce((last, name) => Math.max(last, arrivals.at(name) ?? 0), 0)
    if (performance.now() - reportedMs > REPORT_EVERY_MS) {
      reportedMs = performance.now()
      console.error(`${names.length - left.length} of ${names.length} Deployments are everywhere`)
    }
    if (performance.now() > deadline)
      throw new Error(`${left.length} of ${names.length} Deployments are not everywhere, the first is ${left[0]}`)
    await sleep(names.length === 1 ? 1 : LOOK_EVERY_MS)
  }
}

interface Rest {
  /** Resolves when this many bindings report that everything is applied, and neither they nor their templates have changed for a while. */
  settled(bindings: number): Promise<void>
  stop(): void
}

/** By watches: lists of thousands of objects would be a load of their own. */
async function followRest(hub: Client): Promise<Rest> {
  const applied = new Set<string>()
  let changedMs = performance.now()
  const stop = new AbortController()
  const note = ({ type, object }: WatchEvent): void => {
    changedMs = performance.now()
    if (object.kind !== RESOURCE_BINDINGS.kind) return
    const { name = '' } = object.metadata
    if (type !== 'DELETED' && isConditionTrue((object as Binding).status?.conditions, 'FullyApplied')) applied.add(name)
    else applied.delete(name)
  }
  for (const resource of [RESOURCE_BINDINGS, DEPLOYMENTS]) {
    const { resourceVersion } = await hub.list(resource, { namespace: NAMESPACE })
    void follow(hub, resource, { resourceVersion, signal: stop.signal }, note)
  }
  return {
    settled: (bindings) =>
      until('everything is at rest', async () => applied.size >= bindings && performance.now() - changedMs > AT_REST_AFTER_MS),
    stop: () => stop.abort(),
  }
}

/** The versions of what the fleet itself writes on the hub. */
async function versions(hub: Client): Promise<string> {
  const all: string[] = []
  for (const resource of [DEPLOYMENTS, RESOURCE_BINDINGS, WORKS])
    for (const { metadata } of (await hub.list(resource)).items) all.push(`${metadata.uid} ${metadata.resourceVersion}`)
  return all.sort().join('\n')
}

async function writesAfter({ hub, pids, restart }: FleetSetup): Promise<number> {
  const before = new Set((await versions(hub)).split('\n'))
  await restart()
  await untilIdle(pids)
  return (await versions(hub)).split('\n').filter((one) => !before.has(one)).length
}

/** The controllers have processed everything: Sluice has been nearly idle for a while. */
async function untilIdle(pids: FleetSetup['pids']): Promise<void> {
  const ours = Object.entries(pids).flatMap(([name, ids]) => (name.startsWith('sluice') ? ids : []))
  for (;;) {
    const before = cpuMs(ours)
    await sleep(LOOKED_AT_AFTER_RESTART_MS)
    if (cpuMs(ours) - before < LOOKED_AT_AFTER_RESTART_MS / IDLE_SHARE) return
  }
}

async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WITHIN_MS
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`not within ${WITHIN_MS / 60_000} minutes: ${what}`)
    await sleep(LOOK_EVERY_MS)
  }
}

async function has(client: Client, resource: Parameters<Client['list']>[0], of: { name: string }): Promise<boolean> {
  return (await client.list(resource)).items.some(({ metadata }) => metadata.name === of.name)
}

const revisionOf = async (hub: Client): Promise<number> => Number((await hub.list(NAMESPACES)).resourceVersion)

const countOf = async (hub: Client, resource: Parameters<Client['list']>[0]): Promise<number> => (await hub.list(resource)).items.length

const cpuOf = (pids: FleetSetup['pids']): Record<string, number> =>
  Object.fromEntries(Object.entries(pids).map(([name, ids]) => [name, cpuMs(ids)]))
