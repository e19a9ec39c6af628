import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject, ObjectMeta } from '../../kube/meta.ts'
import { plan as planEvent } from './event-ttl/controller.ts'
import { plan as planRole } from './role-aggregation/controller.ts'
import { plan as planRootCa } from './root-ca/controller.ts'
import { plan as planAccount } from './service-account/controller.ts'

const GONE = '2026-01-01T00:00:00Z'
const object = (kind: string, metadata: ObjectMeta, more: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata,
  ...more,
})
const living = object('Namespace', { name: 'a' })
const dying = object('Namespace', { name: 'a', deletionTimestamp: GONE })
const done = (plan: { actions: readonly { do: string }[] }): string[] => plan.actions.map((action) => action.do)

describe('the default ServiceAccount', () => {
  const account = object('ServiceAccount', { name: 'default', namespace: 'a' })
  const cases: [string, Parameters<typeof planAccount>[0], string[]][] = [
    ['is made where it is missing', { namespace: living, account: undefined }, ['create']],
    ['is left alone', { namespace: living, account }, []],
    ['is not made where everything goes', { namespace: dying, account: undefined }, []],
    ['is not made where nothing is', { namespace: undefined, account: undefined }, []],
  ]
  for (const [name, observed, wanted] of cases) it(name, () => assert.deepEqual(done(planAccount(observed)), wanted))
})

describe('the ConfigMap with the authority', () => {
  const held = (data: unknown): KubeObject =>
    object('ConfigMap', { name: 'kube-root-ca.crt', namespace: 'a', resourceVersion: '3', labels: { mine: 'x' } }, { data })
  const cases: [string, Parameters<typeof planRootCa>[0], string[]][] = [
    ['is made where it is missing', { namespace: living, configMap: undefined, authority: 'ca' }, ['create']],
    ['is left alone', { namespace: living, configMap: held({ 'ca.crt': 'ca' }), authority: 'ca' }, []],
    ['follows the authority', { namespace: living, configMap: held({ 'ca.crt': 'old' }), authority: 'ca' }, ['update']],
    ['holds nothing else', { namespace: living, configMap: held({ 'ca.crt': 'ca', more: '1' }), authority: 'ca' }, ['update']],
    ['is filled when it is empty', { namespace: living, configMap: held(undefined), authority: 'ca' }, ['update']],
    ['is not made where everything goes', { namespace: dying, configMap: undefined, authority: 'ca' }, []],
  ]
  for (const [name, observed, wanted] of cases) it(name, () => assert.deepEqual(done(planRootCa(observed)), wanted))

  it('keeps labels and says which revision it was based on', () => {
    const [action] = planRootCa({ namespace: living, configMap: held({}), authority: 'ca' }).actions
    assert.ok(action?.do === 'update')
    assert.deepEqual(
      [action.object.metadata.labels, action.object.metadata.resourceVersion, action.object.data],
      [{ mine: 'x' }, '3', { 'ca.crt': 'ca' }],
    )
  })
})

describe('an Event', () => {
  const NOW = Date.UTC(2026, 0, 1, 2)
  const event = (more: Record<string, unknown>): KubeObject =>
    object('Event', { name: 'e', creationTimestamp: '2026-01-01T00:30:00Z' }, more)
  const look = (one: KubeObject | undefined) => planEvent({ event: one, nowMs: NOW, ttlMs: 3_600_000 })
  it('goes an hour after it was made', () => assert.deepEqual(done(look(event({}))), ['delete']))
  it('stays for an hour after it was last seen, and is requeued then', () => {
    for (const more of [
      { lastTimestamp: '2026-01-01T01:30:00Z' },
      { eventTime: '2026-01-01T01:30:00.000000Z' },
      { series: { lastObservedTime: '2026-01-01T01:30:00Z' } },
    ])
      assert.deepEqual(look(event(more)), { actions: [], requeueAfterMs: 1_800_000 })
  })
  it('does not count times from the future, or what is no time', () => {
    for (const more of [
      { lastTimestamp: '2999-01-01T00:00:00Z' },
      { eventTime: 'soon' },
      { series: { lastObservedTime: 5 } },
      { series: null },
    ])
      assert.deepEqual(done(look(event(more))), ['delete'])
  })
  it('is as new as can be when the clock was set back behind its making', () => {
    const later = event({})
    later.metadata.creationTimestamp = '2026-01-01T02:00:09Z'
    assert.deepEqual(look(later), { actions: [], requeueAfterMs: 3_600_000 })
  })
  it('is left alone when it is gone or going', () => {
    assert.deepEqual(done(look(undefined)), [])
    assert.deepEqual(done(look(object('Event', { name: 'e', deletionTimestamp: GONE }))), [])
  })
})

