/**
 * YAML bodies, read as the real server does (sigs.k8s.io/yaml over go-yaml v2): the first document, converted to JSON
 * with its keys sorted. Aliases are expanded within a budget and nesting is bounded, so a small text stays small, and takes
 * time in proportion to its length.
 */
import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Scalar, type YAMLMap } from 'yaml'
import { type Json, type JsonObject, setOwn } from '../base/json.ts'
import { compareStrings, goQuote } from './go-print.ts'
import type { JsonDetails } from './json-text.ts'
import { type Aliases, aliasesOf } from './yaml-aliases.ts'
import { yamlDepth } from './yaml-depth.ts'
import { refuseControlCharacters, YamlTextError, yamlError } from './yaml-errors.ts'
import { resolvePlain, type YamlScalar } from './yaml-scalars.ts'

export { YamlTextError } from './yaml-errors.ts'

export interface ParsedYaml {
  value: Json
  /** Always empty: repeated keys are in `strictErrors`, worded as YAML's own decoder words them. */
  duplicates: string[]
  /** At most one: `yaml: unmarshal errors:\n  line 3: key "a" already set in map`. Warnings split it into its lines. */
  strictErrors: string[]
  /** Numbers that JavaScript cannot hold exactly. */
  details?: JsonDetails
}

const MAX_DEPTH = 300
/** Repeated keys that are named. */
const MAX_COMPLAINTS = 100

interface State {
  readonly lines: LineCounter
  readonly repeated: { line: number; text: string }[]
  readonly numbers: Map<object, Map<string | number, string>>
  depth: number
  readonly open: Set<unknown>
  readonly aliases: Aliases
}

/** Throws YamlTextError with go-yaml's message. */
export function parseYamlText(source: Uint8Array | string): ParsedYaml {
  const whole = typeof source === 'string' ? source : Buffer.from(source.buffer, source.byteOffset, source.byteLength).toString('utf8')
  const text = whole.startsWith('\ufeff') ? whole.slice(1) : whole
  refuseControlCharacters(text)
  if (yamlDepth(text, MAX_DEPTH) > MAX_DEPTH) throw new YamlTextError(`yaml: exceeded max depth of ${MAX_DEPTH}`)
  const lines = new LineCounter()
  const document = readDocument(text, lines)
  const state: State = { lines, repeated: [], numbers: new Map(), depth: 0, open: new Set(), aliases: aliasesOf(document.contents) }
  const value = convert(state, document.contents, { container: undefined, key: '' })
  const complaints = state.repeated
    .sort((a, b) => a.line - b.line)
    .map(({ line, text: key }) => `\n  line ${line}: key ${key} already set in map`)
  return {
    value,
    duplicates: [],
    strictErrors: complaints.length === 0 ? [] : [`yaml: unmarshal errors:${complaints.join('')}`],
    ...(state.numbers.size === 0 ? {} : { details: { entries: new Map(), numbers: state.numbers } }),
  }
}

function readDocument(text: string, lines: LineCounter): Document {
  try {
    // The failsafe schema keeps every scalar as text: its meaning is decided here, by go-yaml's rules.
    const document = parseDocument(firstDocument(text), {
      version: '1.1',
      schema: 'failsafe',
      uniqueKeys: false,
      lineCounter: lines,
      logLevel: 'silent',
      prettyErrors: false,
      stringKeys: false,
    })
    const [error] = document.errors
    if (error !== undefined && error.code !== 'MULTIPLE_DOCS') throw yamlError(text, error)
    return document
  } catch (error) {
    if (error instanceof RangeError) throw new YamlTextError(`yaml: exceeded max depth of ${MAX_DEPTH}`)
    throw error
  }
}

/** Go reads one document and looks no further, so anything may follow. */
function firstDocument(text: string): string {
  const start = afterDirectives(text)
  const end = text.slice(start).search(/^(---|\.\.\.)(\s|$)/m)
  return end <= 0 ? text : text.slice(0, start + end)
}

/** Where the first document begins after its marker, which only directives, comments and blank lines may precede; otherwise 0. */
function afterDirectives(text: string): number {
  for (let at = 0; at < text.length; ) {
    if (/^---\s/.test(text.slice(at, at + 4))) return at + 3
    const end = text.indexOf('\n', at)
    const isSkipped = text[at] === '%' || text[at] === '#' || text.slice(at, end).trim() === ''
    if (end < 0 || !isSkipped) return 0
    at = end + 1
  }
  return 0
}

interface Place {
  readonly container: object | undefined
  readonly key: string | number
}

function convert(state: State, node: unknown, place: Place): Json {
  state.aliases.charge(node)
  if (isAlias(node)) return convertAlias(state, node, place)
  if (isScalar(node)) return jsonScalar(state, scalarOf(node), place)
  if (!isMap(node) && !isSeq(node)) return null
  return within(state, node, () => (isMap(node) ? convertMap(state, node) : convertList(state, node.items)))
}

