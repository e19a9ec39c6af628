/**
 * The string formats that apiextensions checks (others are ignored with a warning), as leniently as the real
 * server: `date-time` looks at the date and the shape of the time, `ipv4` takes leading zeros, `duration` also takes
 * "2 hours". None of the expressions backtracks more than linearly.
 */
export type FormatCheck = (text: string) => boolean

const NUMBER_FORMATS: Record<string, readonly string[]> = { integer: ['int32', 'int64'], number: ['float', 'double'] }

const normalized = (format: string): string => format.replaceAll('-', '')

/** The format that is enforced for a value of these types; '' when it does not apply to the type. */
export function keptFormat(format: string, types: readonly string[], keepAll: boolean): string {
  if (keepAll || format === '') return format
  const type = types.length === 1 ? types[0] : ''
  return isKnownFormat(format, type ?? '') ? format : ''
}

export function isKnownFormat(format: string, type: string): boolean {
  if (type === '' || type === 'string') return CHECKS.has(normalized(format))
  return NUMBER_FORMATS[type]?.includes(format) ?? false
}

export function formatCheckOf(format: string): FormatCheck | undefined {
  return format === '' ? undefined : CHECKS.get(normalized(format))
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const UUID3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const UUID4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i
const UUID5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i
const HEX_COLOR = /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/
const RGB_PART = '\\s*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*'
const RGB_COLOR = new RegExp(`^rgb\\(${RGB_PART},${RGB_PART},${RGB_PART}\\)$`)
const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/
const SHORT_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const TIME_OF_DAY = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/
const BASE64_TEXT = /^[A-Za-z0-9+/]*={0,2}$/
const GO_DURATION = /^[+-]?(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
const MAC =
  /^(?:[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}(?:(?:\1[0-9a-f]{2}){2}|(?:\1[0-9a-f]{2}){14})?|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4}|(?:\.[0-9a-f]{4}){7})?)$/i

const CHECKS: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ['bsonobjectid', (s) => /^[0-9a-f]{24}$/i.test(s)],
  ['uri', isRequestUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', (s) => isIpv4(s) || (isIpv6(s) && s.includes('.'))],
  ['ipv6', isIpv6],
  ['cidr', isCidr],
  ['mac', (s) => MAC.test(s)],
  ['uuid', (s) => UUID.test(s)],
  ['uuid3', (s) => UUID3.test(s)],
  ['uuid4', (s) => UUID4.test(s)],
  ['uuid5', (s) => UUID5.test(s)],
  ['isbn', (s) => isIsbn10(s) || isIsbn13(s)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (s) => s.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(s)],
  ['hexcolor', (s) => HEX_COLOR.test(s)],
  ['rgbcolor', (s) => RGB_COLOR.test(s)],
  ['byte', (s) => s.length > 0 && s.length % 4 === 0 && BASE64_TEXT.test(s)],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', (s) => s.length <= 63 && SHORT_NAME.test(s)],
  ['k8slongname', (s) => s.length <= 253 && s.split('.').every((part) => SHORT_NAME.test(part))],
])

function isRequestUri(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Go refuses control characters in URLs
  if (text === '' || /[\x00-\x1f\x7f]/.test(text)) return false
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return false
  if (text.startsWith('/') || text === '*') return true
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*:(.*)$/s.exec(text)
  if (scheme === null) return false
  const rest = scheme[1] ?? ''
  if (!rest.startsWith('/')) return rest !== ''
  return !rest.startsWith('//') || /^\/\/(?:[^/?#@[\]\s]*@)?(?:\[[0-9a-fA-F:.%a-z]*\]|[^/?#@[\]\s:]*)(?::[0-9]*)?(?:[/?#]|$)/.test(rest)
}

function isEmail(text: string): boolean {
  const named = /^[^<>]*<([^<>]+)>$/.exec(text)
  const address = (named?.[1] ?? text).trim()
  const at = address.lastIndexOf('@')
  if (at <= 0) return false
  const local = address.slice(0, at)
  const isDotAtom = (s: string) => /^[^\s()<>[\]:;@\\,."]+(?:\.[^\s()<>[\]:;@\\,."]+)*$/.test(s)
  const domain = address.slice(at + 1)
  return (isDotAtom(local) || /^"(?:[^"\\]|\\.)*"$/.test(local)) && (isDotAtom(domain) || /^\[[^[\]]+\]$/.test(domain))
}

