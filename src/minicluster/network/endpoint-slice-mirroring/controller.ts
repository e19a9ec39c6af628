/**
 * Publishes hand-written Endpoints of a service without a selector as EndpointSlices, for consumers that read only slices.
 * Sole writer of slices labelled as managed by it; deletes them when the Endpoints should no longer be mirrored. Runs
 * again when the Endpoints, the service of their name or a slice changes.
 */
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from '../../../kinds/kubernetes/resources.ts'
import type { EndpointSlice, Endpoints } from '../../../kinds/kubernetes/types.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import { type Controller, defineController, indexOf, via } from '../../../runtime/controller.ts'
import { mayAdopt } from '../../../runtime/workloads/pod/ownership.ts'
import { MANAGED_BY_LABEL, SERVICE_NAME_LABEL } from '../endpoint-slice/plan.ts'
import { MANAGER, mirrored, type Observed, plan } from './plan.ts'

const MIRRORED = 'mirrored endpoints'

export function endpointSliceMirroring(): Controller {
  return defineController<Observed, Endpoints>({
    name: 'minicluster.network.endpoint-slice-mirroring',
    component: 'endpoint-slice-mirroring-controller',
    for: ENDPOINTS,
    watches: [
      via(SERVICES, ({ metadata: { namespace = '', name = '' } }) => [{ namespace, name }]),
      via(ENDPOINT_SLICES, (slice) => mirroredBy(slice)),
    ],
    indexes: [indexOf(ENDPOINT_SLICES, MIRRORED, (slice) => mirroredBy(slice).map(({ namespace, name }) => `${namespace}/${name}`))],
    writes: [{ resource: ENDPOINT_SLICES, verbs: ['create', 'update', 'delete'] }],
    reads: [{ resource: ENDPOINTS, verbs: ['get'] }],
    concurrency: 4,
    async observe({ namespace, name }, endpoints, read, client) {
      const slices = read.byIndex(ENDPOINT_SLICES, MIRRORED, `${namespace}/${name}`)
      const wanted = mirrored(endpoints, read.get(SERVICES, namespace, name))
      // Slices are collected with their Endpoints: with a stale cache they would be recreated while the collector deletes them.
      const isThere = wanted !== undefined && (slices.length > 0 || (await mayAdopt(client, ENDPOINTS, wanted)))
      return { endpoints: isThere ? wanted : undefined, slices }
    },
    plan,
  })
}

/** The Endpoints a slice of ours belongs to. */
function mirroredBy({ metadata: { namespace = '', labels = {} } }: EndpointSlice): ObjectRef[] {
  const ownLabel = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined)
  const name = ownLabel(MANAGED_BY_LABEL) === MANAGER ? ownLabel(SERVICE_NAME_LABEL) : undefined
  return name === undefined ? [] : [{ namespace, name }]
}
