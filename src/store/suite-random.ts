/**
 * Random concurrent histories from seeds: writers with fresh and stale preconditions, watchers that come and go, failures
 * and compactions. Every answer is checked against a model that replays the acknowledged writes in revision order, and
 * every watcher's record against the nine validators.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Random, seededRandom } from '../base/random.ts'
import { type ClusterStore, CompactedError, type StoreEvent, StoreUnavailableError, type Version } from './store.ts'
import { type StoreHarness, type StoreUnderTest, valueAt } from './suite-harness.ts'
import { type RecordedEvent, validateWatch, type WatchRecord } from './validators.ts'

const SEEDS = 12
const text = (version: Version): string => version.text

function recordEvent(event: StoreEvent): RecordedEvent {
  const { revision, key, type, version, previous } = event
  const before = previous === undefined ? undefined : { revision: previous.revision, value: text(previous) }
  return { revision, key, type, value: text(version), createRevision: version.createRevision, previous: before }
}

export interface RecordingWatch extends WatchRecord {
  entries: ({ event: RecordedEvent } | { bookmark: number })[]
  /** Promises, as a server would between events, that everything up to the store's revision was delivered. */
  bookmark(): void
  stop(): void
}

export function startRecording(cluster: ClusterStore, prefix: string, after: number): RecordingWatch {
  const entries: RecordingWatch['entries'] = []
  let isActive = true
  const end = cluster.watch(prefix, { after, onEvent: (event) => entries.push({ event: recordEvent(event) }) })
  const bookmark = () => void (isActive && cluster.revision >= after && entries.push({ bookmark: cluster.revision }))
  const stop = () => {
    isActive = false
    end()
  }
  return { prefix, after, entries, bookmark, stop }
}

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random.next() * items.length)] as T
const KEYS = ['pods/a/1', 'pods/a/2', 'pods/a-b/1', 'pods/b/1', 'nodes//n1', 'nodes//n2']

/** The answers that clients got. */
export interface Answers {
  acknowledged: RecordedEvent[]
  /** Contents of writes that were answered with an error: they must never appear. */
  failed: string[]
}

/** One write, possibly stale, as a client would make it. Its content is unique. */
export async function randomWrite(cluster: ClusterStore, random: Random, answers: Answers): Promise<void> {
  const content = `${Math.floor(random.next() * 2 ** 48)}${'x'.repeat(Math.floor(random.next() * 40))}`
  try {
    await writeContent(cluster, random, { content, answers })
  } catch (error) {
    assert.ok(error instanceof StoreUnavailableError, String(error))
    answers.failed.push(content)
  }
}

async function writeContent(cluster: ClusterStore, random: Random, what: { content: string; answers: Answers }): Promise<void> {
  const key = pick(random, KEYS)
  const current = cluster.get(key)
  const expect = pick(random, [
    'any',
    'absent',
    current?.revision ?? 'absent',
    current?.revision ?? 1,
    Math.max(1, cluster.revision - 1),
  ] as const)
  const type = random.next() < 0.3 ? 'delete' : 'put'
  const encode = valueAt(what.content)
  const result = await cluster.commit({ key, expect, type, encode })
  if (!result.ok) {
    assert.ok(result.current === undefined || result.current.revision <= cluster.revision, 'a refusal shows durable state only')
    assert.ok(expect !== 'any' || type === 'delete', 'an unconditional put is never refused')
    return
  }
  const { version, previous } = result
  if (expect === 'absent') assert.equal(previous, undefined)
  if (typeof expect === 'number') assert.equal(previous?.revision, expect)
  assert.ok(version.revision <= cluster.revision, 'an acknowledged write is visible')
  what.answers.acknowledged.push(recordEvent({ revision: version.revision, key, type, version, previous }))
}

