/** What the seeded worlds may do with Notes, and what holds for them at every moment. */
import type { SeededPart } from '../../src/runtime/seams/seeded.ts'
import { Note } from './note.ts'

export const seeded: SeededPart = {
  generators: [
    {
      name: 'note',
      resource: Note.resource,
      names: ['default/a', 'default/b'],
      draw: (random) => ({ text: random.next() < 0.5 ? 'one' : 'two' }),
      object(where, spec) {
        const [namespace = '', name = ''] = where.split('/')
        return { apiVersion: 'toy.example.dev/v1', kind: 'Note', metadata: { namespace, name }, spec }
      },
    },
  ],
  invariants: [
    {
      says: 'the text of a Note is one of those that people wrote',
      about: ['notes'],
      broken(objects) {
        const strange = objects.list('notes').find(({ spec }) => !['one', 'two'].includes((spec as Note['spec']).text))
        return strange === undefined ? undefined : JSON.stringify(strange)
      },
    },
  ],
}
