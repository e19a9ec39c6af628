/**
 * `npm run test:orders`: all 720 orders of each subject in every variant. Exit code 1 when one ends differently, or something comes
 * too early. `-- --only gate` or `data` for one subject, `--count N --seed S` for so many orders of each variant.
 */
import { parseArgs } from 'node:util'
import { dataOrders } from './data.ts'
import { gateOrders } from './gate.ts'
import { ordersOf, type Subject, sampleOf } from './subject.ts'

const PROGRESS_SECONDS = 20
const MOST_SHOWN = 5

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, count: { type: 'string', default: '720' }, seed: { type: 'string', default: '1' } },
})
const began = process.hrtime.bigint()
const seconds = (): number => Number(process.hrtime.bigint() - began) / 1e9
let reported = 0
let passed = 0
let failed = 0

async function tryAll<Thing extends string>({ name, things, variants, beginning }: Subject<Thing>): Promise<void> {
  if (!name.includes(values.only)) return
  const from = await beginning()
  const orders = sampleOf(ordersOf(things), Number(values.count), Number(values.seed))
  for (const { text, wrongIn } of variants) {
    const [before, cpu] = [seconds(), process.cpuUsage()]
    for (const order of orders) {
      const wrong = await wrongIn(order, { from })
      if (wrong === undefined) passed++
      else if (++failed <= MOST_SHOWN) console.log(`${name}: ${order.join(', ')} (${text}): ${wrong}`)
      if (seconds() - reported < PROGRESS_SECONDS) continue
      reported = seconds()
      console.log(`${passed + failed} tried, ${failed} failed`)
    }
    const { user, system } = process.cpuUsage(cpu)
    const took = `${(seconds() - before).toFixed(0)} s, ${((user + system) / 1e6).toFixed(0)} of CPU`
    console.log(`${name}, ${text}: ${orders.length} orders in ${took}`)
  }
}

await tryAll(gateOrders)
await tryAll(dataOrders)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
