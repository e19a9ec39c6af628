/**
 * Recorded requests and answers of a real kube-apiserver (../goldens/*.jsonl), as types and as a reader.
 * The convention, key by key, is in ../README.md. One line is one step; the steps of a sequence depend on each other,
 * sequences are independent of each other.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

export type Json = null | boolean | number | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json
}

/** What a step sends. */
export interface StepRequest {
  method: string
  path: string
  headers?: Record<string, string | string[] | null>
  body?: Json
  rawBody?: string
  bodyBase64?: string
  auth?: 'none'
}

/** What must come back, after normalising. */
export interface Answer {
  status?: number
  responseHeaders?: Record<string, string | string[]>
  responseBody?: Json
  responseEvents?: Json[]
  responseText?: string
  responsePrefix?: string
  responseNonEmpty?: boolean
}

/** How the answer is compared. */
interface Comparison {
  compare?: 'status' | 'prefix' | 'nonempty'
  ignore?: string[]
  unordered?: string[]
  managedFields?: boolean
  bookmarks?: boolean
}

export interface Step extends Partial<StepRequest>, Answer, Comparison {
  seq: string
  name?: string
  save?: Record<string, string>
  sleepMs?: number
  retry?: boolean
  background?: string
  collect?: string
  action?: string
}

export interface Sequence {
  name: string
  group: string
  steps: Step[]
}

const ANSWER_KEYS = [
  'status',
  'responseHeaders',
  'responseBody',
  'responseEvents',
  'responseText',
  'responsePrefix',
  'responseNonEmpty',
] as const

/** The recorded answer of a step, with exactly the keys that were recorded. */
export function recordedAnswer(step: Step): Answer {
  return Object.fromEntries(ANSWER_KEYS.filter((key) => key in step).map((key) => [key, step[key]]))
}

/** A case is a step with an answer to compare. */
export function isCase(step: Step): boolean {
  return step.action === undefined && step.background === undefined
}

/** A step without its recorded answer. */
export function withoutAnswer(step: Step): Step {
  return Object.fromEntries(Object.entries(step).filter(([key]) => !(ANSWER_KEYS as readonly string[]).includes(key))) as unknown as Step
}

/** Every sequence of the *.jsonl files of a folder, in the recorded order. A group is a file. */
export function readTranscripts(folder: string, prefix = ''): Sequence[] {
  const byName = new Map<string, Sequence>()
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()) {
    for (const line of readFileSync(path.join(folder, file), 'utf8').split('\n')) {
      if (line === '') continue
      const step = JSON.parse(line) as Step
      const sequence = byName.get(step.seq) ?? { name: step.seq, group: prefix + path.basename(file, '.jsonl'), steps: [] }
      sequence.steps.push(step)
      byName.set(step.seq, sequence)
    }
  }
  return [...byName.values()]
}
