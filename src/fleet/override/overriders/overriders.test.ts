import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deepFreeze } from '../../../base/json.ts'
import type { FieldPatch, Overriders } from '../../../kinds/karmada/index.ts'
import { fieldAt } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { aDeployment } from '../testing.ts'
import { applyOverriders } from './index.ts'

const object = (kind: string, fields: object, metadata: object = {}): KubeObject =>
  deepFreeze({ apiVersion: 'v1', kind, metadata: { name: 'x', ...metadata }, ...fields })
const containersOf = (result: KubeObject) => fieldAt(result, 'spec', 'template', 'spec', 'containers')
const tag: Overriders = { imageOverrider: [{ component: 'Tag', operator: 'replace', value: 'v2' }] }

describe('images', () => {
  for (const kind of ['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet', 'Job']) {
    it(`${kind}: of all containers, not of init containers`, () => {
      const spec = {
        template: {
          spec: {
            containers: [
              { name: 'a', image: 'a:v1' },
              { name: 'b', image: 'b' },
            ],
            initContainers: [{ image: 'i:v1' }],
          },
        },
      }
      assert.deepEqual(fieldAt(applyOverriders(object(kind, { spec }), tag), 'spec', 'template', 'spec'), {
        containers: [
          { name: 'a', image: 'a:v2' },
          { name: 'b', image: 'b:v2' },
        ],
        initContainers: [{ image: 'i:v1' }],
      })
    })
  }

  it('Pod', () => {
    const result = applyOverriders(object('Pod', { spec: { containers: [{ image: 'a' }] } }), tag)
    assert.deepEqual(result.spec, { containers: [{ image: 'a:v2' }] })
  })

  it('other kinds stay as they are', () => {
    for (const given of [
      object('CronJob', { spec: { jobTemplate: {} } }),
      object('Job', { spec: { tasks: [] } }),
      object('ConfigMap', {}),
    ]) {
      assert.deepEqual(applyOverriders(given, tag), given)
    }
  })

  it('at the path of a predicate alone, of any kind', () => {
    const given = object('Widget', { spec: { parts: [{ image: 'a:v1' }, { image: 'b:v1' }] } })
    const at = (path: string): Overriders => ({ imageOverrider: [{ predicate: { path }, component: 'Tag', operator: 'remove' }] })
    assert.deepEqual(applyOverriders(given, at('/spec/parts/1/image')).spec, { parts: [{ image: 'a:v1' }, { image: 'b' }] })
    assert.throws(() => applyOverriders(given, at('/spec/parts/7/image')), {
      message: 'imageOverrider: "/spec/parts/7/image": a list has no index 7',
    })
    assert.throws(() => applyOverriders(given, at('/spec/parts')), { message: 'imageOverrider: "/spec/parts": the field is not a text' })
    assert.throws(() => applyOverriders(given, at('spec')), { message: 'imageOverrider: "spec": a path begins with a slash' })
  })

  it('a name that is none is an error', () => {
    assert.throws(() => applyOverriders(aDeployment({ image: 'Not An Image' }), tag), {
      message: 'imageOverrider: "Not An Image" is not the name of an image',
    })
  })

  it('one after the other', () => {
    const overriders: Overriders = {
      imageOverrider: [
        { component: 'Registry', operator: 'replace', value: 'mirror.example' },
        { component: 'Registry', operator: 'add', value: ':5000' },
      ],
    }
    assert.deepEqual(containersOf(applyOverriders(aDeployment(), overriders)), [{ name: 'web', image: 'mirror.example:5000/web:v1' }])
  })
})

