/** `npm run test:orders`: all 720 orders in every variant. Exit code 1 when one ends differently, or something is sent too early. */
import { beginning, ordersOf, THINGS, VARIANTS, variantText, wrongIn } from './order.ts'

const PROGRESS_SECONDS = 20
const MOST_SHOWN = 5

const orders = ordersOf(THINGS)
const from = await beginning()
const began = process.hrtime.bigint()
const seconds = (): number => Number(process.hrtime.bigint() - began) / 1e9
let reported = 0
let passed = 0
let failed = 0
for (const variant of VARIANTS) {
  const before = seconds()
  for (const order of orders) {
    const wrong = await wrongIn(order, variant, { from })
    if (wrong === undefined) passed++
    else if (++failed <= MOST_SHOWN) console.log(`${order.join(', ')} (${variantText(variant)}): ${wrong}`)
    if (seconds() - reported < PROGRESS_SECONDS) continue
    reported = seconds()
    console.log(`${passed + failed} of ${orders.length * VARIANTS.length}, ${failed} failed`)
  }
  console.log(`${variantText(variant)}: ${orders.length} orders in ${(seconds() - before).toFixed(0)} s`)
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
