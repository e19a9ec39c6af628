/**
 * Scripts by text. A script is compiled when it is first called, and only once, however many rules have the same text. One
 * that cannot be compiled fails at every call with the reason, and affects nothing else.
 */
import { LuaError, LuaSyntaxError } from './errors.ts'
import { type CallOptions, type Results, Script } from './script.ts'

/** A script that can be called; whether it compiles is known after the first call. */
export interface CallableScript {
  readonly functionName: string
  call(args: readonly unknown[], options: CallOptions): Results
}

class LazyScript implements CallableScript {
  readonly functionName: string
  private readonly source: string
  private compiled: Script | LuaSyntaxError | undefined

  constructor(source: string, functionName: string) {
    this.source = source
    this.functionName = functionName
  }

  call(args: readonly unknown[], options: CallOptions): Results {
    this.compiled ??= tryCompile(this.source, this.functionName)
    if (this.compiled instanceof LuaSyntaxError) throw new LuaError(`the script cannot be compiled: ${this.compiled.message}`)
    return this.compiled.call(args, options)
  }
}

/** The script, or why it cannot be compiled. */
export function tryCompile(source: string, functionName: string): Script | LuaSyntaxError {
  try {
    return new Script(source, functionName)
  } catch (error) {
    if (error instanceof LuaSyntaxError) return error
    throw error
  }
}

export class ScriptCache {
  private scripts = new Map<string, CallableScript>()
  private used = new Map<string, CallableScript>()

  script(source: string, functionName: string): CallableScript {
    const key = `${functionName}\n${source}`
    const script = this.scripts.get(key) ?? this.used.get(key) ?? new LazyScript(source, functionName)
    this.used.set(key, script)
    return script
  }

  /** Forgets what was not used since the last time, so that edited rules do not accumulate. */
  forgetUnused(): void {
    this.scripts = this.used
    this.used = new Map()
  }

  get size(): number {
    return new Set([...this.scripts.keys(), ...this.used.keys()]).size
  }
}
