/** The kind of the toy module: a text that should be in a ConfigMap. */
import { s } from '../../src/kinds/schema/builder.ts'
import { defineKind, type ObjectOf } from '../../src/kinds/schema/define-kind.ts'

export const Note = defineKind({
  group: 'toy.example.dev',
  kind: 'Note',
  plural: 'notes',
  scope: 'Namespaced',
  versions: {
    v1: {
      storage: true,
      schema: s.object({ spec: s.object({ text: s.string({ description: 'What is to be written down.' }) }) }),
    },
  },
})

export type Note = ObjectOf<typeof Note, 'v1'>
