/**
 * Why a text is not YAML, with the messages of go-yaml v2 as far as the causes can be matched: its scanner and the `yaml`
 * package see the same mistakes from different sides. Line numbers follow go-yaml, which leaves the first line out.
 */
import type { YAMLParseError } from 'yaml'

/** A text that is not YAML; the message is go-yaml's or similar. */
export class YamlTextError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'YamlTextError'
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the YAML reader refuses
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/

export function refuseControlCharacters(text: string): void {
  if (CONTROL.test(text)) throw new YamlTextError('yaml: control characters are not allowed')
}

/** Lines are counted from zero; an error on the first one is reported without a line. */
const atLine = (line: number, message: string): YamlTextError => new YamlTextError(`yaml: ${line > 0 ? `line ${line}: ` : ''}${message}`)

/** Errors of the scanner are reported with their line, those of the parser with the line before. */
const scanner = (line: number, message: string): YamlTextError => atLine(line > 0 ? line + 1 : 0, message)
const parser = (line: number, message: string): YamlTextError => atLine(line, message)

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length - 1

/** The line of the end, as the parser sees it: a text without a final newline ends on the next line. */
const endLine = (text: string): number => lineOf(text, text.length) + (text.endsWith('\n') ? 0 : 1)

export function yamlError(text: string, error: YAMLParseError): YamlTextError {
  const offset = Math.min(error.pos[0], text.length)
  const line = lineOf(text, offset)
  switch (error.code) {
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'MULTILINE_IMPLICIT_KEY': {
      const colon = text.slice(offset).search(/:(\s|$)/)
      if (colon < 0) return parser(line, 'did not find expected key')
      return scanner(lineOf(text, offset + colon), 'mapping values are not allowed in this context')
    }
    case 'TAB_AS_INDENT':
    case 'BAD_SCALAR_START':
    case 'BAD_DIRECTIVE':
      return scanner(line, 'found character that cannot start any token')
    case 'BAD_DQ_ESCAPE':
      return scanner(line, 'found unknown escape character')
    case 'MISSING_CHAR':
      if (error.message.startsWith('Missing closing')) return scanner(lineOf(text, text.length), 'found unexpected end of stream')
      if (error.message.startsWith('Implicit')) return atLine(line + 2, "could not find expected ':'")
      return unclosed(text, offset, line)
    case 'BAD_INDENT':
      return error.message.startsWith('Flow') ? unclosed(text, offset, line) : parser(line, 'did not find expected key')
    case 'UNEXPECTED_TOKEN':
      if (error.message.includes('block-seq-ind on same line'))
        return scanner(line, 'block sequence entries are not allowed in this context')
      return parser(line, /^\s*-\s/.test(text) ? "did not find expected '-' indicator" : 'did not find expected key')
    default:
      return parser(line, error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? error.code)
  }
}

/** A flow collection that does not end: what is missing depends on what came last. */
function unclosed(text: string, offset: number, line: number): YamlTextError {
  const atEnd = text.slice(offset).trim() === ''
  const before = text.slice(0, offset).trimEnd()
  const where = atEnd ? endLine(text) : line
  if (/[[{,:]$/.test(before) && atEnd) return parser(where, 'did not find expected node content')
  return parser(where, `did not find expected ',' or '${openBracket(before) === '{' ? '}' : ']'}'`)
}

/** The innermost bracket still open at the end of the text; quoted text is not treated specially, which is close enough here. */
function openBracket(text: string): string | undefined {
  const open: string[] = []
  for (const char of text) {
    if (char === '[' || char === '{') open.push(char)
    else if (char === ']' || char === '}') open.pop()
  }
  return open.at(-1)
}
