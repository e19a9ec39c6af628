/**
 * How soon a change of a dataset is seen on datasets that refer to it, beside how soon it is seen on the dataset itself: many changes,
 * one after another, by watches of a client over TLS.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { makeNamespace } from './data-objects.ts'
import { followReferences } from './data-reference-follow.ts'
import { changeTo, makeOriginal, makeReferences, ORIGINAL } from './data-references.ts'
import type { EmbeddedFleet } from './embedded-fleet.ts'
import { cpuMs } from './processes.ts'
import { settled } from './settled.ts'

export interface ChangeShape {
  references: number
  changes: number
}

export interface Waits {
  p50Ms: number
  p99Ms: number
  mostMs: number
}

export interface ChangesResult extends ChangeShape {
  /** From the client's change of the spec to the original's status. */
  original: Waits
  /** From there to each reference. */
  onward: Waits
  /** From the client's change of the spec to each reference. */
  inAll: Waits
  cpuMsEach: number
}

const WITHIN_MS = 60_000
/** Changes of people come one by one: what one waits is not what others queue. */
const PAUSE_MS = 20

export async function measureChanges({ setup }: EmbeddedFleet, { references, changes }: ChangeShape): Promise<ChangesResult> {
  const [member] = setup.members
  if (member === undefined) throw new Error('there is no member')
  const pids = (): readonly number[] => Object.values(setup.pids).flat()
  const followed = followReferences(member, ORIGINAL)
  await makeOriginal(member, followed)
  for (let i = 0; i < references; i++) await makeNamespace(member, `tenant-${i}`)
  await makeReferences(member, { from: 0, to: references, namespaces: references })
  await followed.until(`${references} references`, () => followed.bound() > references, WITHIN_MS)
  await settled(pids)
  const before = cpuMs(pids())
  const [original, onward, inAll]: [number[], number[], number[]] = [[], [], []]
  for (let i = 0; i < changes; i++) {
    const address = `https://example.com/changed/${i}/`
    const sentMs = performance.now()
    await changeTo(member, address)
    const isSeen = (): boolean => followed.showing(address) >= references && followed.shownAtMs(ORIGINAL, address) !== undefined
    await followed.until(`change ${i + 1} of ${changes}`, isSeen, WITHIN_MS)
    const changedMs = followed.shownAtMs(ORIGINAL, address) ?? Number.NaN
    original.push(changedMs - sentMs)
    for (const seenMs of followed.timesOf(address)) {
      onward.push(seenMs - changedMs)
      inAll.push(seenMs - sentMs)
    }
    await sleep(PAUSE_MS)
  }
  const cpuMsEach = (cpuMs(pids()) - before) / changes
  followed.stop()
  const result = { references, changes, original: waitsOf(original), onward: waitsOf(onward), inAll: waitsOf(inAll), cpuMsEach }
  console.log(JSON.stringify(result))
  return result
}

function waitsOf(all: readonly number[]): Waits {
  const sorted = [...all].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { p50Ms: at(0.5), p99Ms: at(0.99), mostMs: sorted.at(-1) ?? Number.NaN }
}
