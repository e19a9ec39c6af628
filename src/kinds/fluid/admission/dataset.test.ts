import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { KubeObject } from '../../../kube/meta.ts'
import { Dataset, type DatasetSpec, type Mount } from '../index.ts'
import { admit, anObject, type Coming } from './testing.ts'

const dataset = (spec: Partial<DatasetSpec>, metadata = {}): KubeObject => anObject(Dataset, { spec }, metadata)
const mounts = (...all: Partial<Mount>[]) => dataset({ mounts: all.map((mount) => ({ mountPoint: 's3://lake', ...mount })) })
const refused = async (object: KubeObject, coming: Coming = {}) => {
  const { schema, refused: errors } = await admit(object, coming)
  assert.deepEqual(schema, [])
  return errors
}
const secret = (name: string, from: object = { secretKeyRef: { name: 'lake', key: 'k' } }) => ({ name, valueFrom: from })

const TWO_REFERENCES =
  'spec.mounts: Forbidden: the dataset is not validated, since it has 2 dataset mounts which only expects 1: keep one, and make a Dataset for each of the others'
const MIXED =
  'spec.mounts: Forbidden: the dataset is not validated, since it has 1 dataset mounts but also contains other types of mounts: make a Dataset for the others'

const REFUSED: [string, KubeObject, string[]][] = [
  [
    'a point without a claim',
    mounts({ mountPoint: 'pvc:///a' }),
    [
      'spec.mounts[0].mountPoint: Invalid value: "pvc:///a" names no claim: write pvc:// and the name of a claim of this namespace, for example pvc://images/train',
    ],
  ],
  [
    'a point that leads out',
    mounts({ mountPoint: 'local:///a/../b' }),
    ['spec.mounts[0].mountPoint: Invalid value: "/a/../b" contains "..": write the path without it'],
  ],
  [
    'a path that leads out',
    mounts({ path: '/a/..' }),
    ['spec.mounts[0].path: Invalid value: "/a/.." contains "..": write the path without it'],
  ],
  [
    'a name that leads out',
    mounts({ name: '../a' }),
    ['spec.mounts[0].name: Invalid value: "../a" contains "..": write the path without it'],
  ],
  [
    'a control character',
    mounts({ name: 'a', path: '/a\u0007' }),
    ['spec.mounts[0].path: Invalid value: "/a\\a" contains a control character: remove it'],
  ],
  [
    'a name twice',
    mounts({ name: 'a' }, { name: 'a', path: '/b' }),
    ['spec.mounts[1].name: Invalid value: "a" is the name of another mount: choose another one'],
  ],
  [
    'a path twice',
    mounts({ name: 'a' }, { name: 'b', path: '/a/' }),
    ['spec.mounts[1].path: Invalid value: "/a" is the path of another mount: choose another one'],
  ],
  [
    'no name and no path beside another mount',
    mounts({ name: 'a' }, { path: 'b' }),
    ['spec.mounts[1].name: Required value: nothing says where the data of this mount appears: give it a name, or an absolute path'],
  ],
  ['two references', mounts({ name: 'a', mountPoint: 'dataset://x/a' }, { name: 'b', mountPoint: 'dataset://x/b' }), [TWO_REFERENCES]],
  ['a reference and a source', mounts({ name: 'a', mountPoint: 'dataset://x/a' }, { name: 'b' }), [MIXED]],
  [
    'an option that is given plainly and encrypted',
    mounts({ options: { a: '1' }, encryptOptions: [secret('a')] }),
    ['spec.mounts[0].encryptOptions[0].name: Invalid value: the option "a" is given in options as well: remove one of the two'],
  ],
  [
    'an encrypted option that is given twice',
    mounts({ encryptOptions: [secret('a'), secret('a')] }),
    ['spec.mounts[0].encryptOptions[1].name: Invalid value: the option "a" is given twice in encryptOptions: remove one'],
  ],
  [
    'a shared option that is given plainly and encrypted',
    dataset({ sharedOptions: { a: '1' }, sharedEncryptOptions: [secret('a')] }),
    ['spec.sharedEncryptOptions[0].name: Invalid value: the option "a" is given in sharedOptions as well: remove one of the two'],
  ],
  [
    'an encrypted option from nowhere',
    mounts({ encryptOptions: [{ name: 'a' }] }),
    ['spec.mounts[0].encryptOptions[0].valueFrom.secretKeyRef: Required value: say which Secret has the value of "a"'],
  ],
  [
    'an encrypted option from what is no Secret',
    mounts({ encryptOptions: [secret('a', { secretKeyRef: { name: '../b' } })] }),
    [
      `spec.mounts[0].encryptOptions[0].valueFrom.secretKeyRef.name: Invalid value: "../b" cannot be the name of a Secret: use lower case letters, digits, '-' and '.'`,
    ],
  ],
  [
    'an encrypted option from another file than one of the Secret',
    mounts({ encryptOptions: [secret('a', { secretKeyRef: { name: 'b', key: '../../../sluice/key/key' } })] }),
    [
      `spec.mounts[0].encryptOptions[0].valueFrom.secretKeyRef.key: Invalid value: "../../../sluice/key/key" cannot be a key of a Secret: use letters, digits, '-', '_' and '.'`,
    ],
  ],
  [
    'an unknown access mode',
    dataset({ accessModes: ['ReadOnlyMany', 'Write'] }),
    [
      'spec.accessModes[1]: Unsupported value: "Write": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    ],
  ],
  [
    'a volume of the host that is no path',
    mounts({ options: { 'fluid.fuse.hostvolume': 'data' } }),
    ['spec.mounts[0].options[fluid.fuse.hostvolume]: Invalid value: "data" is not of the form /host/path or /host/path:/path/in/the/pod'],
  ],
  [
    'a volume of the host that leads out',
    dataset({ sharedOptions: { 'fluid.fuse.hostvolume': '/a:/b/../c' } }),
    ['spec.sharedOptions[fluid.fuse.hostvolume]: Invalid value: "/b/../c" contains "..": write the path without it'],
  ],
]

const NAME =
  "because services and labels are named after it: begin with a lower case letter, go on with lower case letters, digits and '-', end with a letter or digit, and use at most 63 characters"

describe('admission of a dataset', () => {
  for (const [what, object, errors] of REFUSED) it(`refuses ${what}`, async () => assert.deepEqual(await refused(object), errors))

  const TAKEN: [string, KubeObject][] = [
    ['one mount without name and path', mounts({})],
    ['a reference without a name', mounts({ mountPoint: 'dataset://data/images/train' })],
    ['any scheme', mounts({ mountPoint: 'hdfs://namenode/x' })],
    ['no scheme', mounts({ mountPoint: '10.0.0.1:/exports' })],
    ['paths within paths', mounts({ path: '/' }, { path: '/a' }, { path: '/a/b' })],
    [
      'a mount that overrides what is shared',
      dataset({ sharedOptions: { a: '1' }, mounts: [{ mountPoint: 's3://lake', encryptOptions: [secret('a')] }] }),
    ],
    ['no mounts', dataset({})],
    ['no spec', anObject(Dataset, {})],
    [
      'a directory of the node, where all are allowed',
      mounts({ mountPoint: 'local:///etc', options: { 'fluid.fuse.hostvolume': '/x:/y' } }),
    ],
  ]
  for (const [what, object] of TAKEN) it(`takes ${what}`, async () => assert.deepEqual(await refused(object), []))

  for (const name of ['1st', 'a.b', 'a'.repeat(64)])
    it(`refuses the name ${name}`, async () =>
      assert.deepEqual(await refused(dataset({}, { name })), [
        `metadata.name: Invalid value: "${name}": cannot be the name of a Dataset, ${NAME}`,
      ]))

  it('warns of a path that has no effect', async () => {
    const { refused: errors, warnings } = await admit(mounts({ name: 'a', path: 'b' }))
    assert.deepEqual([errors, warnings], [[], ['spec.mounts[0].path "b" is not absolute and has no effect: the data appears at "/a"']])
  })
})

describe('the claim of a dataset', () => {
  const claim = (annotations?: Record<string, string>, name = 'one'): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'work', ...(annotations === undefined ? {} : { annotations }) },
  })
  it("must not be a stranger's", async () => {
    assert.deepEqual(await refused(dataset({}), { existing: [claim()] }), [
      'metadata.name: Forbidden: a PersistentVolumeClaim "one" that belongs to no dataset exists in this namespace: choose another name, or delete the claim first',
    ])
  })
  it('may be there already if it is ours, and is not looked at later', async () => {
    assert.deepEqual(await refused(dataset({}), { existing: [claim({ CreatedBy: 'fluid' }), claim(undefined, 'other')] }), [])
    assert.deepEqual(await refused(mounts({}), { existing: [claim()], old: dataset({}) }), [])
  })
})