describe('commands and arguments', () => {
  for (const [field, overrider] of [
    ['command', 'commandOverrider'],
    ['args', 'argsOverrider'],
  ] as const) {
    const cases: [string, string[] | undefined, NonNullable<Overriders['argsOverrider']>[number], string[] | undefined][] = [
      ['appends', ['a'], { containerName: 'web', operator: 'add', value: ['b', 'c'] }, ['a', 'b', 'c']],
      ['makes the list', undefined, { containerName: 'web', operator: 'add', value: ['b'] }, ['b']],
      [
        'removes what is listed, every time it occurs',
        ['a', 'b', 'a'],
        { containerName: 'web', operator: 'remove', value: ['a', 'x'] },
        ['b'],
      ],
      ['leaves other containers alone', ['a'], { containerName: 'other', operator: 'add', value: ['b'] }, ['a']],
    ]
    for (const [name, before, change, after] of cases) {
      it(`${field}: ${name}`, () => {
        const result = applyOverriders(aDeployment({ [field]: before }), { [overrider]: [change] })
        assert.deepEqual(fieldAt((containersOf(result) as object[])[0], field), after)
        assert.deepEqual(fieldAt(result, 'spec', 'template', 'spec', 'initContainers'), [{ name: 'web', image: 'init:v1' }])
      })
    }
  }
})

describe('labels and annotations', () => {
  for (const [field, overrider] of [
    ['labels', 'labelsOverrider'],
    ['annotations', 'annotationsOverrider'],
  ] as const) {
    const cases: [string, object | undefined, NonNullable<Overriders['labelsOverrider']>[number], object | undefined][] = [
      ['adds', { a: '1' }, { operator: 'add', value: { b: '2', a: '3' } }, { a: '3', b: '2' }],
      ['makes the map', undefined, { operator: 'add', value: { 'example.com/b': '2' } }, { 'example.com/b': '2' }],
      ['replaces what exists', { a: '1' }, { operator: 'replace', value: { a: '2', b: '3' } }, { a: '2' }],
      ['replaces nothing in nothing', undefined, { operator: 'replace', value: { a: '2' } }, undefined],
      ['removes what exists', { a: '1', b: '2' }, { operator: 'remove', value: { a: '', c: '' } }, { b: '2' }],
      ['removes nothing from nothing', undefined, { operator: 'remove', value: { a: '' } }, undefined],
      ['treats no key as special', { a: '1' }, { operator: 'replace', value: { toString: 'x' } }, { a: '1' }],
    ]
    for (const [name, before, change, after] of cases) {
      it(`${field}: ${name}`, () => {
        const given = object('ConfigMap', {}, before === undefined ? {} : { [field]: before })
        assert.deepEqual(applyOverriders(given, { [overrider]: [change] }).metadata[field], after)
      })
    }
  }
})

describe('fields with JSON or YAML in them', () => {
  const config = object('ConfigMap', {
    data: { 'db.json': '{"host": "a", "ports": [1, 2]}', 'db.yaml': 'host: a\nports: [1, 2]\n', empty: '' },
    count: 3,
  })
  const change = [
    { subPath: '/host', operator: 'replace' as const, value: 'b' },
    { subPath: '/ports/-', operator: 'add' as const, value: 3 },
    { subPath: '/ports/0', operator: 'remove' as const },
  ]
  const overridden = (fieldPath: string, patches: { json?: FieldPatch[]; yaml?: FieldPatch[] }) =>
    applyOverriders(config, { fieldOverrider: [{ fieldPath, ...patches }] })

  it('JSON', () => assert.equal(fieldAt(overridden('/data/db.json', { json: change }), 'data', 'db.json'), '{"host":"b","ports":[2,3]}'))
  it('JSON, with what is put in as API servers keep it', () => {
    const json: FieldPatch[] = [
      { subPath: '/9', operator: 'add', value: { z: 1, a: { 10: '<', b: [{ y: 1, x: 2 }] } } },
      { subPath: '/9/a/b/0/x', operator: 'remove' },
      { subPath: '/host', operator: 'remove' },
    ]
    const text = fieldAt(overridden('/data/db.json', { json }), 'data', 'db.json')
    assert.equal(text, '{"ports":[1,2],"9":{"a":{"10":"\\u003c","b":[{"y":1}]},"z":1}}')
    const whole = fieldAt(
      overridden('/data/db.json', { json: [{ subPath: '', operator: 'replace', value: { b: 1, a: 2 } }] }),
      'data',
      'db.json',
    )
    assert.equal(whole, '{"a":2,"b":1}')
  })
  it('YAML', () => assert.equal(fieldAt(overridden('/data/db.yaml', { yaml: change }), 'data', 'db.yaml'), 'host: b\nports:\n- 2\n- 3\n'))
  it('YAML reads JSON, too', () =>
    assert.equal(fieldAt(overridden('/data/db.json', { yaml: change }), 'data', 'db.json'), 'host: b\nports:\n- 2\n- 3\n'))
  it('nothing is patched in nothing', () => assert.deepEqual(overridden('/data/empty', { json: change }), config))
  it('no patch at all', () => assert.equal(overridden('/data/db.json', {}), config))

  const refused: [string, Parameters<typeof overridden>, RegExp][] = [
    ['a missing field', ['/data/other', { json: change }], /^Error: fieldOverrider: "\/data\/other": there is no "other"$/],
    ['a field that is no text', ['/count', { json: change }], /^Error: fieldOverrider: "\/count": the field is not a text$/],
    ['YAML where JSON was meant', ['/data/db.yaml', { json: change }], /^Error: fieldOverrider: "\/data\/db.yaml": the text is not JSON: /],
    [
      'an empty YAML',
      ['/data/empty', { yaml: change }],
      /^Error: fieldOverrider: "\/data\/empty": replace "\/host": "host" is looked for in what is neither/,
    ],
    [
      'a path that is not there',
      ['/data/db.json', { json: [{ subPath: '/user', operator: 'replace', value: 'x' }] }],
      /^Error: fieldOverrider: "\/data\/db.json": replace "\/user": there is no "user"$/,
    ],
  ]
  for (const [name, given, message] of refused) it(`refuses ${name}`, () => assert.throws(() => overridden(...given), message))
})

