import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { aDeployment, aPolicy, selecting } from '../../fleet/detector/testing.ts'
import type { Binding, Placement } from '../../kinds/karmada/index.ts'
import type { Reader } from '../controller.ts'
import {
  HELD_BY,
  type Hold,
  holdMarks,
  NARROWED_BY,
  type Narrowing,
  type NarrowingAnswer,
  type NarrowingSubject,
  NO_CLUSTER_ALLOWED,
  NOT_NARROWED,
  narrowed,
  narrowPlacement,
  RELEASED,
} from './narrowing.ts'

const NO_READER = {} as Reader
const saying = (answer: NarrowingAnswer | undefined, name = 'sample'): Narrowing => ({ name, watches: [], of: () => answer })
const hold = (message: string, reason = 'Sample'): Hold => ({
  reason,
  message,
  by: [{ apiVersion: 'v1', kind: 'ConfigMap', name: message }],
})
const subject: NarrowingSubject = {
  template: aDeployment('default/web'),
  policy: aPolicy('default/web', { resourceSelectors: selecting('web') }) as never,
  binding: undefined,
  needs: undefined,
}

describe('narrowings together', () => {
  const table: [string, readonly (NarrowingAnswer | undefined)[], Omit<NarrowingAnswer, 'event'>][] = [
    ['nobody says anything', [undefined, {}], {}],
    ['one allows', [{ allow: ['b', 'a', 'b'] }], { allow: ['a', 'b'] }],
    ['two allow: what both do', [{ allow: ['a', 'b'] }, { allow: ['b', 'c'] }], { allow: ['b'] }],
    ['two allow nothing in common', [{ allow: ['a'] }, { allow: ['c'] }], { allow: [] }],
    ['one holds', [{ hold: hold('not there') }, { allow: ['a'] }], { allow: ['a'], hold: hold('not there') }],
    [
      'two hold: the first reason, both sentences, all objects',
      [{ hold: hold('one', 'One') }, { hold: hold('two', 'Two') }],
      { hold: { reason: 'One', message: 'one; two', by: [...hold('one').by, ...hold('two').by] } },
    ],
    [
      'annotations go together',
      [{ annotations: { a: '1', b: null } }, { annotations: { c: '2' } }],
      { annotations: { a: '1', b: null, c: '2' } },
    ],
  ]
  for (const [name, answers, expected] of table)
    it(name, () => {
      const {
        events,
        narrowedBy,
        heldOnlyBy,
        annotations = {},
        ...said
      } = narrowed(
        answers.map((answer) => saying(answer)),
        subject,
        NO_READER,
      )
      const { annotations: wanted = {}, ...rest } = expected
      assert.deepEqual({ ...said, annotations }, { ...rest, annotations: wanted })
      assert.deepEqual(events, [])
      assert.equal(heldOnlyBy.length, answers.filter((answer) => answer?.hold !== undefined && answer.allow === undefined).length)
      const restricting = answers.filter((answer) => answer?.allow !== undefined || answer?.hold !== undefined)
      assert.deepEqual(
        narrowedBy,
        restricting.map(() => 'sample'),
      )
    })

  it('cost what their answers contain: two lists of 20,000 clusters are not compared with each other', () => {
    let looks = 0
    const counted = (names: string[]): string[] =>
      new Proxy(names, {
        get(target, key, receiver) {
          if (typeof key === 'string' && /^\d+$/.test(key)) looks++
          return Reflect.get(target, key, receiver)
        },
      })
    const names = (offset: number): string[] => counted(Array.from({ length: 20_000 }, (_, i) => `c${i + offset}`))
    const { allow } = narrowed([saying({ allow: names(0) }), saying({ allow: names(10_000) })], subject, NO_READER)
    assert.equal(allow?.length, 10_000)
    assert.ok(looks <= 4 * 20_000, `${looks} looks`)
  })
})

