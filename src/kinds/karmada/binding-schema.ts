/** Spec and status of ResourceBinding and ClusterResourceBinding: one object, what it needs, where it goes and its state there. */
import { type Static, s } from '../schema/builder.ts'
import { conflictResolution, failoverBehavior, purgeMode, suspensionFields } from './failover.ts'
import { AGE_COLUMN, conditions, nodeSelector, resourceList, strings, toleration } from './kube-schemas.ts'
import { placement } from './placement.ts'

const objectReference = s.object(
  {
    apiVersion: s.string({ description: 'The apiVersion of the object.' }),
    kind: s.string({ description: 'The kind of the object.' }),
    namespace: s.optional(s.string({ description: 'The namespace of the object.' })),
    name: s.string({ description: 'The name of the object.' }),
    uid: s.optional(s.string({ description: 'The uid of the object.' })),
    resourceVersion: s.optional(s.string({ description: 'The version of the object this was made from.' })),
  },
  { description: 'The object that is propagated.' },
)

const nodeClaim = s.object(
  {
    hardNodeAffinity: s.optional(nodeSelector),
    nodeSelector: s.optional(s.map(s.string(), { description: 'Labels of nodes that can take the pods.' })),
    tolerations: s.optional(s.array(toleration, { description: 'Taints of nodes that the pods put up with.' })),
  },
  { description: 'Nodes that can take a replica.' },
)

const requirementFields = {
  nodeClaim: s.optional(nodeClaim),
  resourceRequest: s.optional(resourceList('What one replica needs.')),
  priorityClassName: s.optional(s.string({ description: 'The priority class of the pods.' })),
}

const replicaRequirements = s.object(
  { ...requirementFields, namespace: s.optional(s.string({ description: 'The namespace of the pods.' })) },
  { description: 'What one replica needs.' },
)

const bindingComponent = s.object(
  {
    name: s.string({ maxLength: 32, description: 'The name of the component.' }),
    replicas: s.int32({ description: 'Its replicas.' }),
    replicaRequirements: s.optional(s.object(requirementFields, { description: 'What one of its replicas needs.' })),
  },
  { description: 'A part of the workload with pods of its own.' },
)

const targetCluster = s.object(
  {
    name: s.string({ description: 'The cluster.' }),
    replicas: s.optional(s.int32({ description: 'The replicas it gets.' })),
    components: s.optional(
      s.array(
        s.object({ name: s.string({ description: 'The component.' }), replicas: s.int32({ description: 'The replicas it gets.' }) }),
        { description: 'The components it gets.' },
      ),
    ),
  },
  { description: 'A cluster that was chosen.' },
)

const gracefulEvictionTask = s.object(
  {
    fromCluster: s.string({ description: 'The cluster that is left.' }),
    purgeMode: s.optional(purgeMode()),
    replicas: s.optional(s.int32({ description: 'The replicas it had.' })),
    reason: s.string({
      minLength: 1,
      maxLength: 32,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      description: 'Why, for programs.',
    }),
    message: s.optional(s.string({ maxLength: 1024, description: 'Why, for people.' })),
    producer: s.string({ description: 'Who decided.' }),
    gracePeriodSeconds: s.optional(s.int32({ description: 'How long to wait for the new copy.' })),
    suppressDeletion: s.optional(s.boolean({ description: 'True: the old copy stays until somebody says otherwise; false: it goes now.' })),
    preservedLabelState: s.optional(s.map(s.string(), { description: 'Labels the new copy gets.' })),
    creationTimestamp: s.optional(s.time({ description: 'When it was decided.' })),
    clustersBeforeFailover: s.optional(strings('The clusters before.')),
  },
  { description: 'A cluster that is being left.' },
)

const requiredBy = s.object(
  {
    namespace: s.optional(s.string({ description: 'The namespace of the binding.' })),
    name: s.string({ description: 'The name of the binding.' }),
    clusters: s.optional(s.array(targetCluster, { description: 'Where it was scheduled to.' })),
  },
  { description: 'A binding that this object must follow.' },
)

