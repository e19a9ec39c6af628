import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { KubeObject, ObjectMeta } from '../../../kube/meta.ts'
import { DataBackup, DataLoad, DataMigrate, DataProcess, Dataset } from '../index.ts'
import { admit, anObject, type Coming } from './testing.ts'

const dataset = { name: 'images', namespace: 'work' }
const load = (spec: object, metadata: ObjectMeta = {}): KubeObject => anObject(DataLoad, { spec: { dataset, ...spec } }, metadata)
const migrate = (spec: object): KubeObject =>
  anObject(DataMigrate, { spec: { from: { externalStorage: { uri: 's3://lake/a' } }, to: { dataset }, ...spec } })
const backup = (backupPath: string): KubeObject => anObject(DataBackup, { spec: { dataset: 'images', backupPath } })
const script = { image: 'busybox', source: 'ls' }
const podSpec = { containers: [{ name: 'c', image: 'busybox' }] }
const process = (spec: object, at: object = {}): KubeObject =>
  anObject(DataProcess, { spec: { dataset: { name: 'images', mountPath: '/data', ...at }, processor: { script }, ...spec } })

const refused = async (object: KubeObject, coming: Coming = {}): Promise<string[]> => {
  const { schema, refused: errors } = await admit(object, coming)
  return [...schema, ...errors]
}

