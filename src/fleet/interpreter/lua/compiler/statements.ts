/** Statements and function bodies. */
import type {
  AssignmentStatement,
  Expression,
  ForGenericStatement,
  ForNumericStatement,
  FunctionDeclaration,
  Identifier,
  IfStatement,
  IndexExpression,
  LocalStatement,
  MemberExpression,
  RepeatStatement,
  ReturnStatement,
  Statement,
} from 'luaparse'
import { LuaSyntaxError } from '../errors.ts'
import type { Compilation } from './compilation.ts'
import { call, condition, expression, globalRead, isOpen, openList, values } from './expressions.ts'
import { goto, hasLabels, labelledStatements } from './jumps.ts'
import { lineOf } from './parse.ts'

const STEP = 'if(--$r.steps<0)$r.exhausted();'

export function block(c: Compilation, list: readonly Statement[]): string {
  return c.inBlock(() => statements(c, list))
}

function statements(c: Compilation, list: readonly Statement[]): string {
  return hasLabels(list) ? labelledStatements(c, list, statement) : list.map((item) => statement(c, item)).join('\n')
}

function statement(c: Compilation, node: Statement): string {
  switch (node.type) {
    case 'LocalStatement':
      return local(c, node)
    case 'AssignmentStatement':
      return assignment(c, node)
    case 'CallStatement':
      return `${call(c, node.expression)};`
    case 'FunctionDeclaration':
      return functionStatement(c, node)
    case 'IfStatement':
      return ifStatement(c, node)
    case 'WhileStatement':
      // The condition is compiled inside the loop, but its temporaries belong to the function.
      return loop(c, (label) => `${label}:while(${condition(c, node.condition)}){${STEP}${block(c, node.body)}}`)
    case 'RepeatStatement':
      return repeat(c, node)
    case 'ForNumericStatement':
      return numericFor(c, node)
    case 'ForGenericStatement':
      return genericFor(c, node)
    case 'ReturnStatement':
      return returnStatement(c, node)
    case 'BreakStatement':
      return breakStatement(c, node)
    case 'GotoStatement':
      return goto(c, node)
    case 'DoStatement':
      return `{${block(c, node.body)}}`
    case 'LabelStatement':
      return ''
  }
}

function loop(c: Compilation, compile: (label: string) => string): string {
  const label = c.fresh('loop')
  c.current.loops.push(label)
  const code = compile(label)
  c.current.loops.pop()
  return code
}

function breakStatement(c: Compilation, node: Statement): string {
  const label = c.current.loops[c.current.loops.length - 1]
  if (label === undefined) throw new LuaSyntaxError('no loop to break', lineOf(node))
  return `break ${label};`
}

/** Declares names after their values were compiled: `local x = x` reads the outer one. */
function declareLocals(c: Compilation, names: readonly string[], initial: readonly string[]): string {
  if (names.length === 0) return ''
  const variables = names.map((name) => c.declare(name))
  if (c.hoisted === undefined) return `let ${variables.map((v, i) => (initial[i] === undefined ? v : `${v}=${initial[i]}`)).join(',')};`
  c.hoisted.push(...variables)
  return variables.map((v, i) => `${v}=${initial[i] ?? 'undefined'};`).join('')
}

function local(c: Compilation, node: LocalStatement): string {
  const names = node.variables.map((variable) => variable.name)
  if (node.init.length === 0) return declareLocals(c, names, [])
  if (names.length === 1 && node.init.length === 1) return declareLocals(c, names, [expression(c, node.init[0] as Expression)])
  const { before, at } = evaluated(c, node.init, names.length)
  return (
    before +
    declareLocals(
      c,
      names,
      names.map((_, i) => at(i)),
    )
  )
}

/** Evaluates a list into constants; `at(i)` is the code of the i-th value. */
function evaluated(c: Compilation, list: readonly Expression[], wanted: number): { before: string; at: (index: number) => string } {
  const last = list[list.length - 1]
  const name = c.fresh('$v')
  if (wanted >= list.length && isOpen(c, last)) {
    const fixed = list.slice(0, -1).map((item, i) => `const ${name}_${i}=${expression(c, item)};`)
    const before = `${fixed.join('')}const ${name}=${openList(c, last)};`
    return { before, at: (i) => (i < list.length - 1 ? `${name}_${i}` : `${name}[${i - list.length + 1}]`) }
  }
  const before = list.map((item, i) => `const ${name}_${i}=${expression(c, item)};`).join('')
  return { before, at: (i) => (i < list.length ? `${name}_${i}` : 'undefined') }
}

type Target = IndexExpression | MemberExpression | Identifier

function assignment(c: Compilation, node: AssignmentStatement): string {
  const [target] = node.variables
  const [value] = node.init
  if (target !== undefined && value !== undefined && node.variables.length === 1 && node.init.length === 1) {
    return assign(c, target, expression(c, value))
  }
  // Tables and keys on the left are evaluated before any of the assignments.
  const fixed = node.variables.map((variable) => fixedTarget(c, variable))
  const { before, at } = evaluated(c, node.init, node.variables.length)
  return `{${fixed.map((f) => f.before).join('')}${before}${fixed.map((f, i) => f.assign(at(i))).join('')}}`
}

function fixedTarget(c: Compilation, target: Target): { before: string; assign: (value: string) => string } {
  if (target.type === 'Identifier') return { before: '', assign: (value) => assign(c, target, value) }
  const [container, key] = [c.fresh('$c'), c.fresh('$k')]
  const before = `const ${container}=${expression(c, target.base)},${key}=${keyOf(c, target)};`
  const site = c.site(target, c.describe(target.base))
  return { before, assign: (value) => `$setIndex($r,${container},${key},${value},${site});` }
}

