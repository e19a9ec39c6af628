/**
 * Where the CSI driver of a node and the client of a cache meet: files in one directory of the runtime. The driver asks for a sub
 * path of the dataset (`requests`) and says which pods use what (`users`); the client completes the files (`generations`) and says
 * how far it is (`states`). Either may be killed at any time, and neither trusts what the other wrote. Pure.
 */
import { createHash } from 'node:crypto'
import { isJsonObject } from '../base/json.ts'

export const REQUEST_ID = /^[0-9a-f]{16}$/
export const GENERATION = /^[1-9][0-9]{0,8}$/
/** Of a request, and of a state. */
export const LARGEST_CONTRACT_FILE = 64 * 1024
/** Of a state's message, so that a state always fits. */
export const LONGEST_STATE_MESSAGE = 1000

/** Of a clean sub path. */
export const requestIdOf = (subPath: string): string => createHash('sha256').update(subPath).digest('hex').slice(0, 16)

export interface VolumePlaces {
  root: string
  requests: string
  request(id: string): string
  states: string
  stateFile(id: string): string
  generations(id: string): string
  generation(id: string, number: number): string
  /** Of all generations. */
  allUsers(id: string): string
  /** A file for each pod that uses a generation, named by the pod's uid. */
  users(id: string, number: number): string
}

export function volumePlaces(root: string): VolumePlaces {
  const at = (...parts: (string | number)[]): string => [root, ...parts].join('/')
  return {
    root,
    requests: at('requests'),
    request: (id) => at('requests', `${id}.json`),
    states: at('states'),
    stateFile: (id) => at('states', `${id}.json`),
    generations: (id) => at('generations', id),
    generation: (id, number) => at('generations', id, number),
    allUsers: (id) => at('users', id),
    users: (id, number) => at('users', id, number),
  }
}

export const requestText = (subPath: string): string => JSON.stringify({ subPath })

/** The sub path as it was written; undefined: this is no request. */
export function parseRequest(text: string): string | undefined {
  const parsed = parsedObject(text)
  return parsed !== undefined && Object.hasOwn(parsed, 'subPath') && typeof parsed.subPath === 'string' ? parsed.subPath : undefined
}

/** What is being written beside its place is nobody's use yet, also when its writer was killed. */
export const isUser = (name: string): boolean => !name.endsWith('.new')

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

export const directoryOf = (id: string, generation: number): string => `generations/${id}/${generation}`

export const stateText = (id: string, state: Omit<VolumeState, 'directory'>): string => {
  const { message, ...rest } = state
  // Sources can claim any size: what is beyond counting is still a state that can be read.
  const counts = COUNTS.map((key) => [key, Math.min(rest[key], Number.MAX_SAFE_INTEGER)])
  return JSON.stringify({
    ...rest,
    ...Object.fromEntries(counts),
    ...(message === undefined ? {} : { message: message.slice(0, LONGEST_STATE_MESSAGE) }),
    ...(state.generation > 0 ? { directory: directoryOf(id, state.generation) } : {}),
  })
}

const STATES = ['filling', 'ready', 'waiting'] as const
const COUNTS = ['doneBytes', 'totalBytes', 'doneFiles', 'totalFiles', 'generation'] as const
const MOST_GENERATIONS = 999_999_999

/** Exactly what `stateText` writes for this request, or undefined: a directory that it could lead to is never another one. */
export function parseVolumeState(text: string, id: string): VolumeState | undefined {
  if (text.length > LARGEST_CONTRACT_FILE) return undefined
  const found = parsedObject(text)
  if (found === undefined) return undefined
  const own = (key: string): unknown => (Object.hasOwn(found, key) ? found[key] : undefined)
  const [subPath, state, message, directory] = [
    own('subPath'),
    STATES.find((one) => one === own('state')),
    own('message'),
    own('directory'),
  ]
  if (typeof subPath !== 'string' || requestIdOf(subPath) !== id || state === undefined) return undefined
  if (message !== undefined && (typeof message !== 'string' || message.length > LONGEST_STATE_MESSAGE)) return undefined
  if (!COUNTS.every((key) => isCount(own(key)))) return undefined
  const [doneBytes, totalBytes, doneFiles, totalFiles, generation] = COUNTS.map((key) => Number(own(key))) as [
    ...[number, number, number, number, number],
  ]
  if (generation > MOST_GENERATIONS) return undefined
  if (directory !== (generation === 0 ? undefined : directoryOf(id, generation))) return undefined
  return {
    ...{ subPath, state, doneBytes, totalBytes, doneFiles, totalFiles, generation },
    ...(message === undefined ? {} : { message }),
    ...(generation === 0 ? {} : { directory: directoryOf(id, generation) }),
  }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0 && !Object.is(value, -0)

function parsedObject(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return isJsonObject(parsed) ? parsed : undefined
  } catch {
    // Torn, or not written by the other side at all: looked at again soon.
    return undefined
  }
}