describe('plain text', () => {
  it('all operations, in order', () => {
    const result = applyOverriders(aDeployment(), {
      plaintext: [
        { path: '/spec/replicas', operator: 'replace', value: 5 },
        { path: '/metadata/annotations', operator: 'add', value: {} },
        { path: '/metadata/annotations/note', operator: 'add', value: 'x' },
        { path: '/spec/template/spec/initContainers', operator: 'remove' },
      ],
    })
    assert.deepEqual([result.metadata.annotations, fieldAt(result, 'spec', 'replicas')], [{ note: 'x' }, 5])
    assert.equal(fieldAt(result, 'spec', 'template', 'spec', 'initContainers'), undefined)
  })

  it('is an error where there is nothing', () => {
    assert.throws(() => applyOverriders(aDeployment(), { plaintext: [{ path: '/spec/paused', operator: 'remove' }] }), {
      message: 'plaintext: remove "/spec/paused": there is no "paused"',
    })
  })

  it('cannot make an object into something else', () => {
    for (const operation of [
      { path: '', operator: 'replace' as const, value: [] },
      { path: '/metadata', operator: 'remove' as const },
      { path: '/kind', operator: 'replace' as const, value: 7 },
    ]) {
      assert.throws(() => applyOverriders(aDeployment(), { plaintext: [operation] }), {
        message: /what is left has no apiVersion, kind or metadata$/,
      })
    }
  })
})

describe('the kinds of overriders', () => {
  it('are applied in a fixed order, plain text last', () => {
    const result = applyOverriders(aDeployment(), {
      plaintext: [
        { path: '/spec/template/spec/containers/0/image', operator: 'replace', value: 'Last Word' },
        { path: '/metadata/labels/app', operator: 'replace', value: 'plain' },
      ],
      labelsOverrider: [{ operator: 'replace', value: { app: 'label' } }],
      imageOverrider: [{ component: 'Tag', operator: 'replace', value: 'v2' }],
    })
    assert.deepEqual(containersOf(result), [{ name: 'web', image: 'Last Word' }])
    assert.deepEqual(result.metadata.labels, { app: 'plain' })
  })

  it('see what the ones before made: labels, annotations, fields', () => {
    const result = applyOverriders(object('ConfigMap', {}), {
      annotationsOverrider: [{ operator: 'add', value: { doc: '{"a":1}' } }],
      fieldOverrider: [{ fieldPath: '/metadata/annotations/doc', json: [{ subPath: '/a', operator: 'replace', value: 2 }] }],
    })
    assert.deepEqual(result.metadata.annotations, { doc: '{"a":2}' })
  })
})
