import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Narrowing } from './narrowing.ts'
import { joinSeams, NO_SEAMS } from './seams.ts'
import type { VolumeDriver } from './volume-driver.ts'

describe('seams', () => {
  it('hold what all modules have put there, in their order', () => {
    const narrowing = (name: string): Narrowing => ({ name, watches: [], of: () => undefined })
    const driver: VolumeDriver = { field: 'emptyDir', plan: () => undefined }
    const [a, b] = [narrowing('a'), narrowing('b')]
    assert.deepEqual(joinSeams([{ narrowings: [a] }, {}, { narrowings: [b], volumeDrivers: [driver] }]), {
      narrowings: [a, b],
      volumeDrivers: [driver],
      csiDrivers: [],
      nodeData: [],
    })
    assert.deepEqual(joinSeams([]), NO_SEAMS)
  })
})
