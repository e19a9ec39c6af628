/**
 * What the gate is compared with: the way in which volcano-global binds claims to sources, as its controller at commit 2ae7715
 * does it: one worker, a scan of all sources per claim, live reads before updates, and a write per step. It is that algorithm in
 * our client on our server, not their program: both sides share everything but the algorithm. Where their way is a matter of
 * configuration (the rate limit of the client), it is left out, to their advantage. What the benchmark never does is left out,
 * too: deletions, dynamic sources, and placement, because no binding exists there.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { deepEqual } from '../src/base/json.ts'
import { seededRandom } from '../src/base/random.ts'
import { createCaches } from '../src/client/cache/caches.ts'
import type { Client } from '../src/client/client.ts'
import { isConflict } from '../src/client/errors.ts'
import { RESOURCE_BINDINGS } from '../src/kinds/karmada/resources.ts'
import { EVENTS } from '../src/kinds/kubernetes/resources.ts'
import type { DataSource, DataSourceClaim } from '../src/kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../src/kinds/volcano/resources.ts'
import { DATA_SOURCE_CLAIM_FINALIZER, DATA_SOURCE_FINALIZER } from '../src/kinds/volcano/well-known.ts'
import type { KubeObject } from '../src/kube/meta.ts'
import { keyOfObject, type ObjectRef, refOf, refOfKey } from '../src/kube/object-reference.ts'
import { CLOCK } from './clock.ts'

export interface RunningBaseline {
  /** Passes over a claim so far. */
  passes(): number
  isIdle(): boolean
  stop(): Promise<void>
}

const BY_WORKLOAD = 'workloadRef'
/** Of one key; then it is forgotten. */
const MOST_RETRIES = 10
const FIRST_RETRY_MS = 5
const CONFLICT_STEPS = 5
const CONFLICT_PAUSE_MS = 10

export async function runVolcanoGlobalAlgorithm(client: Client): Promise<RunningBaseline> {
  const caches = createCaches({ client, clock: CLOCK, random: seededRandom(4) })
  const claims = caches.of(DATA_SOURCE_CLAIMS)
  const sources = caches.of(DATA_SOURCES)
  const bindings = caches.of(RESOURCE_BINDINGS)
  claims.addIndex(BY_WORKLOAD, (claim) => [workloadKey((claim as DataSourceClaim).spec.workload, claim.metadata.namespace)])
  bindings.addIndex(BY_WORKLOAD, (binding) => [bindingKey(binding)])
  await caches.synced()
  const queue = new OneWorkerQueue((key) => reconcile(refOfKey(key)))

  claims.subscribe(({ type, object }) => {
    if (type !== 'deleted') queue.add(keyOfObject(object))
  })
  sources.subscribe(({ type, object, old }) => {
    const source = object as DataSource
    if (type === 'added') for (const claim of claims.list() as DataSourceClaim[]) if (isPending(claim)) queue.add(keyOfObject(claim))
    if (type !== 'updated' || deepEqual((old as DataSource).spec.locality, source.spec.locality)) return
    for (const { namespace, name } of (old as DataSource).status?.claimRefs ?? []) queue.add(`${namespace}/${name}`)
  })
  bindings.subscribe(({ type, object }) => {
    if (type === 'added') for (const claim of claims.byIndex(BY_WORKLOAD, bindingKey(object))) queue.add(keyOfObject(claim))
  })

  async function reconcile(ref: ObjectRef): Promise<void> {
    const claim = claims.get(ref.namespace, ref.name) as DataSourceClaim | undefined
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return
    if (!claim.metadata.finalizers?.includes(DATA_SOURCE_CLAIM_FINALIZER)) return addClaimFinalizer(claim)
    if (claim.status?.phase === undefined) return writeStatus(claim, (status) => ({ ...status, phase: 'Pending' }))
    return claim.status.phase === 'Pending' ? bind(claim) : verify(claim)
  }

  async function addClaimFinalizer(claim: DataSourceClaim): Promise<void> {
    const copy = structuredClone(claim)
    copy.metadata.finalizers = [...(copy.metadata.finalizers ?? []), DATA_SOURCE_CLAIM_FINALIZER]
    await client.update(DATA_SOURCE_CLAIMS, copy)
  }

  async function writeStatus(of: DataSourceClaim, change: (status: DataSourceClaim['status']) => DataSourceClaim['status']): Promise<void> {
    await retryOnConflict(async () => {
      const live = await client.get<DataSourceClaim>(DATA_SOURCE_CLAIMS, refOf(of))
      await client.update(DATA_SOURCE_CLAIMS, { ...live, status: change(live.status) }, { subresource: 'status' })
    })
  }

  async function bind(claim: DataSourceClaim): Promise<void> {
    const source = (sources.list() as DataSource[]).find((one) => isMatch(claim, one))
    if (source === undefined) return
    const name = source.metadata.name ?? ''
    const condition = {
      type: 'Bound',
      status: 'True' as const,
      reason: 'BindingSuccessful',
      message: `bound to ${name}`,
      lastTransitionTime: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    }
    await writeStatus(claim, (status) => ({ ...status, phase: 'Bound', boundDataSource: name, conditions: [condition] }))
    await addReference(name, claim)
    await recordBound(claim, name)
  }

  /** The finalizer is a pass of its own: what was read is old afterwards. */
  async function addReference(name: string, claim: DataSourceClaim): Promise<void> {
    await retryOnConflict(async () => {
      const live = await client.get<DataSource>(DATA_SOURCES, { name })
      if (!live.metadata.finalizers?.includes(DATA_SOURCE_FINALIZER)) {
        const finalizers = [...(live.metadata.finalizers ?? []), DATA_SOURCE_FINALIZER]
        await client.update(DATA_SOURCES, { ...live, metadata: { ...live.metadata, finalizers } })
        return 'again'
      }
      const before = live.status?.claimRefs ?? []
      if (before.some(({ uid }) => uid === claim.metadata.uid)) return undefined
      const { namespace, name: claimName, uid } = claim.metadata
      const claimRefs = [...before, { apiVersion: claim.apiVersion, kind: claim.kind, namespace, name: claimName, uid }]
      await client.update(
        DATA_SOURCES,
        { ...live, status: { ...live.status, claimRefs, boundClaims: claimRefs.length } },
        { subresource: 'status' },
      )
      return undefined
    })
  }

  async function recordBound(claim: DataSourceClaim, source: string): Promise<void> {
    const { namespace, name, uid } = claim.metadata
    await client.create(EVENTS, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace, generateName: `${name}.` },
      involvedObject: { apiVersion: claim.apiVersion, kind: claim.kind, namespace, name, uid },
      type: 'Normal',
      reason: 'Bound',
      message: `bound to ${source}`,
    } as KubeObject)
  }

  /** Without a binding, it ends here. */
  async function verify(claim: DataSourceClaim): Promise<void> {
    const source = await client.get<DataSource>(DATA_SOURCES, { name: claim.status?.boundDataSource ?? '' })
    if (!isMatch(claim, source)) throw new Error('this benchmark never unbinds a claim')
    const key = workloadKey(claim.spec.workload, claim.metadata.namespace)
    if (bindings.byIndex(BY_WORKLOAD, key).length > 0) throw new Error('this benchmark has no bindings')
  }

  return {
    passes: () => queue.passes,
    isIdle: () => queue.isIdle,
    async stop() {
      await queue.stop()
      caches.stop()
    },
  }
}

