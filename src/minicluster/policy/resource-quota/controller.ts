/**
 * Keeps a quota's status: `hard` is what its spec says, `used` is counted from what exists. Admission adds to `used` what it
 * admits; this controller gives back what is gone. Runs again when something in the namespace is deleted, ends or changes
 * its size, and when the quota changes.
 *
 * An object is charged before it exists, so a count from caches that are older than the last charge would forget it: a
 * name is counted only from caches that have seen everything up to the quota's own version.
 */

import type { ClusterCache } from '../../../client/cache/cluster-cache.ts'
import { PERSISTENT_VOLUME_CLAIMS, PODS, RESOURCE_QUOTAS, SERVICES } from '../../../kinds/kubernetes/resources.ts'
import type { Pod, ResourceQuota } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type Controller, defineController, type PassReader, type Reader, type Signal, via } from '../../../runtime/controller.ts'
import { isPodActive } from '../../../runtime/workloads/pod/state.ts'
import { type Counted, type Observed, plan } from './plan.ts'
import { countedBy, hardOf, isNewTo, usageOf } from './usage.ts'

const MEASURED: readonly Resource[] = [PODS, SERVICES, PERSISTENT_VOLUME_CLAIMS]

export function resourceQuota(clusterCache: ClusterCache): Controller {
  return defineController<Observed, ResourceQuota>({
    name: 'minicluster.policy.resource-quota',
    component: 'resourcequota-controller',
    for: RESOURCE_QUOTAS,
    watches: [
      // A new pod is charged already; one that has ended gives back what it requested.
      via(PODS, (pod: Pod, read) => (isPodActive(pod) ? [] : quotasBeside(pod, read))),
      via(SERVICES, quotasBeside),
      via(PERSISTENT_VOLUME_CLAIMS, quotasBeside),
    ],
    signals: [leavers(clusterCache)],
    writes: [{ resource: RESOURCE_QUOTAS, subresource: 'status', verbs: ['patch'] }],
    concurrency: 2,
    async observe(ref, quota, read) {
      if (quota === undefined) return { quota, counted: [] }
      await clusterCache.ready()
      return { quota, counted: count(quota, { ref, read, clusterCache }) }
    },
    plan,
  })
}

const quotasBeside = (object: KubeObject, read: Reader): ObjectRef[] =>
  read.list(RESOURCE_QUOTAS, object.metadata.namespace ?? '').map(({ metadata: { namespace = '', name = '' } }) => ({ namespace, name }))

/** The quotas in the namespace of every deleted object. */
function leavers(clusterCache: ClusterCache): Signal {
  return {
    subscribe: (enqueue) =>
      clusterCache.subscribe((_resource, { type, object }) => {
        const { namespace } = object.metadata
        if (type !== 'deleted' || namespace === undefined) return
        for (const quota of clusterCache.informerOf(RESOURCE_QUOTAS)?.list(namespace) ?? [])
          enqueue({ namespace, name: quota.metadata.name ?? '' })
      }),
  }
}

function count(quota: ResourceQuota, of: { ref: ObjectRef; read: PassReader; clusterCache: ClusterCache }): Counted[] {
  const { ref, read, clusterCache } = of
  const version = Number(quota.metadata.resourceVersion ?? 0)
  return countedBy([...hardOf(quota).keys()]).flatMap(({ resource: { group, plural }, names, evaluator }): Counted[] => {
    const resource = clusterCache.resourceNamed(group, plural)
    const followed = resource === undefined ? undefined : clusterCache.informerOf(resource)
    if (followed === undefined) return []
    const measured = MEASURED.find((one) => one.group === group && one.plural === plural)
    const seen = measured === undefined ? followed.revision : read.revisionOf(measured)
    // For names the quota has no usage of yet, a rough count is better than none.
    const isKnown = !isNewTo(quota, names)
    if (isKnown && seen < followed.revision) return [{ names, state: 'behind' }]
    if (isKnown && seen < version) return [{ names, state: 'unsure' }]
    const objects = measured === undefined ? followed.list(ref.namespace) : read.list(measured, ref.namespace)
    return [{ names, state: 'counted', used: usageOf({ quota, names, evaluator, objects, nowMs: read.nowMs() }) }]
  })
}
