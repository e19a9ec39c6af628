/** An engine that a CacheRuntime can name: the pods of its components and how they are asked. Its fields are not below `spec`. */
import { type Static, s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { CATEGORIES, DATA_GROUP } from './groups.ts'
import { count, flag, text, textMap, texts } from './parts.ts'

const { optional } = s

const entry = (description: string) =>
  optional(
    s.object(
      {
        command: s.array(s.string(), { description: 'The command and its arguments.' }),
        timeout: count('Seconds it may take; at least 20.'),
      },
      { description },
    ),
  )

const component = (description: string) =>
  optional(
    s.object(
      {
        options: textMap('Options of the component, unless the runtime says otherwise.'),
        template: optional(s.kubernetes('PodTemplateSpec', { description: 'The pods. Runtimes change their first container only.' })),
        service: optional(
          s.object(
            { headless: optional(s.object({}, { description: 'If present: a headless Service.' })) },
            { description: 'How the pods are found.' },
          ),
        ),
        dependencies: optional(
          s.object(
            {
              secretMount: optional(s.object({ enabled: flag('Whether Secrets of mounts are mounted; default: not for clients.') })),
              extraResources: optional(
                s.object({
                  configMaps: optional(
                    s.array(
                      s.object({ name: text('A ConfigMap of the extraResources of the class.'), mountPath: text('Where it is mounted.') }),
                      { description: 'ConfigMaps to mount.' },
                    ),
                  ),
                }),
              ),
            },
            { description: 'What the pods need besides.' },
          ),
        ),
        executionEntries: optional(
          s.object(
            {
              mountUFS: entry('Mounts the sources of the dataset, and prints {"mounted":["/path",…]}.'),
              reportSummary: entry('Prints how much is cached, as JSON.'),
            },
            { description: 'Commands that are run in the first pod.' },
          ),
        ),
      },
      { description },
    ),
  )

const topology = s.object(
  {
    master: component('The pods that know the files.'),
    worker: component('The pods that hold the cache.'),
    client: component('The pods that give other pods access.'),
  },
  { description: 'The components. At least one is needed.' },
)

const dataOperation = s.object({
  name: s.literals(['DataLoad', 'DataBackup', 'DataMigrate', 'DataProcess'], { description: 'The kind of operation.' }),
  image: text('The image that does it.'),
  command: texts('The command.'),
  args: texts('Its arguments.'),
})

export const CacheRuntimeClass = defineKind({
  group: DATA_GROUP,
  kind: 'CacheRuntimeClass',
  plural: 'cacheruntimeclasses',
  categories: CATEGORIES,
  scope: 'Cluster',
  versions: {
    v1alpha1: {
      schema: s.object({
        fileSystemType: s.string({ description: 'What the engine is called.' }),
        topology: optional(topology),
        extraResources: optional(
          s.object(
            {
              configMaps: optional(
                s.array(s.object({ name: text('Its name.'), data: textMap('Its content.') }), {
                  description: 'ConfigMaps that every runtime of the class gets.',
                }),
              ),
            },
            { description: 'Objects besides the pods.' },
          ),
        ),
        dataOperationSpecs: optional(s.array(dataOperation, { description: 'The data operations that the engine can do.' })),
      }),
      description: 'CacheRuntimeClass is an engine: the pods that a CacheRuntime which names it runs.',
    },
  },
})

export type CacheRuntimeClass = ObjectOf<typeof CacheRuntimeClass, 'v1alpha1'>
export type CacheRuntimeTopology = Static<typeof topology>
export type CacheRuntimeComponent = NonNullable<CacheRuntimeTopology['worker']>
