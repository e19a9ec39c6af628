/**
 * Crashes on the simulated disk, from seeds: the process is killed or the power cut before a random operation, also while
 * the store opens or makes a snapshot, and the store is opened again. After every crash: no acknowledged write is lost, no
 * revision that anybody saw is reused, and what watchers saw before and after is one history without gap or duplicate.
 */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { messageOf } from '../../base/error-text.ts'
import { type Random, seededRandom } from '../../base/random.ts'
import type { ClusterStore } from '../store.ts'
import { manualClock } from '../suite-harness.ts'
import { type Answers, assertNeverCame, checkReads, type RecordingWatch, randomWrite, startRecording } from '../suite-random.ts'
import { type RecordedEvent, validateWatch, type WatchRecord } from '../validators.ts'
import { type JournalStore, openJournalStore } from './open.ts'
import { SimulatedDisk } from './simulated-disk.ts'

const LIVES = 6
const WRITERS = 5

interface World {
  random: Random
  disk: SimulatedDisk
  /** All events that anyone can have seen, in revision order. */
  history: RecordedEvent[]
  /** What each watcher saw in each of its lives. */
  records: WatchRecord[]
  /** Where the watchers of the next life resume. */
  resume: { prefix: string; after: number }[]
  failed: string[]
  pid: number
}

type Ended<T> = { value: T } | 'crashed'

describe('journal store: crashes', () => {
  for (const kind of ['kill', 'power'] as const) {
    for (let block = 0; block < 5; block++) {
      it(`${kind}: seeds ${block * 20 + 1} to ${block * 20 + 20}`, async () => {
        for (let seed = block * 20 + 1; seed <= block * 20 + 20; seed++) await runWorld(seed, kind)
      })
    }
  }
})

async function runWorld(seed: number, kind: 'kill' | 'power'): Promise<void> {
  const random = seededRandom(seed)
  const disk = new SimulatedDisk(random)
  const resume = ['', 'pods/', 'pods/a/', 'nodes/'].map((prefix) => ({ prefix, after: 1 }))
  const world: World = { random, disk, history: [], records: [], resume, failed: [], pid: 100 }
  try {
    for (let life = 0; life < LIVES; life++) await runLife(world, kind)
    assertNeverCame(world.history, world.failed)
    for (const watch of world.records) assert.deepEqual(validateWatch(watch, world.history), [])
  } catch (error) {
    throw new Error(`seed ${seed}, ${kind}: ${messageOf(error)}`, { cause: error })
  }
}

async function runLife(world: World, kind: 'kill' | 'power'): Promise<void> {
  const { random, disk } = world
  const crash = new Promise<'crashed'>((resolve) => {
    disk.crashAfter(Math.floor(random.next() ** 3 * 500), () => {
      if (kind === 'kill' || random.next() < 0.4) disk.killProcess()
      else disk.cutPower()
      resolve('crashed')
    })
  })
  const opened = await Promise.race([crash, open(world)])
  if (opened === 'crashed') return
  const cluster = opened.value.cluster('hub')
  catchUp(world, cluster)
  const watches = world.resume.map(({ prefix, after }) => startRecording(cluster, prefix, Math.max(after, cluster.oldestRevision)))
  const answers: Answers = { acknowledged: [], failed: world.failed }
  const work = Promise.all(Array.from({ length: WRITERS }, () => writeSome(world, cluster, answers)))
  const ended: Ended<unknown> = await Promise.race([crash, work.then((value) => ({ value }))])
  // Nothing more happens in a dead process, but what it had acknowledged by then counts.
  const seen = seenBy(watches)
  remember(world, answers.acknowledged, seen)
  world.records.push(...watches.map(({ prefix, after, entries }) => ({ prefix, after, entries: [...entries] })))
  world.resume = watches.map((watch) => ({ prefix: watch.prefix, after: lastSeen(watch) }))
  if (ended !== 'crashed') disk.killProcess()
}

async function open(world: World): Promise<{ value: JournalStore }> {
  const pid = ++world.pid
  const self = { pid, startedAt: String(pid), bootId: 'boot' }
  const value = await openJournalStore({
    dir: '/data',
    clock: manualClock(),
    disk: world.disk.mount(),
    processes: { self, find: (other) => (other === pid ? self : undefined) },
    onFatal: (error) => assert.fail(error.message),
    snapshotAfterBytes: 3000,
    maxFrameBytes: 600,
  })
  return { value }
}

async function writeSome({ random, disk }: World, cluster: ClusterStore, answers: Answers): Promise<void> {
  for (let i = 0; i < 25; i++) {
    if (random.next() < 0.03) disk.failNext('write', 'ENOSPC', (file) => /journal-\d+$/.test(file))
    await randomWrite(cluster, random, answers)
  }
}

/** After a crash: everything known still exists, and anything else was in flight and becomes known now. */
function catchUp(world: World, cluster: ClusterStore): void {
  const known = world.history[world.history.length - 1]?.revision ?? 1
  assert.ok(cluster.revision >= known, `revision ${cluster.revision} after a crash, but ${known} had been seen`)
  assert.ok(cluster.oldestRevision <= known, 'watchers can resume from what was seen last')
  const more = seenBy([startRecording(cluster, '', known)])
  world.history.push(...more)
  assertGapless(world.history)
  checkReads(cluster, world.history)
}

function remember(world: World, acknowledged: readonly RecordedEvent[], seen: readonly RecordedEvent[]): void {
  const known = world.history[world.history.length - 1]?.revision ?? 1
  const fresh = new Map(seen.filter((e) => e.revision > known).map((e) => [e.revision, e]))
  for (const e of acknowledged) assert.deepEqual(fresh.get(e.revision), e, 'what was acknowledged was seen by the watcher of everything')
  world.history.push(...[...fresh.values()].sort((a, b) => a.revision - b.revision))
  assertGapless(world.history)
}

function assertGapless(history: readonly RecordedEvent[]): void {
  assert.deepEqual(
    history.map((e) => e.revision),
    history.map((_, i) => i + 2),
  )
}

function seenBy(watches: readonly RecordingWatch[]): RecordedEvent[] {
  return watches.flatMap((watch) => watch.entries.flatMap((entry) => ('event' in entry ? [entry.event] : [])))
}

function lastSeen(watch: RecordingWatch): number {
  return seenBy([watch]).reduce((last, e) => Math.max(last, e.revision), watch.after)
}
