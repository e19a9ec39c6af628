import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepClone, type JsonObject } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { disagreements, writeBuiltNames } from './spellings.ts'

const anOperation = (spec: unknown): KubeObject =>
  ({
    apiVersion: 'data.fluid.io/v1alpha1',
    kind: 'DataProcess',
    metadata: { namespace: 'work', name: 'one' },
    spec,
  }) as unknown as KubeObject

/** What is stored, and what is wrong with it. */
function written(spec: unknown, old?: unknown): { spec: JsonObject; says: string[] } {
  const object = deepClone(anOperation(spec))
  writeBuiltNames(object, old === undefined ? undefined : anOperation(written(old).spec))
  return { spec: object.spec as JsonObject, says: disagreements(object).map(({ field }) => field) }
}

const pod = (image: string) => ({ containers: [{ name: 'c', image }] })
const [POD, OTHER] = [pod('a'), pod('b')]

const CREATED: [string, unknown, unknown][] = [
  [
    'operationKind',
    { runAfter: { operationKind: 'DataLoad', name: 'a' } },
    { runAfter: { operationKind: 'DataLoad', kind: 'DataLoad', name: 'a' } },
  ],
  [
    'only Fluid’s names',
    { runAfter: { kind: 'DataLoad', name: 'a' }, processor: { script: { source: 'ls' } } },
    { runAfter: { kind: 'DataLoad', name: 'a' }, processor: { script: { source: 'ls' } } },
  ],
  [
    'shell with scrip, and the image outside',
    { processor: { shell: { scrip: 'ls' }, image: 'mycode/pre:latest' } },
    {
      processor: {
        shell: { scrip: 'ls', script: 'ls' },
        image: 'mycode/pre:latest',
        script: { source: 'ls', command: ['/bin/sh'], image: 'mycode/pre', imageTag: 'latest' },
      },
    },
  ],
  [
    'shell with a command and an image of its own',
    { processor: { shell: { script: 'ls', command: ['bash'], image: 'host:5000/a', env: [{ name: 'A', value: 'b' }] } } },
    {
      processor: {
        shell: { script: 'ls', command: ['bash'], image: 'host:5000/a', env: [{ name: 'A', value: 'b' }] },
        script: { source: 'ls', command: ['bash'], image: 'host:5000/a', env: [{ name: 'A', value: 'b' }] },
      },
    },
  ],
  [
    'the template of a job',
    { processor: { job: { template: { spec: POD } } } },
    { processor: { job: { template: { spec: POD }, podSpec: POD } } },
  ],
  [
    'a job beside the processor',
    { job: { template: { metadata: { labels: { a: 'b' } }, spec: POD }, completions: 2 } },
    {
      job: { template: { metadata: { labels: { a: 'b' } }, spec: POD }, completions: 2 },
      processor: { job: { template: { metadata: { labels: { a: 'b' } }, spec: POD }, completions: 2, podSpec: POD } },
    },
  ],
]

describe('what is said in the words of the design', () => {
  for (const [what, spec, expected] of CREATED)
    it(`is written in those that Fluid built as well: ${what}`, () => assert.deepEqual(written(spec), { spec: expected, says: [] }))

  it('is written once, whatever the image is called', () => {
    const imageOf = (image: string) =>
      (written({ processor: { shell: { script: 'ls' }, image } }).spec as { processor: { script: JsonObject } }).processor.script
    assert.deepEqual([imageOf('a').image, imageOf('a').imageTag], ['a', undefined])
    assert.deepEqual([imageOf('host:5000/a/b').image, imageOf('host:5000/a/b').imageTag], ['host:5000/a/b', undefined])
    assert.deepEqual([imageOf('a@sha256:0f').image, imageOf('a@sha256:0f').imageTag], ['a@sha256', '0f'])
  })
})

const DISAGREEING: [string, unknown, string][] = [
  ['kinds', { runAfter: { operationKind: 'DataLoad', kind: 'DataMigrate', name: 'a' } }, 'spec.runAfter.operationKind'],
  ['scripts of one shell', { processor: { shell: { scrip: 'a', script: 'b' } } }, 'spec.processor.shell.scrip'],
  ['script and shell', { processor: { shell: { script: 'a' }, script: { source: 'b' } } }, 'spec.processor.shell'],
  ['pods of one job', { processor: { job: { template: { spec: POD }, podSpec: OTHER } } }, 'spec.processor.job.template.spec'],
  ['jobs', { job: { completions: 1 }, processor: { job: { completions: 2 } } }, 'spec.job'],
]