const bindingSpec = s.object(
  {
    resource: objectReference,
    propagateDeps: s.optional(s.boolean({ description: 'Whether what the object refers to follows it.' })),
    replicaRequirements: s.optional(replicaRequirements),
    replicas: s.optional(s.int32({ description: 'The replicas of the object.' })),
    components: s.optional(s.array(bindingComponent, { description: 'Its components, when it has several kinds of pods.' })),
    clusters: s.optional(s.array(targetCluster, { description: 'Where it goes: written by the scheduler.' })),
    placement: s.optional(placement),
    gracefulEvictionTasks: s.optional(s.array(gracefulEvictionTask, { description: 'Clusters that are being left.' })),
    requiredBy: s.optional(s.array(requiredBy, { description: 'Bindings that this object must follow.' })),
    schedulerName: s.optional(s.string({ description: 'Who schedules.' })),
    failover: s.optional(failoverBehavior),
    conflictResolution: conflictResolution(),
    rescheduleTriggeredAt: s.optional(s.time({ description: 'When somebody asked to schedule anew.' })),
    suspension: s.optional(
      s.object(
        { ...suspensionFields, scheduling: s.optional(s.boolean({ description: 'Holds back scheduling.' })) },
        { description: 'What is held back.' },
      ),
    ),
    preserveResourcesOnDeletion: s.optional(s.boolean({ description: 'Whether the object stays in members when it is deleted here.' })),
    schedulePriority: s.optional(
      s.object(
        { priority: s.withDefault(s.int32({ description: 'The highest is scheduled first.' }), 0) },
        { description: 'Who is scheduled first.' },
      ),
    ),
    workloadAffinityGroups: s.optional(
      s.object(
        {
          affinityGroup: s.optional(s.string({ description: '`label=value` of the workloads this one stays with.' })),
          antiAffinityGroup: s.optional(s.string({ description: '`label=value` of the workloads this one stays away from.' })),
        },
        { description: 'How the workload stands to others.' },
      ),
    ),
  },
  { description: 'What goes where.' },
)

const health = () => s.literals(['Healthy', 'Unhealthy', 'Unknown'], { description: 'Whether it is well there.' })

const aggregatedStatusItem = s.object(
  {
    clusterName: s.string({ description: 'The cluster.' }),
    status: s.optional(s.open({}, { description: 'The status of the object there.' })),
    applied: s.optional(s.boolean({ description: 'Whether the object is there as it should be.' })),
    appliedMessage: s.optional(s.string({ description: 'Why not.' })),
    health: s.optional(health()),
  },
  { description: 'How the object is in one cluster.' },
)

const bindingStatus = s.object(
  {
    schedulerObservedGeneration: s.optional(s.int64({ description: 'The generation the scheduler has seen.' })),
    schedulerObservingAffinityName: s.optional(s.string({ description: 'The group of clusters that is in use.' })),
    lastScheduledTime: s.optional(s.time({ description: 'When it was last scheduled.' })),
    conditions: s.optional(conditions('Scheduled and FullyApplied.')),
    aggregatedStatus: s.optional(s.array(aggregatedStatusItem, { description: 'How the object is, by cluster.' })),
  },
  { description: 'How far it got.' },
)

export const bindingSchema = s.object({ spec: bindingSpec, status: s.optional(bindingStatus) })

export const bindingColumns = [
  { name: 'SCHEDULED', type: 'string', jsonPath: '.status.conditions[?(@.type=="Scheduled")].status' },
  { name: 'FULLYAPPLIED', type: 'string', jsonPath: '.status.conditions[?(@.type=="FullyApplied")].status' },
  AGE_COLUMN,
] as const

export type BindingSpec = Static<typeof bindingSpec>
export type BindingStatus = Static<typeof bindingStatus>
export type ReplicaRequirements = Static<typeof replicaRequirements>
export type BindingComponent = Static<typeof bindingComponent>
export type TargetCluster = Static<typeof targetCluster>
export type GracefulEvictionTask = Static<typeof gracefulEvictionTask>
export type BindingSnapshot = Static<typeof requiredBy>
export type BindingSuspension = NonNullable<BindingSpec['suspension']>
export type AggregatedStatusItem = Static<typeof aggregatedStatusItem>
