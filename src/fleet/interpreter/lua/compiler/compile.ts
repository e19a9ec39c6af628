/**
 * From a script to a function. The generated code uses only its own variables, the functions passed to it by name, and
 * literals; it is strict, so `this` is undefined. Each call of the result starts from scratch: top-level code runs again
 * with fresh globals, then the wanted global is returned.
 */
import { overCalls, overIpairs, overPairs } from '../iteration.ts'
import * as operators from '../operators.ts'
import type { Run, Site } from '../run.ts'
import type { LuaTable } from '../table.ts'
import { firstOf, type LuaValue, listOf, NOTHING } from '../values.ts'
import { Compilation } from './compilation.ts'
import { type Libraries, noteModule } from './constants.ts'
import { asSyntaxError, parseScript } from './parse.ts'
import { block, functionCode } from './statements.ts'

export type { Libraries }

/** Gives a script its globals. */
export interface Globals {
  value(name: string): LuaValue
  table(run: Run): LuaTable
}

export interface CompiledScript {
  /** Runs the top level and returns the global that the script was compiled for. */
  load(run: Run, globals: Globals): LuaValue
  sites: readonly Site[]
  hasStrayBytes: boolean
  /** Whether the wanted global is assigned anywhere, or may be through `_G`. */
  namesWanted: boolean
}

const RUNTIME: Readonly<Record<string, unknown>> = {
  $add: operators.add,
  $callable: operators.callable,
  $concat: operators.concat,
  $divide: operators.divide,
  $emptyTable: operators.emptyTable,
  $equal: operators.equal,
  $field: operators.field,
  $first: firstOf,
  $greater: operators.greater,
  $greaterOrEqual: operators.greaterOrEqual,
  $index: operators.index,
  $length: operators.length,
  $less: operators.less,
  $lessOrEqual: operators.lessOrEqual,
  $list: listOf,
  $loopNumber: operators.loopNumber,
  $makeList: operators.makeList,
  $makeRecord: operators.makeRecord,
  $makeTable: operators.makeTable,
  $modulo: operators.modulo,
  $multiply: operators.multiply,
  $negate: operators.negate,
  $nothing: NOTHING,
  $overCalls: overCalls,
  $overIpairs: overIpairs,
  $overPairs: overPairs,
  $power: operators.power,
  $setIndex: operators.setIndex,
  $spread: operators.spread,
  $subtract: operators.subtract,
}

/** Throws a LuaSyntaxError. */
export function compile(source: string, wanted: string, libraries: Libraries): CompiledScript {
  try {
    const c = new Compilation(parseScript(source), libraries)
    c.functionCode = (node) => functionCode(c, node)
    const code = scriptCode(c, wanted)
    const known = Object.fromEntries(c.constants.map((value, i) => [`$k${i}`, value]))
    const given = { ...RUNTIME, ...known }
    const load = new Function(...Object.keys(given), code)(...Object.values(given)) as CompiledScript['load']
    const namesWanted = c.parsed.usesGlobalTable || c.parsed.assigned.has(wanted)
    return { load, sites: c.sites, hasStrayBytes: c.hasStrayBytes, namesWanted }
  } catch (error) {
    throw asSyntaxError(error)
  }
}

function scriptCode(c: Compilation, wanted: string): string {
  return c.inFunction((state) => {
    const body = block(
      c,
      c.parsed.body.filter((statement) => !noteModule(c, statement)),
    )
    const temporaries = state.temporaries.length === 0 ? '' : `let ${state.temporaries.join(',')};`
    const top = `(function(...$va){${temporaries}${body}\n})();`
    if (c.parsed.usesGlobalTable) {
      return `"use strict";return function($r,$globals){const $G=$globals.table($r);${top}return $G.getField(${JSON.stringify(wanted)});}`
    }
    c.globals.add(wanted)
    const hasValue = (name: string) => c.libraries.global(name) !== undefined || c.libraries.fields(name) !== undefined
    const variables = [...c.globals].map((name) => (hasValue(name) ? `g$${name}=$globals.value(${JSON.stringify(name)})` : `g$${name}`))
    return `"use strict";return function($r,$globals){let ${variables.join(',')};${top}return g$${wanted};}`
  })
}
