/** From text to syntax tree: luaparse, and the cases that it does not handle. */

import type { AssignmentStatement, Chunk, Expression, FunctionDeclaration, Node } from 'luaparse'
import luaparse from 'luaparse'
import { LuaSyntaxError } from '../errors.ts'
import { NameUses } from './name-uses.ts'

export interface ParsedScript {
  /** The text with one character per byte, which is how positions are counted. */
  text: string
  body: Chunk['body']
  /** Every name that is assigned to somewhere, as a local or a global. */
  assigned: ReadonlySet<string>
  /** Whether the script accesses its globals as a table. */
  usesGlobalTable: boolean
  names: NameUses
}

/** Far beyond any rule that a person writes. */
const MAX_SCRIPT_BYTES = 1024 * 1024

export function parseScript(source: string): ParsedScript {
  const text = Buffer.from(source, 'utf8').toString('latin1')
  if (text.length > MAX_SCRIPT_BYTES) throw new LuaSyntaxError(`the script is longer than ${MAX_SCRIPT_BYTES} bytes`, 1)
  const assigned = new Set<string>()
  const names = new NameUses()
  const onCreateNode = (node: Node): void => {
    names.note(node)
    if (node.type === 'AssignmentStatement' || node.type === 'FunctionDeclaration') noteAssigned(node, assigned)
  }
  try {
    // 5.2 for `goto continue`, which Karmada's Lua interpreter accepts as well.
    const chunk = luaparse.parse(text, {
      luaVersion: '5.2',
      comments: false,
      locations: true,
      ranges: true,
      encodingMode: 'pseudo-latin1',
      onCreateNode,
    })
    return { text, body: chunk.body, assigned, usesGlobalTable: names.has('_G'), names }
  } catch (error) {
    throw asSyntaxError(error)
  }
}

function noteAssigned(node: AssignmentStatement | FunctionDeclaration, assigned: Set<string>): void {
  const targets = node.type === 'AssignmentStatement' ? node.variables : [node.identifier]
  for (const target of targets) if (target?.type === 'Identifier') assigned.add(target.name)
}

/** What went wrong while reading or compiling, with its line. */
export function asSyntaxError(error: unknown): LuaSyntaxError {
  if (error instanceof LuaSyntaxError) return error
  // The parser and the compiler recurse with the nesting of the script.
  if (error instanceof RangeError) return new LuaSyntaxError('the script is nested too deep', 1)
  const { message, line } = error as { message: string; line?: number }
  return new LuaSyntaxError(message.replace(/^\[\d+:\d+\] /, ''), line ?? 1)
}

const rangeOf = (node: Node): readonly [number, number] => (node as { range?: [number, number] }).range ?? [0, 0]

/**
 * Whether a call or `...` is in parentheses of its own, which truncate its results to one; the parser does not report that.
 * `within` is the call whose last argument it is: its closing parenthesis does not count.
 */
export function isParenthesised(text: string, node: Expression, within?: Node): boolean {
  const at = skipBlanks(text, rangeOf(node)[1])
  if (text[at] !== ')') return false
  return within === undefined || at < rangeOf(within)[1] - 1
}

const BLANKS = /(?:[ \t\r\n\v\f]|--\[(=*)\[[\s\S]*?\]\1\]|--(?!\[=*\[)[^\n]*)*/y

function skipBlanks(text: string, from: number): number {
  BLANKS.lastIndex = from
  BLANKS.test(text)
  return BLANKS.lastIndex
}

export const lineOf = (node: Node): number => node.loc?.start.line ?? 1
