import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Script, Step } from './script.ts'
import { shrink } from './shrink.ts'

const step = (name: string): Step => ({ cluster: 'hub', thing: 'thing', name, desired: {}, pause: 0 })
const script: Script = {
  world: 'any',
  seed: 1,
  steps: Array.from({ length: 12 }, (_, i) => step(`s${i}`)),
  moments: [{ beforeStep: 2, cluster: 'hub', do: 'crash' }],
  hits: Array.from({ length: 40 }, (_, i) => ({ cluster: 'hub', n: i, at: 'delivery' as const })),
}

describe('shrinking', () => {
  it('keeps what is needed for the same oracle to fail, and nothing else', async () => {
    const small = await shrink(script, 'settles', async ({ steps, hits = [] }) => {
      const names = steps.map(({ name }) => name)
      return names.includes('s3') && names.includes('s9') && hits.some(({ n }) => n === 17) ? 'settles' : undefined
    })
    assert.deepEqual([small.steps.map(({ name }) => name), small.hits?.map(({ n }) => n), small.moments], [['s3', 's9'], [17], []])
  })

  it('does not slip into another failure', async () => {
    const small = await shrink(script, 'settles', async ({ steps }) => (steps.length < 12 ? 'invariant' : 'settles'))
    assert.equal(small.steps.length, 12)
  })
})
