/**
 * What the story observes, through watches: the clusters and the binding at the hub, the pods in each member. Members are
 * watched from inside this process, so that one that is cut off from the hub is still visible.
 */

import { startInformer } from '../../client/cache/informer.ts'
import type { Client } from '../../client/client.ts'
import type { Cluster, ResourceBinding } from '../../kinds/karmada/index.ts'
import { CLUSTERS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { DEPLOYMENTS, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Deployment, Pod } from '../../kinds/kubernetes/types.ts'
import type { Resource } from '../../kube/resource.ts'
import type { StoryEnv, Viewer } from '../../runtime/seams/story.ts'
import { NAME, NAMESPACE } from './manifests.ts'

export interface FleetSnapshot {
  clusters: readonly Cluster[]
  template: Deployment | undefined
  binding: ResourceBinding | undefined
  /** Pods of the web server, by member. */
  pods: Readonly<Record<string, readonly Pod[]>>
}

export async function observeFleet({ hub, members, clock, random, signal }: StoryEnv): Promise<Viewer<FleetSnapshot>> {
  // One for each, because every waiter listens to it.
  const endings: AbortController[] = []
  const endAll = (): void => {
    for (const one of endings) one.abort()
  }
  signal.addEventListener('abort', endAll, { once: true })
  const follow = (client: Client, resource: Resource, labelSelector?: string) => {
    const ending = new AbortController()
    endings.push(ending)
    return startInformer({
      client,
      clock,
      random,
      resource,
      signal: ending.signal,
      labelSelector,
      namespace: resource.namespaced ? NAMESPACE : undefined,
    })
  }
  const clusters = follow(hub, CLUSTERS)
  const bindings = follow(hub, RESOURCE_BINDINGS)
  const deployments = follow(hub, DEPLOYMENTS)
  const pods = members.map(({ name, client }) => ({ name, informer: follow(client, PODS, `app=${NAME}`) }))
  const informers = [clusters, bindings, deployments, ...pods.map(({ informer }) => informer)]
  await Promise.all(informers.map((informer) => informer.synced()))
  return {
    look: () => ({
      clusters: clusters.list() as Cluster[],
      template: deployments.get(NAMESPACE, NAME) as Deployment | undefined,
      binding: bindings.get(NAMESPACE, `${NAME}-deployment`) as ResourceBinding | undefined,
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
