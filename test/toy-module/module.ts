/** A module with a little of everything that a module can have, for the test in this folder and for module authors. */
import { defineAdmission } from '../../src/kinds/admission.ts'
import { invalid } from '../../src/kube/field-error.ts'
import { parsed } from '../../src/kube/parsed.ts'
import { defineModule } from '../../src/runtime/module/module.ts'
import { noteController } from './controller.ts'
import { Note } from './note.ts'
import { seeded } from './seeded.ts'

export interface ToyOptions {
  suffix: string
}

const HOLD = 'toy.example.dev/hold'

export const toy = defineModule<ToyOptions, { suffix(): string }>({
  name: 'toy',
  roles: ['hub', 'member'],
  upstreamLeases: [{ namespace: 'toy-system', name: 'toy-controller' }],
  kinds: { hub: [Note], member: [Note] },
  neverTravel: [Note.group],
  defaults: { suffix: '' },
  flags: [
    {
      flag: '--toy-suffix <text>',
      about: 'added to the text of every Note (default nothing)',
      read: (suffix, options) => parsed({ ...options, suffix }),
    },
  ],
  admission: () => [
    defineAdmission({
      name: 'NoteText',
      about: 'Refuses a Note without a text.',
      resources: [{ group: Note.group, resource: Note.plural }],
      operations: ['CREATE', 'UPDATE'],
      validate: ({ object }) =>
        (object as Note | undefined)?.spec.text === '' ? [invalid('spec.text', '', 'write something down')] : undefined,
    }),
  ],
  httpPaths: () => [
    ({ path }) =>
      path === '/toy.example.dev/hello'
        ? { status: 200, headers: { 'content-type': 'text/plain' }, body: Buffer.from('hello') }
        : undefined,
  ],
  services: (_env, { suffix }) => ({ suffix: () => suffix }),
  controllers: ({ suffix }) => [noteController(suffix)],
  seams: {
    narrowings: () => [
      {
        name: 'toy',
        watches: [],
        of: ({ template }) =>
          template.metadata.annotations?.[HOLD] === undefined
            ? undefined
            : { hold: { reason: 'Toy', message: 'the toy holds it', by: [] } },
      },
    ],
    podAdmissions: () => [
      {
        name: 'ToyLabel',
        about: 'Labels every new pod.',
        mutate(pod) {
          pod.metadata.labels = { ...pod.metadata.labels, 'toy.example.dev/seen': 'true' }
        },
      },
    ],
    volumeDrivers: () => [
      {
        field: 'emptyDir',
        plan: ({ emptyDir }) => (emptyDir?.medium === 'Toy' ? { kind: 'path', path: '/toy', type: '', readOnly: true } : undefined),
      },
    ],
    explainers: [
      {
        name: 'toy',
        at: 'before-schedule',
        async explain({ template }) {
          const isHeld = template?.metadata.annotations?.[HOLD] !== undefined
          if (!isHeld) return { links: [{ what: 'toy', state: 'ok', says: 'the toy lets it pass' }] }
          const says = 'the toy holds it'
          return { links: [{ what: 'toy', state: 'waits', says }], trouble: { state: 'waits', says, fix: `remove the annotation ${HOLD}` } }
        },
      },
    ],
    chapters: [
      {
        name: 'toy',
        title: 'A toy',
        hindrance: () => undefined,
        open: async () => ({ steps: [], look: () => undefined, onChange: () => () => undefined }),
        next: () => [['kubectl get notes', 'what was written down']],
      },
    ],
    seeded,
  },
})
