/**
 * The behaviour that every store must show, as one suite that each implementation runs with its own harness. Names
 * follow the Kubernetes storage tests where the idea does. Split by subject into `suite-*.ts`; this file joins them.
 */
import { describe } from 'node:test'
import type { StoreHarness } from './suite-harness.ts'
import { randomCases } from './suite-random.ts'
import { readCases } from './suite-reads.ts'
import { watchCases } from './suite-watches.ts'
import { writeCases } from './suite-writes.ts'

export function storeSuite(name: string, harness: StoreHarness): void {
  describe(`${name}: writes`, () => writeCases(harness))
  describe(`${name}: reads`, () => readCases(harness))
  describe(`${name}: watches`, () => watchCases(harness))
  describe(`${name}: random histories`, () => randomCases(harness))
}