describe('a role that aggregates', () => {
  const rule = (name: string) => ({ apiGroups: [''], resources: [name], verbs: ['get'] })
  const role = (name: string, labels: Record<string, string>, rules: unknown, more: Record<string, unknown> = {}): KubeObject =>
    object('ClusterRole', { name, labels, resourceVersion: '3' }, { rules, ...more })
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { to: 'x' } }] }
  const rulesFor = (of: KubeObject, candidates: KubeObject[]): unknown => {
    const [action] = planRole({ role: of, candidates }).actions
    return action?.do === 'patch' ? action.patch.rules : undefined
  }
  const x = role('x', { to: 'x' }, null, { aggregationRule })

  it('gets the rules of all it selects, in the order of their names, each once, but not its own', () => {
    const candidates = [
      role('b', { to: 'x' }, [rule('two'), rule('one')]),
      x,
      role('a', { to: 'x' }, [rule('one')]),
      role('c', { to: 'y' }, [rule('three')]),
    ]
    assert.deepEqual(rulesFor(x, candidates), [rule('one'), rule('two')])
  })
  it('has equal rules once, in whatever order their fields are', () => {
    const turned = { verbs: ['get'], resources: ['one'], apiGroups: [''] }
    assert.deepEqual(rulesFor(x, [role('a', { to: 'x' }, [rule('one'), turned])]), [rule('one')])
  })
  it('costs as much as it selects: twice the rules, twice the work', () => {
    const workFor = (size: number): number => {
      let looks = 0
      const ownKeys = (of: object): (string | symbol)[] => {
        looks++
        return Reflect.ownKeys(of)
      }
      const counting = (name: string): object => new Proxy(rule(name), { ownKeys })
      const rules = Array.from({ length: size }, (_, i) => counting(`r${i}`))
      assert.equal((rulesFor(x, [role('a', { to: 'x' }, rules)]) as unknown[]).length, size)
      return looks
    }
    const [once, twice] = [workFor(500), workFor(1000)]
    assert.ok(twice <= 2 * once + 10, `${once} and ${twice}`)
  })
  it('is left alone when it has them', () => {
    assert.equal(rulesFor(x, [x]), undefined)
    const filled = role('x', {}, [rule('one')], { aggregationRule })
    assert.equal(rulesFor(filled, [role('a', { to: 'x' }, [rule('one')])]), undefined)
    assert.deepEqual(rulesFor(filled, []), [])
  })
  it('is left alone when it does not aggregate, goes, or is gone', () => {
    assert.equal(rulesFor(role('x', {}, [rule('one')]), []), undefined)
    assert.deepEqual(planRole({ role: undefined, candidates: [] }).actions, [])
    const going = { ...x, metadata: { ...x.metadata, deletionTimestamp: GONE } }
    assert.equal(rulesFor(going, [role('a', { to: 'x' }, [rule('one')])]), undefined)
  })
  it('survives roles without rules and selectors that select nothing', () => {
    const odd = role('x', {}, [], {
      aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: 'to', operator: 'Wrong' }] }, {}] },
    })
    assert.deepEqual(rulesFor(odd, [role('a', {}, null), role('b', {}, undefined), role('c', {}, [rule('one')])]), [rule('one')])
    assert.equal(rulesFor(role('x', {}, [], { aggregationRule: {} }), [role('a', {}, [rule('one')])]), undefined)
  })
})