describe('two spellings that differ', () => {
  for (const [what, spec, field] of DISAGREEING) it(`are told on creation: ${what}`, () => assert.deepEqual(written(spec).says, [field]))

  const RUN: [string, unknown, unknown, unknown][] = [
    [
      'the design’s name was changed',
      { runAfter: { operationKind: 'DataLoad', name: 'a' } },
      { runAfter: { operationKind: 'DataMigrate', kind: 'DataLoad', name: 'a' } },
      { runAfter: { operationKind: 'DataMigrate', kind: 'DataMigrate', name: 'a' } },
    ],
    [
      'Fluid’s name was changed',
      { runAfter: { operationKind: 'DataLoad', name: 'a' } },
      { runAfter: { operationKind: 'DataLoad', kind: 'DataMigrate', name: 'a' } },
      { runAfter: { operationKind: 'DataMigrate', kind: 'DataMigrate', name: 'a' } },
    ],
    [
      'the script, with the image outside',
      { processor: { shell: { scrip: 'ls' }, image: 'a:1' } },
      {
        processor: {
          shell: { scrip: 'ls', script: 'ls' },
          image: 'a:1',
          script: { source: 'id', command: ['/bin/sh'], image: 'a', imageTag: '2' },
        },
      },
      {
        processor: {
          shell: { scrip: 'id', script: 'id', command: ['/bin/sh'] },
          image: 'a:2',
          script: { source: 'id', command: ['/bin/sh'], image: 'a', imageTag: '2' },
        },
      },
    ],
    [
      'the pod of a job beside the processor',
      { job: { template: { spec: POD } } },
      { job: { template: { spec: POD } }, processor: { job: { template: { spec: POD }, podSpec: OTHER } } },
      { job: { template: { spec: OTHER } }, processor: { job: { template: { spec: OTHER }, podSpec: OTHER } } },
    ],
    [
      'the job beside the processor',
      { job: { template: { spec: POD } } },
      { job: { template: { spec: OTHER }, completions: 3 }, processor: { job: { template: { spec: POD }, podSpec: POD } } },
      {
        job: { template: { spec: OTHER }, completions: 3 },
        processor: { job: { template: { spec: OTHER }, completions: 3, podSpec: OTHER } },
      },
    ],
  ]
  for (const [what, old, next, expected] of RUN)
    it(`follow the one that an update changed: ${what}`, () => assert.deepEqual(written(next, old), { spec: expected, says: [] }))

  it('are told when an update changed both', () => {
    const old = { runAfter: { operationKind: 'DataLoad', name: 'a' } }
    assert.deepEqual(written({ runAfter: { operationKind: 'DataBackup', kind: 'DataMigrate', name: 'a' } }, old).says, [
      'spec.runAfter.operationKind',
    ])
  })
})

describe('what is taken back', () => {
  const CASES: [string, unknown, unknown, unknown][] = [
    [
      'runAfter, by whoever made only its own fields',
      { runAfter: { operationKind: 'DataLoad', name: 'a' } },
      { runAfter: { kind: 'DataLoad' } },
      {},
    ],
    [
      'shell for a job',
      { processor: { shell: { script: 'ls' }, image: 'a' } },
      { processor: { script: { source: 'ls', command: ['/bin/sh'], image: 'a' }, job: { podSpec: POD } } },
      { processor: { job: { podSpec: POD } } },
    ],
    [
      'a job for a script',
      { job: { template: { spec: POD } }, processor: { serviceAccountName: 's' } },
      { processor: { serviceAccountName: 's', job: { template: { spec: POD }, podSpec: POD }, script: { source: 'ls' } } },
      { processor: { serviceAccountName: 's', script: { source: 'ls' } } },
    ],
    [
      'one spelling for the other',
      { processor: { shell: { script: 'ls' }, image: 'a' } },
      { processor: { script: { source: 'ls', command: ['/bin/sh'], image: 'a' } } },
      { processor: { script: { source: 'ls', command: ['/bin/sh'], image: 'a' } } },
    ],
  ]
  for (const [what, old, next, expected] of CASES)
    it(`leaves nothing of either spelling behind: ${what}`, () => assert.deepEqual(written(next, old), { spec: expected, says: [] }))
})

const word = fc.constantFrom('a', 'b', 'DataLoad', '')
const some: { requiredKeys: never[]; noNullPrototype: true } = { requiredKeys: [], noNullPrototype: true }
const junk = fc.oneof(
  word,
  fc.integer(),
  fc.constant(null),
  fc.array(word, { maxLength: 1 }),
  fc.dictionary(word, word, { maxKeys: 2, noNullPrototype: true }),
)
const shells = fc.record({ script: junk, scrip: junk, command: fc.array(word, { maxLength: 2 }), image: word, env: junk }, some)
const jobs = fc.record({ template: fc.oneof(junk, fc.record({ spec: junk }, some)), podSpec: junk, completions: fc.nat(3) }, some)
const specs = fc.record(
  {
    runAfter: fc.oneof(junk, fc.record({ operationKind: word, kind: word, name: word }, some)),
    processor: fc.oneof(junk, fc.record({ shell: fc.oneof(junk, shells), script: junk, image: junk, job: fc.oneof(junk, jobs) }, some)),
    job: fc.oneof(junk, jobs),
  },
  some,
)

describe('spellings of anything', () => {
  it('agree once they are written, and are then left as they are', () => {
    fc.assert(
      fc.property(specs, fc.option(specs, { nil: undefined }), (spec, old) => {
        const first = written(spec, old)
        const again = deepClone(anOperation(first.spec))
        writeBuiltNames(again, anOperation(first.spec))
        assert.deepEqual(again.spec, first.spec)
      }),
      { numRuns: 500 },
    )
  })
  it('keep what the request said, in the spelling in which it said it', () => {
    fc.assert(
      fc.property(shells, word, (shell, image) => {
        const { spec, says } = written({ processor: { shell, image } })
        const { processor } = spec as { processor: { shell: JsonObject; image: string } }
        for (const [name, value] of Object.entries(shell)) assert.deepEqual(processor.shell[name], value)
        assert.equal(processor.image, image)
        assert.ok(says.length === 0 || (shell.scrip !== undefined && shell.script !== undefined))
      }),
    )
  })
})
