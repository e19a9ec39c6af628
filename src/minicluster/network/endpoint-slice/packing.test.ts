import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { EndpointSlice, SliceEndpoint } from '../../../kinds/kubernetes/types.ts'
import { identityOf, type Packing, packEndpoints } from './packing.ts'

const MAX = 4

const endpoint = (i: number, isReady = true): SliceEndpoint => ({
  addresses: [`10.0.0.${i}`],
  conditions: { ready: isReady, serving: isReady, terminating: false },
  targetRef: { kind: 'Pod', namespace: 'default', name: `pod-${i}`, uid: String(i) },
})

const slice = (name: string, endpoints: SliceEndpoint[]): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name },
  endpoints,
})

/** The slices after a packing is carried out. */
function after({ keep, update, create }: Packing, generation: number): EndpointSlice[] {
  return [
    ...keep,
    ...update.map(({ slice: one, endpoints }) => slice(one.metadata.name ?? '', endpoints)),
    ...create.map((endpoints, i) => slice(`new-${generation}-${i}`, endpoints)),
  ].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
}

const wanted = fc.uniqueArray(fc.record({ i: fc.nat(30), isReady: fc.boolean() }), { selector: ({ i }) => i, maxLength: 24 })
const textOf = (endpoints: readonly SliceEndpoint[]): string[] => endpoints.map((one) => JSON.stringify(one)).sort()

describe('packing endpoints', () => {
  it('holds exactly what is wanted, never too much in a slice, and is left alone when it is right', () => {
    fc.assert(
      fc.property(fc.array(wanted, { minLength: 1, maxLength: 8 }), (courses) => {
        let slices: EndpointSlice[] = []
        courses.forEach((course, generation) => {
          const desired = course.map(({ i, isReady }) => endpoint(i, isReady))
          slices = after(packEndpoints(slices, desired, MAX), generation)
          assert.deepEqual(textOf(slices.flatMap(({ endpoints = [] }) => endpoints)), textOf(desired))
          for (const { endpoints = [] } of slices) assert.ok(endpoints.length > 0 && endpoints.length <= MAX)
          const again = packEndpoints(slices, desired, MAX)
          assert.deepEqual([again.update.length, again.create.length, again.remove.length], [0, 0, 0])
        })
      }),
      { numRuns: 500 },
    )
  })

  it('changes one slice when one endpoint changes or goes, and at most one when one comes', () => {
    fc.assert(
      fc.property(wanted, fc.nat(30), fc.constantFrom('turn', 'leave', 'come'), (course, which, what) => {
        const desired = course.map(({ i, isReady }) => endpoint(i, isReady))
        const slices = after(packEndpoints([], desired, MAX), 0)
        const one = desired[which % Math.max(1, desired.length)]
        const others = desired.filter((other) => other !== one)
        if (one === undefined && what !== 'come') return
        const turned = one === undefined ? [] : [{ ...one, conditions: { ready: one.conditions?.ready !== true } }]
        const next = what === 'come' ? [...desired, endpoint(99)] : what === 'leave' ? others : [...others, ...turned]
        const { update, create, remove } = packEndpoints(slices, next, MAX)
        assert.equal(update.length + create.length + remove.length, 1)
      }),
    )
  })

  it('fills what changes anyway before it touches another', () => {
    const full = slice(
      'a',
      [1, 2, 3, 4].map((i) => endpoint(i)),
    )
    const half = slice(
      'b',
      [5, 6].map((i) => endpoint(i)),
    )
    const packing = packEndpoints(
      [full, half],
      [1, 2, 3, 5, 6, 7].map((i) => endpoint(i)),
      MAX,
    )
    assert.deepEqual(
      packing.update.map(({ slice: { metadata }, endpoints }) => [metadata.name, endpoints.map(identityOf).length]),
      [['a', 4]],
    )
    assert.deepEqual(
      packing.keep.map(({ metadata }) => metadata.name),
      ['b'],
    )
  })

  it('uses the fullest slice that can take all that is left', () => {
    const slices = [
      slice('one', [endpoint(1)]),
      slice(
        'two',
        [2, 3].map((i) => endpoint(i)),
      ),
      slice(
        'three',
        [4, 5, 6].map((i) => endpoint(i)),
      ),
    ]
    const packing = packEndpoints(
      slices,
      [1, 2, 3, 4, 5, 6, 7, 8].map((i) => endpoint(i)),
      MAX,
    )
    assert.deepEqual(
      packing.update.map(({ slice: { metadata } }) => metadata.name),
      ['two'],
    )
    assert.equal(packing.create.length, 0)
  })
})
