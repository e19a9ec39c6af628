import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze } from '../../../base/json.ts'
import { parseQuantity, scaledValue } from '../../../kube/quantity.ts'
import { podRequirements } from './pod-requirements.ts'

type Resources = Record<string, string | number>
const container = (requests?: Resources, limits?: Resources) => ({ name: 'c', resources: { requests, limits } })
const template = (spec: object) => deepFreeze({ spec })
const requests = (spec: object) => podRequirements(template(spec))?.resourceRequest

describe('what one replica needs', () => {
  const cases: [string, object, Resources | undefined][] = [
    ['nothing', { containers: [container()] }, undefined],
    ['no containers', {}, undefined],
    ['the sum of the containers', { containers: [container({ cpu: '100m' }), container({ cpu: '0.4' })] }, { cpu: '500m' }],
    ['cpu in whole units where it fits', { containers: [container({ cpu: '1500m' }), container({ cpu: '500m' })] }, { cpu: '2' }],
    ['memory in binary units', { containers: [container({ memory: '1024Mi' })] }, { memory: '1Gi' }],
    ['memory given in decimal units', { containers: [container({ memory: '1G' })] }, { memory: '1000000000' }],
    [
      'limits fill in for requests, one by one',
      { containers: [container({ cpu: 1 }, { cpu: 2, memory: '1Mi' })] },
      { cpu: '1', memory: '1Mi' },
    ],
    [
      'the largest init container',
      { containers: [container({ cpu: 1 })], initContainers: [container({ cpu: 3 }), container({ cpu: 2 })] },
      { cpu: '3' },
    ],
    [
      'an init container below the sum',
      { containers: [container({ cpu: 2 }), container({ cpu: 2 })], initContainers: [container({ cpu: 3 })] },
      { cpu: '4' },
    ],
    [
      'limits of init containers',
      { containers: [container()], initContainers: [container(undefined, { memory: '8Ki' })] },
      { memory: '8Ki' },
    ],
    [
      'a sidecar counts as any init container',
      { containers: [container({ cpu: 1 })], initContainers: [{ ...container({ cpu: 1 }), restartPolicy: 'Always' }] },
      { cpu: '1' },
    ],
    [
      'overhead on top',
      { containers: [container({ cpu: 1 })], initContainers: [container({ cpu: 2 })], overhead: { cpu: '250m', memory: '1Ki' } },
      { cpu: '2250m', memory: '1Ki' },
    ],
    [
      'extended resources',
      { containers: [container({ 'nvidia.com/gpu': 1 }), container({ 'nvidia.com/gpu': '2k' })] },
      { 'nvidia.com/gpu': '2001' },
    ],
    [
      'huge pages and storage',
      { containers: [container({ 'hugepages-2Mi': '4Mi', 'ephemeral-storage': '2Gi' })] },
      { 'ephemeral-storage': '2Gi', 'hugepages-2Mi': '4Mi' },
    ],
    ['names no scheduler counts are left out', { containers: [container({ gpu: 1, 'requests.a/b': 1, storage: '1Gi' })] }, undefined],
    ['nothing that is zero', { containers: [container({ cpu: 0, memory: '0' })] }, undefined],
    ['fractions are rounded up', { containers: [container({ cpu: '0.1m', memory: '1500m' })] }, { cpu: '1m', memory: '2' }],
  ]
  for (const [name, spec, wanted] of cases) it(name, () => assert.deepEqual(requests(spec), wanted))

  it('the node claim, without what is empty', () => {
    const hard = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'Exists' }] }] }
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: hard } }
    const tolerations = [{ key: 'x', operator: 'Exists' }]
    assert.deepEqual(podRequirements(template({ nodeSelector: { a: 'b' }, tolerations, affinity })), {
      nodeClaim: { hardNodeAffinity: hard, nodeSelector: { a: 'b' }, tolerations },
    })
    assert.deepEqual(podRequirements(template({ nodeSelector: {}, tolerations })), { nodeClaim: { tolerations } })
    const preferred = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 }] } }
    assert.equal(podRequirements(template({ nodeSelector: {}, tolerations: [], affinity: preferred })), undefined)
  })

  it('the priority class goes with other requirements, never alone', () => {
    const spec = { containers: [container({ cpu: 1 })], priorityClassName: 'high' }
    assert.deepEqual(podRequirements(template(spec)), { resourceRequest: { cpu: '1' }, priorityClassName: 'high' })
    assert.deepEqual(podRequirements(template(spec), { priorityClassName: false }), { resourceRequest: { cpu: '1' } })
    assert.equal(podRequirements(template({ priorityClassName: 'high' })), undefined)
  })

  it('a quantity that is none is an error that says so', () => {
    assert.throws(() => requests({ containers: [container({ cpu: 'much' })] }), /cannot parse 'much': quantities must match/)
    assert.throws(
      () => requests({ containers: [{ resources: { requests: { cpu: {} } } }] }),
      /the quantity of cpu is neither a text nor a number/,
    )
  })

  it('adds up whatever the units, in any order of containers', () => {
    const amount = fc.oneof(
      fc.nat(5000).map((n) => `${n}m`),
      fc.nat(50).map(String),
      fc.nat(100).map((n) => `${n}Mi`),
    )
    const given = fc.array(fc.record({ cpu: amount, memory: amount }, { requiredKeys: [] }), { maxLength: 5 })
    fc.assert(
      fc.property(given, given, (normal, init) => {
        const spec = { containers: normal.map((r) => container(r)), initContainers: init.map((r) => container(r)) }
        const result = requests(spec) ?? {}
        for (const [name, scale] of [
          ['cpu', -3],
          ['memory', 0],
        ] as const) {
          const value = (r: Resources) => (r[name] === undefined ? 0n : scaledValue(parseQuantity(r[name]), scale))
          const sum = normal.map((r) => value(r as Resources)).reduce((a, b) => a + b, 0n)
          const largest = [sum, ...init.map((r) => value(r as Resources))].sort((a, b) => (a < b ? 1 : -1))
          const wanted = largest[0] ?? 0n
          assert.equal(value(result as Resources), wanted)
          assert.equal(name in result, wanted > 0n)
        }
        const turned = { containers: spec.containers.toReversed(), initContainers: spec.initContainers.toReversed() }
        assert.deepEqual(requests(turned) ?? {}, result)
      }),
    )
  })
})
