/**
 * Values that are known when a script is compiled: library functions that the script cannot have changed. They become
 * constants of the generated code, and need no look-up at run time.
 */
import type { Expression, LocalStatement, Statement } from 'luaparse'
import type { LuaValue } from '../values.ts'
import type { Compilation } from './compilation.ts'

/** What is known at compile time. */
export interface Libraries {
  /** A global function. */
  global(name: string): LuaValue
  /** The functions of a global library. */
  fields(name: string): Map<LuaValue, LuaValue> | undefined
  /** What `require` returns. */
  modules: ReadonlyMap<string, Map<LuaValue, LuaValue>>
}

/** The library function that an expression is certain to be. */
export function knownFunction(c: Compilation, node: Expression): string | undefined {
  if (c.parsed.usesGlobalTable) return undefined
  const value = node.type === 'Identifier' ? knownGlobal(c, node.name) : knownField(c, node)
  return typeof value === 'function' ? c.constant(value) : undefined
}

function knownGlobal(c: Compilation, name: string): LuaValue {
  return c.lookup(name) === undefined && !c.parsed.assigned.has(name) ? c.libraries.global(name) : undefined
}

function knownField(c: Compilation, node: Expression): LuaValue {
  if (node.type !== 'MemberExpression' || node.indexer !== '.' || node.base.type !== 'Identifier') return undefined
  const { name } = node.base
  const module = c.modules.get(name)
  if (module !== undefined) return module.get(node.identifier.name)
  if (c.lookup(name) !== undefined || !c.parsed.names.isOnlyReadFrom(name, 0)) return undefined
  return c.libraries.fields(name)?.get(node.identifier.name)
}

/** `local kube = require("kube")` at the top, if the script only reads fields of `kube`. */
export function noteModule(c: Compilation, node: Statement): boolean {
  if (node.type !== 'LocalStatement') return false
  const fields = requiredModule(c, node)
  const name = node.variables[0]?.name ?? ''
  if (fields === undefined || !c.parsed.names.isOnlyReadFrom(name, 1)) return false
  c.modules.set(name, fields)
  return true
}

function requiredModule(c: Compilation, { variables, init }: LocalStatement): Map<LuaValue, LuaValue> | undefined {
  const [call] = init
  if (variables.length !== 1 || init.length !== 1 || call === undefined) return undefined
  if (call.type !== 'CallExpression' && call.type !== 'StringCallExpression') return undefined
  const argument = call.type === 'CallExpression' ? call.arguments[0] : call.argument
  if (argument?.type !== 'StringLiteral' || (call.type === 'CallExpression' && call.arguments.length !== 1)) return undefined
  if (call.base.type !== 'Identifier' || call.base.name !== 'require' || knownGlobal(c, 'require') === undefined) return undefined
  return c.libraries.modules.get(c.text(argument.value))
}