const REFUSED: [string, KubeObject, RegExp][] = [
  [
    'a load of nothing',
    anObject(DataLoad, { spec: {} }),
    /^spec\.dataset: .*no dataset is named: say which one \(TargetDatasetNotFound\)$/,
  ],
  [
    'a load of another namespace',
    load({ dataset: { name: 'images', namespace: 'other' } }),
    /^spec\.dataset\.namespace: .*dataLoad\(one\) namespace is not same as dataset: create it in namespace other \(TargetDatasetNamespaceNotSame\)$/,
  ],
  ['a path that leads out', load({ target: [{ path: '/a/../..' }] }), /^spec\.target\[0\]\.path: .*contains "\.\.".*\(PathNotSupported\)$/],
  ['no copies', load({ target: [{ path: '/a', replicas: -1 }] }), /^spec\.target\[0\]\.replicas: .*write 1 or more/],
  ['Cron without a schedule', load({ policy: 'Cron' }), /^spec\.schedule: .*policy Cron needs a schedule.*\(ScheduleNotSpecified\)$/],
  ['a schedule that is none', load({ policy: 'Cron', schedule: 'often' }), /^spec\.schedule: .*"often" is no schedule/],
  ['OnEvent', load({ policy: 'OnEvent' }), /^spec\.policy: .*OnEvent is never run.*use Once, or Cron.*\(DataOperationNotSupport\)$/],
  ['a negative time to live', load({ ttlSecondsAfterFinished: -1 }), /^spec\.ttlSecondsAfterFinished: .*write 0 to delete it at once/],
  ['a name that its Job could not have', load({}, { name: 'a'.repeat(53) }), /^metadata\.name: .*use at most 52/],
  [
    'a name that its CronJob could not have',
    load({ policy: 'Cron', schedule: '0 3 * * *' }, { name: 'a'.repeat(42) }),
    /^metadata\.name: .*use at most 41/,
  ],
  [
    'an unknown strategy',
    load({ runAfter: { kind: 'DataLoad', name: 'a', affinityStrategy: { policy: 'Must' } } }),
    /affinityStrategy\.policy: .*"Must" is unknown: write Require or Prefer/,
  ],
  [
    'a weight of nothing',
    load({ runAfter: { kind: 'DataLoad', name: 'a', affinityStrategy: { prefers: [{ name: 'zone', weight: 0 }] } } }),
    /prefers\[0\]\.weight: .*write 1 to 100/,
  ],
  [
    'a migrate into another namespace',
    migrate({ to: { dataset: { name: 'images', namespace: 'other' } } }),
    /^spec\.to\.dataset\.namespace: .*DataMigrate namespace is not same as dataset: .*\(TargetDatasetNamespaceNotSame\)$/,
  ],
  [
    'a migrate out of another namespace',
    migrate({ from: { dataset: { name: 'a', namespace: 'other' } } }),
    /^spec\.from\.dataset\.namespace: .*mounts dataset:\/\/other\/a, and name it instead/,
  ],
  [
    'a migrate from two places',
    migrate({ from: { dataset, externalStorage: { uri: 's3://a' } } }),
    /^spec\.from: .*give either dataset or externalStorage/,
  ],
  ['a migrate without a dataset', migrate({ to: { externalStorage: { uri: 'pvc://a' } } }), /^spec\.to: .*no dataset takes part/],
  [
    'a migrate to a web server',
    migrate({ from: { dataset }, to: { externalStorage: { uri: 'https://a/b' } } }),
    /^spec\.to\.externalStorage\.uri: .*nothing can be written to/,
  ],
  [
    'a backup into a bucket',
    backup('s3://a/b'),
    /^spec\.backupPath: .*Only support pvc and local path now: write pvc:.*\(PathNotSupported\)$/,
  ],
  ['a backup that leads out', backup('pvc://a/../b'), /^spec\.backupPath: .*contains "\.\."/],
  [
    'no processor',
    process({ processor: {} }),
    /^spec\.processor: .*DataProcess's spec\.processor is not specified: give script .*\(ProcessorNotSpecified\)$/,
  ],
  [
    'two processors',
    process({ processor: { script, job: { podSpec } } }),
    /^spec\.processor: .*DataProcess has specified multiple processors: remove either script or job.*\(MultipleProcessorSpecified\)$/,
  ],
  [
    'two processors in the words of the design',
    process({ processor: { shell: { scrip: 'ls' }, image: 'a:b' }, job: { template: { spec: podSpec } } }),
    /multiple processors: remove either shell or job/,
  ],
  [
    'a script without an image',
    process({ processor: { shell: { script: 'ls' } } }),
    /its script needs an image to run in: give processor\.image/,
  ],
  ['a job without a pod', process({ processor: { job: { completions: 1 } } }), /its job has no container: give template, or podSpec/],
  ['an image for nothing', process({ processor: { image: 'a', job: { podSpec } } }), /^spec\.processor\.image: .*belongs to shell/],
  [
    'a Job that would never run',
    process({ processor: { job: { podSpec, suspend: true } } }),
    /^spec\.processor\.job\.suspend: .*never run/,
  ],
  [
    'a volume where the dataset goes',
    process({ processor: { script: { ...script, volumes: [{ name: 'v' }], volumeMounts: [{ name: 'v', mountPath: '/data/' }] } } }),
    /^spec\.processor\.script\.volumeMounts\[0\]\.mountPath: .*DataProcess has conflict volume mount paths: .*\(ConflictMountPath\)$/,
  ],
  [
    'the same in an init container',
    process({
      processor: { job: { podSpec: { ...podSpec, initContainers: [{ name: 'i', volumeMounts: [{ name: 'v', mountPath: '/data' }] }] } } },
    }),
    /^spec\.processor\.job\.podSpec\.initContainers\[0\]\.volumeMounts\[0\]\.mountPath: .*ConflictMountPath/,
  ],
  [
    'a volume of a name that is added',
    process({ processor: { script: { ...script, volumes: [{ name: 'fluid-dataset-vol' }] } } }),
    /^spec\.processor\.script\.volumes\[0\]\.name: .*choose another name/,
  ],
  [
    'a process of another namespace',
    process({}, { namespace: 'other' }),
    /^spec\.dataset\.namespace: .*DataProcess's namespace is not same as its spec\.dataset: .*mounts dataset:\/\/other\/images \(TargetDatasetNamespaceNotSame\)$/,
  ],
  ['a relative mount path', process({}, { mountPath: 'data' }), /^spec\.dataset\.mountPath: .*"data" is not absolute/],
  ['a sub path that leads out', process({}, { subPath: '../b' }), /^spec\.dataset\.subPath: .*contains "\.\."/],
  ['an absolute sub path', process({}, { subPath: '/b' }), /^spec\.dataset\.subPath: .*is absolute/],
]

