import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepEqual, deepFreeze } from '../../base/json.ts'
import type { KubeObject, ManagedFieldsEntry } from '../meta.ts'
import type { Schema } from '../schema.ts'
import { StatusError } from '../status.ts'
import { type ApplyContext, serverSideApply, trackUpdate } from './index.ts'

const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        map: { type: 'object', additionalProperties: { type: 'string' } },
        set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        list: { type: 'array', items: { type: 'string' } },
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'string' }, w: { type: 'string' } } },
        },
        struct: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
        free: { 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { phase: { type: 'string' } } },
  },
}

const context: ApplyContext = {
  gvk: { group: 'x.dev', version: 'v1', kind: 'Thing' },
  schemaOf: (apiVersion) => (apiVersion === 'x.dev/v1' || apiVersion === 'x.dev/v2' ? schema : undefined),
  convert: (object, apiVersion) => ({ ...object, apiVersion }),
  subresource: '',
  resetPaths: [['status']],
  now: '2026-01-02T03:04:05Z',
}
const later: ApplyContext = { ...context, now: '2026-01-02T03:04:06Z' }

const thing = (spec: unknown, metadata: Record<string, unknown> = {}): KubeObject =>
  ({ apiVersion: 'x.dev/v1', kind: 'Thing', metadata: { name: 'a', ...metadata }, ...(spec === undefined ? {} : { spec }) }) as KubeObject

const apply = (live: KubeObject | undefined, applied: KubeObject, manager = 'm1', more: { force?: boolean; at?: ApplyContext } = {}) =>
  serverSideApply({
    live: live && deepFreeze(live),
    applied: deepFreeze(applied),
    manager,
    force: more.force ?? false,
    context: more.at ?? context,
  })

const ownedBy = (object: KubeObject, manager: string): ManagedFieldsEntry | undefined =>
  object.metadata.managedFields?.find((entry) => entry.manager === manager)

const failsWith = (run: () => unknown, code: number, message: RegExp): void => {
  assert.throws(run, (error: unknown) => {
    assert.ok(error instanceof StatusError, String(error))
    assert.equal(error.code, code)
    assert.match(error.status.message ?? '', message)
    return true
  })
}

/** Undefined when someone else owns a field that would change. */
function applyUnlessContested(live: KubeObject, applied: KubeObject): KubeObject | undefined {
  try {
    return apply(live, applied).object
  } catch (error) {
    if (error instanceof StatusError && error.reason === 'Conflict') return undefined
    throw error
  }
}

const word = fc.constantFrom('a', 'b', 'c', '__proto__')
const partial = fc.record(
  {
    map: fc.dictionary(word, word, { maxKeys: 3 }),
    set: fc.uniqueArray(word, { maxLength: 3 }),
    list: fc.array(word, { maxLength: 2 }),
    items: fc.uniqueArray(fc.record({ k: word, v: word, w: word }, { requiredKeys: ['k'] }), { selector: (item) => item.k, maxLength: 3 }),
    struct: fc.record({ a: word, b: word }, { requiredKeys: [] }),
    free: fc.dictionary(word, fc.oneof(word, fc.array(word, { maxLength: 2 }), fc.dictionary(word, word, { maxKeys: 2 })), { maxKeys: 2 }),
  },
  { requiredKeys: [] },
)
const sent = (spec: object): KubeObject => thing(JSON.parse(JSON.stringify(spec)))

