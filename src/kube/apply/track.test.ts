import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze } from '../../base/json.ts'
import type { KubeObject, ManagedFieldsEntry } from '../meta.ts'
import type { Schema } from '../schema.ts'
import { type ApplyContext, keepTimesWhenUnchanged, parentManagedFields, resetPathsOf, scaleManagedFields, trackUpdate } from './index.ts'

const schema: Schema = {
  type: 'object',
  properties: {
    data: { type: 'object', additionalProperties: { type: 'string' } },
    finalizers: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    status: { type: 'object', properties: { phase: { type: 'string' } } },
  },
}

const at = (second: number): string => `2026-01-02T03:04:${String(second).padStart(2, '0')}Z`

const contextAt = (second: number, more: Partial<ApplyContext> = {}): ApplyContext => ({
  gvk: { group: '', version: 'v1', kind: 'Thing' },
  schemaOf: (apiVersion) => (apiVersion === 'v1' || apiVersion === 'v1beta1' ? schema : undefined),
  convert: (object, apiVersion) => ({ ...object, apiVersion }),
  subresource: '',
  resetPaths: [['status']],
  now: at(second),
  ...more,
})

const thing = (data: Record<string, string>, metadata: Record<string, unknown> = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', ...metadata }, data }) as KubeObject

function track(live: KubeObject | undefined, next: KubeObject, manager: string, context: ApplyContext): KubeObject {
  return trackUpdate({ live: live && deepFreeze(live), next: deepFreeze(next), manager, context })
}

const ownersOf = (object: KubeObject): Record<string, unknown> =>
  Object.fromEntries((object.metadata.managedFields ?? []).map((entry) => [`${entry.manager} ${entry.time}`, entry.fieldsV1]))

const created = track(undefined, thing({ a: '1', b: '2' }), 'm1', contextAt(0))

describe('tracking updates', () => {
  it('gives what was written to its writer', () => {
    assert.deepEqual(created.metadata.managedFields, [
      {
        manager: 'm1',
        operation: 'Update',
        apiVersion: 'v1',
        time: at(0),
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } },
      },
    ])
    const next = track(created, thing({ a: '9', c: '3' }), 'm2', contextAt(1))
    assert.deepEqual(ownersOf(next), { [`m1 ${at(0)}`]: { 'f:data': {} }, [`m2 ${at(1)}`]: { 'f:data': { 'f:a': {}, 'f:c': {} } } })
  })

  it('leaves the entries as they are when nothing that is owned changed', () => {
    const same = track(created, { ...created, metadata: { ...created.metadata, resourceVersion: '7', generation: 3 } }, 'm2', contextAt(1))
    assert.equal(same.metadata.managedFields?.[0], created.metadata.managedFields?.[0])
    assert.equal(same.metadata.managedFields?.length, 1)
  })

  it('moves only the time when a writer writes what it owns', () => {
    const next = track(created, thing({ a: '9', b: '2' }), 'm1', contextAt(5))
    assert.deepEqual(next.metadata.managedFields, [{ ...created.metadata.managedFields?.[0], time: at(5) }])
    assert.equal(next.metadata.managedFields?.[0]?.fieldsV1, created.metadata.managedFields?.[0]?.fieldsV1)
  })

  it('calls a nameless writer unknown and keeps subresources apart', () => {
    const next = track(created, { ...created, status: { phase: 'x' } }, '', contextAt(1, { subresource: 'status', resetPaths: [['data']] }))
    const entry = next.metadata.managedFields?.[1]
    assert.deepEqual(
      [entry?.manager, entry?.subresource, entry?.fieldsV1],
      ['unknown', 'status', { 'f:status': { '.': {}, 'f:phase': {} } }],
    )
    const ignored = track(created, { ...created, status: { phase: 'x' } }, 'm2', contextAt(1))
    assert.equal(ignored.metadata.managedFields?.length, 1, 'the main door owns no status')
  })

  it('lets clients rewrite and reset managed fields, and ignores what cannot be read', () => {
    const entries = created.metadata.managedFields ?? []
    const withEntries = (managedFields: unknown) =>
      ({ ...created, metadata: { ...created.metadata, uid: 'u', managedFields } }) as KubeObject
    const renamed = track(
      created,
      withEntries([{ ...entries[0], manager: 'z', fieldsV1: { 'f:data': { 'f:b': {}, 'f:a': {} } } }]),
      'm2',
      contextAt(1),
    )
    assert.deepEqual(ownersOf(renamed), { [`z ${at(0)}`]: { 'f:data': { 'f:a': {}, 'f:b': {} } } })
    for (const reset of [[], [{}], [{ manager: '' }]]) {
      assert.equal(Object.hasOwn(track(created, withEntries(reset), 'm2', contextAt(1)).metadata, 'managedFields'), false)
    }
    const bad = { ...entries[0], fieldsV1: { bogus: {} } }
    const unreadable: unknown[] = [
      null,
      undefined,
      'x',
      [5],
      [bad],
      [{ manager: 'x' }],
      [{ ...entries[0], operation: 'Take' }],
      [{ ...entries[0], time: 7 }],
    ]
    for (const given of unreadable) assert.deepEqual(track(created, withEntries(given), 'm2', contextAt(1)).metadata.managedFields, entries)
    const throughStatus = track(created, withEntries([]), 'm2', contextAt(1, { subresource: 'status' }))
    assert.deepEqual(throughStatus.metadata.managedFields, entries, 'a subresource cannot change them')
  })

  it('does not begin to track an object that nobody tracked', () => {
    const live = thing({ a: '1' }, { uid: 'u' })
    assert.equal(track(live, thing({ a: '2' }, { uid: 'u' }), 'm1', contextAt(1)).metadata.managedFields, undefined)
  })

  it('looks at other owners in their own version and forgets versions that are gone', () => {
    const [entry] = created.metadata.managedFields ?? []
    const managedFields = [
      { ...entry, manager: 'old', apiVersion: 'v1beta1', operation: 'Apply' },
      { ...entry, manager: 'gone', apiVersion: 'v0' },
    ] as ManagedFieldsEntry[]
    const live = { ...created, metadata: { ...created.metadata, managedFields } }
    const next = track(live, { ...live, data: { a: '9', b: '2' } }, 'm2', contextAt(1))
    assert.deepEqual(ownersOf(next), {
      [`old ${at(0)}`]: { 'f:data': { '.': {}, 'f:b': {} } },
      [`m2 ${at(1)}`]: { 'f:data': { 'f:a': {} } },
    })
  })

  it('puts the oldest of too many updaters together', () => {
    let live = track(undefined, thing({ k0: '0' }), 'm0', contextAt(0))
    for (let i = 1; i < 13; i++) {
      const data = { ...(live.data as Record<string, string>), [`k${i}`]: String(i) }
      live = track(live, { ...live, data }, `m${i}`, contextAt(i))
    }
    const managers = live.metadata.managedFields?.map((entry) => entry.manager)
    assert.deepEqual(managers, ['ancient-changes', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11', 'm12'])
    const [ancient] = live.metadata.managedFields ?? []
    assert.deepEqual([ancient?.time, ancient?.fieldsV1], [at(3), { 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {} } }])
  })

  it('leaves managed fields out when an object does not fit its schema', () => {
    const odd = { ...created, finalizers: [null] } as KubeObject
    assert.equal(Object.hasOwn(track(created, odd, 'm2', contextAt(1)).metadata, 'managedFields'), false)
  })

  it('survives any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()), (x, y) => {
        const anything: ApplyContext = {
          ...contextAt(1),
          schemaOf: () => ({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
        }
        const before = track(undefined, thing({}, { ...x, managedFields: undefined }), 'm1', anything)
        const after = track(before, { ...thing({}), ...x, ...y, metadata: { name: 'a' } } as KubeObject, 'm2', anything)
        assert.equal(Object.getPrototypeOf(after), Object.prototype)
      }),
    )
  })
})

