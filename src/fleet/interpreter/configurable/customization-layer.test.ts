import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze } from '../../../base/json.ts'
import type { CustomizationRules, ResourceInterpreterCustomization } from '../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { KindRules } from '../interpreter.ts'
import { ScriptCache } from '../lua/script-cache.ts'
import { changedKinds, customizationLayer } from './customization-layer.ts'

type Scripts = Partial<Record<keyof CustomizationRules, string>>

function customization(name: string, scripts: Scripts, kind = 'Gadget'): ResourceInterpreterCustomization {
  const customizations = Object.fromEntries(Object.entries(scripts).map(([rule, luaScript]) => [rule, { luaScript }]))
  return deepFreeze({
    apiVersion: 'config.karmada.io/v1alpha1',
    kind: 'ResourceInterpreterCustomization',
    metadata: { name },
    spec: { target: { apiVersion: 'example.io/v1', kind }, customizations },
  }) as ResourceInterpreterCustomization
}

const layerOf = (list: readonly ResourceInterpreterCustomization[], cache = new ScriptCache()) =>
  customizationLayer(list, cache, { now: () => 0 })

function rulesOf(scripts: Scripts): Required<KindRules> {
  return layerOf([customization('one', scripts)]).rulesOf('example.io/v1', 'Gadget') as Required<KindRules>
}

const GADGET: KubeObject = deepFreeze({
  apiVersion: 'example.io/v1',
  kind: 'Gadget',
  metadata: { name: 'g', namespace: 'shop' },
  spec: {
    replicas: 3,
    size: '2',
    keep: {},
    list: [],
    template: { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '100m' } } }] } },
  },
  status: { ready: 2, extra: {}, nothing: null },
})