describe('server-side apply', () => {
  it('is idempotent: the second time nothing changes, not even a time', () => {
    fc.assert(
      fc.property(partial, partial, (other, spec) => {
        const live = apply(undefined, sent(other), 'other').object
        const once = apply(live, sent(spec), 'm1', { force: true }).object
        const twice = apply(once, sent(spec), 'm1', { at: later })
        assert.equal(twice.changed, false)
        assert.deepEqual(twice.object, once)
      }),
    )
  })

  it('takes back what only its manager owned', () => {
    fc.assert(
      fc.property(partial, partial, (other, spec) => {
        const before = apply(undefined, sent(other), 'other').object
        const during = applyUnlessContested(before, sent(spec))
        fc.pre(during !== undefined)
        const after = apply(during, thing(undefined), 'm1', { at: later }).object
        assert.equal(ownedBy(after, 'm1'), undefined)
        assert.deepEqual(ownedBy(after, 'other')?.fieldsV1, ownedBy(before, 'other')?.fieldsV1)
        assert.ok(
          deepEqual(withoutEmpty(unordered(after.spec)), withoutEmpty(unordered(before.spec))),
          JSON.stringify([before.spec, after.spec]),
        )
      }),
    )
  })

  it('of appliers with nothing in common commutes', () => {
    fc.assert(
      fc.property(partial, partial, (x, y) => {
        const [a, b] = [prefixed(x, 'x'), prefixed(y, 'y')]
        const ab = apply(apply(undefined, thing(a), 'a').object, thing(b), 'b').object
        const ba = apply(apply(undefined, thing(b), 'b').object, thing(a), 'a').object
        assert.deepEqual(unordered(ab.spec), unordered(ba.spec))
        for (const manager of ['a', 'b']) assert.deepEqual(ownedBy(ab, manager)?.fieldsV1, ownedBy(ba, manager)?.fieldsV1)
      }),
    )
  })

  it('owns nothing of the status and of what the server writes', () => {
    const { object } = apply(undefined, { ...thing({ list: ['a'] }, { uid: undefined, labels: { a: 'b' } }), status: { phase: 'x' } })
    assert.deepEqual(ownedBy(object, 'm1')?.fieldsV1, { 'f:metadata': { 'f:labels': { 'f:a': {} } }, 'f:spec': { 'f:list': {} } })
    const status = apply(
      { ...object, metadata: { ...object.metadata, uid: 'u' } },
      { ...thing({ list: ['b'] }), status: { phase: 'y' } },
      'ctl',
      {
        at: { ...context, subresource: 'status', resetPaths: [['spec'], ['metadata']] },
      },
    ).object
    assert.deepEqual(ownedBy(status, 'ctl'), {
      manager: 'ctl',
      operation: 'Apply',
      apiVersion: 'x.dev/v1',
      time: context.now,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:status': { 'f:phase': {} } },
      subresource: 'status',
    })
  })

  it('names every conflict, by manager, and can be forced', () => {
    const one = apply(undefined, thing({ map: { a: '1' }, set: ['x'] }), 'm1').object
    const two = trackUpdate({ live: one, next: thing({ map: { a: '1', b: '2' }, set: ['x'] }), manager: 'curl', context: later })
    const run = (force: boolean) => apply(two, thing({ map: { a: '9', b: '9' }, set: ['x'] }), 'm3', { force })
    failsWith(
      () => run(false),
      409,
      /^Apply failed with 2 conflicts: conflicts with "curl" using x.dev\/v1:\n- .spec.map.b\nconflicts with "m1":\n- .spec.map.a$/,
    )
    const { object } = run(true)
    assert.deepEqual(ownedBy(object, 'm1')?.fieldsV1, { 'f:spec': { 'f:set': { 'v:"x"': {} } } })
    assert.equal(ownedBy(object, 'curl'), undefined)
  })

  it('refuses what cannot be applied', () => {
    failsWith(() => apply(undefined, { ...thing({}), apiVersion: 'x.dev/v9' }), 400, /^invalid object type: x.dev\/v9, Kind=Thing$/)
    failsWith(() => apply(undefined, { ...thing({}), kind: 'Other' }), 400, /^invalid object type: x.dev\/v1, Kind=Other$/)
    failsWith(() => apply(undefined, thing({}, { managedFields: [] })), 400, /^metadata.managedFields must be nil$/)
    failsWith(
      () => apply(undefined, thing({ nope: 1 }, { namespace: 'n' })),
      500,
      /^failed to create typed patch object \(n\/a; x.dev\/v1, Kind=Thing\): .spec.nope: field not declared in schema$/,
    )
    const broken = thing({}, { managedFields: [{ manager: 'x', operation: 'Apply', apiVersion: 'x.dev/v1' }] })
    failsWith(() => apply(broken, thing({})), 500, /^failed to decode managed fields: missing fieldsType in managed fields entry 0$/)
  })

  it('says that an object was there before the first apply', () => {
    const live = thing({ map: { a: '1' } }, { uid: 'u' })
    const { object } = apply(live, thing({ map: { b: '2' } }))
    assert.deepEqual(ownedBy(object, 'before-first-apply')?.fieldsV1, { 'f:spec': { '.': {}, 'f:map': { '.': {}, 'f:a': {} } } })
    failsWith(
      () => apply(live, thing({ map: { a: '2' } })),
      409,
      /^Apply failed with 1 conflict: conflict with "before-first-apply" using x.dev\/v1: .spec.map.a$/,
    )
  })

  it('prunes in the version that was applied last, and forgets versions that are gone', () => {
    const v2 = { ...context, gvk: { ...context.gvk, version: 'v2' } }
    const one = apply(undefined, thing({ map: { a: '1', b: '2' } })).object
    const { object } = apply(one, { ...thing({ map: { a: '1' } }), apiVersion: 'x.dev/v2' }, 'm1', { at: v2 })
    assert.deepEqual(object.spec, { map: { a: '1' } })
    assert.equal(ownedBy(object, 'm1')?.apiVersion, 'x.dev/v2')
    const gone = { ...ownedBy(one, 'm1'), apiVersion: 'x.dev/v0' }
    const kept = apply({ ...one, metadata: { ...one.metadata, managedFields: [gone] } }, thing({ map: { a: '1' } })).object
    assert.deepEqual(kept.spec, { map: { a: '1', b: '2' } }, 'nobody can tell any more that b was applied')
    assert.equal(kept.metadata.managedFields?.length, 1)
  })

  it('lets kubectl take over what it applied on the client side', () => {
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
    const applied = thing({ map: { a: '1' }, list: ['x'] })
    const created = trackUpdate({
      live: undefined,
      next: thing(applied.spec, { annotations: { [annotation]: JSON.stringify(applied) } }),
      manager: 'kubectl-client-side-apply',
      context,
    })
    const next = thing({ map: { a: '2' }, list: ['y'] })
    failsWith(() => apply(created, next, 'other'), 409, /2 conflicts/)
    const { object } = apply(created, next, 'kubectl')
    assert.deepEqual(object.spec, next.spec)
    assert.equal(
      object.metadata.annotations?.[annotation],
      '{"apiVersion":"x.dev/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"list":["y"],"map":{"a":"2"}}}\n',
    )
    const changed = trackUpdate({
      live: created,
      next: { ...created, spec: { ...(next.spec as object), map: { a: '7' } } },
      manager: 'curl',
      context: later,
    })
    failsWith(() => apply(changed, thing({ map: { a: '2' }, list: ['z'] }), 'kubectl'), 409, /conflict/)
  })
})

