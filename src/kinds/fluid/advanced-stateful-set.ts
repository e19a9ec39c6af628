/**
 * A StatefulSet that can leave ordinals out, so that a write of `replicas` and `reserveOrdinals` chooses which pods go.
 * The fields are those of OpenKruise's StatefulSet, from which Fluid took it.
 */
import type { PersistentVolumeClaim } from '../kubernetes/types.ts'
import { type Static, s, type Typed } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { CATEGORIES, WORKLOAD_GROUP } from './groups.ts'
import { count, flag, text, textMap, texts, time } from './parts.ts'

const { optional } = s

const hook = (description: string) =>
  optional(
    s.object(
      {
        labelsHandler: textMap('Labels that hold the pod.'),
        finalizersHandler: texts('Finalizers that hold the pod.'),
        markPodNotReady: flag('Whether the pod counts as not ready while it is held.'),
      },
      { description },
    ),
  )

const rollingUpdate = s.object({
  partition: s.withDefault(s.int32({ description: 'Only pods with this ordinal or a higher one are updated.' }), 0),
  maxUnavailable: optional(
    s.intOrString({ description: 'How many pods, or what percentage, may be unavailable during an update; default 1.' }),
  ),
  podUpdatePolicy: text('ReCreate (default), InPlaceIfPossible or InPlaceOnly.'),
  paused: flag('Whether updates stand still.'),
  minReadySeconds: count('How long a pod must be ready before it counts as available.'),
  inPlaceUpdateStrategy: optional(
    s.object(
      { gracePeriodSeconds: count('How long a pod is unready before its images change.') },
      { description: 'How pods are updated in place.' },
    ),
  ),
  unorderedUpdate: optional(
    s.object(
      {
        priorityStrategy: optional(
          s.object({
            orderPriority: optional(
              s.array(s.object({ orderedKey: s.string({ description: 'The label whose value orders the pods.' }) }), {
                description: 'Labels that order the pods.',
              }),
            ),
            weightPriority: optional(
              s.array(
                s.object({
                  matchSelector: s.kubernetes('LabelSelector'),
                  weight: s.int32({ description: 'How much a pod that matches counts.' }),
                }),
                { description: 'Selectors that order the pods.' },
              ),
            ),
          }),
        ),
      },
      { description: 'Updates that do not follow the ordinals.' },
    ),
  ),
})

const claimTemplates: Typed<PersistentVolumeClaim[]> = s.array(s.kubernetes('PersistentVolumeClaim'), {
  description: 'Claims that each pod gets for itself.',
})

const spec = s.object(
  {
    replicas: optional(s.int32({ description: 'How many pods there are; default 1.' })),
    selector: s.kubernetes('LabelSelector', { description: 'The pods of this set. It cannot change.' }),
    template: s.kubernetes('PodTemplateSpec', { description: 'What each pod is made of.' }),
    serviceName: text('The headless Service that names the pods.'),
    podManagementPolicy: text('OrderedReady (default): one pod after the other; Parallel: all at once.'),
    updateStrategy: optional(
      s.object(
        { type: text('RollingUpdate (default) or OnDelete.'), rollingUpdate: optional(rollingUpdate) },
        { description: 'How pods are updated.' },
      ),
    ),
    scaleStrategy: optional(
      s.object({ maxUnavailable: optional(s.intOrString({ description: 'How many pods may be unavailable while pods are added.' })) }),
    ),
    revisionHistoryLimit: count('How many revisions are kept; default 10.'),
    reserveOrdinals: optional(s.array(s.intOrString(), { description: 'Ordinals that get no pod.' })),
    ordinals: optional(s.object({ start: optional(s.int32({ description: 'The first ordinal; default 0.' })) })),
    lifecycle: optional(
      s.object(
        {
          preDelete: hook('Holds pods that are to be deleted.'),
          inPlaceUpdate: hook('Holds pods that are to be updated in place.'),
          preNormal: hook('Holds new pods.'),
        },
        { description: 'What holds pods. Accepted, without effect.' },
      ),
    ),
    volumeClaimTemplates: optional(claimTemplates),
    volumeClaimUpdateStrategy: optional(s.object({ type: text('When claims follow a changed template.') })),
    persistentVolumeClaimRetentionPolicy: optional(
      s.object(
        {
          whenDeleted: text('Retain (default) or Delete, when the set is deleted.'),
          whenScaled: text('Retain (default) or Delete, when a pod goes for good.'),
        },
        { description: 'What happens to the claims of pods.' },
      ),
    ),
  },
  { description: 'Which pods there are.' },
)

const status = s.object(
  {
    observedGeneration: optional(s.int64({ description: 'The generation that this is about.' })),
    replicas: s.int32({ description: 'Pods that exist.' }),
    readyReplicas: s.int32({ description: 'Pods that are ready.' }),
    availableReplicas: s.int32({ description: 'Pods that have been ready for long enough.' }),
    currentReplicas: s.int32({ description: 'Pods of the current revision.' }),
    updatedReplicas: s.int32({ description: 'Pods of the revision that is coming.' }),
    updatedReadyReplicas: count('Pods of the revision that is coming that are ready.'),
    updatedAvailableReplicas: count('Pods of the revision that is coming that are available.'),
    currentRevision: text('The revision before the update.'),
    updateRevision: text('The revision that is coming.'),
    collisionCount: count('How often the name of a revision was taken.'),
    conditions: optional(
      s.array(
        s.object({
          type: s.string(),
          status: s.string(),
          reason: text('Why, in one word.'),
          message: text('For people.'),
          lastTransitionTime: time('When the status last changed.'),
        }),
        { description: 'What is known about it.' },
      ),
    ),
    labelSelector: text('The selector of the pods, as text.'),
    volumeClaims: optional(
      s.array(
        s.object({
          volumeClaimName: s.string(),
          compatibleReplicas: s.int32(),
          compatibleReadyReplicas: s.int32(),
        }),
        { description: 'How many claims match their template.' },
      ),
    ),
  },
  { description: 'How many pods there are.' },
)

export const AdvancedStatefulSet = defineKind({
  group: WORKLOAD_GROUP,
  kind: 'AdvancedStatefulSet',
  plural: 'advancedstatefulsets',
  shortNames: ['asts'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec, status: optional(status) }),
      description: 'AdvancedStatefulSet runs pods that have a name and claims of their own, and can leave out ordinals.',
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.labelSelector' },
      columns: [
        { name: 'DESIRED', type: 'integer', jsonPath: '.spec.replicas' },
        { name: 'CURRENT', type: 'integer', jsonPath: '.status.replicas' },
        { name: 'UPDATED', type: 'integer', jsonPath: '.status.updatedReplicas' },
        { name: 'READY', type: 'integer', jsonPath: '.status.readyReplicas' },
        { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        { name: 'CONTAINERS', type: 'string', jsonPath: '.spec.template.spec.containers[*].name', priority: 1 },
        { name: 'IMAGES', type: 'string', jsonPath: '.spec.template.spec.containers[*].image', priority: 1 },
      ],
    },
  },
})

export type AdvancedStatefulSet = ObjectOf<typeof AdvancedStatefulSet, 'v1alpha1'>
export type AdvancedStatefulSetSpec = Static<typeof spec>
export type AdvancedStatefulSetStatus = Static<typeof status>
