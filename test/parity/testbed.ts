/** A testbed over a client: the same for both sides; how time passes and where calls run is passed in. */
import assert from 'node:assert/strict'
import type { Client } from '../../src/client/client.ts'
import { ApiError, ifFound, isConflict } from '../../src/client/errors.ts'
import { resourceOfObject } from '../../src/faultsim/world/resources.ts'
import { EVENTS, PODS } from '../../src/kinds/kubernetes/resources.ts'
import type { ContainerStatus, Event, Pod } from '../../src/kinds/kubernetes/types.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'
import { byText, comparable, comparableEvents } from './normalise.ts'
import type { Note, Testbed } from './scenario.ts'

export interface TestbedDeps {
  client: Client
  /** Runs a call in the right context: inside the world, or directly. */
  inside<T>(work: () => Promise<T>): Promise<T>
  nowMs(): number
  pass(ms: number): Promise<void>
  /** Polling interval. */
  lookEveryMs: number
  /** Nothing may change for this long to count as steady. */
  steadyMs: number
}

const WITHIN_MS = 60_000

export function testbedOn(deps: TestbedDeps, namespace: string, notes: Note[]): { testbed: Testbed; tidy(): Promise<void> } {
  const { client, inside } = deps
  const of = (resource: Resource, name: string) => (resource.namespaced ? { namespace, name } : { name })
  /** What is not deleted with the namespace. */
  const outside: [Resource, string][] = []
  const testbed: Testbed = {
    namespace,
    create(object) {
      const resource = resourceOfObject(object)
      if (!resource.namespaced) outside.push([resource, object.metadata.name ?? ''])
      const placed = resource.namespaced ? { ...object, metadata: { namespace, ...object.metadata } } : object
      return inside(() => client.create(resource, placed))
    },
    get: (resource, name) => inside(() => ifFound(client.get(resource, of(resource, name)))) as never,
    async list(resource, labelSelector) {
      const options = resource.namespaced ? { namespace, labelSelector } : { labelSelector }
      return (await inside(() => client.list(resource, options))).items as never
    },
    async update(resource, name, change) {
      for (;;) {
        try {
          return await inside(async () => {
            const object = await client.get(resource, of(resource, name))
            change(object as never)
            return (await client.update(resource, object)) as never
          })
        } catch (error) {
          if (!isConflict(error)) throw error
        }
      }
    },
    patch: (resource, name, body, subresource) =>
      inside(() => client.patch(resource, of(resource, name), { type: 'merge', body, subresource })),
    async delete(resource, name, options) {
      await inside(() => client.delete(resource, of(resource, name), options))
    },
    async evict(name) {
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } }
      try {
        await inside(() => client.create(PODS, eviction as KubeObject, { subresource: 'eviction' }))
        return 201
      } catch (error) {
        if (error instanceof ApiError) return error.code
        throw error
      }
    },
    async until(what, check) {
      const deadline = deps.nowMs() + WITHIN_MS
      while (!(await check())) {
        assert.ok(deps.nowMs() < deadline, `not seen within a minute: ${what}`)
        await deps.pass(deps.lookEveryMs)
      }
    },
    async steady() {
      for (let before = ''; ; ) {
        const now = await revisionsOf(deps, namespace)
        if (now === before) return
        before = now
        await deps.pass(deps.steadyMs)
      }
    },
    pass: (seconds) => deps.pass(seconds * 1000),
    note: (label, facts) => void notes.push({ label, facts }),
    async noteAll(label, ...resources) {
      await testbed.steady()
      for (const resource of resources) {
        const objects = resource.namespaced ? await testbed.list(resource) : await own(resource)
        notes.push({ label: `${label}: ${resource.plural}`, facts: objects.map(comparable).sort(byText) })
      }
    },
    async noteEvents(label) {
      await testbed.steady()
      notes.push({ label: `${label}: events`, facts: comparableEvents((await testbed.list(EVENTS)) as Event[]) })
    },
    async finish(pod, exitCode) {
      await testbed.patch(PODS, pod.metadata.name ?? '', { status: ended(pod, exitCode, deps.nowMs()) }, 'status')
    },
    async setReady(pod, isReady) {
      // Conditions have a resolution of seconds: the transition must be later than the one before.
      await deps.pass(1100)
      const live = await testbed.get(PODS, pod.metadata.name ?? '')
      if (live === undefined) return
      const status = isReady ? 'True' : 'False'
      const now = timeOf(deps.nowMs())
      const conditions = (live.status?.conditions ?? []).map((condition) =>
        condition.type === 'Ready' || condition.type === 'ContainersReady' ? { ...condition, status, lastTransitionTime: now } : condition,
      )
      const containerStatuses = (live.status?.containerStatuses ?? []).map((one) => ({ ...one, ready: isReady }))
      await testbed.patch(PODS, pod.metadata.name ?? '', { status: { conditions, containerStatuses } }, 'status')
    },
  }
  /** Of cluster-scoped resources, only what the scenario created. */
  const own = async (resource: Resource): Promise<KubeObject[]> =>
    (await testbed.list(resource)).filter(({ metadata }) =>
      outside.some(([of, name]) => of.plural === resource.plural && name === metadata.name),
    )
  const tidy = async (): Promise<void> => {
    for (const [resource, name] of outside) await ifFound(client.delete(resource, { name }))
  }
  return { testbed, tidy }
}

const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** As a kubelet reports the end of all containers. */
function ended(pod: Pod, exitCode: number, nowMs: number): unknown {
  const finishedAt = timeOf(nowMs)
  const state = {
    terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', finishedAt, startedAt: pod.status?.startTime ?? finishedAt },
  }
  const containerStatuses = (pod.spec?.containers ?? []).map(
    ({ name, image }): ContainerStatus => ({ name, image, imageID: '', ready: false, restartCount: 0, started: false, state }),
  )
  const conditions = (pod.status?.conditions ?? []).map((condition) =>
    condition.type === 'Ready' || condition.type === 'ContainersReady'
      ? { ...condition, status: 'False', lastTransitionTime: finishedAt }
      : condition,
  )
  return { phase: exitCode === 0 ? 'Succeeded' : 'Failed', containerStatuses, conditions }
}

const WATCHED = [
  ['', 'pods', 'Pod'],
  ['', 'events', 'Event'],
  ['', 'persistentvolumeclaims', 'PersistentVolumeClaim'],
  ['', 'configmaps', 'ConfigMap'],
  ['', 'endpoints', 'Endpoints'],
  ['', 'resourcequotas', 'ResourceQuota'],
  ['apps', 'deployments', 'Deployment'],
  ['apps', 'replicasets', 'ReplicaSet'],
  ['apps', 'statefulsets', 'StatefulSet'],
  ['apps', 'daemonsets', 'DaemonSet'],
  ['batch', 'jobs', 'Job'],
  ['batch', 'cronjobs', 'CronJob'],
  ['policy', 'poddisruptionbudgets', 'PodDisruptionBudget'],
  ['discovery.k8s.io', 'endpointslices', 'EndpointSlice'],
] as const

/** The versions of everything as one text: equal when nothing changed. */
async function revisionsOf({ client, inside }: TestbedDeps, namespace: string): Promise<string> {
  const lists = await Promise.all(
    WATCHED.map(([group, plural, kind]) =>
      inside(() => client.list({ group, version: 'v1', plural, kind, namespaced: true }, { namespace })),
    ),
  )
  return lists.map(({ items }) => items.map((item) => `${item.metadata.uid} ${item.metadata.resourceVersion}`).join()).join(';')
}