describe('a narrowing that does not run', () => {
  const bound = (annotations: Record<string, string>, scheduling?: boolean): Binding =>
    ({
      apiVersion: 'work.karmada.io/v1alpha2',
      kind: 'ResourceBinding',
      metadata: { annotations },
      spec: { resource: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, ...(scheduling ? { suspension: { scheduling } } : {}) },
    }) as Binding
  const said = (binding: Binding, running: readonly Narrowing[] = []) => narrowed(running, { ...subject, binding }, NO_READER)
  const marks = { ...holdMarks(hold('no data')), [NARROWED_BY]: 'gate' } as Record<string, string>

  it('keeps what it holds, with its marks as they are', () => {
    const answer = said(bound(marks, true))
    assert.deepEqual(holdMarks(answer.hold), holdMarks(hold('no data')))
    assert.deepEqual(answer.narrowedBy, ['gate'])
  })

  it('keeps what it allowed', () => {
    const answer = said(bound({ [NARROWED_BY]: 'gate', [RELEASED]: '{"allow":["west"]}' }), [saying({ allow: ['west', 'east'] }, 'other')])
    assert.deepEqual([answer.allow, answer.hold, answer.narrowedBy], [['west'], undefined, ['other', 'gate']])
  })

  it('has no say when it runs, nor where it never had one', () => {
    assert.deepEqual(said(bound(marks, true), [saying(undefined, 'gate')]), NOT_NARROWED)
    assert.deepEqual(said(bound({ [RELEASED]: '{"allow":["west"]}' })), NOT_NARROWED)
  })

  it('keeps its name while another one holds, and its hold when that one lets go', () => {
    const binding = bound({ ...marks, [NARROWED_BY]: 'gate,queues' }, true)
    const held = said(binding, [saying({ hold: hold('no data') }, 'gate')])
    assert.deepEqual([held.narrowedBy, held.hold?.message], [['gate', 'queues'], 'no data'])
    assert.deepEqual(said(binding, [saying(undefined, 'gate')]).hold?.message, 'no data')
    assert.deepEqual(said(bound({ ...marks, [NARROWED_BY]: 'a,b' }, true)).narrowedBy, ['a', 'b'])
  })

  it('survives a record that cannot be read', () => {
    for (const text of ['', 'null', '{', '[]', '{"allow":"west"}', '{"allow":[1]}', '{"__proto__":{"allow":["x"]}}'])
      assert.equal(said(bound({ [NARROWED_BY]: 'gate', [RELEASED]: text })).allow, undefined, text)
    fc.assert(
      fc.property(fc.string(), fc.json(), (by, text) => void said(bound({ [NARROWED_BY]: by, [RELEASED]: text, [HELD_BY]: by }, true))),
    )
  })
})

describe('a narrowed placement', () => {
  const NONE = [NO_CLUSTER_ALLOWED]
  const labels = { labelSelector: { matchLabels: { zone: 'x' } } }
  const table: [string, Placement | undefined, readonly string[] | undefined, Placement | undefined][] = [
    ['everything is allowed', { clusterAffinity: { clusterNames: ['a'] } }, undefined, { clusterAffinity: { clusterNames: ['a'] } }],
    ['no placement', undefined, ['a'], { clusterAffinity: { clusterNames: ['a'] } }],
    ['no affinity', { spreadConstraints: [] }, ['a'], { spreadConstraints: [], clusterAffinity: { clusterNames: ['a'] } }],
    ['an affinity by labels', { clusterAffinity: labels }, ['a'], { clusterAffinity: { ...labels, clusterNames: ['a'] } }],
    [
      'an affinity by name',
      { clusterAffinity: { clusterNames: ['c', 'b', 'a'] } },
      ['b', 'c'],
      { clusterAffinity: { clusterNames: ['c', 'b'] } },
    ],
    ['nothing in common', { clusterAffinity: { clusterNames: ['a'] } }, ['b'], { clusterAffinity: { clusterNames: NONE } }],
    ['nothing is allowed', {}, [], { clusterAffinity: { clusterNames: NONE } }],
    [
      'every group, and what helps out',
      {
        clusterAffinities: [
          { affinityName: 'one', clusterNames: ['a', 'b'] },
          {
            affinityName: 'two',
            clusterNames: ['c'],
            overflowAffinities: [{ affinityName: 'three' }, { affinityName: 'four', clusterNames: ['a'] }],
          },
        ],
      },
      ['a'],
      {
        clusterAffinities: [
          { affinityName: 'one', clusterNames: ['a'] },
          {
            affinityName: 'two',
            clusterNames: NONE,
            overflowAffinities: [
              { affinityName: 'three', clusterNames: ['a'] },
              { affinityName: 'four', clusterNames: ['a'] },
            ],
          },
        ],
      },
    ],
  ]
  for (const [name, placement, allow, expected] of table) it(name, () => assert.deepEqual(narrowPlacement(placement, allow), expected))

  it('never reaches a cluster that is not allowed, and repeating it changes nothing', () => {
    const names = fc.subarray(['a', 'b', 'c', 'd'])
    const affinity = fc.oneof(
      fc.constant({}),
      names.map((clusterNames) => ({ clusterNames })),
    )
    const placement: fc.Arbitrary<Placement> = fc.oneof(
      affinity.map((clusterAffinity) => ({ clusterAffinity })),
      fc.array(affinity, { minLength: 1, maxLength: 3 }).map((all) => ({
        clusterAffinities: all.map((one, i) => ({ affinityName: `n${i}`, ...one })),
      })),
    )
    fc.assert(
      fc.property(placement, names, (given, allow) => {
        const once = narrowPlacement(given, allow) as Placement
        assert.deepEqual(narrowPlacement(once, allow), once)
        const groups = once.clusterAffinities ?? [once.clusterAffinity ?? {}]
        for (const { clusterNames = [] } of groups) {
          assert.ok(clusterNames.length > 0)
          for (const name of clusterNames) assert.ok(name === NO_CLUSTER_ALLOWED || allow.includes(name))
        }
      }),
    )
  })
})
