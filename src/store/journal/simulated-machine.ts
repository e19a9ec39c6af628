/** A machine for tests of the journal: a simulated disk with one data directory, on which stores are started one after the other. */
import assert from 'node:assert/strict'
import { seededRandom } from '../../base/random.ts'
import { manualClock } from '../suite-harness.ts'
import type { ProcessTable } from './lock.ts'
import { type JournalOptions, type JournalStore, openJournalStore } from './open.ts'
import { SimulatedDisk } from './simulated-disk.ts'

const DATA = '/data'

export class SimulatedMachine {
  readonly disk: SimulatedDisk
  readonly clock = manualClock()
  #pid = 1000

  constructor(seed = 1) {
    this.disk = new SimulatedDisk(seededRandom(seed))
  }

  /** A new process; the previous ones are dead. */
  nextProcess(): ProcessTable {
    const pid = ++this.#pid
    const self = { pid, startedAt: String(pid), bootId: 'boot' }
    return { self, find: (other) => (other === pid ? self : undefined) }
  }

  start(options: Partial<JournalOptions> = {}): Promise<JournalStore> {
    const onFatal = (error: Error) => assert.fail(`unexpected: ${error.message}`)
    const processes = this.nextProcess()
    return openJournalStore({ dir: DATA, clock: this.clock, disk: this.disk.mount(), processes, onFatal, ...options })
  }

  file(name: string): Buffer {
    return this.disk.peek(`${DATA}/${name}`)
  }

  spoil(name: string, content: Buffer): void {
    this.disk.spoil(`${DATA}/${name}`, content)
  }

  flipBit(name: string, byte: number): void {
    const content = Buffer.from(this.file(name))
    content[byte] = (content[byte] ?? 0) ^ 0x10
    this.spoil(name, content)
  }
}

/** Runs everything that can proceed without outside help. */
export async function turns(count = 20): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}