describe('customization layer', () => {
  it('reads replicas and what each needs', () => {
    const { replicas } = rulesOf({
      replicaResource: 'function GetReplicas(obj) return obj.spec.replicas, require("kube").accuratePodRequirements(obj.spec.template) end',
    })
    assert.deepEqual(replicas(GADGET), { replicas: 3, requirements: { resourceRequest: { cpu: '100m' } } })
  })

  it('replicas are cut to whole numbers of 32 bits; requirements may be nil', () => {
    const answer = (value: string) => rulesOf({ replicaResource: `function GetReplicas(obj) return ${value}, nil end` }).replicas(GADGET)
    assert.deepEqual(answer('2.9'), { replicas: 2 })
    assert.deepEqual(answer('2^40'), { replicas: 2 ** 31 - 1 })
    assert.throws(() => answer('"3"'), /GetReplicas of Gadget: result type string is not number/)
    assert.throws(() => answer('0/0'), /is not number/)
    assert.throws(
      () => rulesOf({ replicaResource: 'function GetReplicas(obj) return 1, 2 end' }).replicas(GADGET),
      /expect the returned requires type is table but got number/,
    )
  })

  it('components may be nil, and are a list', () => {
    const answer = (value: string) => rulesOf({ componentResource: `function GetComponents(obj) return ${value} end` }).components(GADGET)
    assert.deepEqual(answer('nil'), [])
    assert.deepEqual(answer('{}'), [])
    assert.deepEqual(answer('{{name = "a", replicas = 1}}'), [{ name: 'a', replicas: 1 }])
    assert.throws(() => answer('{name = "a"}'), /to be a list/)
    assert.throws(() => answer('1'), /type is table but got number/)
  })

  it('revision keeps empty fields that the object has, and drops others', () => {
    const { revise } = rulesOf({ replicaRevision: 'function ReviseReplica(obj, n) obj.spec.replicas = n obj.spec.new = {} return obj end' })
    const revised = revise(GADGET, 7) as typeof GADGET & { spec: Record<string, unknown> }
    assert.deepEqual(revised.spec, { ...(GADGET.spec as object), replicas: 7 })
    assert.equal((GADGET.spec as { replicas: number }).replicas, 3)
  })

  it('retention knows the empty fields of both objects', () => {
    const observed = deepFreeze({ ...GADGET, spec: { ...(GADGET.spec as object), ports: [], node: {} } }) as KubeObject
    const { retain } = rulesOf({
      retention:
        'function Retain(desired, observed) desired.spec.ports = observed.spec.ports desired.spec.node = observed.spec.node desired.spec.x = {} return desired end',
    })
    assert.deepEqual(retain(GADGET, observed).spec, observed.spec)
    const { retain: keepAll } = rulesOf({ retention: 'function Retain(desired, observed) return desired end' })
    assert.equal(keepAll(GADGET, observed), GADGET)
  })

  it('reflection leaves out what is empty', () => {
    const { reflect } = rulesOf({ statusReflection: 'function ReflectStatus(obj) return obj.status end' })
    assert.deepEqual(reflect(GADGET), { ready: 2 })
    assert.deepEqual(rulesOf({ statusReflection: 'function ReflectStatus(obj) return {} end' }).reflect(GADGET), {})
    assert.throws(() => rulesOf({ statusReflection: 'function ReflectStatus(obj) return nil end' }).reflect(GADGET), /table but got nil/)
  })

  it('aggregation changes the status alone, and gives back the template when nothing changes', () => {
    const script = `
      function AggregateStatus(obj, items)
        obj.spec = nil
        obj.status = {ready = 0}
        for _, item in ipairs(items or {}) do obj.status.ready = obj.status.ready + item.status.ready end
        return obj
      end`
    const { aggregate } = rulesOf({ statusAggregation: script })
    const items = [1, 3].map((ready, i) => ({ clusterName: `m${i}`, status: { ready } })) as never
    const result = aggregate(GADGET, items)
    assert.deepEqual(result.status, { ready: 4 })
    assert.equal(result.spec, GADGET.spec)
    assert.equal(aggregate(result, items), result)
    assert.deepEqual(aggregate(result, []).status, { ready: 0 })
  })

  it('health is a boolean', () => {
    assert.equal(rulesOf({ healthInterpretation: 'function InterpretHealth(obj) return obj.status.ready == 2 end' }).health(GADGET), true)
    assert.throws(
      () => rulesOf({ healthInterpretation: 'function InterpretHealth(obj) return obj.status.ready end' }).health(GADGET),
      /result type number is not bool/,
    )
  })

  it('an error names function, kind and line; a missing function is one', () => {
    const { health } = rulesOf({ healthInterpretation: 'function InterpretHealth(obj)\n return obj.nope.ready == 1\nend' })
    assert.throws(() => health(GADGET), { message: "InterpretHealth of Gadget: line 2: attempt to index a nil value (field 'nope')" })
    assert.throws(() => rulesOf({ healthInterpretation: 'x = 1' }).health(GADGET), /not found function InterpretHealth/)
    assert.throws(
      () => rulesOf({ healthInterpretation: 'InterpretHealth = 5' }).health(GADGET),
      /InterpretHealth is not a function: number/,
    )
  })

  it('the first by name decides for each operation; an empty script is none', () => {
    const health = (value: boolean) => `function InterpretHealth(obj) return ${value} end`
    const list = [
      customization('b', { healthInterpretation: health(false), statusReflection: 'function ReflectStatus(obj) return {from = "b"} end' }),
      customization('a', { healthInterpretation: health(true), statusReflection: '' }),
    ]
    for (const order of [list, [...list].reverse()]) {
      const rules = layerOf(order).rulesOf('example.io/v1', 'Gadget') as Required<KindRules>
      assert.equal(rules.health(GADGET), true)
      assert.deepEqual(rules.reflect(GADGET), { from: 'b' })
      assert.equal(rules.retain, undefined)
    }
  })

  it('dependencies of all scripts are united, each once, in order', () => {
    const script = (...names: string[]) =>
      `function GetDependencies(obj) return {${names.map((name) => `{apiVersion = "v1", kind = "Secret", namespace = "shop", name = "${name}"}`).join(', ')}} end`
    const all = layerOf([
      customization('b', { dependencyInterpretation: script('z', 'a') }),
      customization('a', { dependencyInterpretation: script('m', 'a') }),
    ])
    assert.deepEqual(
      all
        .rulesOf('example.io/v1', 'Gadget')
        ?.dependencies?.(GADGET)
        .map(({ name }) => name),
      ['a', 'm', 'z'],
    )
  })

  it('a script that does not compile fails alone', () => {
    const layer = layerOf([
      customization('bad', {
        healthInterpretation: 'function InterpretHealth(obj\n return',
        statusReflection: 'function ReflectStatus(obj) return {ok = true} end',
      }),
      customization('good', { healthInterpretation: 'function InterpretHealth(obj) return true end' }, 'Other'),
    ])
    const bad = layer.rulesOf('example.io/v1', 'Gadget') as Required<KindRules>
    assert.throws(() => bad.health(GADGET), /InterpretHealth of Gadget: the script cannot be compiled: line 2/)
    assert.deepEqual(bad.reflect(GADGET), { ok: true })
    assert.equal(layer.rulesOf('example.io/v1', 'Other')?.health?.(GADGET), true)
  })

  it('scripts of two kinds share no globals', () => {
    const layer = layerOf([
      customization('a', {
        healthInterpretation: 'function helper() return true end function InterpretHealth(obj) shared = helper() return shared end',
      }),
      customization('b', { healthInterpretation: 'function InterpretHealth(obj) return helper == nil and shared == nil end' }, 'Other'),
    ])
    assert.equal(layer.rulesOf('example.io/v1', 'Gadget')?.health?.(GADGET), true)
    assert.equal(layer.rulesOf('example.io/v1', 'Other')?.health?.(GADGET), true)
  })

  it('compiled scripts are kept while they are used, and forgotten after', () => {
    const cache = new ScriptCache()
    for (let i = 0; i < 50; i++)
      layerOf(
        [
          customization('a', { healthInterpretation: `function InterpretHealth(obj) return ${i} > 0 end` }),
          customization('b', { retention: 'function Retain(a, b) return a end' }),
        ],
        cache,
      )
    assert.equal(cache.size, 2)
    assert.equal(cache.script('x', 'f'), cache.script('x', 'f'))
  })

  it('reports which kinds changed', () => {
    const script = { healthInterpretation: 'function InterpretHealth(obj) return true end' }
    const before = layerOf([customization('a', script), customization('b', script, 'Other')])
    assert.deepEqual(changedKinds(before, layerOf([customization('renamed', script), customization('b', script, 'Other')])), [])
    assert.deepEqual(changedKinds(before, layerOf([customization('a', { ...script, retention: 'x' })])), [
      { apiVersion: 'example.io/v1', kind: 'Gadget' },
      { apiVersion: 'example.io/v1', kind: 'Other' },
    ])
  })

  it('the order in which customizations come makes no difference', () => {
    const list = ['a', 'b', 'c', 'd'].map((name, i) =>
      customization(
        name,
        i % 2 === 0
          ? { healthInterpretation: `return "${name}"` }
          : { retention: `return "${name}"`, healthInterpretation: `return "${name}"` },
        i < 3 ? 'Gadget' : 'Other',
      ),
    )
    fc.assert(
      fc.property(fc.shuffledSubarray(list, { minLength: 4 }), (shuffled) => {
        assert.deepEqual([...layerOf(shuffled).kinds].sort(), [...layerOf(list).kinds].sort())
      }),
    )
  })
})
