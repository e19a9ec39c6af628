/** Scripts that define how one kind is read and written. */
import { type Static, s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import type { InterpreterOperation } from './interpreter-operations.ts'
import { AGE_COLUMN, CATEGORIES, GROUPS } from './kube-schemas.ts'

const script = (description: string) =>
  s.optional(s.object({ luaScript: s.string({ description: 'The script, in Lua.' }) }, { description }))

const customizations = s.object(
  {
    retention: script('What a member keeps of its own when the object is updated.'),
    replicaResource: script('How many replicas the object asks for, and what each needs.'),
    componentResource: script('Which components the object has, and what each needs.'),
    replicaRevision: script('How the object looks with another number of replicas.'),
    statusReflection: script('What of its status is brought back.'),
    statusAggregation: script('How the statuses of members become one.'),
    healthInterpretation: script('Whether the object is well.'),
    dependencyInterpretation: script('What the object refers to.'),
  },
  { description: 'The scripts, by question.' },
)

const spec = s.object(
  {
    target: s.object(
      { apiVersion: s.string({ description: 'The apiVersion of the kind.' }), kind: s.string({ description: 'The kind.' }) },
      { description: 'The kind the scripts are about.' },
    ),
    customizations,
  },
  { description: 'The scripts for a kind.' },
)

export const ResourceInterpreterCustomization = defineKind({
  group: GROUPS.config,
  kind: 'ResourceInterpreterCustomization',
  plural: 'resourceinterpretercustomizations',
  shortNames: ['ric'],
  categories: CATEGORIES,
  scope: 'Cluster',
  versions: {
    v1alpha1: {
      schema: s.object({ spec }),
      description: 'ResourceInterpreterCustomization says in scripts how a kind is interpreted.',
      columns: [
        { name: 'TARGET-API-VERSION', type: 'string', jsonPath: '.spec.target.apiVersion' },
        { name: 'TARGET-KIND', type: 'string', jsonPath: '.spec.target.kind' },
        AGE_COLUMN,
      ],
    },
  },
})

export type ResourceInterpreterCustomization = ObjectOf<typeof ResourceInterpreterCustomization, 'v1alpha1'>
export type CustomizationRules = Static<typeof customizations>

/** The script of each operation. */
export const SCRIPT_OF_OPERATION: Readonly<Partial<Record<InterpreterOperation, keyof CustomizationRules>>> = Object.freeze({
  Retain: 'retention',
  InterpretReplica: 'replicaResource',
  InterpretComponent: 'componentResource',
  ReviseReplica: 'replicaRevision',
  InterpretStatus: 'statusReflection',
  AggregateStatus: 'statusAggregation',
  InterpretHealth: 'healthInterpretation',
  InterpretDependency: 'dependencyInterpretation',
})
