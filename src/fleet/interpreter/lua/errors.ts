/** What can go wrong with a script: it does not compile, it fails, or it exceeds a limit. */
import type { LuaValue } from './values.ts'

/** The script cannot be compiled. The message begins with the line. */
export class LuaSyntaxError extends Error {
  readonly line: number

  constructor(message: string, line: number) {
    super(`line ${line}: ${message}`)
    this.name = 'LuaSyntaxError'
    this.line = line
  }
}

/** An error raised by a script or by a function that it called; `pcall` catches it. */
export class LuaError extends Error {
  /** What `pcall` returns: usually the message, but `error` takes any value. */
  readonly value: LuaValue

  constructor(message: string, value: LuaValue = message) {
    super(message)
    this.name = 'LuaError'
    this.value = value
  }
}

/** A budget is used up. `pcall` does not catch it, so that a script cannot continue beyond its limits. */
export class LuaLimitError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'LuaLimitError'
  }
}
