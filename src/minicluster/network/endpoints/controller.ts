/**
 * Publishes the pods of each service with a selector as an Endpoints object of the same name, for consumers that do not
 * read slices yet. Sole writer of Endpoints labelled as managed by it, which it deletes when their service is gone. Runs again
 * when the service, a pod it selects or the Endpoints change.
 */
import { ENDPOINTS, SERVICES } from '../../../kinds/kubernetes/resources.ts'
import type { Service } from '../../../kinds/kubernetes/types.ts'
import { type Controller, defineController, via } from '../../../runtime/controller.ts'
import { podsOfService, podWatch, servicePodIndexes } from '../service-pods.ts'
import { MANAGER, type Observed, plan } from './plan.ts'

export function serviceEndpoints(): Controller {
  return defineController<Observed, Service>({
    name: 'minicluster.network.endpoints',
    component: MANAGER,
    for: SERVICES,
    watches: [podWatch, via(ENDPOINTS, ({ metadata: { namespace = '', name = '' } }) => [{ namespace, name }])],
    indexes: servicePodIndexes,
    writes: [{ resource: ENDPOINTS, verbs: ['create', 'update', 'delete'] }],
    concurrency: 4,
    observe: ({ namespace, name }, service, read) => ({
      service,
      pods: service === undefined ? [] : podsOfService(service, read),
      endpoints: read.get(ENDPOINTS, namespace, name),
    }),
    plan,
  })
}
