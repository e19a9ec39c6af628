/** What is known while one script is compiled: names in scope, places that can fail, and where jumps go. */
import type { Expression, FunctionDeclaration, Node } from 'luaparse'
import type { Shape } from '../fields.ts'
import type { Site } from '../run.ts'
import { fromBytes } from '../text.ts'
import type { LuaValue } from '../values.ts'
import type { Libraries } from './constants.ts'
import { lineOf, type ParsedScript } from './parse.ts'

/** Where a `goto` leads: out of the block before the label, or back to the start of the block after it. */
export interface JumpTarget {
  label: string
  code: string
  isUsed: boolean
}

interface FunctionState {
  temporaries: string[]
  jumps: JumpTarget[]
  loops: string[]
  hasCalls: boolean
}

const newFunctionState = (): FunctionState => ({ temporaries: [], jumps: [], loops: [], hasCalls: false })

export class Compilation {
  readonly sites: Site[] = []
  /** Globals that the script names; each becomes a variable of the compiled code, unless `usesGlobalTable`. */
  readonly globals = new Set<string>()
  hasStrayBytes = false
  readonly parsed: ParsedScript
  readonly libraries: Libraries
  readonly constants: (LuaValue | Shape)[] = []
  /** Modules by the name of the local that holds them. */
  readonly modules = new Map<string, Map<LuaValue, LuaValue>>()
  /** Function bodies are statements again; set by the statements' side, to avoid a circular import. */
  functionCode: (node: FunctionDeclaration) => string = () => ''
  /** Locals of a block with labels are declared at its start, because the labels divide the block. */
  hoisted: string[] | undefined
  current: FunctionState = newFunctionState()
  private blocks: Map<string, string>[] = []
  private readonly siteNumbers = new Map<string, number>()
  private names = 0

  constructor(parsed: ParsedScript, libraries: Libraries) {
    this.parsed = parsed
    this.libraries = libraries
  }

  /** A variable of the generated code that always holds this value. */
  constant(value: LuaValue | Shape): string {
    let position = this.constants.indexOf(value)
    if (position < 0) position = this.constants.push(value) - 1
    return `$k${position}`
  }

  /** A name that cannot occur in the script. */
  fresh(base: string): string {
    return `${base}$${this.names++}`
  }

  /** A variable of the current function for a value that is needed twice. */
  temporary(): string {
    const name = this.fresh('$t')
    this.current.temporaries.push(name)
    return name
  }

  inBlock<T>(compile: () => T): T {
    const hoisted = this.hoisted
    this.hoisted = undefined
    this.blocks.push(new Map())
    const result = compile()
    this.blocks.pop()
    this.hoisted = hoisted
    return result
  }

  /** Jumps do not leave a function, and temporaries belong to one. */
  inFunction<T>(compile: (state: FunctionState) => T): T {
    const outer = this.current
    const hoisted = this.hoisted
    this.current = newFunctionState()
    this.hoisted = undefined
    const result = compile(this.current)
    this.current = outer
    this.hoisted = hoisted
    return result
  }

  declare(name: string): string {
    const variable = this.fresh(name)
    this.blocks[this.blocks.length - 1]?.set(name, variable)
    return variable
  }

  lookup(name: string): string | undefined {
    for (let i = this.blocks.length - 1; i >= 0; i--) {
      const variable = this.blocks[i]?.get(name)
      if (variable !== undefined) return variable
    }
    return undefined
  }

  /** The number of a place that can fail. */
  site(node: Node, what = ''): number {
    const line = lineOf(node)
    const key = `${line} ${what}`
    let number = this.siteNumbers.get(key)
    if (number === undefined) {
      number = this.sites.push({ line, what }) - 1
      this.siteNumbers.set(key, number)
    }
    return number
  }

  /** How a message names an expression: `local 'x'`. */
  describe(node: Expression): string {
    if (node.type === 'Identifier') return `${this.lookup(node.name) === undefined ? 'global' : 'local'} '${node.name}'`
    if (node.type === 'MemberExpression') return `${node.indexer === ':' ? 'method' : 'field'} '${node.identifier.name}'`
    if (node.type === 'IndexExpression' && node.index.type === 'StringLiteral') return `field '${this.text(node.index.value)}'`
    return ''
  }

  /** The text of a literal, which the parser gives as bytes. */
  text(bytes: string): string {
    return fromBytes(this, bytes)
  }
}
