/**
 * Creates the claims of generic ephemeral volumes: `<pod>-<volume>`, owned by the pod and deleted with it. A claim of that
 * name that belongs to something else is left alone, and the pod gets an event.
 */

import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { PersistentVolumeClaim, Pod, Volume } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { objectKey } from '../../../kube/object-reference.ts'
import {
  type Action,
  type Controller,
  defineController,
  type EventIntent,
  indexOf,
  NOTHING_TO_DO,
  type Plan,
  via,
} from '../../../runtime/controller.ts'
import { controllerOf, controllerReference, mayAdopt } from '../../../runtime/workloads/pod/ownership.ts'
import { claimNameOf, claimsOfPod } from '../names.ts'
import { eventIndex, type RecordedEvents, recordedEventsOf, recordOnce, WRITES_EVENTS } from '../recorded-events.ts'

const COMPONENT = 'ephemeral_volume'
const USERS = 'users'

export interface Observed {
  pod: Pod | undefined
  /** The claims that exist, by name. */
  claims: ReadonlyMap<string, PersistentVolumeClaim>
  recorded: RecordedEvents
  nowMs: number
}

export function ephemeralClaims(): Controller {
  return defineController<Observed, Pod>({
    name: 'minicluster.storage.ephemeral',
    component: COMPONENT,
    for: PODS,
    watches: [
      via(PERSISTENT_VOLUME_CLAIMS, ({ metadata: { namespace = '', name = '' } }, read) =>
        read.byIndex(PODS, USERS, objectKey(namespace, name)).map((pod) => ({ namespace, name: pod.metadata.name ?? '' })),
      ),
    ],
    indexes: [indexOf(PODS, USERS, (pod) => (ephemeralVolumes(pod).length === 0 ? [] : claimsOfPod(pod))), eventIndex],
    writes: [{ resource: PERSISTENT_VOLUME_CLAIMS, verbs: ['create'] }, WRITES_EVENTS],
    reads: [{ resource: PODS, verbs: ['get'] }],
    isRelevant: (pod) => ephemeralVolumes(pod).length > 0,
    observe: async ({ namespace }, pod, read, client) => {
      const nothing = { pod: undefined, claims: new Map(), recorded: new Set<string>(), nowMs: read.nowMs() }
      const volumes = pod === undefined ? [] : ephemeralVolumes(pod)
      if (pod === undefined || volumes.length === 0) return nothing
      const claims = new Map<string, PersistentVolumeClaim>()
      for (const volume of volumes) {
        const name = claimNameOf(pod, volume) ?? ''
        const claim = read.get(PERSISTENT_VOLUME_CLAIMS, namespace, name)
        if (claim !== undefined) claims.set(name, claim)
      }
      // Claims of a deleted pod are collected: with a stale cache they would be recreated again and again.
      if (claims.size < volumes.length && !(await mayAdopt(client, PODS, pod))) return nothing
      return { pod, claims, recorded: recordedEventsOf(read, pod), nowMs: read.nowMs() }
    },
    plan,
  })
}

const ephemeralVolumes = (pod: Pod): Volume[] => (pod.spec?.volumes ?? []).filter((volume) => volume.ephemeral !== undefined)

function plan({ pod, claims, recorded, nowMs }: Observed): Plan {
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  const eventFor = (volume: Volume, why: string): EventIntent => ({
    of: pod,
    type: 'Warning',
    reason: 'FailedBinding',
    message: `ephemeral volume ${volume.name ?? ''}: ${why}`,
  })
  const actions = ephemeralVolumes(pod).flatMap((volume): Action[] => {
    const name = claimNameOf(pod, volume) ?? ''
    const claim = claims.get(name)
    if (claim === undefined)
      return [
        {
          do: 'create',
          resource: PERSISTENT_VOLUME_CLAIMS,
          object: claimFor(pod, volume, name),
          eventOnFailure: (why) => eventFor(volume, `create PVC ${name}: ${why}`),
        },
      ]
    if (controllerOf(claim)?.uid === pod.metadata.uid) return []
    const at = pod.metadata.namespace ?? ''
    const why = `PVC ${at}/${name} was not created for pod ${at}/${pod.metadata.name ?? ''} (pod is not owner)`
    return recordOnce(eventFor(volume, why), { recorded, component: COMPONENT, nowMs })
  })
  return { actions }
}

function claimFor(pod: Pod, volume: Volume, name: string): KubeObject {
  const { metadata, spec } = volume.ephemeral?.volumeClaimTemplate ?? {}
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: pod.metadata.namespace,
      ...(metadata?.annotations === undefined ? {} : { annotations: metadata.annotations }),
      ...(metadata?.labels === undefined ? {} : { labels: metadata.labels }),
      ownerReferences: [controllerReference(pod)],
    },
    spec,
  }
}
