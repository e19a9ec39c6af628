/**
 * Datasets, references, runtimes, classes and grants of every form in a world with all controllers of a member: each request is answered, the
 * controllers come to rest after every batch and write nothing more, and when everything is deleted nothing is left.
 */
import { ApiError, isNotFound } from '../../../src/client/errors.ts'
import { readAll, type Transport } from '../../../src/client/transport.ts'
import { data } from '../../../src/data/module.ts'
import { aWorld, type World, type WorldCluster } from '../../../src/faultsim/world/index.ts'
import { fluidKinds } from '../../../src/kinds/fluid/index.ts'
import { ReferenceGrant } from '../../../src/kinds/gateway/reference-grant.ts'
import {
  CONFIG_MAPS,
  DAEMON_SETS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  SECRETS,
  SERVICES,
} from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { objectKey } from '../../../src/kube/object-reference.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import { MODULES } from '../../../src/modules.ts'
import type { ReferenceConsent } from '../../../src/runtime/reference-consent.ts'
import { NAMESPACES } from '../corpus.ts'
import { type Finding, judgeAnswer } from '../oracle.ts'
import { crossings } from './crossing.ts'
import { dataRequest, printed } from './generate.ts'
import type { DataRequest } from './names.ts'

export interface DataTask {
  seed: number
  from: number
  to: number
  /** Where the thread reports its current request. */
  progress: Int32Array
}

export interface DataReport {
  requests: number
  families: Record<string, number>
  statuses: Record<string, number>
  /** Objects that were taken, by kind. */
  stored: Record<string, number>
  /** Most writes of controllers after one batch. */
  mostWrites: number
}

export type DataFound = Finding & { index: number }

/** Requests until the controllers must have come to rest and everything is deleted. */
export const BATCH = 250
/** Batches in one world: its history grows. */
const WORLD_BATCHES = 8
const REST_MS = 900_000
const IDLE_MS = 90_000
const MOST_TRIES = 8
/** Faults of the program; what a server refuses is no fault. */
const FAULT =
  /\b(TypeError|RangeError|SyntaxError|ReferenceError|AssertionError|the server failed|is not a function|Cannot read prop|endless)\b/
const REFUSED =
  /failed on \S+ and will try again: .*(is invalid|forbidden|is too long|exceeded quota|already exists|not accept|cannot be|unable to|must |failed to create typed patch object)/s
const OWN_FINALIZER = /^fluid-dataset-controller-finalizer$|-runtime-controller-finalizer$|^kubernetes\.io\//

export interface DataListener {
  onFound(found: DataFound): void
  /** Of each batch: a thread that hangs later has told what it did before. */
  onReport(report: DataReport): void
}

export async function runDataFuzz(task: DataTask, { onFound, onReport }: DataListener): Promise<void> {
  let world: World | undefined
  let mode: ReferenceConsent = 'open'
  for (let from = task.from, batch = 0; from < task.to; from += BATCH, batch++) {
    if (batch % WORLD_BATCHES === 0) {
      await world?.stop()
      mode = Math.floor(from / (BATCH * WORLD_BATCHES)) % 2 === 0 ? 'grant' : 'open'
      world = await freshWorld(task.seed, mode)
    }
    const to = Math.min(task.to, from + BATCH)
    const report: DataReport = { requests: 0, families: {}, statuses: {}, stored: {}, mostWrites: 0 }
    const isAlive = await runBatch({ world: world as World, mode }, { ...task, from, to }, report, onFound)
    onReport(report)
    // What is wrong with a world is reported once; the next batch gets another one.
    if (!isAlive) batch = -1
  }
  await world?.stop()
}

async function freshWorld(seed: number, referenceConsent: ReferenceConsent): Promise<World> {
  const modules = MODULES.map((module) => (module === data ? data.with({ referenceConsent }) : module))
  const world = await aWorld({ seed: seed + 1, hub: false, members: 1, nodes: 3, modules }).settle()
  for (const name of NAMESPACES) await world.member.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await world.settle()
  return world
}