/** Anything in a collection, which must neither contain itself nor nest too deep. */
function within<T>(state: State, node: unknown, read: () => T): T {
  if (++state.depth > MAX_DEPTH) throw new YamlTextError(`yaml: exceeded max depth of ${MAX_DEPTH}`)
  state.open.add(node)
  const value = read()
  state.open.delete(node)
  state.depth--
  return value
}

function convertAlias(state: State, alias: Alias, place: Place): Json {
  const target = state.aliases.targetOf(alias)
  if (target === undefined) throw new YamlTextError(`yaml: unknown anchor '${alias.source}' referenced`)
  if (state.open.has(target)) throw new YamlTextError(`yaml: anchor '${alias.source}' value contains itself`)
  return state.aliases.inside(() => convert(state, target, place))
}

function convertList(state: State, items: readonly unknown[]): Json {
  const list: Json[] = []
  for (const item of items) list.push(convert(state, item, { container: list, key: list.length }))
  return list
}

function convertMap(state: State, node: YAMLMap): Json {
  const found = new Map<string, unknown>()
  collect(state, node, found)
  const object: JsonObject = {}
  for (const key of [...found.keys()].sort(compareStrings)) setOwn(object, key, convert(state, found.get(key), { container: object, key }))
  return object
}

/** Keys in the order of the text; a merge (`<<`) takes effect where it stands, as in go-yaml v2. */
function collect(state: State, node: YAMLMap, found: Map<string, unknown>): void {
  for (const pair of node.items) {
    state.aliases.charge(pair.key)
    if (isScalar(pair.key) && pair.key.value === '<<' && pair.key.type === 'PLAIN') {
      merge(state, pair.value, found)
      continue
    }
    const { name, printed } = keyOf(state, pair.key)
    if (found.has(name) && state.repeated.length < MAX_COMPLAINTS)
      state.repeated.push({ line: lineOfNode(state, pair.key), text: printed() })
    found.set(name, pair.value)
  }
}

function merge(state: State, value: unknown, found: Map<string, unknown>): void {
  const target = isAlias(value) ? state.aliases.targetOf(value) : value
  if (isAlias(value) && target === undefined) throw new YamlTextError(`yaml: unknown anchor '${value.source}' referenced`)
  if (state.open.has(target)) throw new YamlTextError('yaml: anchor value contains itself')
  if (isMap(target)) {
    const read = (): void => within(state, target, () => collect(state, target, found))
    if (isAlias(value)) state.aliases.inside(read)
    else read()
  } else if (isSeq(target) && target !== value && !isSeq(value)) throw new YamlTextError(MERGE_ERROR)
  else if (isSeq(target)) for (const item of [...target.items].reverse()) merge(state, item, found)
  else throw new YamlTextError(MERGE_ERROR)
}

const MERGE_ERROR = 'yaml: map merge requires map or sequence of maps as the value'

function lineOfNode(state: State, node: unknown): number {
  const offset = isScalar(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0
  return state.lines.linePos(offset).line
}

/** Keys become text as in sigs.k8s.io/yaml; `printed` is how the strict decoder names them. */
function keyOf(state: State, key: unknown): { name: string; printed(): string } {
  const node = isAlias(key) ? state.aliases.targetOf(key) : key
  if (isAlias(key)) state.aliases.inside(() => state.aliases.charge(node))
  if (!isScalar(node) && node !== null && node !== undefined) throw new YamlTextError('yaml: invalid map key: a map key must be a scalar')
  const value = isScalar(node) ? scalarOf(node) : null
  if (value === null) throw new YamlTextError('unsupported map key of type: %!s(<nil>), key: <nil>')
  const name = String(value)
  return { name, printed: () => (typeof value === 'string' ? goQuote(value) : name) }
}

const TAG = 'tag:yaml.org,2002:'
const RESOLVED = new Set(['bool', 'int', 'float', 'null', 'timestamp'])

function scalarOf(node: Scalar): YamlScalar {
  const text = typeof node.value === 'string' ? node.value : ''
  const tag = node.tag
  if (tag === undefined) return node.type === 'PLAIN' || node.type === undefined ? resolvePlain(text) : text
  if (tag === `${TAG}binary`) return Buffer.from(text, 'base64').toString('utf8')
  return tag.startsWith(TAG) && RESOLVED.has(tag.slice(TAG.length)) ? resolvePlain(text) : text
}

function jsonScalar(state: State, value: YamlScalar, place: Place): Json {
  if (typeof value === 'bigint') {
    const number = Number(value)
    if (BigInt(number) !== value && place.container !== undefined) {
      const texts = state.numbers.get(place.container) ?? new Map<string | number, string>()
      texts.set(place.key, value.toString())
      state.numbers.set(place.container, texts)
    }
    return number
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new YamlTextError(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`)
  }
  return value === 0 ? 0 : value
}
