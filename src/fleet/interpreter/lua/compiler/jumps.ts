/**
 * `goto` and labels. A label divides its block: what comes before it becomes a block that `goto` breaks out of, what comes
 * after it a loop that `goto` continues. That covers every jump that Lua allows, above all `goto continue`.
 */
import type { GotoStatement, LabelStatement, Statement } from 'luaparse'
import { LuaSyntaxError } from '../errors.ts'
import type { Compilation, JumpTarget } from './compilation.ts'
import { lineOf } from './parse.ts'

const isLabel = (node: Statement): node is LabelStatement => node.type === 'LabelStatement'

export const hasLabels = (list: readonly Statement[]): boolean => list.some(isLabel)

type CompileStatement = (c: Compilation, node: Statement) => string

export function labelledStatements(c: Compilation, list: readonly Statement[], compile: CompileStatement): string {
  const hoisted: string[] = []
  c.hoisted = hoisted
  const code = divided(c, list, compile)
  c.hoisted = undefined
  return (hoisted.length === 0 ? '' : `let ${hoisted.join(',')};`) + code
}

function divided(c: Compilation, list: readonly Statement[], compile: CompileStatement): string {
  const position = list.findIndex(isLabel)
  if (position < 0) return list.map((item) => compile(c, item)).join('\n')
  const label = (list[position] as LabelStatement).label.name
  const name = c.fresh('label')
  const out: JumpTarget = { label, code: `break ${name}_end;`, isUsed: false }
  const before = aimedAt(c, out, () =>
    list
      .slice(0, position)
      .map((item) => compile(c, item))
      .join('\n'),
  )
  const back: JumpTarget = { label, code: `continue ${name}_start;`, isUsed: false }
  const behind = aimedAt(c, back, () => divided(c, list.slice(position + 1), compile))
  const loop = `${name}_start:for(;;){if(--$r.steps<0)$r.exhausted();${behind}\nbreak;}`
  return `${name}_end:{${before}}${back.isUsed ? loop : behind}`
}

function aimedAt(c: Compilation, target: JumpTarget, compile: () => string): string {
  c.current.jumps.push(target)
  const code = compile()
  c.current.jumps.pop()
  return code
}

export function goto(c: Compilation, node: GotoStatement): string {
  for (let i = c.current.jumps.length - 1; i >= 0; i--) {
    const target = c.current.jumps[i] as JumpTarget
    if (target.label !== node.label.name) continue
    target.isUsed = true
    return target.code
  }
  throw new LuaSyntaxError(`no visible label '${node.label.name}' for goto`, lineOf(node))
}
