/** Recorded answers of a real server as samples for the tests of this folder, with the placeholders of the transcripts filled. */

import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts'
import auth from './goldens/auth.jsonl'
import concurrency from './goldens/concurrency.jsonl'
import crds from './goldens/crds.jsonl'
import defaulting from './goldens/defaulting.jsonl'
import listwatch from './goldens/listwatch.jsonl'
import misc from './goldens/misc.jsonl'
import patches from './goldens/patches.jsonl'
import ssa from './goldens/ssa.jsonl'
import validation from './goldens/validation.jsonl'

export interface GoldenStep {
  seq: string
  name: string
  method: string
  path: string
  headers?: Record<string, string | null>
  body?: Json
  rawBody?: string
  status: number
  ignore?: string[]
  responseHeaders?: { warning?: string[] }
  responseBody?: JsonObject
  responseEvents?: { type: string; object: JsonObject }[]
}

const TEXTS = { auth, concurrency, crds, defaulting, listwatch, misc, patches, ssa, validation }

export function goldenSteps(group?: keyof typeof TEXTS): GoldenStep[] {
  const texts = group === undefined ? Object.values(TEXTS) : [TEXTS[group]]
  return texts.flatMap((text) => text.split('\n').filter((line) => line !== '')).map((line) => JSON.parse(line) as GoldenStep)
}

const MICRO_TIMES = new Set(['eventTime', 'renewTime', 'acquireTime', 'lastObservedTime'])

/** A recorded value with times and ports where the transcript has placeholders. */
export function filled(value: Json | undefined, key = ''): Json {
  if (value === '<time>') return MICRO_TIMES.has(key) ? '2025-06-01T10:20:30.123456Z' : '2025-06-01T10:20:30Z'
  if (value === '<nodePort>') return 30080
  if (Array.isArray(value)) return value.map((item) => filled(item, key))
  if (!isJsonObject(value)) return value ?? null
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filled(item, name)]))
}

/** Every object (not Status, not Table) in the recorded successful answers, watch events included. */
export function goldenObjects(): JsonObject[] {
  const objects: JsonObject[] = []
  for (const step of goldenSteps()) {
    // An answer with parts left out is not a whole object.
    if (step.status === undefined || step.status >= 300 || step.ignore !== undefined) continue
    for (const found of [step.responseBody, ...(step.responseEvents ?? []).map((e) => e.object)]) {
      if (found !== undefined && typeof found.kind === 'string' && typeof found.apiVersion === 'string')
        objects.push(filled(found) as JsonObject)
    }
  }
  return objects
}
