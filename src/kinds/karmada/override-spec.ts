/** The spec of OverridePolicy and ClusterOverridePolicy: which objects are changed, how, and for which clusters. */
import { type Static, s } from '../schema/builder.ts'
import { clusterAffinity } from './cluster-affinity.ts'
import { strings } from './kube-schemas.ts'
import { resourceSelector } from './resource-selector.ts'

const operator = () => s.literals(['add', 'remove', 'replace'], { description: 'What is done.' })

const plaintextOverrider = s.object({
  path: s.string({ description: 'The field, as a JSON pointer.' }),
  operator: operator(),
  value: s.optional(s.anything({ description: 'What the field becomes.' })),
})

const imageOverrider = s.object({
  predicate: s.optional(
    s.object(
      { path: s.string({ description: 'The field with the image, as a JSON pointer.' }) },
      { description: 'Absent: the images of all pods.' },
    ),
  ),
  component: s.literals(['Registry', 'Repository', 'Tag'], { description: 'The part of the image.' }),
  operator: operator(),
  value: s.optional(s.string({ description: 'What the part becomes.' })),
})

const commandArgsOverrider = s.object({
  containerName: s.string({ description: 'The container.' }),
  operator: s.literals(['add', 'remove'], { description: 'What is done.' }),
  value: s.optional(strings('What is added or removed.')),
})

const labelAnnotationOverrider = s.object({
  operator: operator(),
  value: s.map(s.string(), { description: 'Keys and values.' }),
})

const patch = s.object({
  subPath: s.string({ description: 'The field in the text, as a JSON pointer.' }),
  operator: operator(),
  value: s.optional(s.anything({ description: 'What the field becomes.' })),
})

const fieldOverrider = s.object({
  fieldPath: s.string({ description: 'The field that holds the text, as a JSON pointer.' }),
  json: s.optional(s.array(patch, { description: 'Changes where the text is JSON.' })),
  yaml: s.optional(s.array(patch, { description: 'Changes where the text is YAML.' })),
})

const overriders = (description: string) =>
  s.object(
    {
      plaintext: s.optional(s.array(plaintextOverrider, { description: 'Any field.' })),
      imageOverrider: s.optional(s.array(imageOverrider, { description: 'Images.' })),
      commandOverrider: s.optional(s.array(commandArgsOverrider, { description: 'Commands of containers.' })),
      argsOverrider: s.optional(s.array(commandArgsOverrider, { description: 'Arguments of containers.' })),
      labelsOverrider: s.optional(s.array(labelAnnotationOverrider, { description: 'Labels.' })),
      annotationsOverrider: s.optional(s.array(labelAnnotationOverrider, { description: 'Annotations.' })),
      fieldOverrider: s.optional(s.array(fieldOverrider, { description: 'JSON or YAML inside a field of text.' })),
    },
    { description },
  )

const overrideRule = s.object({
  targetCluster: s.optional(clusterAffinity('The clusters; absent: all.')),
  overriders: overriders('The changes.'),
})

const overrideSpec = s.object(
  {
    resourceSelectors: s.optional(s.array(resourceSelector, { description: 'The objects; empty: all.' })),
    overrideRules: s.optional(s.array(overrideRule, { description: 'The changes, by clusters.' })),
    targetCluster: s.optional(clusterAffinity('Deprecated: see overrideRules.')),
    overriders: s.optional(overriders('Deprecated: see overrideRules.')),
  },
  { description: 'What changes where.' },
)

export const overrideSchema = s.object({ spec: overrideSpec })

export type OverrideSpec = Static<typeof overrideSpec>
export type OverrideRule = Static<typeof overrideRule>
export type Overriders = Static<ReturnType<typeof overriders>>
export type PlaintextOverrider = Static<typeof plaintextOverrider>
export type ImageOverrider = Static<typeof imageOverrider>
export type CommandArgsOverrider = Static<typeof commandArgsOverrider>
export type LabelAnnotationOverrider = Static<typeof labelAnnotationOverrider>
export type FieldOverrider = Static<typeof fieldOverrider>
export type FieldPatch = Static<typeof patch>
