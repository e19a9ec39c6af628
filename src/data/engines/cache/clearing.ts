/** Which command of a class removes what its workers have stored on their nodes, and how long that may take. Pure. */
import { isJsonObject } from '../../../base/json.ts'
import type { CacheRuntimeClass } from '../../../kinds/fluid/index.ts'
import type { Clearing } from '../engine.ts'
import { CLASS_ANNOTATIONS } from './pod-template.ts'
import type { Cache } from './topology.ts'

const MOST_WORDS = 64

/** As Fluid has it where nothing is said. */
const DEFAULT_ATTEMPTS = 3
const DEFAULT_SECONDS = 60
/** However long a runtime allows: what is deleted must go some time. */
const MOST_ATTEMPTS = 5
const MOST_SECONDS = 120

/** `spec` of the runtime: where it has a `cleanCachePolicy`, that counts. */
export function clearingOf(runtimeClass: CacheRuntimeClass | undefined, names: Cache['names'], spec: unknown): Clearing | undefined {
  const command = commandIn(runtimeClass?.metadata.annotations?.[CLASS_ANNOTATIONS.clear])
  if (command === undefined) return undefined
  const policy = policyIn(spec)
  return {
    ...{ master: names.master, worker: names.worker, command },
    attempts: between(0, MOST_ATTEMPTS, policy.maxRetryAttempts ?? DEFAULT_ATTEMPTS),
    attemptMs: between(1, MOST_SECONDS, policy.gracePeriodSeconds ?? DEFAULT_SECONDS) * 1000,
  }
}

/** A JSON list of words; undefined: the class has no such command, or nobody can tell which. */
function commandIn(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined
  try {
    const words: unknown = JSON.parse(text)
    const isCommand = Array.isArray(words) && words.length > 0 && words.length <= MOST_WORDS
    return isCommand && words.every((word): word is string => typeof word === 'string') ? words : undefined
  } catch {
    return undefined
  }
}

interface Policy {
  gracePeriodSeconds?: number
  maxRetryAttempts?: number
}

/** JindoRuntime has it directly in its spec. */
function policyIn(spec: unknown): Policy {
  if (!isJsonObject(spec)) return {}
  const { management, cleanCachePolicy: own } = spec
  return ((isJsonObject(management) ? management.cleanCachePolicy : undefined) ?? own ?? {}) as Policy
}

const between = (least: number, most: number, value: number): number => Math.min(most, Math.max(least, value))
