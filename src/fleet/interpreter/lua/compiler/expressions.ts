/** Expressions. Names in the code that begin with `$` are the functions of operators.ts and iteration.ts; `$r` is the run. */
import type {
  BinaryExpression,
  CallExpression,
  Expression,
  LogicalExpression,
  MemberExpression,
  Node,
  StringCallExpression,
  TableCallExpression,
  TableConstructorExpression,
  UnaryExpression,
  VarargLiteral,
} from 'luaparse'
import { LuaSyntaxError } from '../errors.ts'
import { shapeOf } from '../fields.ts'
import type { Compilation } from './compilation.ts'
import { knownFunction } from './constants.ts'
import { isParenthesised, lineOf } from './parse.ts'

export type Call = CallExpression | StringCallExpression | TableCallExpression

/** The code of an expression with one value. */
export function expression(c: Compilation, node: Expression): string {
  switch (node.type) {
    case 'Identifier':
      return c.lookup(node.name) ?? knownFunction(c, node) ?? globalRead(c, node.name, node)
    case 'NilLiteral':
      return 'undefined'
    case 'BooleanLiteral':
      return String(node.value)
    case 'NumericLiteral':
      return Number.isFinite(node.value) ? String(node.value) : '(1/0)'
    case 'StringLiteral':
      return JSON.stringify(c.text(node.value))
    case 'VarargLiteral':
      return '$va[0]'
    case 'FunctionDeclaration':
      return c.functionCode(node)
    case 'MemberExpression':
      return knownFunction(c, node) ?? memberExpression(c, node)
    case 'IndexExpression':
      return indexExpression(c, node.base, node.index, node)
    case 'UnaryExpression':
      return unary(c, node)
    case 'BinaryExpression':
      return binary(c, node)
    case 'LogicalExpression':
      return logical(c, node)
    case 'TableConstructorExpression':
      return tableConstructor(c, node)
    default:
      return `$first(${call(c, node)})`
  }
}

function memberExpression(c: Compilation, node: MemberExpression): string {
  // A module without this function: an absent field is nil.
  if (node.base.type === 'Identifier' && c.modules.has(node.base.name)) return 'undefined'
  const name = JSON.stringify(node.identifier.name)
  return `$field($r,${expression(c, node.base)},${name},${c.site(node, c.describe(node.base))})`
}

function indexExpression(c: Compilation, base: Expression, key: Expression, node: Node): string {
  const site = c.site(node, c.describe(base))
  if (key.type === 'StringLiteral') return `$field($r,${expression(c, base)},${expression(c, key)},${site})`
  return `$index($r,${expression(c, base)},${expression(c, key)},${site})`
}

export function globalRead(c: Compilation, name: string, node: Node): string {
  if (c.parsed.usesGlobalTable) return `$field($r,$G,${JSON.stringify(name)},${c.site(node)})`
  c.globals.add(name)
  return `g$${name}`
}

/** The code of an expression as a JavaScript condition. */
export function condition(c: Compilation, node: Expression): string {
  if (node.type === 'BooleanLiteral') return String(node.value)
  if (node.type === 'LogicalExpression') {
    return `(${condition(c, node.left)}${node.operator === 'and' ? '&&' : '||'}${condition(c, node.right)})`
  }
  if (node.type === 'UnaryExpression' && node.operator === 'not') return `!${condition(c, node.argument)}`
  if (node.type === 'BinaryExpression' && node.operator in COMPARISONS) return binary(c, node)
  const value = c.temporary()
  return `((${value}=${expression(c, node)})!==undefined&&${value}!==false)`
}

function unary(c: Compilation, node: UnaryExpression): string {
  if (node.operator === 'not') return `!${condition(c, node.argument)}`
  const operand = expression(c, node.argument)
  if (node.operator === '-' && node.argument.type === 'NumericLiteral') return `(-${operand})`
  const name = node.operator === '-' ? '$negate' : node.operator === '#' ? '$length' : unknown(node, node.operator)
  return `${name}($r,${operand},${c.site(node, c.describe(node.argument))})`
}

const COMPARISONS: Readonly<Record<string, string>> = {
  '==': '===',
  '~=': '!==',
  '<': '$less',
  '<=': '$lessOrEqual',
  '>': '$greater',
  '>=': '$greaterOrEqual',
}

const ARITHMETIC: Readonly<Record<string, string>> = {
  '+': '$add',
  '-': '$subtract',
  '*': '$multiply',
  '/': '$divide',
  '%': '$modulo',
  '^': '$power',
}

function binary(c: Compilation, node: BinaryExpression): string {
  if (node.operator === '..') return `$concat($r,${c.site(node)},${concatParts(c, node).join(',')})`
  const [left, right] = [expression(c, node.left), expression(c, node.right)]
  if (node.operator === '==' || node.operator === '~=') {
    // With a literal, at most its own length is compared.
    if (isLiteral(node.left) || isLiteral(node.right)) return `(${left}${COMPARISONS[node.operator]}${right})`
    return `${node.operator === '==' ? '' : '!'}$equal($r,${left},${right})`
  }
  const name = COMPARISONS[node.operator] ?? ARITHMETIC[node.operator] ?? unknown(node, node.operator)
  return `${name}($r,${left},${right},${c.site(node, blame(c, node))})`
}