describe('directories of the node', () => {
  const local = mounts({ mountPoint: 'local:///data/images' })
  it('are refused where none are allowed', async () => {
    assert.deepEqual(await refused(local, { hostPathPrefixes: [] }), [
      'spec.mounts[0].mountPoint: Forbidden: "/data/images" is a directory of the node, and the administrator allows none here: use a claim or an emptyDir instead, or ask for it to be listed',
    ])
    const volume = mounts({ options: { 'fluid.fuse.hostvolume': '/etc:/mnt' } })
    assert.match(
      (await refused(volume, { hostPathPrefixes: [] })).join(),
      /^spec\.mounts\[0\]\.options\[fluid\.fuse\.hostvolume\]: Forbidden: "\/etc"/,
    )
    const restored = dataset({ dataRestoreLocation: { path: 'local:///backup' } })
    assert.match((await refused(restored, { hostPathPrefixes: [] })).join(), /^spec\.dataRestoreLocation\.path: Forbidden: "\/backup"/)
  })
  it('are taken below those that are listed, by whole segments', async () => {
    assert.deepEqual(await refused(local, { hostPathPrefixes: ['/mnt', '/data/'] }), [])
    assert.match(
      (await refused(local, { hostPathPrefixes: ['/dat', '/b', '/c', '/d'] })).join(),
      /only those below "\/dat", "\/b", "\/c", and 1 more/,
    )
    assert.equal((await refused(mounts({ mountPoint: 'local:///data/../etc' }), { hostPathPrefixes: ['/data'] })).length, 1)
  })
})

