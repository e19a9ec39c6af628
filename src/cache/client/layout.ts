/**
 * Where client and CSI driver meet on a node, below one directory of the runtime: requests/, states/, generations/ and users/ are
 * their contract; records/ and partial/ are the client's own. Pure.
 */
import { createHash } from 'node:crypto'
import path from 'node:path'

export const REQUEST_ID = /^[0-9a-f]{16}$/
export const GENERATION = /^[1-9][0-9]{0,8}$/

/** Of a clean sub path. */
export const requestIdOf = (subPath: string): string => createHash('sha256').update(subPath).digest('hex').slice(0, 16)

export interface Layout {
  root: string
  requests: string
  states: string
  partial: string
  stateFile(id: string): string
  generations(id: string): string
  generation(id: string, number: number): string
  records(id: string): string
  record(id: string, number: number): string
  users(id: string, number: number): string
}

export function layoutOf(root: string): Layout {
  const at = (...parts: string[]) => path.join(root, ...parts)
  return {
    root,
    requests: at('requests'),
    states: at('states'),
    partial: at('partial'),
    stateFile: (id) => at('states', `${id}.json`),
    generations: (id) => at('generations', id),
    generation: (id, number) => at('generations', id, String(number)),
    records: (id) => at('records', id),
    record: (id, number) => at('records', id, `${number}.ndjson`),
    users: (id, number) => at('users', id, String(number)),
  }
}

export interface VolumeState {
  subPath: string
  state: 'filling' | 'ready' | 'waiting'
  message?: string
  doneBytes: number
  totalBytes: number
  doneFiles: number
  totalFiles: number
  /** 0: there is none yet. */
  generation: number
  /** Relative to the runtime's directory; absent until a generation is complete. */
  directory?: string
}
