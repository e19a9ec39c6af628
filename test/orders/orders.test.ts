import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { WorldSnapshot } from '../../src/faultsim/world/snapshot.ts'
import { gate } from '../../src/gate/module.ts'
import { MODULES } from '../../src/modules.ts'
import { ASKED, dataOrders } from './data.ts'
import { gateOrders } from './gate.ts'
import { ordersOf, type Subject, sampleOf } from './subject.ts'

const SEED = 11

/** So many for each variant, which has orders of its own. */
function samples<Thing extends string>(
  { name, things, variants, beginning }: Subject<Thing>,
  perVariant: number,
): () => Promise<WorldSnapshot> {
  const orders = ordersOf(things)
  let started: Promise<WorldSnapshot> | undefined
  const from = (): Promise<WorldSnapshot> => {
    started ??= beginning()
    return started
  }
  const chosen = sampleOf(orders, perVariant * variants.length, SEED)
  for (const [i, { text, wrongIn }] of variants.entries())
    for (const order of chosen.slice(i * perVariant, (i + 1) * perVariant))
      it(`${name}: ${order.join(', ')} (${text})`, async () => {
        assert.equal(await wrongIn(order, { from: await from() }), undefined)
      })
  return from
}

describe('whatever comes first', () => {
  it('there are 720 orders', () => {
    for (const { things } of [gateOrders, dataOrders]) {
      const orders = ordersOf<string>(things)
      assert.equal(new Set(orders.map((order) => order.join())).size, 720)
    }
    assert.equal(new Set(sampleOf(ordersOf(dataOrders.things), 720, SEED)).size, 720)
  })

  const gateStarts = samples(gateOrders, 3)
  const dataStarts = samples(dataOrders, 2)

  it('and a gate that does not narrow would be found', async () => {
    const open = { ...gate, start: (env: Parameters<typeof gate.start>[0]) => ({ ...gate.start(env), seams: {} }) }
    const modules = MODULES.map((module) => (module.name === gate.name ? open : module))
    const wrong = await gateOrders.variants[0]?.wrongIn(gateOrders.things, { from: await gateStarts(), modules })
    assert.match(wrong ?? '', /does not hold .* is scheduled to member1/)
  })

  it('and data that crosses without a grant would be found', async () => {
    assert.notEqual(ASKED, MODULES)
    const wrong = await dataOrders.variants[0]?.wrongIn(dataOrders.things, { from: await dataStarts(), modules: MODULES })
    assert.match(wrong ?? '', /"nothing of the dataset is in the other namespace before there is a grant" does not hold/)
  })
})