describe('admission of data operations', () => {
  for (const [what, object, says] of REFUSED)
    it(`refuses ${what}`, async () => {
      const errors = await refused(object)
      assert.equal(errors.length, 1, errors.join('\n'))
      assert.match(errors[0] ?? '', says)
    })

  const TAKEN: [string, KubeObject][] = [
    ['a load of everything, without a namespace', load({ dataset: { name: 'images' } })],
    ['a load by schedule in a time zone', load({ policy: 'Cron', schedule: 'CRON_TZ=Europe/Berlin 0 3 * * *' })],
    ['a migrate by several copiers without ssh', migrate({ parallelism: 4 })],
    ['a migrate from what only its engine knows', migrate({ from: { externalStorage: { uri: 'minio://minio:9000/test/' } } })],
    ['a migrate from the web', migrate({ from: { externalStorage: { uri: 'https://example.com/models' } } })],
    ['a backup of a directory of a node', backup('local:///backup')],
    [
      'a job in the words of the design',
      process({ processor: { serviceAccountName: 's' }, job: { template: { spec: podSpec }, backoffLimit: 1 } }),
    ],
    [
      'a shell in the words of the design',
      process({
        processor: { shell: { scrip: 'ls' }, image: 'a:b', serviceAccountName: 's' },
        runAfter: { operationKind: 'DataLoad', name: 'a', namespace: 'work' },
      }),
    ],
  ]
  for (const [what, object] of TAKEN) it(`takes ${what}`, async () => assert.deepEqual(await refused(object), []))

  it('stores what the design calls otherwise under the names that Fluid built, with nothing lost', async () => {
    const { object, unknown } = await admit(
      process({ processor: { shell: { scrip: 'ls' }, image: 'a:b' }, runAfter: { operationKind: 'DataLoad', name: 'a' } }),
    )
    assert.deepEqual(unknown, [])
    const { runAfter, processor } = object.spec as { runAfter: object; processor: { script: object; shell: object } }
    assert.deepEqual(runAfter, { operationKind: 'DataLoad', kind: 'DataLoad', name: 'a' })
    assert.deepEqual(processor.script, { restartPolicy: 'Never', command: ['/bin/sh'], source: 'ls', image: 'a', imageTag: 'b' })
  })

  it('names directories of nodes only where the administrator allows them', async () => {
    for (const object of [backup('local:///etc'), migrate({ from: { externalStorage: { uri: 'local:///etc' } } })]) {
      assert.match((await refused(object, { hostPathPrefixes: ['/data'] })).join(), /"\/etc" is a directory of the node/)
      assert.deepEqual(await refused(object, { hostPathPrefixes: ['/etc'] }), [])
    }
  })
})

describe('a circle of operations', () => {
  const after = (name: string, kind: string, before: string): KubeObject =>
    (kind === 'DataLoad' ? load : process)({ runAfter: { kind: before.split('/')[0], name: before.split('/')[1] } }, { name }) as KubeObject
  const named = (name: string, object: KubeObject): KubeObject => ({ ...object, metadata: { ...object.metadata, name } })
  it('is refused with all who are in it', async () => {
    const existing = [named('b', after('b', 'DataProcess', 'DataLoad/c')), after('c', 'DataLoad', 'DataLoad/a')]
    assert.deepEqual(await refused(after('a', 'DataLoad', 'DataProcess/b'), { existing }), [
      'spec.runAfter: Forbidden: DataLoad work/a → DataProcess work/b → DataLoad work/c → DataLoad work/a: each would wait for the next, for ever: remove runAfter from one of them',
    ])
  })
  it('of one is refused', async () => {
    assert.match(
      (await refused(after('a', 'DataLoad', 'DataLoad/a'))).join(),
      /DataLoad work\/a → DataLoad work\/a: it would wait for itself/,
    )
  })
  it('of fifty is refused, and the message stays short', async () => {
    const existing = Array.from({ length: 49 }, (_, i) => after(`a${i + 1}`, 'DataLoad', `DataLoad/a${(i + 2) % 50}`))
    const [error = '', ...more] = await refused(after('a0', 'DataLoad', 'DataLoad/a1'), { existing })
    assert.match(error, /a0 → .*… 45 more … → DataLoad work\/a49 → DataLoad work\/a0: each would wait/)
    assert.deepEqual(more, [])
  })
  it('further up the chain is not the fault of this one, and one that is there already may be changed otherwise', async () => {
    const existing = [after('b', 'DataLoad', 'DataLoad/c'), after('c', 'DataLoad', 'DataLoad/b')]
    assert.deepEqual(await refused(after('a', 'DataLoad', 'DataLoad/b'), { existing }), [])
    const [old, next] = [after('b', 'DataLoad', 'DataLoad/c'), after('b', 'DataLoad', 'DataLoad/c')]
    ;(next.spec as { ttlSecondsAfterFinished?: number }).ttlSecondsAfterFinished = 5
    assert.deepEqual(await refused(next, { old, existing }), [])
  })
})