interface Played {
  world: World
  /** What holds where nobody has consented. */
  mode: ReferenceConsent
}

async function runBatch(
  { world, mode }: Played,
  task: DataTask,
  report: DataReport,
  onFound: (found: DataFound) => void,
): Promise<boolean> {
  const { member } = world
  const found: DataFound[] = []
  const note = (finding: Finding, index = task.from): void => void found.push({ ...finding, index })
  const output = printed(task.seed, task.from)
  member.commands.script(() => output)
  const transport = member.fromOutside()
  for (let index = task.from; index < task.to; index++) {
    Atomics.store(task.progress, 0, index)
    const request = dataRequest(task.seed, index)
    const finding = await send(member, transport, request, report)
    if (finding !== undefined) note(finding, index)
    // Some while the controllers are at work, some while they rest.
    if (index % 25 === 0) await world.advance(index % 3 === 0 ? 1000 : 50)
  }
  const refused = await rested(world, 'after the requests', note)
  for (const what of await crossings(member, mode)) note({ kind: 'wedge', signature: what.replace(/: .*/, ''), detail: what })
  report.mostWrites = Math.max(report.mostWrites, member.takeControllerWrites().length)
  await world.advance(IDLE_MS)
  const idle = member.takeControllerWrites().filter((write) => write.includes('data.') && !/\/leases\/|\/events/.test(write))
  // Each of those that are refused is tried a few times in this time, if at all.
  if (idle.length > refused * MOST_TRIES)
    note({ kind: 'wedge', signature: `controllers write without end: ${idle[0]}`, detail: idle.slice(0, 5).join('\n') })
  await emptied(world, note)
  for (const complaint of member.complaints)
    if (FAULT.test(complaint))
      note({ kind: 'internal', signature: complaint.split('\n')[0]?.slice(0, 200) ?? '', detail: complaint.slice(0, 1500) })
  member.complaints.length = 0
  for (const one of found) onFound(one)
  return found.length === 0
}

async function send(member: WorldCluster, transport: Transport, request: DataRequest, report: DataReport): Promise<Finding | undefined> {
  const { family, method, path, type, body } = request
  const answer = await member.inside(async () => {
    const {
      status,
      headers,
      body: bytes,
    } = await transport.request({
      ...{ method, path: encodeURI(path), headers: { 'content-type': type } },
      body: JSON.stringify(body),
    })
    return { status, contentType: String(headers['content-type'] ?? ''), body: await readAll(bytes) }
  })
  report.requests++
  report.families[family] = (report.families[family] ?? 0) + 1
  report.statuses[answer.status] = (report.statuses[answer.status] ?? 0) + 1
  if (answer.status === 201) {
    const kind = String((JSON.parse(answer.body.toString()) as KubeObject).kind)
    report.stored[kind] = (report.stored[kind] ?? 0) + 1
  }
  return judgeAnswer({ family, method, url: path, headers: {} }, answer) ?? unexplained(answer)
}

/** A refusal names the field and what is wrong with it. */
function unexplained({ status, body }: { status: number; body: Buffer }): Finding | undefined {
  if (status !== 422) return undefined
  const { details } = JSON.parse(body.toString()) as {
    details?: { causes?: { field?: string; message?: string }[] }
  }
  const causes = details?.causes ?? []
  const isSaid = causes.length > 0 && causes.every((cause) => (cause.field ?? '') !== '' && (cause.message ?? '').length > 8)
  return isSaid
    ? undefined
    : { kind: 'status', signature: 'a refusal that does not say what is wrong', detail: body.toString().slice(0, 600) }
}

/**
 * Objects of a class or a runtime that the server does not accept are tried again, ever more seldom, and the runtime says why:
 * that is rest as well. Returns how many are.
 */
