/**
 * What a YAML scalar means to go-yaml v2, which the Kubernetes API reads YAML with: YAML 1.1 booleans (yes, on, n), octal
 * 0777, underscores in numbers, no base 60, and dates that stay text.
 */
export type YamlScalar = string | number | bigint | boolean | null

const TRUE = 'y Y yes Yes YES true True TRUE on On ON'
const FALSE = 'n N no No NO false False FALSE off Off OFF'
const NULL = ['', '~', 'null', 'Null', 'NULL']

const WORDS: ReadonlyMap<string, YamlScalar> = new Map<string, YamlScalar>([
  ...TRUE.split(' ').map((word) => [word, true] as const),
  ...FALSE.split(' ').map((word) => [word, false] as const),
  ...NULL.map((word) => [word, null] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
])

const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/
const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))$/

/** The value of a plain scalar. Whole numbers are bigint, so that none is rounded before its type is known. */
export function resolvePlain(text: string): YamlScalar {
  const word = WORDS.get(text)
  if (word !== undefined) return word
  if (text.startsWith('.')) return float(text) ?? text
  if (!/^[-+0-9]/.test(text)) return text
  const plain = text.replaceAll('_', '')
  return integer(plain) ?? float(plain) ?? text
}

function integer(text: string): bigint | undefined {
  const match = INTEGER.exec(text)
  if (match === null) return undefined
  const [, sign, hex, binary, octal, decimal] = match
  const [prefix, digits] = hex ? ['0x', hex] : binary ? ['0b', binary] : octal ? ['0o', octal] : ['', decimal ?? '0']
  const significant = digits.replace(/^0+(?=.)/, '')
  // None of 64 bits is longer, and a long one takes long to read.
  if (significant.length > 64) return undefined
  const size = BigInt(`${prefix}${significant}`)
  const value = sign === '-' ? -size : size
  // Beyond 64 bits Go goes on to try a float.
  return value >= -(2n ** 63n) && (value < 2n ** 63n || (sign === '' && value < 2n ** 64n)) ? value : undefined
}

function float(text: string): number | undefined {
  if (!FLOAT.test(text)) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? value : undefined
}
