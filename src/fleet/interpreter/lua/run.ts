/**
 * One call of a script: its remaining budgets, and its state. Budgets are counts, never time, so the same call ends the
 * same way on every machine: steps (loop iterations, calls, work inside library functions, and the length of what is compared,
 * looked up or passed on), memory (tables, fields and characters created; nothing is ever credited back) and call depth.
 */
import { LuaError, LuaLimitError } from './errors.ts'
import type { LuaTable } from './table.ts'
import type { LuaValue } from './values.ts'

export interface Limits {
  /** Loop iterations, calls, and steps of library functions. */
  steps: number
  /** Approximate bytes of everything that is created during the call. */
  memoryBytes: number
  /** Nested function calls. */
  depth: number
}

export const DEFAULT_LIMITS: Limits = Object.freeze({ steps: 2_000_000, memoryBytes: 64 * 1024 * 1024, depth: 200 })

/** A place in the script that can fail, and what is there: `field 'spec'`. */
export interface Site {
  line: number
  what: string
}

const TABLE_BYTES = 64
const FIELD_BYTES = 32

export class Run {
  /** Steps left. Compiled code decrements it directly. */
  steps: number
  depth = 0
  /** The global `string` of this call, once the script has accessed it: methods of strings are then looked up there. */
  strings: LuaTable | undefined
  /** Where they are looked up until then. */
  readonly textMethods: ReadonlyMap<LuaValue, LuaValue>
  /** Whether a string holds bytes that are not UTF-8 (see text.ts), so that results are searched for them. */
  hasStrayBytes = false
  /** Whether requirements of pods name their priority class. */
  usesPriorityClass = true
  readonly now: () => number
  /** The `kube` module, once it was required. */
  kube: LuaTable | undefined
  /** The state of math.random: the same at the start of every call. */
  seed = 1
  private memory: number
  private readonly limits: Limits
  private readonly sites: readonly Site[]

  constructor(limits: Limits, sites: readonly Site[], textMethods: ReadonlyMap<LuaValue, LuaValue>, now: () => number) {
    this.steps = limits.steps
    this.memory = limits.memoryBytes
    this.limits = limits
    this.sites = sites
    this.textMethods = textMethods
    this.strings = undefined
    this.kube = undefined
    this.now = now
  }

  /** Counts work that a library function does. */
  work(steps: number): void {
    this.steps -= steps
    if (this.steps < 0) this.exhausted()
  }

  /** Counts the reading of a text: what is short is part of the step that reads it. */
  read(characters: number): void {
    if (characters >= 16) this.work(characters >> 4)
  }

  exhausted(): never {
    throw new LuaLimitError(`the script takes more than ${this.limits.steps} steps: is there an endless loop?`)
  }

  enter(): void {
    if (--this.steps < 0) this.exhausted()
    if (++this.depth > this.limits.depth) {
      throw new LuaLimitError(`stack overflow: more than ${this.limits.depth} functions wait for each other`)
    }
  }

  makeTable(): void {
    this.make(TABLE_BYTES)
  }

  makeFields(count: number): void {
    this.make(FIELD_BYTES * count)
  }

  make(bytes: number): void {
    this.memory -= bytes
    if (this.memory < 0) throw new LuaLimitError(`the script makes more than ${this.limits.memoryBytes} bytes of tables and strings`)
  }

  /** An error at a place of the script. */
  fail(site: number, message: string): never {
    throw new LuaError(this.at(site) + message)
  }

  /** An error about the expression at a place: `line 3: attempt to index a nil value (field 'spec')`. */
  failOn(site: number, message: string): never {
    const what = this.sites[site]?.what ?? ''
    throw new LuaError(this.at(site) + message + (what === '' ? '' : ` (${what})`))
  }

  at(site: number): string {
    const line = this.sites[site]?.line
    return line === undefined ? '' : `line ${line}: `
  }
}