const isPending = ({ status }: DataSourceClaim): boolean => status?.phase === 'Pending'

/** No attributes and an empty map of them are different. */
const isMatch = ({ spec: wanted }: DataSourceClaim, { metadata, spec }: DataSource): boolean =>
  metadata.deletionTimestamp === undefined &&
  wanted.system === spec.system &&
  wanted.dataSourceType === spec.type &&
  wanted.dataSourceName === spec.name &&
  deepEqual(wanted.attributes, spec.attributes)

type Workload = { apiVersion: string; kind: string; name: string; namespace?: string }

const workloadKey = (workload: Workload | undefined, namespace: string | undefined): string =>
  `${workload?.apiVersion}/${workload?.kind}/${namespace}/${workload?.name}`

const bindingKey = (binding: KubeObject): string => {
  const { resource } = binding.spec as { resource: Workload }
  return workloadKey(resource, binding.metadata.namespace)
}

async function retryOnConflict(attempt: () => Promise<'again' | unknown>): Promise<void> {
  for (let step = 1; ; step++) {
    try {
      if ((await attempt()) !== 'again') return
    } catch (error) {
      if (!isConflict(error) || step === CONFLICT_STEPS) throw error
    }
    await sleep(CONFLICT_PAUSE_MS)
  }
}

/** Each key at most once; one that is added while it is worked on runs again. Failed keys come back later, and later each time. */
class OneWorkerQueue {
  passes = 0
  readonly #work: (key: string) => Promise<void>
  readonly #waiting = new Set<string>()
  readonly #failures = new Map<string, number>()
  #delayed = 0
  #running: Promise<void> | undefined
  #isStopped = false

  constructor(work: (key: string) => Promise<void>) {
    this.#work = work
  }

  get isIdle(): boolean {
    return this.#running === undefined && this.#waiting.size === 0 && this.#delayed === 0
  }

  add(key: string): void {
    if (this.#isStopped) return
    this.#waiting.add(key)
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#waiting.clear()
    await this.#running
  }

  /** A Set keeps the order of arrival. */
  async #run(): Promise<void> {
    await Promise.resolve()
    for (let [key] = this.#waiting; key !== undefined; [key] = this.#waiting) {
      this.#waiting.delete(key)
      this.passes++
      try {
        await this.#work(key)
        this.#failures.delete(key)
      } catch (error) {
        this.#retry(key, error)
      }
    }
  }

  #retry(key: string, error: unknown): void {
    const failures = (this.#failures.get(key) ?? 0) + 1
    if (!isConflict(error)) console.error(`the baseline failed on ${key}:`, error)
    if (failures > MOST_RETRIES) return void this.#failures.delete(key)
    this.#failures.set(key, failures)
    this.#delayed++
    setTimeout(
      () => {
        this.#delayed--
        this.add(key)
      },
      FIRST_RETRY_MS * 2 ** (failures - 1),
    )
  }
}
