/** Reads random blocks one after another until it is stopped, and notes how long each took. */
import { seededRandom } from '../src/base/random.ts'
import { DEFAULT_BLOCK_BYTES } from '../src/cache/protocol/block.ts'
import type { BlockReader, WantedBlock } from './data-block-reader.ts'

export interface Latencies {
  reads: number
  failed: number
  bytes: number
  wallMs: number
  p50Ms: number
  p99Ms: number
  slowestMs: number
}

export interface Reading {
  /** Resolves when the last read has ended. */
  stop(): Promise<Latencies>
}

const LANES = 2

export function startReading(reader: BlockReader, blocks: readonly WantedBlock[]): Reading {
  const random = seededRandom(11)
  const waits: number[] = []
  let [failed, bytes, isStopped] = [0, 0, false]
  const began = performance.now()
  const lane = async (): Promise<void> => {
    const buffer = Buffer.allocUnsafeSlow(DEFAULT_BLOCK_BYTES)
    while (!isStopped) {
      const block = blocks[Math.floor(random.next() * blocks.length)]
      if (block === undefined) throw new Error('there is no block to read')
      const sinceMs = performance.now()
      try {
        await reader.read(block, buffer)
        bytes += block.length
      } catch (error) {
        failed++
        console.error(`a read failed: ${String(error)}`)
      }
      waits.push(performance.now() - sinceMs)
    }
  }
  const lanes = Promise.all(Array.from({ length: LANES }, lane))
  return {
    async stop() {
      isStopped = true
      await lanes
      const sorted = waits.sort((a, b) => a - b)
      const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
      const times = { wallMs: performance.now() - began, p50Ms: at(0.5), p99Ms: at(0.99), slowestMs: sorted.at(-1) ?? Number.NaN }
      return { reads: sorted.length, failed, bytes, ...times }
    },
  }
}
