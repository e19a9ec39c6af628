/** What every cluster has, the hub as well as members: namespaces, garbage, service accounts, root certificates, Events. */
import { ReferenceGrant } from '../../kinds/gateway/reference-grant.ts'
import { defineModule } from '../../runtime/module/module.ts'
import { eventTtl } from './event-ttl/controller.ts'
import { GARBAGE_COLLECTOR, runGarbageCollector } from './garbage/run.ts'
import { namespaceLifecycle } from './namespace/controller.ts'
import { roleAggregation } from './role-aggregation/controller.ts'
import { rootCa } from './root-ca/controller.ts'
import { defaultServiceAccount } from './service-account/controller.ts'
import { serviceAccountToken } from './service-account-token/controller.ts'

export const housekeeping = defineModule({
  name: 'housekeeping',
  roles: ['hub', 'member'],
  upstreamLeases: [{ namespace: 'kube-system', name: 'kube-controller-manager' }],
  kinds: { hub: [ReferenceGrant], member: [ReferenceGrant] },
  followsCluster: true,
  defaults: {},
  services: ({ clusterCache, authority, signToken }) => ({ clusterCache, authority, signToken }),
  controllers: ({ clusterCache, authority, signToken }) => [
    namespaceLifecycle(clusterCache),
    defaultServiceAccount,
    ...(signToken === undefined ? [] : [serviceAccountToken({ authority, signToken })]),
    rootCa(authority),
    roleAggregation,
    eventTtl(),
  ],
  loops: ({ clusterCache }, { clientOf, observer }) => [
    runGarbageCollector({ client: clientOf(GARBAGE_COLLECTOR), clusterCache, ...observer }),
  ],
  loopNames: [GARBAGE_COLLECTOR],
})
