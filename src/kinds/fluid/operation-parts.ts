/**
 * What the data operations have in common: when they run, after what, and what became of them. Some fields have two names: that
 * of the design, and that which Fluid built. Admission writes the built one beside the other (`spellings.ts`).
 */
import { type Static, s } from '../schema/builder.ts'
import { count, flag, nodeAffinity, probedCondition, text, textMap, time } from './parts.ts'

const { optional } = s

export const OPERATION_KINDS = ['DataLoad', 'DataBackup', 'DataMigrate', 'DataProcess'] as const
export type OperationKind = (typeof OPERATION_KINDS)[number]

const operation = {
  apiVersion: text('API version of the operation.'),
  kind: s.literals(OPERATION_KINDS, { description: 'Kind of the operation.' }),
  name: s.string({ description: 'Name of the operation.' }),
  namespace: text('Namespace of the operation; default: its own.'),
}

export const runAfter = optional(
  s.object(
    {
      ...operation,
      operationKind: optional(s.literals(OPERATION_KINDS, { description: 'The same as kind: give one of the two.' })),
      affinityStrategy: optional(
        s.object(
          {
            dependOn: optional(s.object(operation, { description: 'The operation to follow; default: the one that this runs after.' })),
            policy: text('Require or Prefer; empty: the nodes do not matter.'),
            prefers: optional(
              s.array(
                s.object({ name: s.string({ description: 'A label of nodes.' }), weight: s.int32({ description: 'How much it counts.' }) }),
                {
                  description: 'Labels that should be the same.',
                },
              ),
            ),
            requires: optional(
              s.array(s.object({ name: s.string({ description: 'A label of nodes.' }) }), { description: 'Labels that must be the same.' }),
            ),
          },
          { description: 'Whether it runs where another one ran.' },
        ),
      ),
    },
    { description: 'The operation that must be complete before.' },
  ),
)

export const policy = s.withDefault(
  s.literals(['Once', 'Cron', 'OnEvent'], { description: 'Once, or by schedule. Nothing runs OnEvent.' }),
  'Once',
)
export const schedule = text('When it runs with policy Cron, as in a CronJob.')
export const ttlSecondsAfterFinished = count('How many seconds after its end it is deleted.')

const wait = (description: string) =>
  optional(
    s.object({ operationComplete: flag('Whether it waits for the operation that it runs after; absent: it does not.') }, { description }),
  )

export const operationStatus = s.object(
  {
    phase: s.string({ description: 'Pending, Executing, Complete or Failed; empty before it is seen.' }),
    duration: s.string({ description: 'How long it took.' }),
    conditions: s.array(probedCondition, { description: 'How it ended.' }),
    infos: textMap('Further facts.'),
    lastScheduleTime: time('When it was last started by schedule.'),
    lastSuccessfulTime: time('When it last succeeded.'),
    waitingFor: wait('Whether it waits for another operation.'),
    waitFor: wait('The same as waitingFor.'),
    nodeAffinity: nodeAffinity('Where it ran.'),
  },
  { description: 'What became of it.' },
)

export const PHASE_COLUMN = { name: 'Phase', type: 'string', jsonPath: '.status.phase' } as const
export const DURATION_COLUMN = { name: 'Duration', type: 'string', jsonPath: '.status.duration' } as const

export type OperationStatus = Static<typeof operationStatus>
export type RunAfter = NonNullable<Static<typeof runAfter>>
