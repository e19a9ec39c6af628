import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seededRandom } from '../../src/base/random.ts'
import type { WorldSnapshot } from '../../src/faultsim/world/snapshot.ts'
import { gate } from '../../src/gate/module.ts'
import { MODULES } from '../../src/modules.ts'
import { beginning, ordersOf, THINGS, type Thing, VARIANTS, variantText, wrongIn } from './order.ts'

const PER_VARIANT = 3

describe('whatever comes first', () => {
  const random = seededRandom(11)
  const orders = ordersOf(THINGS)
  const anOrder = (): readonly Thing[] => orders[Math.floor(random.next() * orders.length)] ?? THINGS
  let started: Promise<WorldSnapshot> | undefined
  const from = (): Promise<WorldSnapshot> => {
    started ??= beginning()
    return started
  }

  it('there are 720 orders', () => {
    assert.equal(new Set(orders.map((order) => order.join())).size, 720)
  })

  for (const variant of VARIANTS)
    for (const order of Array.from({ length: PER_VARIANT }, anOrder))
      it(`${order.join(', ')} (${variantText(variant)})`, async () => {
        assert.equal(await wrongIn(order, variant, { from: await from() }), undefined)
      })

  it('and a gate that does not narrow would be found', async () => {
    const open = { ...gate, start: (env: Parameters<typeof gate.start>[0]) => ({ ...gate.start(env), seams: {} }) }
    const modules = MODULES.map((module) => (module.name === gate.name ? open : module))
    const wrong = await wrongIn(THINGS, { isNaming: true, isHurried: false }, { from: await from(), modules })
    assert.match(wrong ?? '', /does not hold .* is scheduled to member1/)
  })
})
