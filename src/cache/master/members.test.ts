import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { HttpError } from '../http/errors.ts'
import type { WorkerState } from '../protocol/membership.ts'
import { temporaryDirectory } from '../testing.ts'
import { readBeat, readHandover } from './beat.ts'
import { createHitWindow } from './hits.ts'
import { beginLeaving, forgetSilent, heard, type Members, membershipOf, noMembers, progressed, takenBack } from './members.ts'
import { membersJournal } from './members-journal.ts'

const beat = (name: string, more: { state?: WorkerState; address?: string; quotaBytes?: number; counters?: object } = {}) =>
  readBeat({
    name,
    node: 'n1',
    address: more.address ?? `${name}:19451`,
    state: more.state ?? 'serving',
    tiers: [{ medium: 'SSD', quotaBytes: more.quotaBytes ?? 100, usedBytes: 10, blocks: 1 }],
    counters: more.counters ?? {},
  })
const hear = (members: Members, name: string, nowMs: number, more = {}): Members => heard(members, beat(name, more), nowMs) ?? assert.fail()
const names = (members: Members) => membershipOf(members).workers.map(({ name, state }) => `${name} ${state}`)

describe('members', () => {
  it('begin an epoch when a worker comes, moves, changes its weight or falls silent, and only then', () => {
    let members = hear(noMembers(7), 'w0', 0)
    assert.equal(members.epoch, 8)
    members = hear(members, 'w0', 2000)
    assert.equal(members.epoch, 8, 'it was heard again')
    members = hear(members, 'w1', 3000)
    assert.deepEqual([members.epoch, members.previous.map(({ name }) => name)], [9, ['w0']])
    members = hear(members, 'w1', 4000, { address: 'other:1' })
    members = hear(members, 'w1', 5000, { address: 'other:1', quotaBytes: 200 })
    assert.equal(members.epoch, 11)
    members = forgetSilent(members, 11_999)
    assert.equal(members.epoch, 11)
    members = forgetSilent(members, 12_000)
    assert.deepEqual([members.epoch, names(members), members.previous.length], [12, ['w1 serving'], 2])
    assert.deepEqual(names(hear(members, 'w0', 13_000)), ['w0 serving', 'w1 serving'], 'with the same name it comes back')
  })

  it('leave for good: a restart of the worker does not undo it, its end does', () => {
    let members = beginLeaving(hear(hear(noMembers(0), 'w0', 0), 'w1', 0), 'w0')
    assert.equal(members.epoch, 3)
    assert.deepEqual(names(members), ['w0 leaving', 'w1 serving'])
    assert.equal(beginLeaving(members, 'w0'), members)
    members = hear(members, 'w0', 1000, { state: 'serving' })
    assert.deepEqual(names(members), ['w0 leaving', 'w1 serving'])
    members = progressed(members, 'w0', { state: 'leaving', moved: 5, dropped: 0, left: 5 })
    assert.equal(forgetSilent(hear(members, 'w1', 50_000), 50_000).byName.get('w0')?.handover?.moved, 5, 'it may come back and go on')
    members = progressed(members, 'w0', { state: 'gone', moved: 9, dropped: 1, left: 0 })
    assert.deepEqual(names(members), ['w1 serving'])
    assert.deepEqual(names(hear(members, 'w0', 2000)), ['w1 serving'], 'as long as its process is there')
    members = forgetSilent(hear(members, 'w1', 20_000), 20_000)
    assert.deepEqual(names(hear(members, 'w0', 21_000)), ['w0 serving', 'w1 serving'], 'a new pod of that name serves')
  })

  it('are taken back: what a worker said before does not undo it, another leaving does', () => {
    let members = beginLeaving(hear(hear(noMembers(0), 'w0', 0), 'w1', 0), 'w0')
    members = takenBack(members, 'w0', 1000)
    assert.deepEqual([members.epoch, names(members)], [4, ['w0 serving', 'w1 serving']])
    assert.equal(takenBack(members, 'w0', 1500), members)
    members = hear(members, 'w0', 2000, { state: 'leaving' })
    assert.deepEqual([members.epoch, names(members)], [4, ['w0 serving', 'w1 serving']])
    members = hear(beginLeaving(members, 'w0'), 'w0', 3000, { state: 'gone' })
    assert.deepEqual(names(members), ['w1 serving'])
    assert.deepEqual(names(takenBack(members, 'w0', 4000)), ['w0 serving', 'w1 serving'], 'also one that is through')
  })

  it('never lose an epoch, whatever happens', () => {
    const event = fc.tuple(fc.constantFrom('hear', 'leave', 'back', 'time', 'gone'), fc.constantFrom('a', 'b', 'c'))
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        let members = noMembers(1)
        let nowMs = 0
        for (const [what, name] of events) {
          const before = members
          if (what === 'time') nowMs += 4000
          members =
            what === 'hear'
              ? hear(members, name, nowMs)
              : what === 'leave'
                ? beginLeaving(members, name)
                : what === 'back'
                  ? takenBack(members, name, nowMs)
                  : what === 'time'
                    ? forgetSilent(members, nowMs)
                    : hear(members, name, nowMs, { state: 'gone' })
          const owners = (of: Members) =>
            JSON.stringify(
              [...of.byName.values()]
                .filter(({ state }) => state === 'serving')
                .map(({ name: own }) => own)
                .sort(),
            )
          assert.equal(members.epoch, before.epoch + (owners(before) === owners(members) ? 0 : 1))
        }
      }),
    )
  })
})

