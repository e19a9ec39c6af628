import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fluidKinds } from '../../../src/kinds/fluid/index.ts'
import { dataRequest, printed } from './generate.ts'
import { type DataReport, runDataFuzz } from './run.ts'
import { SAMPLES } from './samples.ts'

const requests = (seed: number) => Array.from({ length: 400 }, (_, i) => dataRequest(seed, i))

describe('requests about datasets', () => {
  it('are the same from the same seed, and others from another', () => {
    assert.equal(JSON.stringify(requests(1)), JSON.stringify(requests(1)))
    assert.notEqual(JSON.stringify(requests(1)), JSON.stringify(requests(2)))
    assert.deepEqual(printed(1, 0), printed(1, 0))
  })

  it('come to every family and every kind soon', () => {
    assert.equal(new Set(requests(3).map(({ family }) => family)).size, 13)
    const paths = requests(3).map(({ path }) => path)
    for (const { plural } of fluidKinds)
      assert.ok(
        paths.some((path) => path.includes(`/${plural}`)),
        plural,
      )
    for (const { kind } of fluidKinds)
      assert.ok(
        SAMPLES.some((sample) => sample.kind === kind),
        `a sample of ${kind}`,
      )
  })

  it('are taken and refused, and leave nothing behind', async () => {
    const found: string[] = []
    const task = { seed: 11, from: 0, to: 40, progress: new Int32Array(new SharedArrayBuffer(4)) }
    const reports: DataReport[] = []
    await runDataFuzz(task, {
      onFound: ({ signature, detail }) => found.push(`${signature}\n${detail}`),
      onReport: (one) => reports.push(one),
    })
    const [report] = reports
    assert.ok(report)
    assert.deepEqual(found, [])
    assert.equal(report.requests, 40)
    assert.ok((report.statuses['201'] ?? 0) > 5 && (report.statuses['422'] ?? 0) > 3, JSON.stringify(report.statuses))
  })
})
