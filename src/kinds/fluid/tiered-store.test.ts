import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { CacheTierLevel, TierLevel } from './index.ts'
import { reservedOrdinals } from './reserved-ordinals.ts'
import { cacheTiersOf, tiersOf } from './tiered-store.ts'

const GI = 1024 ** 3
const level = (rest: Partial<TierLevel>): TierLevel => ({ mediumtype: 'MEM', volumeType: 'hostPath', ...rest })

describe('tieredstore', () => {
  it('shares a quota out evenly', () => {
    const { tiers, problems } = tiersOf([level({ path: '/dev/shm,/mnt/a/', quota: '3Gi', high: '0.95', low: '0.7' })])
    assert.deepEqual(problems, [])
    const stores = [
      { path: '/dev/shm', quotaBytes: 1.5 * GI },
      { path: '/mnt/a', quotaBytes: 1.5 * GI },
    ]
    assert.deepEqual(tiers, [{ level: 0, medium: 'MEM', volume: 'hostPath', stores, high: '0.95', low: '0.7' }])
  })
  it('takes a list of quotas one by one, over the quota', () => {
    const { tiers } = tiersOf([level({ path: '/a,/b', quota: '3Gi', quotaList: '1Gi,2Gi' })])
    assert.deepEqual(tiers[0]?.stores, [
      { path: '/a', quotaBytes: GI },
      { path: '/b', quotaBytes: 2 * GI },
    ])
  })
  it('has the fastest medium first', () => {
    const quota = 1
    const { tiers } = tiersOf([
      level({ mediumtype: 'HDD', quota }),
      level({ mediumtype: 'SSD', quota }),
      level({ mediumtype: 'MEM', quota }),
    ])
    assert.deepEqual(
      tiers.map(({ medium, level: index }) => `${medium} ${index}`),
      ['MEM 2', 'SSD 1', 'HDD 0'],
    )
  })

  const WRONG: [Partial<TierLevel>, string][] = [
    [{ path: '/a' }, '[0].quota: either quota or quotaList must be set: say how much the level may hold, for example 10Gi'],
    [
      { path: '/a', quotaList: '1Gi,2Gi' },
      '[0].quotaList: length of quotaList must be consistent with length of paths: it has 2 entries for 1 paths',
    ],
    [{ path: '/a,/b', quotaList: '1Gi,-2Gi' }, '[0].quotaList: "-2Gi" is no amount of bytes: write for example 10Gi'],
    [{ path: '/a', quota: '-1Gi' }, '[0].quota: "-1Gi" is no amount of bytes: write for example 10Gi'],
    [{ path: '/a', quota: '99999Ei' }, '[0].quota: "99999Ei" is no amount of bytes: write for example 10Gi'],
    [{ path: '/a,', quota: '1Gi' }, '[0].path: "/a," has an empty entry: remove a comma'],
    [{ path: '/a,/a/', quota: '1Gi' }, '[0].path: "/a,/a/" has the same path twice: remove one'],
    [{ path: ','.repeat(1000), quota: '1Gi' }, '[0].path: has more than 256 paths: remove some'],
  ]
  for (const [given, problem] of WRONG)
    it(`says ${problem}`, () => {
      const { tiers, problems } = tiersOf([level(given)])
      assert.deepEqual([tiers, problems.map(({ field, detail }) => `${field}: ${detail}`)], [[], [problem]])
    })

  it('never gives out more than the quota', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 9 }), (quota, paths) => {
        const { tiers } = tiersOf([level({ quota, path: Array.from({ length: paths }, (_, i) => `/p${i}`).join() })])
        const total = (tiers[0]?.stores ?? []).reduce((sum, store) => sum + store.quotaBytes, 0)
        assert.ok(total <= quota && total > quota - paths)
      }),
    )
  })
})