const keyOf = (c: Compilation, target: IndexExpression | MemberExpression): string =>
  target.type === 'MemberExpression' ? JSON.stringify(target.identifier.name) : expression(c, target.index)

function assign(c: Compilation, target: Target, value: string): string {
  if (target.type !== 'Identifier') {
    return `$setIndex($r,${expression(c, target.base)},${keyOf(c, target)},${value},${c.site(target, c.describe(target.base))});`
  }
  const variable = c.lookup(target.name)
  if (variable !== undefined) return `${variable}=${value};`
  if (c.parsed.usesGlobalTable) return `$setIndex($r,$G,${JSON.stringify(target.name)},${value},${c.site(target)});`
  return `${globalRead(c, target.name, target)}=${value};`
}

function functionStatement(c: Compilation, node: FunctionDeclaration): string {
  if (!node.isLocal) return assign(c, node.identifier as Target, functionCode(c, node))
  const declaration = declareLocals(c, [(node.identifier as Identifier).name], [])
  return declaration + assign(c, node.identifier as Identifier, functionCode(c, node))
}

export function functionCode(c: Compilation, node: FunctionDeclaration): string {
  return c.inFunction((state) =>
    c.inBlock(() => {
      const isMethod = node.identifier?.type === 'MemberExpression' && node.identifier.indexer === ':'
      const parameters = isMethod ? [c.declare('self')] : []
      for (const parameter of node.parameters) parameters.push(parameter.type === 'Identifier' ? c.declare(parameter.name) : '...$va')
      const body = block(c, node.body)
      const temporaries = state.temporaries.length === 0 ? '' : `let ${state.temporaries.join(',')};`
      const head = `function(${['$r', '$s', ...parameters].join(',')})`
      // Only a function that makes calls can recurse; the depth of others need not be counted.
      if (!state.hasCalls) return `${head}{${STEP}${temporaries}${body}\nreturn $nothing;}`
      return `${head}{$r.enter();try{${temporaries}${body}\nreturn $nothing;}finally{$r.depth--;}}`
    }),
  )
}

function ifStatement(c: Compilation, node: IfStatement): string {
  return node.clauses
    .map((clause, i) => {
      if (clause.type === 'ElseClause') return `else{${block(c, clause.body)}}`
      return `${i === 0 ? '' : 'else '}if(${condition(c, clause.condition)}){${block(c, clause.body)}}`
    })
    .join('')
}

/** The condition can use the locals of the body. */
function repeat(c: Compilation, node: RepeatStatement): string {
  return loop(c, (label) =>
    c.inBlock(() => `${label}:for(;;){${STEP}${statements(c, node.body)}\nif(${condition(c, node.condition)})break;}`),
  )
}

function numericFor(c: Compilation, node: ForNumericStatement): string {
  const site = c.site(node)
  const [counter, limit, step] = [c.fresh('$i'), c.fresh('$n'), c.fresh('$d')]
  const bound = (value: string, what: string) => `$loopNumber($r,${value},'${what}',${site})`
  const start = bound(expression(c, node.start), 'initial')
  const end = bound(expression(c, node.end), 'limit')
  const by = node.step === null ? '1' : bound(expression(c, node.step), 'step')
  const goes = node.step === null ? `${counter}<=${limit}` : `${step}>0?${counter}<=${limit}:${counter}>=${limit}`
  return loop(c, (label) =>
    c.inBlock(() => {
      const variable = c.declare(node.variable.name)
      const head = `for(let ${counter}=${start},${limit}=${end},${step}=${by};${goes};${counter}+=${step})`
      return `${label}:${head}{${STEP}let ${variable}=${counter};${block(c, node.body)}}`
    }),
  )
}

function genericFor(c: Compilation, node: ForGenericStatement): string {
  const cursor = c.fresh('$c')
  const over = cursorOver(c, node)
  return loop(c, (label) =>
    c.inBlock(() => {
      const from = (position: number) => (position === 0 ? 'key' : position === 1 ? 'value' : `rest[${position - 2}]`)
      const variables = node.variables.map((variable, i) => `${c.declare(variable.name)}=${cursor}.${from(i)}`)
      return `${label}:for(const ${cursor}=${over};${cursor}.advance($r);){${STEP}let ${variables.join(',')};${block(c, node.body)}}`
    }),
  )
}

function cursorOver(c: Compilation, node: ForGenericStatement): string {
  const site = c.site(node)
  const [only] = node.iterators
  if (node.iterators.length === 1 && only?.type === 'CallExpression' && only.base.type === 'Identifier' && only.arguments.length === 1) {
    const { name } = only.base
    const argument = only.arguments[0] as Expression
    const isOwn = c.lookup(name) === undefined && !c.parsed.assigned.has(name) && !c.parsed.usesGlobalTable
    if (isOwn && (name === 'pairs' || name === 'ipairs')) {
      return `${name === 'pairs' ? '$overPairs' : '$overIpairs'}($r,${expression(c, argument)},${site})`
    }
  }
  // The iterator may be a function of the script, and is called on every iteration.
  c.current.hasCalls = true
  return `$overCalls($r,[${values(c, node.iterators)}],${site})`
}

function returnStatement(c: Compilation, node: ReturnStatement): string {
  const [only] = node.arguments
  if (only === undefined) return 'return $nothing;'
  if (node.arguments.length > 1) return `return [${values(c, node.arguments)}];`
  if (!isOpen(c, only)) return `return ${expression(c, only)};`
  return only.type === 'VarargLiteral' ? 'return $va;' : `return ${call(c, only)};`
}
