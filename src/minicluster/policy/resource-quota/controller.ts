/**
 * Keeps a quota's status: `hard` is what its spec says, `used` is counted from what exists. Admission adds to `used` what it
 * lets in; this gives back what is gone. Runs again when something in the namespace goes, ends or changes its size, and when
 * the quota changes.
 *
 * An object is charged before it exists, so a count from caches that are older than the last charge would forget it: a
 * name is counted only from caches that have seen everything up to the quota's own version.
 */

import type { Everything } from '../../../client/cache/everything.ts'
import { PERSISTENT_VOLUME_CLAIMS, PODS, RESOURCE_QUOTAS, SERVICES } from '../../../kinds/kubernetes/resources.ts'
import type { Pod, ResourceQuota } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type Controller, defineController, type PassReader, type Reader, type Signal, via } from '../../../runtime/controller.ts'
import { isPodActive } from '../../workloads/pod/state.ts'
import { type Counted, type Observed, plan } from './plan.ts'
import { countedBy, hardOf, isNewTo, usageOf } from './usage.ts'

const MEASURED: readonly Resource[] = [PODS, SERVICES, PERSISTENT_VOLUME_CLAIMS]

export function resourceQuota(everything: Everything): Controller {
  return defineController<Observed, ResourceQuota>({
    name: 'minicluster.policy.resource-quota',
    component: 'resourcequota-controller',
    for: RESOURCE_QUOTAS,
    watches: [
      // A pod that begins is charged already; one that is over gives back what it asked for.
      via(PODS, (pod: Pod, read) => (isPodActive(pod) ? [] : quotasBeside(pod, read))),
      via(SERVICES, quotasBeside),
      via(PERSISTENT_VOLUME_CLAIMS, quotasBeside),
    ],
    signals: [leavers(everything)],
    writes: [{ resource: RESOURCE_QUOTAS, subresource: 'status', verbs: ['patch'] }],
    concurrency: 2,
    async observe(ref, quota, read) {
      if (quota === undefined) return { quota, counted: [] }
      await everything.ready()
      return { quota, counted: count(quota, { ref, read, everything }) }
    },
    plan,
  })
}

const quotasBeside = (object: KubeObject, read: Reader): ObjectRef[] =>
  read.list(RESOURCE_QUOTAS, object.metadata.namespace ?? '').map(({ metadata: { namespace = '', name = '' } }) => ({ namespace, name }))

/** The quotas of the namespace of everything that is gone. */
function leavers(everything: Everything): Signal {
  return {
    subscribe: (enqueue) =>
      everything.subscribe((_resource, { type, object }) => {
        const { namespace } = object.metadata
        if (type !== 'deleted' || namespace === undefined) return
        for (const quota of everything.informerOf(RESOURCE_QUOTAS)?.list(namespace) ?? [])
          enqueue({ namespace, name: quota.metadata.name ?? '' })
      }),
  }
}

function count(quota: ResourceQuota, of: { ref: ObjectRef; read: PassReader; everything: Everything }): Counted[] {
  const { ref, read, everything } = of
  const version = Number(quota.metadata.resourceVersion ?? 0)
  return countedBy([...hardOf(quota).keys()]).flatMap(({ resource: { group, plural }, names, evaluator }): Counted[] => {
    const resource = everything.resourceNamed(group, plural)
    const followed = resource === undefined ? undefined : everything.informerOf(resource)
    if (followed === undefined) return []
    const measured = MEASURED.find((one) => one.group === group && one.plural === plural)
    const seen = measured === undefined ? followed.revision : read.revisionOf(measured)
    // What the quota does not know at all yet is better counted roughly than not at all.
    const isKnown = !isNewTo(quota, names)
    if (isKnown && seen < followed.revision) return [{ names, state: 'behind' }]
    if (isKnown && seen < version) return [{ names, state: 'unsure' }]
    const objects = measured === undefined ? followed.list(ref.namespace) : read.list(measured, ref.namespace)
    return [{ names, state: 'counted', used: usageOf({ quota, names, evaluator, objects, nowMs: read.nowMs() }) }]
  })
}
