/** What happens when a cluster or an application fails, how conflicts are resolved and what is suspended: shared by policies and bindings. */
import { type Static, s } from '../schema/builder.ts'
import { strings } from './kube-schemas.ts'

const statePreservation = s.object(
  {
    rules: s.array(
      s.object({
        aliasLabelName: s.string({ description: 'The label that carries the value to the next cluster.' }),
        jsonPath: s.string({ description: 'Where the value stands in the status of the failed application.' }),
      }),
      { description: 'What is carried on.' },
    ),
  },
  { description: 'State that the next cluster is told.' },
)

/** Deprecated names of purge modes and their current names; admission rewrites them. */
export const PURGE_MODE_ALIASES: Readonly<Record<string, PurgeMode>> = Object.freeze({ Immediately: 'Directly', Graciously: 'Gracefully' })

export const purgeMode = () =>
  s.literals(['Directly', 'Gracefully', 'Never'], {
    description: 'Whether the old copy goes before the new one comes (Directly), after it works (Gracefully), or stays (Never).',
  })

export const failoverBehavior = s.object(
  {
    application: s.optional(
      s.object(
        {
          decisionConditions: s.object(
            { tolerationSeconds: s.withDefault(s.int32({ description: 'How long an unhealthy application is put up with.' }), 300) },
            { description: 'When the application counts as failed.' },
          ),
          purgeMode: s.withDefault(purgeMode(), 'Gracefully'),
          gracePeriodSeconds: s.optional(s.int32({ description: 'How long to wait for the new copy, with Gracefully; default 600.' })),
          statePreservation: s.optional(statePreservation),
        },
        { description: 'When the application is not healthy.' },
      ),
    ),
    cluster: s.optional(
      s.object(
        {
          purgeMode: s.withDefault(
            s.literals(['Directly', 'Gracefully'], {
              description: 'Whether the old copy goes before the new one comes, or after it works.',
            }),
            'Gracefully',
          ),
          statePreservation: s.optional(statePreservation),
        },
        { description: 'When the cluster fails.' },
      ),
    ),
  },
  { description: 'What happens to work that fails where it is; absent: nothing by itself.' },
)

export const conflictResolution = () =>
  s.withDefault(s.literals(['Abort', 'Overwrite'], { description: 'Whether an object that a member already has is taken over.' }), 'Abort')

export const suspensionFields = {
  dispatching: s.optional(s.boolean({ description: 'Holds back everything on the way to members.' })),
  dispatchingOnClusters: s.optional(
    s.object({ clusterNames: s.optional(strings('The clusters.')) }, { description: 'Holds back what is on the way to these members.' }),
  ),
}

export type PurgeMode = Static<ReturnType<typeof purgeMode>>
export type StatePreservation = Static<typeof statePreservation>
export type FailoverBehavior = Static<typeof failoverBehavior>
export type ApplicationFailoverBehavior = NonNullable<FailoverBehavior['application']>