const isLiteral = ({ type }: Expression): boolean => type.endsWith('Literal') && type !== 'VarargLiteral'

/** The operand that a message should name: the one that is not a literal. */
function blame(c: Compilation, node: BinaryExpression): string {
  return c.describe(node.left) || c.describe(node.right)
}

/** `a .. b .. c` nests to the right. */
function concatParts(c: Compilation, node: Expression): string[] {
  if (node.type !== 'BinaryExpression' || node.operator !== '..') return [expression(c, node)]
  return [expression(c, node.left), ...concatParts(c, node.right)]
}

function logical(c: Compilation, node: LogicalExpression): string {
  const value = c.temporary()
  const left = `(${value}=${expression(c, node.left)})`
  const right = expression(c, node.right)
  if (node.operator === 'and') return `(${left}===undefined||${value}===false?${value}:${right})`
  return `(${left}!==undefined&&${value}!==false?${value}:${right})`
}

const unknown = (node: Node, what: string): never => {
  throw new LuaSyntaxError(`'${what}' is not part of Lua 5.1`, lineOf(node))
}

/** The code of a call, with all its results. */
export function call(c: Compilation, node: Call): string {
  c.current.hasCalls = true
  const given = node.type === 'CallExpression' ? node.arguments : [node.type === 'StringCallExpression' ? node.argument : node.arguments]
  const list = values(c, given, node.type === 'CallExpression' ? node : undefined)
  const args = list === '' ? '' : `,${list}`
  const site = c.site(node, c.describe(node.base))
  if (node.base.type !== 'MemberExpression' || node.base.indexer !== ':') {
    const known = knownFunction(c, node.base)
    return known === undefined ? `$callable($r,${expression(c, node.base)},${site})($r,${site}${args})` : `${known}($r,${site}${args})`
  }
  const self = c.temporary()
  const target = `${self}=${expression(c, node.base.base)}`
  const method = `$field($r,${target},${JSON.stringify(node.base.identifier.name)},${c.site(node, c.describe(node.base.base))})`
  return `$callable($r,${method},${site})($r,${site},${self}${args})`
}

/** A call or `...` in last position yields all its values. */
export function isOpen(c: Compilation, node: Expression | undefined, within?: Node): node is Call | VarargLiteral {
  if (node === undefined) return false
  const isMany =
    node.type === 'CallExpression' ||
    node.type === 'StringCallExpression' ||
    node.type === 'TableCallExpression' ||
    node.type === 'VarargLiteral'
  return isMany && !isParenthesised(c.parsed.text, node, within)
}

/** The code of all values of a call or `...` as an array. */
export const openList = (c: Compilation, node: Call | VarargLiteral): string =>
  node.type === 'VarargLiteral' ? '$va' : `$list(${call(c, node)})`

/** A list of expressions as JavaScript arguments or elements. */
export function values(c: Compilation, list: readonly Expression[], within?: Node): string {
  const last = list[list.length - 1]
  if (!isOpen(c, last, within)) return list.map((item) => expression(c, item)).join(',')
  return [...list.slice(0, -1).map((item) => expression(c, item)), `...$spread($r,${openList(c, last)})`].join(',')
}

function tableConstructor(c: Compilation, node: TableConstructorExpression): string {
  if (node.fields.length === 0) return '$emptyTable($r)'
  const keys = node.fields.map((field) => knownKey(c, field))
  if (keys.every((key) => key !== undefined) && new Set(keys).size === keys.length) {
    return `$makeRecord($r,${c.constant(shapeOf(keys))},[${node.fields.map((field) => expression(c, field.value)).join(',')}])`
  }
  const items: string[] = []
  const pairs: string[] = []
  node.fields.forEach((field, position) => {
    if (field.type === 'TableKeyString') pairs.push(JSON.stringify(field.key.name), expression(c, field.value))
    else if (field.type === 'TableKey') pairs.push(expression(c, field.key), expression(c, field.value))
    else if (position === node.fields.length - 1 && isOpen(c, field.value)) items.push(`...$spread($r,${openList(c, field.value)})`)
    else items.push(expression(c, field.value))
  })
  return pairs.length === 0
    ? `$makeList($r,[${items.join(',')}])`
    : `$makeTable($r,[${items.join(',')}],[${pairs.join(',')}],${c.site(node)})`
}

/** The name of a field that is known at compile time. */
function knownKey(c: Compilation, field: TableConstructorExpression['fields'][number]): string | undefined {
  if (field.type === 'TableKeyString') return field.key.name
  return field.type === 'TableKey' && field.key.type === 'StringLiteral' ? c.text(field.key.value) : undefined
}