async function runSeed(under: StoreUnderTest, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const cluster = under.store.cluster('hub')
  const answers: Answers = { acknowledged: [], failed: [] }
  const watches: RecordingWatch[] = [startRecording(cluster, '', 1)]
  const writer = async () => {
    for (let i = 0; i < 25; i++) {
      await randomWrite(cluster, random, answers)
      if (random.next() < 0.15) watches.push(...tryWatch(cluster, random))
      if (random.next() < 0.1) pick(random, watches).bookmark()
      if (random.next() < 0.05) pick(random, watches.slice(1).concat(watches.slice(-1))).stop()
      if (random.next() < 0.02) cluster.compact(Math.max(1, cluster.revision - 10))
    }
  }
  const troublemaker = async () => {
    for (let i = 0; i < 3; i++) {
      for (let turns = Math.floor(random.next() * 40); turns > 0; turns--) await Promise.resolve()
      under.hold()
      await Promise.resolve()
      await (random.next() < 0.5 ? under.fail() : under.release())
    }
  }
  await Promise.all([...Array.from({ length: 6 }, writer), troublemaker()])
  const history = answers.acknowledged.sort((a, b) => a.revision - b.revision)
  assert.deepEqual(
    history.map((e) => e.revision),
    history.map((_, i) => i + 2),
    'acknowledged writes have the revisions from 2 on, each once',
  )
  assert.equal(cluster.revision, history.length + 1)
  assertNeverCame(history, answers.failed)
  for (const watch of watches) assert.deepEqual(validateWatch(watch, history), [])
  checkReads(cluster, history)
}

export function assertNeverCame(history: readonly RecordedEvent[], failed: readonly string[]): void {
  const contents = new Set(history.map((e) => (JSON.parse(e.value) as { content: string }).content))
  assert.deepEqual(
    failed.filter((content) => contents.has(content)),
    [],
    'a write that was answered with an error never comes to be',
  )
}

function tryWatch(cluster: ClusterStore, random: Random): RecordingWatch[] {
  const after = Math.floor(random.next() * (cluster.revision + 2))
  try {
    return [startRecording(cluster, pick(random, ['', 'pods/', 'pods/a/', 'nodes/']), after)]
  } catch (error) {
    assert.ok(error instanceof CompactedError, String(error))
    assert.ok(after < cluster.oldestRevision)
    return []
  }
}

/** Every readable revision gives what a replay of the history up to it gives; pages add up to the whole. */
export function checkReads(cluster: ClusterStore, history: readonly RecordedEvent[], from = new Map<string, string>()): void {
  const model = new Map(from)
  const states = new Map<number, Map<string, string>>()
  for (const e of history) {
    if (e.type === 'put') model.set(e.key, e.value)
    else model.delete(e.key)
    states.set(e.revision, new Map(model))
  }
  for (const [revision, state] of states) {
    if (revision < cluster.oldestRevision) continue
    for (const prefix of ['pods/', 'pods/a/', 'nodes/']) {
      const expected = [...state].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1))
      const paged: [string, string][] = []
      for (let after: string | undefined; ; ) {
        const page = cluster.range(prefix, { revision, limit: 2, after })
        paged.push(...page.versions.map((v): [string, string] => [v.key, text(v)]))
        assert.equal(page.remaining, expected.length - paged.length)
        assert.equal(page.more, page.remaining > 0)
        if (!page.more) break
        after = page.versions[page.versions.length - 1]?.key
      }
      assert.deepEqual(paged, expected)
    }
    for (const key of KEYS) {
      const version = cluster.get(key, revision)
      assert.equal(version && text(version), state.get(key))
    }
  }
  assert.equal(cluster.count(''), model.size)
  assert.equal(cluster.count('pods/a/'), [...model.keys()].filter((key) => key.startsWith('pods/a/')).length)
}

export function randomCases(harness: StoreHarness): void {
  for (let seed = 1; seed <= SEEDS; seed++) {
    it(`seed ${seed}: linearizable writes, exact reads at every revision, nine validators`, async () => {
      const under = await harness.open({ parsedObjects: 5, history: { minEvents: 60, minAgeMs: 0, maxEvents: 80 } })
      await runSeed(under, seed)
      await under.store.close()
    })
  }
}
