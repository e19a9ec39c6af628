import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Condition } from '../../../kube/conditions.ts'
import { type Health, nextStreak, readyCondition, type Streak } from './readiness.ts'

const THRESHOLDS = { successThresholdMs: 30_000, failureThresholdMs: 20_000 }

/** What is published over time: `[second, health]` in, `second reason` out whenever the published condition changes. */
function reported(observations: readonly (readonly [number, Health])[], begin?: Condition): string[] {
  let streak: Streak | undefined
  let published = begin
  const changes: string[] = []
  for (const [second, health] of observations) {
    streak = nextStreak(streak, health, second * 1000)
    const next = readyCondition(streak, published, { ...THRESHOLDS, nowMs: second * 1000 })
    if (next === undefined || next.reason === published?.reason) continue
    published = next
    changes.push(`${second} ${next.status} ${next.reason}`)
  }
  return changes
}

const READY: Condition = { type: 'Ready', status: 'True', reason: 'ClusterReady' }
const LOST: Condition = { type: 'Ready', status: 'False', reason: 'ClusterNotReachable' }

describe('whether a cluster is called ready', () => {
  const table: [string, readonly (readonly [number, Health])[], string[], Condition?][] = [
    ['the first answer is told at once', [[0, 'ready']], ['0 True ClusterReady']],
    ['also when it is none', [[0, 'unreachable']], ['0 False ClusterNotReachable']],
    [
      'a failure only when it has lasted',
      [
        [0, 'ready'],
        [10, 'unreachable'],
        [20, 'unreachable'],
        [30, 'unreachable'],
      ],
      ['0 True ClusterReady', '30 False ClusterNotReachable'],
    ],
    [
      'a clock that is set back begins the time anew, and no more',
      [
        [5000, 'ready'],
        [5010, 'unreachable'],
        [10, 'unreachable'],
        [20, 'unreachable'],
        [30, 'unreachable'],
      ],
      ['5000 True ClusterReady', '30 False ClusterNotReachable'],
    ],
    [
      'one that passes is never told',
      [
        [0, 'ready'],
        [10, 'unreachable'],
        [20, 'ready'],
        [30, 'unhealthy'],
        [40, 'unreachable'],
      ],
      ['0 True ClusterReady'],
    ],
    [
      'the kind of failure changes at once',
      [
        [0, 'unreachable'],
        [10, 'unhealthy'],
        [20, 'unconnected'],
      ],
      ['0 False ClusterNotReachable', '10 False ClusterNotReady', '20 False StatusCollectionFailed'],
    ],
    [
      'other failures go on with the same one',
      [
        [0, 'unhealthy'],
        [10, 'unreachable'],
        [20, 'unhealthy'],
      ],
      ['20 False ClusterNotReady'],
      READY,
    ],
    [
      'who comes back must stay',
      [
        [0, 'unreachable'],
        [10, 'ready'],
        [20, 'ready'],
        [40, 'ready'],
      ],
      ['0 False ClusterNotReachable', '40 True ClusterReady'],
    ],
    [
      'who flickers is not believed',
      [
        [0, 'unreachable'],
        [10, 'ready'],
        [30, 'unreachable'],
        [40, 'ready'],
        [60, 'ready'],
      ],
      ['0 False ClusterNotReachable'],
    ],
    ['after a start, who is ready is believed', [[0, 'ready']], ['0 True ClusterReady'], LOST],
    [
      'after a start, who is not gets its time',
      [
        [0, 'unreachable'],
        [10, 'unreachable'],
        [20, 'unreachable'],
      ],
      ['20 False ClusterNotReachable'],
      READY,
    ],
    [
      'what others said does not keep it back',
      [[0, 'ready']],
      ['0 True ClusterReady'],
      { type: 'Ready', status: 'Unknown', reason: 'ClusterStatusUnknown' },
    ],
  ]
  for (const [name, observations, expected, begin] of table) it(name, () => assert.deepEqual(reported(observations, begin), expected))

  it('never changes twice within the shorter threshold', () => {
    const health = fc.constantFrom<Health>('ready', 'unhealthy', 'unreachable', 'unconnected')
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 15 }), health), { maxLength: 80 }), (steps) => {
        let second = 0
        const observations = steps.map(([pause, answer]) => {
          second += pause
          return [second, answer] as const
        })
        const changes = reported(observations, READY).map((line) => line.split(' '))
        const turns = changes.filter(([, status], i) => status !== (i === 0 ? 'True' : changes[i - 1]?.[1])).map(([at]) => Number(at))
        for (const [i, at] of turns.entries()) if (i > 0) assert.ok(at - (turns[i - 1] ?? 0) >= 20, `turns at ${turns.join(', ')}`)
      }),
    )
  })
})