describe('a dataset that refers to another', () => {
  const reference = anObject(Dataset, { spec: { mounts: [{ mountPoint: 'dataset://data/original' }] } }, { name: 'images' })
  const coming = { existing: [reference] }
  it('is processed, and nothing else is done to it', async () => {
    assert.deepEqual(await refused(process({}), coming), [])
    for (const [object, field] of [
      [load({}), 'spec.dataset'],
      [migrate({}), 'spec.to.dataset'],
      [backup('pvc://a'), 'spec.dataset'],
    ] as const)
      assert.deepEqual(await refused(object, coming), [
        `${field}: Forbidden: Dataset images refers to another one, and has nothing that a ${object.kind} could work on: use Dataset original in namespace data`,
      ])
    assert.deepEqual(await refused(load({ ttlSecondsAfterFinished: 1 }), { ...coming, old: load({}) }), [], 'it came before')
  })
})

describe('who may not create pods', () => {
  const NO = 'spec.processor: Forbidden: a DataProcess runs pods, and you may not create pods in namespace work: ask for that right'
  const not = { mayCreatePods: false }
  it('creates no DataProcess and changes none, but every other operation', async () => {
    assert.deepEqual(await refused(process({}), not), [NO])
    assert.deepEqual(await refused(process({ processor: { script: { ...script, source: 'id' } } }), { ...not, old: process({}) }), [NO])
    assert.deepEqual(await refused(load({}), not), [])
  })
  it('may change labels, and what is being deleted', async () => {
    const { object: old } = await admit(process({}))
    assert.deepEqual(await refused({ ...old, metadata: { ...old.metadata, labels: { a: 'b' } } }, { ...not, old }), [])
    const going = { ...process({ policy: 'OnEvent' }), metadata: { ...old.metadata, deletionTimestamp: '2025-06-01T10:20:30Z' } }
    assert.deepEqual(await refused(going, { ...not, old }), [])
  })
})

describe('admission of any operation', () => {
  const text = fc.oneof(
    fc.constantFrom('/a', '..', 'pvc://a', 'local:///x', 's3://b', 'Cron', '* * * * *', ''),
    fc.string({ maxLength: 6, unit: 'binary' }),
  )
  const some: { requiredKeys: never[]; noNullPrototype: true } = { requiredKeys: [], noNullPrototype: true }
  const runAfter = fc.record(
    {
      kind: fc.constantFrom('DataLoad', 'DataProcess'),
      operationKind: fc.constantFrom('DataLoad', 'DataBackup'),
      name: fc.constantFrom('one', 'two'),
    },
    some,
  )
  const common = {
    runAfter,
    policy: fc.constantFrom('Once', 'Cron', 'OnEvent'),
    schedule: text,
    ttlSecondsAfterFinished: fc.integer({ min: -2, max: 2 }),
  }
  const end = fc.record(
    { dataset: fc.record({ name: text, namespace: text, path: text }), externalStorage: fc.record({ uri: text }) },
    some,
  )
  const anyScript = fc.record({ source: text, script: text, scrip: text, image: text }, some)
  const job = fc.record({ podSpec: fc.constant(podSpec), template: fc.constant({ spec: podSpec }), suspend: fc.boolean() }, some)
  const objects = fc.oneof(
    fc
      .record({ dataset: fc.record({ name: text }), target: fc.array(fc.record({ path: text }), { maxLength: 2 }), ...common }, some)
      .map((spec) => anObject(DataLoad, { spec })),
    fc.record({ from: end, to: end, ...common }).map((spec) => anObject(DataMigrate, { spec })),
    fc.record({ dataset: text, backupPath: text, runAfter }, some).map((spec) => anObject(DataBackup, { spec })),
    fc
      .record({
        processor: fc.record({ script: anyScript, shell: anyScript, job, image: text }, some),
        job,
        ...common,
        dataset: fc.record({ name: text, mountPath: text, subPath: text }),
      })
      .map((spec) => anObject(DataProcess, { spec })),
  )
  it('takes it or refuses it with sentences, and takes it as an update of itself', async () => {
    await fc.assert(
      fc.asyncProperty(objects, async (object) => {
        const { schema, refused: errors, object: stored } = await admit(object, { hostPathPrefixes: ['/a'] })
        for (const error of [...schema, ...errors]) assert.match(error, /^[^:]*: .+/s)
        if (schema.length > 0) return
        const again = { ...stored, metadata: { ...stored.metadata, labels: { touched: 'yes' } } }
        assert.deepEqual((await admit(again, { old: stored, hostPathPrefixes: ['/a'] })).refused, [])
      }),
      { numRuns: 150 },
    )
  })
})