describe('times of managed fields', () => {
  it('stay when nothing else changed', () => {
    const [entry] = created.metadata.managedFields ?? []
    const moved = { ...created, metadata: { ...created.metadata, managedFields: [{ ...entry, time: at(9) }] } } as KubeObject
    assert.deepEqual(keepTimesWhenUnchanged(created, moved), created)
    const changed = { ...moved, data: { a: '5' } }
    assert.equal(keepTimesWhenUnchanged(created, changed), changed)
    const owned = { ...moved, metadata: { ...moved.metadata, managedFields: [{ ...entry, time: at(9), fieldsV1: {} }] } } as KubeObject
    assert.equal(keepTimesWhenUnchanged(created, owned), owned)
    assert.equal(keepTimesWhenUnchanged(created, created), created)
  })
})

describe('the scale door', () => {
  const entry = (manager: string, operation: 'Apply' | 'Update', fieldsV1: Record<string, unknown>): ManagedFieldsEntry => ({
    manager,
    operation,
    apiVersion: 'apps/v1',
    time: at(0),
    fieldsType: 'FieldsV1',
    fieldsV1,
  })
  const replicas = { 'f:spec': { 'f:replicas': {} } }
  const ownership = {
    parent: [
      entry('m1', 'Apply', { 'f:spec': { 'f:replicas': {}, 'f:paused': {} } }),
      entry('m2', 'Update', { 'f:spec': { 'f:paused': {} } }),
    ],
    group: 'apps',
    version: 'v1',
    replicasPaths: new Map([['apps/v1', ['spec', 'replicas']]]),
  }

  it('shows who owns the replicas', () => {
    assert.deepEqual(scaleManagedFields(ownership), [{ ...entry('m1', 'Apply', replicas), apiVersion: 'autoscaling/v1' }])
    assert.equal(scaleManagedFields({ ...ownership, parent: [] }), undefined)
  })

  it('moves that ownership to whoever scaled', () => {
    const written: ManagedFieldsEntry[] = [{ ...entry('s', 'Update', replicas), apiVersion: 'autoscaling/v1', subresource: 'scale' }]
    const { time: _none, ...scaler } = { ...entry('s', 'Update', replicas), subresource: 'scale' }
    assert.deepEqual(parentManagedFields(ownership, written), [
      entry('m1', 'Apply', { 'f:spec': { 'f:paused': {} } }),
      scaler,
      ownership.parent[1],
    ])
    assert.deepEqual(parentManagedFields(ownership, scaleManagedFields(ownership) ?? []), ownership.parent, 'a scale that changes nothing')
  })
})

describe('reset paths', () => {
  const door = (kind: string, subresource: string, group = 'apps') =>
    resetPathsOf({ group, kind, subresource, builtin: true, hasStatus: true })
  it('follow the kind and its door', () => {
    assert.deepEqual(door('StatefulSet', ''), [['status']])
    assert.deepEqual(door('StatefulSet', 'status'), [['spec']])
    assert.deepEqual(door('Deployment', 'status'), [['spec'], ['metadata', 'labels']])
    assert.deepEqual(door('Namespace', 'finalize', ''), [['status']])
    assert.deepEqual(door('StatefulSet', 'scale'), [])
    assert.deepEqual(resetPathsOf({ group: 'x', kind: 'Y', subresource: 'status', builtin: false, hasStatus: true }), [
      ['spec'],
      ['metadata'],
    ])
    assert.deepEqual(resetPathsOf({ group: 'x', kind: 'Y', subresource: '', builtin: false, hasStatus: false }), [])
  })
})
