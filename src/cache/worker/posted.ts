/** What is posted to a worker, read from its JSON with every element checked. Pure; each throws an HttpError that says the form. */

import { isJsonObject } from '../../base/json.ts'
import { HttpError } from '../http/errors.ts'
import { type BlockKey, parseBlockName } from '../protocol/block.ts'

const MOST = 4096
const FILE_ID = /^[0-9a-f]{32}$/
const VERSION = /^[0-9a-f]{16}$/

/** Blocks that a client read directly: `{"uses": ["<name of a block>", …]}`. */
export function usesOf(body: Buffer): string[] {
  const refusal = badBody('{"uses": [names of blocks]}')
  const uses = parsed(body, refusal).uses
  if (!isListOf(uses, (name) => parseBlockName(name) !== undefined)) throw refusal
  return uses
}

/** Files whose blocks stay while they are loaded, and those that are loaded: `{"hold": [ids of files], "release": [ids of files]}`. */
export function holdsOf(body: Buffer): { hold: string[]; release: string[] } {
  const refusal = badBody('{"hold": [ids of files], "release": [ids of files]}')
  const { hold = [], release = [] } = parsed(body, refusal)
  const isFileId = (id: string) => FILE_ID.test(id)
  if (!isListOf(hold, isFileId) || !isListOf(release, isFileId)) throw refusal
  return { hold, release }
}

/** Versions that files have now; blocks of others go: `{"versions": {"<id of a file>": "<version>" or null}}`. */
export function versionsOf(body: Buffer): [string, string | undefined][] {
  const refusal = badBody('{"versions": {id of a file: its version, or null when it is gone}}')
  const { versions } = parsed(body, refusal)
  if (!isJsonObject(versions)) throw refusal
  const entries = Object.entries(versions)
  if (entries.length > MOST) throw refusal
  return entries.map(([fileId, version]) => {
    if (!FILE_ID.test(fileId)) throw refusal
    if (version === null) return [fileId, undefined]
    if (typeof version !== 'string' || !VERSION.test(version)) throw refusal
    return [fileId, version]
  })
}

export interface PostedLoad {
  blocks: { key: BlockKey; bytes: number }[]
  /** All loads are over: their files may go again. */
  isEnd: boolean
  /** How many are fetched at a time; absent: as many as the worker does by itself. */
  concurrency?: number
}

/** Blocks to be fetched ahead of readers, with their lengths: `{"load": [["<name of a block>", bytes], …], "end": false, "concurrency": 8}`. */
export function loadOf(body: Buffer): PostedLoad {
  const refusal = badBody('{"load": [[name of a block, its bytes], …], "end": true or false, "concurrency": number}')
  const { load = [], end = false, concurrency } = parsed(body, refusal)
  if (!Array.isArray(load) || load.length > MOST || typeof end !== 'boolean') throw refusal
  if (concurrency !== undefined && !(Number.isSafeInteger(concurrency) && (concurrency as number) > 0)) throw refusal
  const blocks = load.map((item: unknown) => {
    const [name, bytes, ...more] = Array.isArray(item) ? (item as unknown[]) : []
    const key = typeof name === 'string' ? parseBlockName(name) : undefined
    if (key === undefined || more.length > 0 || !Number.isSafeInteger(bytes) || (bytes as number) < 1) throw refusal
    return { key, bytes: bytes as number }
  })
  return { blocks, isEnd: end, ...(concurrency === undefined ? {} : { concurrency: concurrency as number }) }
}

const badBody = (form: string): HttpError => new HttpError(400, 'BadBody', `send ${form}, at most ${MOST} of each`)

function parsed(body: Buffer, refusal: HttpError): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString())
    // Without a prototype: only what was sent is there.
    if (isJsonObject(value)) return Object.assign(Object.create(null), value)
  } catch {
    throw refusal
  }
  throw refusal
}

const isListOf = (value: unknown, isGood: (text: string) => boolean): value is string[] =>
  Array.isArray(value) && value.length <= MOST && value.every((element) => typeof element === 'string' && isGood(element))