describe('tieredStore', () => {
  it('has one store for memory and for an emptyDir, and one for each path', () => {
    const { tiers, problems } = cacheTiersOf([
      { processMemory: { quota: '1Gi' }, high: '0.9' },
      { emptyDir: { quota: '2Gi', medium: 'Memory' } },
      { emptyDir: { quota: '2Gi' } },
      { hostPath: { paths: ['/a', '/b/'], quotas: ['1Gi', 7] } },
    ])
    assert.deepEqual(problems, [])
    assert.deepEqual(
      tiers.map(({ medium, volume, stores }) => [medium, volume, ...stores.map(({ path, quotaBytes }) => `${path} ${quotaBytes}`)]),
      [
        ['MEM', 'processMemory', ` ${GI}`],
        ['MEM', 'emptyDir', ` ${2 * GI}`],
        ['HDD', 'emptyDir', ` ${2 * GI}`],
        ['HDD', 'hostPath', `/a ${GI}`, '/b 7'],
      ],
    )
    assert.equal(tiers[0]?.high, '0.9')
  })

  const memory = { processMemory: { quota: '1Gi' } }
  const WRONG: [CacheTierLevel[], string][] = [
    [
      [memory, { ...memory, emptyDir: { quota: 1 }, processMemory: undefined, hostPath: { paths: ['/a'], quotas: [1] } }],
      '[1]: only one storage medium can be specified per level at index 1, but found 2: make a level of each',
    ],
    [[memory, memory], '[1].processMemory: RuntimeTieredStore should have only one ProcessMemoryMediumSource for all levels: keep one'],
    [
      [{ processMemory: { quota: 0 } }],
      '[0].processMemory.quota: process memory quota cannot be zero at level index 0: write for example 2Gi',
    ],
    [[{ emptyDir: { quota: '0' } }], '[0].emptyDir.quota: must be more than zero: write for example 10Gi'],
    [[{}], '[0]: no storage medium is specified at index 0: give it processMemory, emptyDir or hostPath'],
    [[{ hostPath: { paths: ['/a', '/b'], quotas: [1] } }], '[0].hostPath.quotas: must have as many entries as paths: it has 1 for 2 paths'],
    [[{ hostPath: { paths: ['/a', '/a'], quotas: [1, 1] } }], '[0].hostPath.paths: has the same path twice: remove one'],
    [[{ hostPath: { paths: ['/a'], quotas: [0] } }], '[0].hostPath.quotas[0]: must be more than zero: write for example 10Gi'],
    [Array.from({ length: 17 }, () => ({ emptyDir: { quota: 1 } })), ': has 17 levels, and may have 16: remove some'],
  ]
  for (const [levels, problem] of WRONG)
    it(`says ${problem}`, () =>
      assert.deepEqual(
        cacheTiersOf(levels).problems.map(({ field, detail }) => `${field}: ${detail}`),
        [problem],
      ))
})

describe('reserved ordinals', () => {
  it('are numbers and ranges', () => {
    assert.deepEqual([...(reservedOrdinals([3, '0', '5-7']).value ?? [])], [3, 0, 5, 6, 7])
    assert.deepEqual(reservedOrdinals(undefined), { value: new Set() })
  })
  const WRONG: [(string | number)[], string][] = [
    [[-1], '"-1" is no ordinal: write a number that is not negative, or a range like "2-5"'],
    [[1.5], '"1.5" is no ordinal: write a number that is not negative, or a range like "2-5"'],
    [['5-2'], '"5-2" is no ordinal: write a number that is not negative, or a range like "2-5"'],
    [['9999999999'], '"9999999999" is no ordinal: write a number that is not negative, or a range like "2-5"'],
    [[2, '1-3'], '2 is reserved twice: remove one'],
    [['0-2000000000'], 'it has more than 10000 ordinals: remove some'],
  ]
  for (const [list, error] of WRONG) it(`${JSON.stringify(list)} are none`, () => assert.deepEqual(reservedOrdinals(list), { error }))
})