describe('the journal of members', () => {
  const { directory, remove } = temporaryDirectory()
  after(remove)

  it('brings back epoch, workers and who leaves; what is damaged starts over, later than before', () => {
    const members = beginLeaving(hear(hear(noMembers(3), 'w0', 0), 'w1', 0), 'w0')
    membersJournal(directory).save(members)
    const loaded = membersJournal(directory).load(500)
    assert.deepEqual([loaded.epoch, names(loaded), loaded.previous], [members.epoch, names(members), members.previous])
    assert.equal(loaded.byName.get('w1')?.heardAtMs, 500)
    const file = path.join(directory, 'members.json')
    const text = readFileSync(file, 'utf8')
    for (const damaged of [
      text.slice(0, -5),
      '',
      '[]',
      '{"epoch":1,"workers":[{}],"previous":[]}',
      '{"epoch":"x","workers":[],"previous":[]}',
    ]) {
      writeFileSync(file, damaged)
      assert.deepEqual(membersJournal(directory).load(1_800_000_000_000), noMembers(1_800_000_000), damaged)
    }
    assert.equal(membersJournal(undefined).load(5000).epoch, 5)
  })
})

describe('heartbeats', () => {
  it('are refused when they cannot be one', () => {
    const good = { name: 'w', node: 'n', address: 'a:1', state: 'serving', tiers: [], counters: {} }
    assert.equal(readBeat(good).name, 'w')
    for (const change of [
      { name: '../x' },
      { name: 1 },
      { node: '' },
      { address: 'a' },
      { state: 'idle' },
      { tiers: {} },
      { tiers: [{ medium: 'TAPE', quotaBytes: 1, usedBytes: 1 }] },
      { tiers: [{ medium: 'MEM', quotaBytes: -1, usedBytes: 1 }] },
      { counters: { 'a b': 1 } },
      { counters: { hits: 'x' } },
      { counters: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`c${i}`, 1])) },
    ])
      assert.throws(() => readBeat({ ...good, ...change }), HttpError, JSON.stringify(change))
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.throws(() => readBeat(value), HttpError)
        assert.equal(readHandover(value), undefined)
      }),
    )
  })

  it('say how far a hand-over is', () => {
    const amount = (bytes: number) => ({ blocks: 1, bytes })
    const handover = { state: 'leaving', moved: amount(5), dropped: amount(1), left: amount(2) }
    assert.deepEqual(readHandover({ state: 'leaving', handover }), { state: 'leaving', moved: 5, dropped: 1, left: 2 })
    assert.deepEqual(readHandover({ state: 'gone', moved: 5, dropped: 1, left: 0 }), { state: 'gone', moved: 5, dropped: 1, left: 0 })
  })
})

describe('hits of the last minute', () => {
  it('count what was read since, over restarts of workers', () => {
    const window = createHitWindow()
    const note = (name: string, nowMs: number, counters: object) => window.note(beat(name, { counters }), nowMs)
    note('w0', 0, { hits: 1000, misses: 1000 })
    note('w0', 2000, { hits: 1010, misses: 1001, directUses: 5 })
    note('w1', 2000, { hits: 7 })
    note('w0', 4000, { hits: 3 })
    note('w1', 4000, { hits: 8 })
    assert.deepEqual(window.reads(5000, 10), { local: 5, remote: 14, missed: 1, localBytes: 50, remoteBytes: 0, missedBytes: 0 })
    for (let ms = 6000; ms <= 70_000; ms += 2000) note('w0', ms, { hits: 4 })
    assert.equal(window.reads(70_000, 10).remote, 0)
  })
})