describe('an update of a dataset', () => {
  const broken = mounts({ name: 'a' }, { name: 'a', path: '/b' })
  it('is not refused for what was there before', async () => {
    assert.deepEqual(await refused(mounts({ name: 'new' }, { name: 'a' }, { name: 'a', path: '/b' }), { old: broken }), [])
    assert.deepEqual(await refused({ ...broken, metadata: { ...broken.metadata, labels: { a: 'b' } } }, { old: broken }), [])
    assert.deepEqual(await refused({ ...broken, status: { conditions: [] } }, { old: broken }), [])
  })
  it('is refused for what it brings in', async () => {
    const worse = mounts({ name: 'a' }, { name: 'a', path: '/b' }, { name: 'a', path: '/c' })
    assert.deepEqual(await refused(worse, { old: broken }), [
      'spec.mounts[2].name: Invalid value: "a" is the name of another mount: choose another one',
    ])
    assert.equal((await refused(broken, { old: mounts({}) })).length, 1)
  })
  it('is not refused while the dataset goes', async () => {
    const going = { ...broken, metadata: { ...broken.metadata, deletionTimestamp: '2025-06-01T10:20:30Z' } }
    assert.deepEqual(await refused(going, { old: mounts({}) }), [])
  })
  it('never complains of an old name', async () => {
    const old = dataset({}, { name: '1st' })
    assert.deepEqual(await refused(dataset({ accessModes: ['ReadWriteMany'] }, { name: '1st' }), { old }), [])
  })
})

describe('anything in the spec of a dataset', () => {
  const text = fc.oneof(
    fc.constantFrom('a', '/a', '..', 'pvc://a', 'local:///a', 'dataset://a/b', 's3://', '__proto__'),
    fc.string({ maxLength: 8, unit: 'binary' }),
  )
  const map = fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true })
  const encrypted = fc.array(
    fc.record({ name: text, valueFrom: fc.constantFrom({}, { secretKeyRef: { name: 'a' } }) }, { requiredKeys: ['name'] }),
    { maxLength: 3 },
  )
  const mount = fc.record(
    { mountPoint: text.map((one) => `${one}/////`), name: text, path: text, options: map, encryptOptions: encrypted },
    { requiredKeys: ['mountPoint'] },
  )
  const spec = fc.record(
    {
      mounts: fc.array(mount, { minLength: 1, maxLength: 3 }),
      sharedOptions: map,
      sharedEncryptOptions: encrypted,
      accessModes: fc.array(text, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  )

  it('is taken or refused with sentences, and is taken as an update of itself', async () => {
    await fc.assert(
      fc.asyncProperty(spec, async (content) => {
        const object = dataset(content as Partial<DatasetSpec>)
        const { schema, refused: errors, object: stored } = await admit(object, { hostPathPrefixes: [] })
        assert.deepEqual(schema, [])
        for (const error of errors) assert.match(error, /^(spec|metadata)\.[^:]*: .*/s)
        assert.deepEqual(await refused(stored, { old: stored, hostPathPrefixes: [] }), [])
      }),
      { numRuns: 60 },
    )
  })
})