/** Pruning leaves empty containers where the real server does too; they make no difference to readers of the object. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(withoutEmpty)
  if (typeof value !== 'object' || value === null) return value ?? undefined
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    const kept = withoutEmpty(inner)
    return kept === undefined ? [] : [[key, kept] as const]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** Associative lists in a fixed order: merging keeps an order, but two histories may keep different ones. */
function unordered(spec: unknown): unknown {
  const { set, items, ...rest } = (spec ?? {}) as { set?: string[]; items?: { k: string }[] }
  const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
  const sorted = (list: readonly unknown[]) => [...list].sort(byText)
  return {
    ...rest,
    ...(set ? { set: sorted(set) } : {}),
    ...(items ? { items: sorted(items.map((item) => Object.fromEntries(Object.entries(item).sort(byText)))) } : {}),
  }
}

/** The same configuration with keys of its own, and without what cannot be shared. */
function prefixed(spec: { map?: object; set?: string[]; items?: { k: string }[] }, prefix: string): object {
  const { map, set, items } = spec
  return {
    ...(map ? { map: Object.fromEntries(Object.entries(map).map(([key, value]) => [prefix + key, value])) } : {}),
    ...(set ? { set: set.map((value) => prefix + value) } : {}),
    ...(items ? { items: items.map((item) => ({ ...item, k: prefix + item.k })) } : {}),
  }
}
