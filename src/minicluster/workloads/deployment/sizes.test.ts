import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { fenceposts, type Goal, goalOf, isScaled, newestSize, type Sized, stepsDown, stepsToScale } from './sizes.ts'

const set = (name: string, size: number, more: Partial<Sized> = {}): Sized => ({
  name,
  size,
  available: size,
  createdMs: 0,
  maxReplicas: undefined,
  desired: undefined,
  ...more,
})
const goal = (replicas: number, maxSurge = 0, maxUnavailable = 0): Goal => ({ replicas, isRolling: true, maxSurge, maxUnavailable })

describe('the bounds of a rollout', () => {
  it('round surge up and unavailability down, and leave one to move with', () => {
    const cases: [number | string | undefined, number | string | undefined, number, number, number][] = [
      ['25%', '25%', 1, 1, 0],
      ['25%', '25%', 3, 1, 0],
      ['25%', '25%', 4, 1, 1],
      ['25%', '25%', 10, 3, 2],
      [0, '1%', 2, 0, 1],
      ['0%', 0, 5, 0, 1],
      ['1%', '25%', 2, 1, 0],
      [2, 3, 5, 2, 3],
      ['100%', '100%', 3, 3, 3],
      [undefined, undefined, 3, 0, 1],
      ['nonsense', 'nonsense', 3, 0, 1],
    ]
    for (const [maxSurge, maxUnavailable, replicas, surge, unavailable] of cases)
      assert.deepEqual(
        fenceposts({ maxSurge, maxUnavailable }, replicas),
        { surge, unavailable },
        `${maxSurge} ${maxUnavailable} of ${replicas}`,
      )
  })

  it('come from the strategy, and are none for Recreate', () => {
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {} }
    assert.deepEqual(goalOf({ ...deployment, spec: { replicas: 5, strategy: { type: 'Recreate' } } }), {
      replicas: 5,
      isRolling: false,
      maxSurge: 0,
      maxUnavailable: 0,
    })
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 9 } }
    assert.deepEqual(goalOf({ ...deployment, spec: { replicas: 5, strategy } }), goal(5, 1, 5), 'no more than there are')
    assert.deepEqual(goalOf(deployment), goal(1, 0, 1))
  })
})

describe('steps up', () => {
  it('go as far as surge allows', () => {
    assert.equal(newestSize(goal(10, 3, 2), 0, 10), 3)
    assert.equal(newestSize(goal(10, 3, 2), 3, 11), 5)
    assert.equal(newestSize(goal(10, 3, 2), 5, 13), 5)
    assert.equal(newestSize(goal(10, 3, 2), 0, 0), 10)
    assert.equal(newestSize(goal(10, 3, 2), 12, 12), 10, 'a surplus goes')
    assert.equal(newestSize(goal(10, 0, 1), 4, 20), 4)
    assert.equal(newestSize({ ...goal(10), isRolling: false }, 2, 2), 10)
  })
})

describe('steps down', () => {
  it('wait until new pods are available', () => {
    assert.deepEqual(stepsDown(goal(10, 3, 2), set('new', 3, { available: 0 }), [set('old', 10)]), [{ name: 'old', to: 8 }])
    assert.deepEqual(stepsDown(goal(10, 3, 2), set('new', 5, { available: 0 }), [set('old', 8)]), [])
    assert.deepEqual(stepsDown(goal(10, 3, 2), set('new', 5, { available: 5 }), [set('old', 8)]), [{ name: 'old', to: 3 }])
    assert.deepEqual(stepsDown(goal(3, 1, 0), set('new', 1, { available: 0 }), [set('old', 3)]), [])
    assert.deepEqual(stepsDown(goal(3, 1, 0), set('new', 1), [set('old', 3)]), [{ name: 'old', to: 2 }])
  })

  it('take away first what is not available anyway, the oldest first', () => {
    const olds = [set('young', 5, { available: 5, createdMs: 2 }), set('old', 5, { available: 1, createdMs: 1 })]
    assert.deepEqual(stepsDown(goal(10, 2, 0), set('new', 2, { available: 0 }), olds), [])
    assert.deepEqual(stepsDown(goal(10, 2, 5), set('new', 2, { available: 2 }), olds), [
      { name: 'old', to: 1 },
      { name: 'old', to: 0 },
      { name: 'young', to: 3 },
    ])
  })

  it('do not believe a status that says more than the size', () => {
    assert.deepEqual(stepsDown(goal(3, 0, 1), set('new', 1, { available: 0 }), [set('old', 2, { available: 3 })]), [])
  })
})

