/** The grammar of Kubernetes' JSONPath, inside one pair of braces, with the messages of the original parser. */
import { isPrintable } from './go-print.ts'

export type JsonPathNode =
  | { kind: 'field'; name: string }
  | { kind: 'wildcard' }
  | { kind: 'recursive' }
  | { kind: 'value'; value: string | number | boolean }
  | { kind: 'word'; name: string }
  | { kind: 'slice'; from?: number; to?: number; step?: number; single: boolean }
  | { kind: 'union'; paths: JsonPathNode[][] }
  | { kind: 'filter'; left: JsonPathNode[]; operator: string; right: JsonPathNode[] }

export class JsonPathSyntax extends Error {}

const TERMINATORS = ' \t\r\n.,[]$@{}'
const MAX_DEPTH = 20

/** Parses up to the closing brace or the end; what follows a closing brace is another result, which is not needed. */
export function parseNodes(text: string, depth = 0): JsonPathNode[] {
  if (depth > MAX_DEPTH) throw new JsonPathSyntax('too deeply nested')
  return new PathParser(text, depth).nodes()
}

class PathParser {
  readonly #text: string
  readonly #depth: number
  readonly #nodes: JsonPathNode[] = []
  #at = 0

  constructor(text: string, depth: number) {
    this.#text = text
    this.#depth = depth
  }

  nodes(): JsonPathNode[] {
    while (this.#at < this.#text.length && this.#text[this.#at] !== '}') this.#node()
    return this.#nodes
  }

  #node(): void {
    const text = this.#text
    const char = String.fromCodePoint(text.codePointAt(this.#at) ?? 0)
    if (text.startsWith('[?(', this.#at)) this.#filter()
    else if (text.startsWith('..', this.#at)) this.#recursive()
    else if (char === '\n' || char === '\r') throw new JsonPathSyntax('unclosed action')
    else if (char === ' ' || char === '@' || char === '$') this.#at++
    else if (char === '[') this.#array()
    else if (char === '"' || char === "'") this.#quoted(char)
    else if (char === '.') {
      this.#at++
      this.#field()
    } else if (/[+\-\p{Nd}]/u.test(char)) this.#number()
    else if (/[_\p{L}]/u.test(char)) this.#word()
    else throw new JsonPathSyntax(`unrecognized character in action: ${unicodeName(char)}`)
  }

  #until(stops: string): string {
    const start = this.#at
    while (this.#at < this.#text.length && !stops.includes(this.#text.charAt(this.#at))) this.#at++
    return this.#text.slice(start, this.#at)
  }

  #word(): void {
    const name = this.#until(TERMINATORS)
    this.#nodes.push(name === 'true' || name === 'false' ? { kind: 'value', value: name === 'true' } : { kind: 'word', name })
  }

  #recursive(): void {
    if (this.#nodes.at(-1)?.kind === 'recursive') throw new JsonPathSyntax('invalid multiple recursive descent')
    this.#at += 2
    this.#nodes.push({ kind: 'recursive' })
    if (/[_\p{L}\p{Nd}]/u.test(this.#text.charAt(this.#at))) this.#field()
  }

  /** A backslash takes the next character literally. */
  #field(): void {
    let name = ''
    while (this.#at < this.#text.length && !TERMINATORS.includes(this.#text.charAt(this.#at))) {
      if (this.#text[this.#at] === '\\') this.#at++
      name += this.#text.charAt(this.#at++)
    }
    this.#nodes.push(name === '*' ? { kind: 'wildcard' } : { kind: 'field', name })
  }

  #number(): void {
    const match = /^[+-]?[.0-9]*/.exec(this.#text.slice(this.#at))?.[0] ?? ''
    this.#at += match.length
    if (!/^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$/.test(match)) throw new JsonPathSyntax(`cannot parse number ${match}`)
    this.#nodes.push({ kind: 'value', value: Number(match) })
  }

  #quoted(quote: string): void {
    const start = this.#at++
    for (;;) {
      const char = this.#text.charAt(this.#at++)
      if (char === '' || char === '\n') throw new JsonPathSyntax('unterminated quoted string')
      if (char === quote && this.#text[this.#at - 2] !== '\\') break
    }
    const body = this.#text.slice(start + 1, this.#at - 1)
    this.#nodes.push({ kind: 'value', value: body.replace(/\\(.)/gs, (_, c: string) => ({ n: '\n', t: '\t', r: '\r' })[c] ?? c) })
  }

  #array(): void {
    const close = this.#text.indexOf(']', this.#at)
    if (close < 0 || this.#text.slice(this.#at, close).includes('\n')) throw new JsonPathSyntax('unterminated array')
    const inner = this.#text.slice(this.#at + 1, close)
    this.#at = close + 1
    const parts = inner.split(',')
    if (parts.length > 1) {
      const paths = parts.map((part) => parseNodes(`[${part.replace(/^ +| +$/g, '')}]`, this.#depth + 1))
      this.#nodes.push({ kind: 'union', paths })
      return
    }
    const key = /^'([^']*)'$/.exec(inner)
    if (key !== null) this.#nodes.push(...parseNodes(`.${key[1] ?? ''}`, this.#depth + 1))
    else this.#nodes.push(slice(inner === '*' ? ':' : inner))
  }

  #filter(): void {
    const start = this.#at + 3
    const end = closingParenthesis(this.#text, start)
    if (this.#text[end + 1] !== ']') throw new JsonPathSyntax('unclosed array expect ]')
    const inner = this.#text.slice(start, end)
    this.#at = end + 2
    const match = /^([^!<>=]+)([!<>=]+)(.+?)$/.exec(inner)
    const sub = (text: string) => parseNodes(text, this.#depth + 1)
    this.#nodes.push(
      match === null
        ? { kind: 'filter', left: sub(inner), operator: 'exists', right: [] }
        : { kind: 'filter', left: sub(match[1] ?? ''), operator: match[2] ?? '', right: sub(match[3] ?? '') },
    )
  }
}

/** The parenthesis that ends a filter; one inside (single-)quoted text does not. */
function closingParenthesis(text: string, start: number): number {
  let quote = ''
  let ended = false
  for (let i = start; i < text.length; i++) {
    const char = text.charAt(i)
    if (char === '\n') break
    if (char === '"' || char === "'") {
      if (quote === '') quote = char
      else if (char === quote && text[i - 1] !== '\\') ended = true
    } else if (char === ')' && (quote !== '') === ended) return i
  }
  throw new JsonPathSyntax('unterminated filter')
}

function slice(text: string): JsonPathNode {
  const match = /^(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?$/.exec(text)
  if (match === null) throw new JsonPathSyntax(`invalid array index ${text}`)
  const bound = (part: string | undefined): number | undefined => {
    if (part === undefined || part === '') return undefined
    if (part === '-') throw new JsonPathSyntax('array index - is not a number')
    return Number(part)
  }
  const from = bound(match[1])
  const to = bound(match[2]?.slice(1))
  const step = bound(match[3]?.slice(1))
  const single = match[2] === undefined
  return {
    kind: 'slice',
    single,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(step === undefined ? {} : { step }),
  }
}

/** `U+0023 '#'`, as `%#U` prints it. */
export function unicodeName(char: string): string {
  const code = `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  return isPrintable(char) ? `${code} '${char}'` : code
}