function isHostname(text: string): boolean {
  if (text.length > 255) return false
  const parts = text.split('.')
  if (parts.some((p) => Buffer.byteLength(p) > 63)) return false
  if (parts.length === 1) return /^[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$/u.test(text)
  const last = parts[parts.length - 1] ?? ''
  const isLabel = (p: string) => /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u.test(p)
  return parts.slice(0, -1).every(isLabel) && /^[a-zA-Z\p{L}]{2,63}$/u.test(last)
}

function isIpv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((p) => /^[0-9]{1,3}$/.test(p) && Number(p) <= 255)
}

function isIpv6(text: string): boolean {
  if (!text.includes(':') || text.includes(':::')) return false
  let head = text
  const lastColon = text.lastIndexOf(':')
  let groups = 8
  if (text.slice(lastColon + 1).includes('.')) {
    if (!isIpv4(text.slice(lastColon + 1))) return false
    head = `${text.slice(0, lastColon)}:0`
    groups = 7
  }
  const halves = head.split('::')
  if (halves.length > 2) return false
  const fields = halves.map((h) => (h === '' ? [] : h.split(':')))
  if (!fields.flat().every((f) => /^[0-9a-fA-F]{1,4}$/.test(f))) return false
  const count = fields.flat().length
  return halves.length === 2 ? count < groups : count === groups
}

function isCidr(text: string): boolean {
  const slash = text.indexOf('/')
  const bits = text.slice(slash + 1)
  if (slash < 0 || !/^[0-9]{1,3}$/.test(bits)) return false
  const address = text.slice(0, slash)
  return (isIpv4(address) && Number(bits) <= 32) || (isIpv6(address) && Number(bits) <= 128)
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]))
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^[0-9]{13}$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 12; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i])
  return Number(digits[12]) === (10 - (sum % 10)) % 10
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  if (!CREDIT_CARD.test(digits)) return false
  let sum = 0
  for (let i = digits.length - 1, double = false; i >= 0; i--, double = !double) {
    const digit = Number(digits[i]) * (double ? 2 : 1)
    sum += digit > 9 ? digit - 9 : digit
  }
  return sum % 10 === 0
}

function isDate(text: string): boolean {
  const parts = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text)
  if (parts === null) return false
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])]
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  return days !== undefined && day >= 1 && day <= days
}

function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split('t')
  if (text.length < 4 || date === undefined || time === undefined || !isDate(date)) return false
  const parts = TIME_OF_DAY.exec(time)
  return parts !== null && (parts[1] ?? '') <= '23' && (parts[2] ?? '') <= '59' && (parts[3] ?? '') <= '59'
}

/** Unit names of the Scala-like form; the last of each also matches as a prefix ("minutes"). */
const DURATION_UNITS: readonly (readonly string[])[] = [
  ['ns', 'nano'],
  ['us', 'µs', 'micro'],
  ['ms', 'milli'],
  ['s', 'sec'],
  ['m', 'min'],
  ['h', 'hr', 'hour'],
  ['d', 'day'],
  ['w', 'wk', 'week'],
]

function isDuration(text: string): boolean {
  if (text.length > 4096) return false
  if (GO_DURATION.test(text)) return true
  for (const match of text.matchAll(/[0-9]+\s*([A-Za-zµ]+)/g)) {
    const unit = (match[1] ?? '').toLowerCase()
    for (const variants of DURATION_UNITS) {
      const last = variants[variants.length - 1] ?? ''
      if (variants.includes(unit) || unit.startsWith(last)) return true
    }
  }
  return false
}
