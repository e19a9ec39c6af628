/**
 * Keeps epoch, workers and who leaves in a file of the master's volume, so that a restarted master answers at once and epochs
 * only grow. Written whole under another name and renamed. Without a usable file it starts over, with the time as its epoch: that
 * is later than any epoch that was counted.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs'
import path from 'node:path'
import { isJsonObject } from '../../base/json.ts'
import type { WorkerEntry, WorkerState } from '../protocol/membership.ts'
import { type Member, type Members, noMembers, sorted } from './members.ts'

export interface MembersJournal {
  load(nowMs: number): Members
  /** Writes only when something that is kept has changed. */
  save(members: Members): void
}

const FILE = 'members.json'
const LARGEST = 16 * 1024 * 1024
const STATES = new Set<unknown>(['serving', 'leaving', 'gone'])

/** Undefined: nothing is kept. */
export function membersJournal(directory: string | undefined): MembersJournal {
  let written = ''
  const file = directory === undefined ? undefined : path.join(directory, FILE)
  return {
    load(nowMs) {
      const start = noMembers(Math.floor(nowMs / 1000))
      if (file === undefined) return start
      const loaded = parseMembers(readBounded(file), nowMs)
      return loaded ?? start
    },
    save(members) {
      if (file === undefined) return
      const text = textOf(members)
      if (text === written) return
      const temporary = `${file}.tmp`
      const descriptor = openSync(temporary, 'w', 0o600)
      try {
        writeSync(descriptor, text)
        fsyncSync(descriptor)
      } finally {
        closeSync(descriptor)
      }
      renameSync(temporary, file)
      written = text
    },
  }
}

function textOf(members: Members): string {
  const workers = sorted(members).map(({ name, address, node, state, weight, handover }) => ({
    name,
    address,
    node,
    state,
    weight,
    handover,
  }))
  return JSON.stringify({ epoch: members.epoch, workers, previous: members.previous })
}

function readBounded(file: string): string {
  try {
    return statSync(file).size > LARGEST ? '' : readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

function parseMembers(text: string, nowMs: number): Members | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    if (!isJsonObject(parsed) || !Number.isSafeInteger(parsed.epoch) || !Array.isArray(parsed.workers) || !Array.isArray(parsed.previous))
      return undefined
    if (![...parsed.workers, ...parsed.previous].every(isEntry)) return undefined
    // Each is given the time to be heard again.
    const members = (parsed.workers as unknown as Member[]).map((worker) => ({ ...worker, heardAtMs: nowMs }))
    return {
      epoch: parsed.epoch as number,
      byName: new Map(members.map((member) => [member.name, member])),
      previous: parsed.previous as unknown as WorkerEntry[],
    }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const isEntry = (value: unknown): boolean =>
  isJsonObject(value) &&
  [value.name, value.address, value.node].every((text) => typeof text === 'string') &&
  STATES.has(value.state satisfies unknown as WorkerState) &&
  typeof value.weight === 'number'