describe('scaling', () => {
  const steps = (wanted: Goal, newest: Sized | undefined, olds: Sized[], statusReplicas = 0): string[] =>
    stepsToScale(wanted, { newest, olds, statusReplicas }).map(({ name, to }) => `${name} ${to}`)

  it('is noticed by what was noted on active ReplicaSets', () => {
    assert.equal(isScaled(goal(5), [set('a', 3, { desired: 5 })]), false)
    assert.equal(isScaled(goal(5), [set('a', 3, { desired: 3 })]), true)
    assert.equal(isScaled(goal(5), [set('a', 0, { desired: 3 }), set('b', 2)]), false)
  })

  it('gives everything to the only active one, or the newest', () => {
    assert.deepEqual(steps(goal(5), set('new', 3), [set('old', 0)]), ['new 5'])
    assert.deepEqual(steps(goal(5), set('new', 0), [set('old', 3)]), ['old 5'])
    assert.deepEqual(steps(goal(5), set('new', 0), [set('old', 0)]), ['new 5'])
    assert.deepEqual(steps(goal(5), undefined, [set('older', 0, { createdMs: 1 }), set('old', 0, { createdMs: 2 })]), ['old 5'])
    assert.deepEqual(steps(goal(5), undefined, []), [])
  })

  it('ends old ones when the newest is saturated', () => {
    assert.deepEqual(steps(goal(5), set('new', 5, { desired: 5 }), [set('old', 2), set('none', 0)]), ['old 0'])
  })

  it('shares out in proportion as Kubernetes documents it', () => {
    // 10 replicas, surge 3, unavailable 2, in the middle of a rollout; scaled to 15.
    const before = { maxReplicas: 13, desired: 10 }
    assert.deepEqual(steps(goal(15, 3, 2), set('new', 5, before), [set('old', 8, before)]), ['old 11', 'new 7'])
    assert.deepEqual(steps(goal(5, 2, 1), set('new', 5, before), [set('old', 8, before)]), ['old 4', 'new 3'])
    assert.deepEqual(steps(goal(0, 0, 0), set('new', 5, before), [set('old', 8, before)]), ['old 0', 'new 0'])
    assert.deepEqual(steps(goal(20, 0, 1), set('new', 5), [set('old', 5)], 10), ['old 10', 'new 10'], 'nothing noted: by what there is')
    assert.deepEqual(steps({ ...goal(5), isRolling: false }, set('new', 1), [set('old', 1)]), [], 'Recreate shares nothing')
  })

  it('sums up to what is allowed, whatever the sizes', () => {
    const sized = fc.record({
      size: fc.integer({ min: 1, max: 60 }),
      available: fc.integer({ min: 0, max: 60 }),
      createdMs: fc.integer({ min: 0, max: 3 }),
      maxReplicas: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(
        fc.array(sized, { minLength: 2, maxLength: 6 }),
        fc.nat(80),
        fc.nat(20),
        fc.nat(80),
        (shapes, replicas, maxSurge, statusReplicas) => {
          const [newest, ...olds] = shapes.map((shape, i) => set(`s${i}`, shape.size, shape))
          const made = stepsToScale(goal(replicas, maxSurge, 1), { newest, olds, statusReplicas })
          const allowed = replicas === 0 ? 0 : replicas + maxSurge
          assert.equal(made.length, shapes.length)
          assert.ok(made.every(({ to }) => to >= 0))
          assert.equal(
            made.reduce((total, { to }) => total + to, 0),
            allowed,
          )
        },
      ),
    )
  })
})