async function rested(world: World, when: string, note: (finding: Finding) => void): Promise<number> {
  try {
    await world.settle({ withinMs: REST_MS })
    return 0
  } catch (error) {
    const busy = world.busy()
    const worse = busy.filter((line) => !REFUSED.test(line) || FAULT.test(line))
    const text = error instanceof Error ? error.message : String(error)
    if (worse.length > 0 || busy.length === 0)
      note({
        kind: 'wedge',
        signature: `no rest ${when}: ${(worse[0] ?? text).replace(/\d+/g, 'N').slice(0, 160)}`,
        detail: text.slice(0, 2000),
      })
    return busy.length
  }
}

const listed = (cluster: WorldCluster, resource: Resource): Promise<KubeObject[]> => cluster.list(resource)

/** Readers first: they hold datasets. Then everything, and nothing may be left. */
async function emptied(world: World, note: (finding: Finding) => void): Promise<void> {
  const { member } = world
  const ours = ({ metadata }: KubeObject): boolean => metadata.namespace === undefined || NAMESPACES.includes(metadata.namespace)
  const users = (await listed(member, PODS)).filter((pod) => ours(pod) && pod.metadata.ownerReferences === undefined)
  const all = [...users.map((object) => ({ resource: PODS as Resource, object }))]
  const made = (await listed(member, CONFIG_MAPS)).filter(
    (map) => ours(map) && map.metadata.ownerReferences === undefined && map.metadata.name !== 'kube-root-ca.crt',
  )
  all.push(...made.map((object) => ({ resource: CONFIG_MAPS as Resource, object })))
  for (const object of await listed(member, ReferenceGrant.resource)) all.push({ resource: ReferenceGrant.resource, object })
  for (const { resource } of fluidKinds)
    for (const object of await listed(member, resource))
      if (ours(object) && object.metadata.name !== 'builtin') all.push({ resource, object })
  for (const { resource, object } of all) await gone(member, resource, object)
  await rested(world, 'while everything was deleted', note)
  for (const { resource } of fluidKinds)
    for (const object of await listed(member, resource))
      if (ours(object) && object.metadata.name !== 'builtin') await gone(member, resource, object)
  await rested(world, 'after everything was deleted', note)
  const left: string[] = []
  for (const resource of [
    ...fluidKinds.map((kind) => kind.resource as Resource),
    DAEMON_SETS,
    SERVICES,
    CONFIG_MAPS,
    SECRETS,
    PODS,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
  ])
    for (const object of await listed(member, resource)) {
      const { name = '', namespace } = object.metadata
      const isKept = name === 'builtin' || name === 'kube-root-ca.crt' || !ours(object)
      if (!isKept) left.push(`${object.kind} ${objectKey(namespace, name)} ${(object.metadata.finalizers ?? []).join()}`)
    }
  for (const { metadata } of await listed(member, NODES))
    for (const label of Object.keys(metadata.labels ?? {}))
      if (label.startsWith('fluid')) left.push(`label ${label} of Node ${metadata.name ?? ''}`)
  if (left.length > 0)
    note({ kind: 'wedge', signature: `left behind: ${left[0]?.replace(/[a-c]-|\d/g, '')}`, detail: left.slice(0, 10).join('\n') })
}

async function gone(member: WorldCluster, resource: Resource, { metadata }: KubeObject): Promise<void> {
  const where = metadata.namespace === undefined ? (metadata.name ?? '') : `${metadata.namespace}/${metadata.name ?? ''}`
  try {
    // Those of the fuzzer itself are nobody's to remove.
    const finalizers = (metadata.finalizers ?? []).filter((finalizer) => OWN_FINALIZER.test(finalizer))
    if (finalizers.length < (metadata.finalizers ?? []).length) await member.patch(resource, where, { metadata: { finalizers } })
    await member.delete(resource, where, resource.plural === PODS.plural ? { gracePeriodSeconds: 0 } : {})
  } catch (error) {
    // It changed since it was listed, and may be gone by now: the next round sees it.
    if (!isNotFound(error) && !(error instanceof ApiError && (error.code === 409 || error.code === 422))) throw error
  }
}
