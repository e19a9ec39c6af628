/**
 * Which workers there are, as a value: heartbeats, silence and leaving turn one into the next. Pure. The epoch grows exactly when
 * the workers that own blocks change (who, where, with which weight), and the owners of the epoch before are remembered.
 */
import type { Membership, WorkerEntry, WorkerState } from '../protocol/membership.ts'
import type { Beat } from './beat.ts'

/** A worker unheard of for this long is left out. */
const SILENCE_MS = 10_000
/** A heartbeat is given up long before. */
const LATE_BEAT_MS = 10_000
/** A worker that was killed while it left, and comes back within this, goes on leaving; later it is a new one. */
const LEAVING_REMEMBERED_MS = 60_000
const MOST_WORKERS = 4096

export interface Amounts {
  moved: number
  dropped: number
  left: number
}

export interface Member extends WorkerEntry {
  heardAtMs: number
  beat?: Beat
  /** Bytes of a worker that leaves. */
  handover?: Amounts
  /** When it was taken back: what it said of itself before may still arrive. */
  backAtMs?: number
}

export interface Members {
  epoch: number
  byName: ReadonlyMap<string, Member>
  previous: readonly WorkerEntry[]
}

export const noMembers = (epoch: number): Members => ({ epoch, byName: new Map(), previous: [] })

const entryOf = ({ name, address, node, state, weight }: Member): WorkerEntry => ({ name, address, node, state, weight })

export const membershipOf = (members: Members): Membership => ({
  epoch: members.epoch,
  workers: sorted(members)
    .filter(({ state }) => state !== 'gone')
    .map(entryOf),
  previous: members.previous,
})

/** Undefined: there are too many already. */
export function heard(members: Members, beat: Beat, nowMs: number): Members | undefined {
  const known = members.byName.get(beat.name)
  if (known === undefined && members.byName.size >= MOST_WORKERS) return undefined
  const { backAtMs } = known ?? {}
  const isLate = backAtMs !== undefined && nowMs - backAtMs < LATE_BEAT_MS
  const state = isLate ? 'serving' : stateAfter(known?.state, beat.state)
  const { name, address, node } = beat
  const weight = beat.tiers.reduce((sum, { quotaBytes }) => sum + quotaBytes, 0)
  const member: Member = {
    name,
    address,
    node,
    state,
    weight,
    heardAtMs: nowMs,
    beat,
    handover: known?.handover,
    ...(isLate ? { backAtMs } : {}),
  }
  return changed(members, new Map(members.byName).set(name, member))
}

/** Leaving is decided here, and so is its end; the worker says when it is through. */
function stateAfter(known: WorkerState | undefined, said: WorkerState): WorkerState {
  if (known === 'leaving' || known === 'gone') return said === 'gone' || known === 'gone' ? 'gone' : 'leaving'
  return said === 'gone' ? 'gone' : said
}

/** Those unheard of for too long go; a worker that leaves is remembered for longer, but owns nothing anyway. */
export function forgetSilent(members: Members, nowMs: number): Members {
  const stays = ({ state, heardAtMs }: Member): boolean => nowMs - heardAtMs < (state === 'leaving' ? LEAVING_REMEMBERED_MS : SILENCE_MS)
  if ([...members.byName.values()].every(stays)) return members
  return changed(members, new Map([...members.byName].filter(([, member]) => stays(member))))
}

export function beginLeaving(members: Members, name: string): Members {
  const member = members.byName.get(name)
  if (member === undefined || member.state !== 'serving') return members
  return changed(members, new Map(members.byName).set(name, { ...member, state: 'leaving', backAtMs: undefined }))
}

/** It stays after all: blocks are its own again. */
export function takenBack(members: Members, name: string, nowMs: number): Members {
  const member = members.byName.get(name)
  if (member === undefined || member.state === 'serving') return members
  return changed(members, new Map(members.byName).set(name, { ...member, state: 'serving', handover: undefined, backAtMs: nowMs }))
}

export function progressed(members: Members, name: string, { state, ...handover }: Amounts & { state: WorkerState }): Members {
  const member = members.byName.get(name)
  if (member === undefined || member.state === 'serving') return members
  return changed(members, new Map(members.byName).set(name, { ...member, handover, state: state === 'gone' ? 'gone' : member.state }))
}

function changed(before: Members, byName: ReadonlyMap<string, Member>): Members {
  const [old, next] = [ownersOf(before.byName), ownersOf(byName)]
  if (JSON.stringify(old) === JSON.stringify(next)) return { ...before, byName }
  return { epoch: before.epoch + 1, byName, previous: old }
}

const ownersOf = (byName: ReadonlyMap<string, Member>): WorkerEntry[] =>
  [...byName.values()]
    .filter(({ state }) => state === 'serving')
    .map(entryOf)
    .sort((a, b) => (a.name < b.name ? -1 : 1))

export const sorted = ({ byName }: Members): Member[] => [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
