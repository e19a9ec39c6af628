/**
 * What the chapter observes, through watches: the clusters, the bindings, the claim and the sources at the hub, and its pods in
 * each member. Members are watched from inside this process, so that one that is cut off from the hub is still visible.
 */

import { startInformer } from '../../client/cache/informer.ts'
import type { Client } from '../../client/client.ts'
import type { Cluster, ResourceBinding } from '../../kinds/karmada/index.ts'
import { bindingName } from '../../kinds/karmada/names.ts'
import { CLUSTERS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { CLUSTER_READY } from '../../kinds/karmada/well-known.ts'
import { JOBS, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Job, JobCondition, Pod } from '../../kinds/kubernetes/types.ts'
import type { DataSource } from '../../kinds/volcano/index.ts'
import { DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { sourceObjectName } from '../../kinds/volcano/source-name.ts'
import { isConditionTrue } from '../../kube/conditions.ts'
import type { Resource } from '../../kube/resource.ts'
import { HELD_BECAUSE } from '../../runtime/seams/narrowing.ts'
import type { StoryEnv, Viewer } from '../../runtime/seams/story.ts'
import { DATA, NAMESPACE, STORY_LABEL, STORY_NAME } from './manifests.ts'

export const SOURCE = sourceObjectName(DATA, NAMESPACE)

export interface GateSnapshot {
  clusters: readonly Cluster[]
  bindings: readonly ResourceBinding[]
  /** The chapter's own, at the hub. */
  jobs: readonly Job[]
  source: DataSource | undefined
  /** The chapter's own, by member. */
  pods: Readonly<Record<string, readonly Pod[]>>
}

export async function observeGate({ hub, members, clock, random, signal }: StoryEnv): Promise<Viewer<GateSnapshot>> {
  // One for each, because every waiter listens to it.
  const endings: AbortController[] = []
  const endAll = (): void => {
    for (const one of endings) one.abort()
  }
  signal.addEventListener('abort', endAll, { once: true })
  const follow = (client: Client, resource: Resource, labelSelector?: string) => {
    const ending = new AbortController()
    endings.push(ending)
    const namespace = resource.namespaced ? NAMESPACE : undefined
    return startInformer({ client, clock, random, resource, signal: ending.signal, labelSelector, namespace })
  }
  const own = `${STORY_LABEL}=${STORY_NAME}`
  const clusters = follow(hub, CLUSTERS)
  const bindings = follow(hub, RESOURCE_BINDINGS)
  const jobs = follow(hub, JOBS, own)
  const sources = follow(hub, DATA_SOURCES)
  const pods = members.map(({ name, client }) => ({ name, informer: follow(client, PODS, own) }))
  const informers = [clusters, bindings, jobs, sources, ...pods.map(({ informer }) => informer)]
  await Promise.all(informers.map((informer) => informer.synced()))
  return {
    look: () => ({
      clusters: clusters.list() as Cluster[],
      bindings: bindings.list() as ResourceBinding[],
      jobs: jobs.list() as Job[],
      source: sources.get('', SOURCE) as DataSource | undefined,
      pods: Object.fromEntries(pods.map(({ name, informer }) => [name, informer.list() as Pod[]])),
    }),
    onChange(handler) {
      const stops = informers.map((informer) => informer.subscribe(handler))
      return () => {
        for (const stop of stops) stop()
      }
    },
  }
}

export const isReady = ({ clusters }: GateSnapshot, name: string): boolean =>
  clusters.some(({ metadata, status }) => metadata.name === name && isConditionTrue(status?.conditions, CLUSTER_READY))

export const bindingOf = ({ bindings }: GateSnapshot, job: string): ResourceBinding | undefined =>
  bindings.find(({ metadata }) => metadata.name === bindingName('Job', job))

/** Why a Job is held, as its binding says; undefined when it is not. */
export const heldBecause = (snapshot: GateSnapshot, job: string): string | undefined =>
  bindingOf(snapshot, job)?.metadata.annotations?.[HELD_BECAUSE]

export const hasSucceeded = ({ jobs }: GateSnapshot, name: string): boolean =>
  jobs.some(({ metadata, status }) => metadata.name === name && status?.conditions?.some(isComplete) === true)

const isComplete = ({ type, status }: JobCondition): boolean => type === 'Complete' && status === 'True'

/** The pod of a Job that has succeeded, and its member. */
export function podOf({ pods }: GateSnapshot, job: string): { member: string; pod: string } | undefined {
  for (const [member, list] of Object.entries(pods))
    for (const { metadata, status } of list)
      if (metadata.labels?.['batch.kubernetes.io/job-name'] === job && status?.phase === 'Succeeded')
        return { member, pod: metadata.name ?? '' }
  return undefined
}

/** The cluster that holds the data. */
export const placeOf = ({ source }: GateSnapshot): string | undefined => source?.spec?.locality?.clusterNames?.[0]

/** What hinders a Job, as far as anybody reports it. */
export function complaintOf(snapshot: GateSnapshot, job: string): string {
  const held = heldBecause(snapshot, job)
  if (held !== undefined) return `${job} is held: ${held}`
  const clusters = bindingOf(snapshot, job)?.spec.clusters ?? []
  if (clusters.length === 0) return `${job} has no cluster`
  for (const [member, list] of Object.entries(snapshot.pods))
    for (const { metadata, status } of list) {
      if (metadata.labels?.['batch.kubernetes.io/job-name'] !== job) continue
      const waiting = status?.containerStatuses?.[0]?.state?.waiting
      return `pod ${metadata.name} of ${member} is ${status?.phase ?? 'new'}: ${waiting?.message ?? waiting?.reason ?? 'it does not say why'}`
    }
  return `${job} is to run in ${clusters.map(({ name }) => name).join(', ')}, and has no pod there`
}
