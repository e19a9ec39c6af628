/**
 * Publishes the pods of each service with a selector as EndpointSlices of at most 100 endpoints. Sole writer of slices
 * labelled as managed by it. Runs again when the service, a pod it selects, a node of such a pod or a slice changes; slices
 * go with their service, by their owner reference.
 */
import { ENDPOINT_SLICES, NODES, SERVICES } from '../../../kinds/kubernetes/resources.ts'
import type { EndpointSlice, Node, Service } from '../../../kinds/kubernetes/types.ts'
import { type Controller, defineController, indexOf, via } from '../../../runtime/controller.ts'
import { mayAdopt } from '../../../runtime/workloads/pod/ownership.ts'
import { nodeIndex, nodeWatch, podsOfService, podWatch, servicePodIndexes } from '../service-pods.ts'
import { MANAGED_BY_LABEL, MANAGER, type Observed, plan, SERVICE_NAME_LABEL } from './plan.ts'

const SERVICE = 'service'

export function endpointSlices(): Controller {
  return defineController<Observed, Service>({
    name: 'minicluster.network.endpoint-slice',
    component: 'endpoint-slice-controller',
    for: SERVICES,
    watches: [
      podWatch,
      nodeWatch,
      via(ENDPOINT_SLICES, (slice) => {
        const name = serviceOf(slice)
        return name === undefined ? [] : [{ namespace: slice.metadata.namespace ?? '', name }]
      }),
    ],
    indexes: [
      ...servicePodIndexes,
      nodeIndex,
      indexOf(ENDPOINT_SLICES, SERVICE, (slice) => {
        const name = serviceOf(slice)
        return name === undefined ? [] : [`${slice.metadata.namespace ?? ''}/${name}`]
      }),
    ],
    writes: [{ resource: ENDPOINT_SLICES, verbs: ['create', 'update', 'delete'] }],
    reads: [{ resource: SERVICES, verbs: ['get'] }],
    concurrency: 4,
    async observe({ namespace, name }, service, read, client) {
      const slices = read.byIndex(ENDPOINT_SLICES, SERVICE, `${namespace}/${name}`)
      // Slices of a deleted service are collected: with a stale cache they would be recreated again and again.
      if (service === undefined || (slices.length === 0 && !(await mayAdopt(client, SERVICES, service))))
        return { service: undefined, pods: [], slices, nodes: new Map() }
      const pods = podsOfService(service, read)
      const nodes = new Map<string, Node>()
      for (const nodeName of new Set(pods.map(({ spec }) => spec?.nodeName ?? ''))) {
        const node = read.get(NODES, '', nodeName)
        if (node !== undefined) nodes.set(nodeName, node)
      }
      return { service, pods, slices, nodes }
    },
    plan,
  })
}

/** The service a slice of ours belongs to. */
function serviceOf({ metadata: { labels = {} } }: EndpointSlice): string | undefined {
  const ownLabel = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined)
  return ownLabel(MANAGED_BY_LABEL) === MANAGER ? ownLabel(SERVICE_NAME_LABEL) : undefined
}
