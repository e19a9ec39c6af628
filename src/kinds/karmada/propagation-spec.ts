/** The spec of PropagationPolicy and ClusterPropagationPolicy, which differ only in scope, and how the two are listed. */
import { type Static, s } from '../schema/builder.ts'
import { conflictResolution, failoverBehavior, suspensionFields } from './failover.ts'
import { AGE_COLUMN, strings } from './kube-schemas.ts'
import { placement } from './placement.ts'
import { resourceSelector } from './resource-selector.ts'
import { DEFAULT_SCHEDULER } from './well-known.ts'

const propagationSpec = s.object(
  {
    resourceSelectors: s.array(resourceSelector, { minItems: 1, description: 'The objects that are propagated.' }),
    association: s.optional(s.boolean({ description: 'Deprecated and without effect; see propagateDeps.' })),
    propagateDeps: s.optional(s.boolean({ description: 'Whether what the objects refer to follows them.' })),
    placement: s.optional(placement),
    priority: s.withDefault(s.int32({ description: 'Of several policies that match, the highest counts.' }), 0),
    preemption: s.withDefault(
      s.literals(['Always', 'Never'], { description: 'Whether objects are taken over from policies of lower priority.' }),
      'Never',
    ),
    dependentOverrides: s.optional(strings('Override policies that must exist before anything is propagated.')),
    schedulerName: s.withDefault(s.string({ description: 'Who schedules.' }), DEFAULT_SCHEDULER),
    failover: s.optional(failoverBehavior),
    conflictResolution: conflictResolution(),
    activationPreference: s.optional(
      s.literals(['Lazy'], { description: 'Changes of the policy wait until the object itself changes; absent: they count at once.' }),
    ),
    suspension: s.optional(s.object(suspensionFields, { description: 'What is held back.' })),
    preserveResourcesOnDeletion: s.optional(s.boolean({ description: 'Whether objects stay in members when they are deleted here.' })),
    schedulePriority: s.optional(
      s.object(
        {
          priorityClassSource: s.literals(['KubePriorityClass'], { description: 'What kind of class it is.' }),
          priorityClassName: s.string({ description: 'The class whose value is the priority.' }),
        },
        { description: 'Who is scheduled first.' },
      ),
    ),
  },
  { description: 'What goes where, and how.' },
)

export const propagationSchema = s.object({ spec: propagationSpec })

export const propagationColumns = [
  { name: 'CONFLICT-RESOLUTION', type: 'string', jsonPath: '.spec.conflictResolution' },
  { name: 'PRIORITY', type: 'string', jsonPath: '.spec.priority' },
  AGE_COLUMN,
] as const

export type PropagationSpec = Static<typeof propagationSpec>
export type Suspension = NonNullable<PropagationSpec['suspension']>
