/** A cache that is run by EFC. Nothing here serves it. */
import { s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { CATEGORIES, DATA_GROUP } from './groups.ts'
import { cleanPolicy, flag, networkMode, nodeSelector, podMetadata, portMap, resources, text, textMap, versionSpec } from './parts.ts'
import {
  ALL_COLUMNS,
  cleanCachePolicy,
  componentReplicas,
  fuseGlobalWithoutEffect,
  runtimeReplicas,
  runtimeStatus,
  SCALE,
  tieredstore,
} from './runtime-parts.ts'

const { optional } = s

const properties = textMap('Properties of EFC.')
const version = versionSpec('The image.')

const component = (description: string) =>
  optional(
    s.object(
      {
        version,
        replicas: componentReplicas,
        properties,
        ports: portMap,
        resources,
        disabled: flag('Whether this component is left out.'),
        nodeSelector,
        podMetadata,
        networkMode,
      },
      { description },
    ),
  )

const spec = s.object(
  {
    master: component('The masters.'),
    worker: component('The workers.'),
    initFuse: optional(s.object({ version }, { description: 'What prepares a node.' })),
    fuse: optional(
      s.object(
        { version, properties, resources, nodeSelector, cleanPolicy, podMetadata, networkMode, global: fuseGlobalWithoutEffect },
        { description: 'The mount of each node.' },
      ),
    ),
    tieredstore,
    replicas: runtimeReplicas,
    osAdvise: optional(
      s.object(
        { osVersion: text('The operating system of the nodes.'), enabled: flag('Whether it is tuned.') },
        { description: 'How nodes are tuned.' },
      ),
    ),
    cleanCachePolicy,
    podMetadata,
  },
  { description: 'Which cache is wanted.' },
)

export const EFCRuntime = defineKind({
  group: DATA_GROUP,
  kind: 'EFCRuntime',
  plural: 'efcruntimes',
  shortNames: ['efc'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: optional(spec), status: optional(runtimeStatus) }),
      description: 'EFCRuntime caches the Dataset of its name with EFC.',
      scale: SCALE,
      columns: ALL_COLUMNS,
    },
  },
})

export type EFCRuntime = ObjectOf<typeof EFCRuntime, 'v1alpha1'>
