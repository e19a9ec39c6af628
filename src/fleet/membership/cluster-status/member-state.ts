/**
 * What one reachable member has: its version, the kinds it serves, and the sums over its nodes and pods. Nodes, pods and
 * definitions are watched, so nothing is counted twice, and discovery is read again only when it may have changed. Changes
 * are reported at most once per `everyMs`, and at once after a quiet interval.
 */
import type { Clock } from '../../../base/clock.ts'
import type { Random } from '../../../base/random.ts'
import { type Informer, startInformer } from '../../../client/cache/informer.ts'
import { repeatReading } from '../../../client/discovery-lag.ts'
import type { Member } from '../../../client/members.ts'
import { CUSTOM_RESOURCE_DEFINITIONS, NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import { fieldsAt, listAt } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Resource } from '../../../kube/resource.ts'
import { patient } from '../../../runtime/followed-members.ts'
import { keptOfNode, keptOfPod, type NodeResources, type PodResources } from './amounts.ts'
import { type Enablements, readEnablements, readVersion } from './enablements.ts'
import { createSums, type Summary } from './sums.ts'

export interface MemberState {
  /** False until everything has answered once: before that, too little is known to report. */
  readonly isComplete: boolean
  readonly version: string | undefined
  readonly enablements: Enablements | undefined
  /** Undefined until nodes and pods have been listed. */
  summary(): Summary | undefined
  /** Reads discovery again, unless that was done recently. */
  refresh(): void
  stop(): void
}

export interface MemberStateOptions {
  member: Member
  /** The part whose client reads version and discovery. */
  part: string
  clock: Clock
  random: Random
  everyMs: number
  /** Discovery is read again after this long, because aggregated APIs cannot be watched. */
  discoveryPeriodMs: number
  changed(): void
  onError?(error: unknown): void
}

export function followMember(options: MemberStateOptions): MemberState {
  const { member, clock, random } = options
  const sums = createSums()
  const stopping = new AbortController()
  const changes = coalesce(clock, options.everyMs, options.changed)
  const following = (resource: Resource, project: (object: KubeObject) => KubeObject): Informer => {
    const { signal } = stopping
    const client = member.clientFor('caches')
    const onError = (error: unknown): void => {
      options.onError?.(error)
      // What cannot be watched is not waited for.
      changes.notify()
    }
    return startInformer({ client, clock: patient(clock), random, resource, project, signal, onError })
  }
  const nodes = following(NODES, keptOfNode)
  const pods = following(PODS, keptOfPod)
  const definitions = following(CUSTOM_RESOURCE_DEFINITIONS, keptOfDefinition)
  const discovery = followDiscovery(options, stopping.signal, changes.notify)
  const reading = repeatReading(clock, () => discovery.read())
  const isKnown = (): boolean => nodes.hasSynced && pods.hasSynced
  nodes.subscribe(({ type, object, old }) => {
    sums.node(old?.facts as NodeResources | undefined, type === 'deleted' ? undefined : (object.facts as NodeResources))
    if (isKnown()) changes.notify()
  })
  pods.subscribe(({ type, object, old }) => {
    sums.pod(old?.facts as PodResources | undefined, type === 'deleted' ? undefined : (object.facts as PodResources))
    if (isKnown()) changes.notify()
  })
  definitions.subscribe(({ type, object, old }) => {
    if (definitions.hasSynced && (type !== 'updated' || old?.facts !== object.facts)) reading.changed()
  })
  for (const one of [nodes, pods]) void one.synced().then(changes.notify)
  return {
    get isComplete() {
      return discovery.hasAnswered && [nodes, pods].every((one) => one.hasSynced || one.isFailing)
    },
    get version() {
      return discovery.version
    },
    get enablements() {
      return discovery.enablements
    },
    summary: () => (isKnown() ? sums.summary() : undefined),
    refresh: () => discovery.refresh(),
    stop() {
      stopping.abort()
      reading.stop()
      changes.stop()
    },
  }
}

/** Whether a definition is served, under which names and in which versions: everything that discovery would show of it. */
const keptOfDefinition = (definition: KubeObject): KubeObject => {
  const { apiVersion, kind, metadata } = definition
  const { name, uid, resourceVersion } = metadata
  const { group, names, scope } = fieldsAt(definition, 'spec')
  const versions = listAt(definition, 'spec', 'versions').map((version) => [version.name, version.served])
  const conditions = listAt(definition, 'status', 'conditions').map(({ type, status }) => [type, status])
  return { apiVersion, kind, metadata: { name, uid, resourceVersion }, facts: JSON.stringify([group, names, scope, versions, conditions]) }
}

interface Discovery {
  readonly hasAnswered: boolean
  readonly version: string | undefined
  readonly enablements: Enablements | undefined
  read(): void
  refresh(): void
}

function followDiscovery(options: MemberStateOptions, signal: AbortSignal, notify: () => void): Discovery {
  const { member, clock, part } = options
  const state = { hasAnswered: false, version: undefined as string | undefined, enablements: undefined as Enablements | undefined }
  let isReading = false
  let mustReadAgain = false
  let readAtMs = 0

  async function read(): Promise<void> {
    if (isReading) {
      mustReadAgain = true
      return
    }
    isReading = true
    readAtMs = clock.now()
    const client = member.clientFor(part)
    const [version, enablements] = await Promise.all([readVersion(client, signal), readEnablements(client, signal)])
    isReading = false
    if (signal.aborted) return
    state.hasAnswered = true
    state.version = version ?? state.version
    // An incomplete answer is worse than a slightly older complete one.
    if (enablements.isComplete || state.enablements?.isComplete !== true) state.enablements = enablements
    else readAtMs = 0
    notify()
    if (mustReadAgain) {
      mustReadAgain = false
      begin()
    }
  }
  const begin = (): void => void read()
  begin()
  return {
    get hasAnswered() {
      return state.hasAnswered
    },
    get version() {
      return state.version
    },
    get enablements() {
      return state.enablements
    },
    read: begin,
    refresh() {
      const isWhole = state.version !== undefined && state.enablements?.isComplete === true
      if (!isWhole || Math.abs(clock.now() - readAtMs) >= options.discoveryPeriodMs) begin()
    },
  }
}

/** Immediately after a quiet interval, else at the end of the interval, once for everything that happened in it. */
export function coalesce(clock: Clock, everyMs: number, call: () => void): { notify(): void; stop(): void } {
  let calledAtMs = Number.NEGATIVE_INFINITY
  let cancel: (() => void) | undefined
  const now = (): void => {
    cancel = undefined
    calledAtMs = clock.now()
    call()
  }
  return {
    notify() {
      if (cancel !== undefined) return
      // Never longer than the interval, even if the clock was set back.
      const waitMs = Math.min(everyMs, calledAtMs + everyMs - clock.now())
      if (waitMs <= 0) now()
      else cancel = clock.after(waitMs, now)
    },
    stop: () => cancel?.(),
  }
}
