/**
 * What names, labels, keys and ports may look like, with the messages of k8s.io/apimachinery. Every check returns the
 * list of what is wrong, empty when nothing is. Lengths are bytes, whatever the message calls them.
 */
import { byteLength, isPrintable } from './go-print.ts'

const DNS1123_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const DNS1123_LABEL_UNDERSCORE = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const DNS1123_SUBDOMAIN = `${DNS1123_LABEL}(\\.${DNS1123_LABEL})*`
const DNS1123_SUBDOMAIN_UNDERSCORE = `${DNS1123_LABEL_UNDERSCORE}(\\.${DNS1123_LABEL_UNDERSCORE})*`
const DNS1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?'
const WILDCARD_SUBDOMAIN = `\\*\\.${DNS1123_SUBDOMAIN}`
const LABEL_KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const LABEL_VALUE = `(${LABEL_KEY})?`
const C_IDENTIFIER = '[A-Za-z_][A-Za-z0-9_]*'
const ENV_VAR_NAME = '[-._a-zA-Z][-._a-zA-Z0-9]*'
const CONFIG_MAP_KEY = '[-._a-zA-Z0-9]+'
const HTTP_HEADER_NAME = '[-A-Za-z0-9]+'
const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const PERCENT = '[0-9]+%'

const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`)
const dns1123Label = whole(DNS1123_LABEL)
const dns1123Subdomain = whole(DNS1123_SUBDOMAIN)
const dns1123SubdomainUnderscore = whole(DNS1123_SUBDOMAIN_UNDERSCORE)
const dns1035Label = whole(DNS1035_LABEL)
const wildcardSubdomain = whole(WILDCARD_SUBDOMAIN)
const labelKey = whole(LABEL_KEY)
const labelValue = whole(LABEL_VALUE)
const cIdentifier = whole(C_IDENTIFIER)
const envVarName = whole(ENV_VAR_NAME)
const configMapKey = whole(CONFIG_MAP_KEY)
const httpHeaderName = whole(HTTP_HEADER_NAME)
const httpPath = whole(HTTP_PATH)
const percent = whole(PERCENT)

const SUBDOMAIN_MESSAGE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
const LABEL_KEY_MESSAGE = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"

/** `msg (e.g. 'a',  or 'b', regex used for validation is 're')`, with the odd spacing of the original. */
export function regexMessage(message: string, pattern: string, ...examples: string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`
  const list = examples.map((example) => `'${example}', `).join(' or ')
  return `${message} (e.g. ${list}regex used for validation is '${pattern}')`
}

const maxLengthMessage = (length: number): string => `must be no more than ${length} characters`
const maxBytesMessage = (length: number): string => `must be no more than ${length} bytes`
export const rangeMessage = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`

/** All messages of a length limit and a pattern. */
function check(value: string, max: number, pattern: RegExp, message: () => string): string[] {
  const problems = byteLength(value) > max ? [maxLengthMessage(max)] : []
  if (!pattern.test(value)) problems.push(message())
  return problems
}

export const checkDns1123Label = (value: string): string[] =>
  check(value, 63, dns1123Label, () =>
    dns1123Subdomain.test(value)
      ? 'must not contain dots'
      : regexMessage(
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
          DNS1123_LABEL,
          'my-name',
          '123-abc',
        ),
  )

export const checkDns1123Subdomain = (value: string): string[] =>
  check(value, 253, dns1123Subdomain, () => regexMessage(SUBDOMAIN_MESSAGE, DNS1123_SUBDOMAIN, 'example.com'))

/** The relaxed form of a pod's DNS searches. */
export const checkDns1123SubdomainWithUnderscore = (value: string): string[] =>
  check(value, 253, dns1123SubdomainUnderscore, () =>
    regexMessage(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
      DNS1123_SUBDOMAIN_UNDERSCORE,
      'example.com',
    ),
  )

export const checkDns1035Label = (value: string): string[] =>
  check(value, 63, dns1035Label, () =>
    regexMessage(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
      DNS1035_LABEL,
      'my-name',
      'abc-123',
    ),
  )

export const checkWildcardDns1123Subdomain = (value: string): string[] =>
  check(value, 253, wildcardSubdomain, () =>
    regexMessage(
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
      WILDCARD_SUBDOMAIN,
      '*.example.com',
    ),
  )

/** A label key: an optional DNS subdomain and '/', then a name. Annotation keys, finalizers and conditions follow it too. */
export function checkQualifiedName(value: string): string[] {
  const parts = value.split('/')
  const nameMessage = () => regexMessage(LABEL_KEY_MESSAGE, LABEL_KEY, 'MyName', 'my.name', '123-abc')
  if (parts.length > 2)
    return [`a valid label key ${nameMessage()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  const problems: string[] = []
  const name = parts[parts.length - 1] ?? ''
  const prefix = parts.length === 2 ? (parts[0] ?? '') : undefined
  if (prefix === '') problems.push('prefix part must be non-empty')
  else if (prefix !== undefined) {
    if (byteLength(prefix) > 253) problems.push(`prefix part ${maxBytesMessage(253)}`)
    if (!dns1123Subdomain.test(prefix)) problems.push(`prefix part ${regexMessage(SUBDOMAIN_MESSAGE, DNS1123_SUBDOMAIN, 'example.com')}`)
  }
  if (name === '') problems.push('name part must be non-empty')
  else if (byteLength(name) > 63) problems.push(`name part ${maxBytesMessage(63)}`)
  if (!labelKey.test(name)) problems.push(`name part ${nameMessage()}`)
  return problems
}

export function checkLabelValue(value: string): string[] {
  const problems = byteLength(value) > 63 ? [maxBytesMessage(63)] : []
  if (!labelValue.test(value)) {
    const message =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
    problems.push(regexMessage(message, LABEL_VALUE, 'MyValue', 'my_value', '12345'))
  }
  return problems
}

export const checkCIdentifier = (value: string): string[] =>
  check(value, Number.POSITIVE_INFINITY, cIdentifier, () =>
    regexMessage(
      "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
      C_IDENTIFIER,
      'my_name',
      'MY_NAME',
      'MyName',
    ),
  )

/** The strict rule, for keys that become variables. */
export const checkEnvVarName = (value: string): string[] => [
  ...check(value, Number.POSITIVE_INFINITY, envVarName, () =>
    regexMessage(
      "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
      ENV_VAR_NAME,
      'my.env-name',
      'MY_ENV.NAME',
      'MyEnvName1',
    ),
  ),
  ...checkNotParentPath(value),
]

/** The rule of v1.36 for `env[].name`: printable ASCII without '='. */
export function checkRelaxedEnvVarName(value: string): string[] {
  const problems = value === '' ? ['environment variable name must be non-empty'] : []
  if (!/^[\x20-\x3c\x3e-\x7e]*$/.test(value))
    problems.push("a valid environment variable name must consist only of printable ASCII characters other than '='")
  return problems
}

export const checkConfigMapKey = (value: string): string[] => [
  ...check(value, 253, configMapKey, () =>
    regexMessage(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
      CONFIG_MAP_KEY,
      'key.name',
      'KEY_NAME',
      'key-name',
    ),
  ),
  ...checkNotParentPath(value),
]

function checkNotParentPath(value: string): string[] {
  if (value === '.') return ["must not be '.'"]
  if (value === '..') return ["must not be '..'"]
  return value.startsWith('..') ? ["must not start with '..'"] : []
}

export function checkPathSegmentName(value: string): string[] {
  return value === '.' || value === '..' ? [`may not be '${value}'`] : checkPathSegmentPrefix(value)
}

const checkPathSegmentPrefix = (value: string): string[] =>
  ['/', '%'].filter((char) => value.includes(char)).map((char) => `may not contain '${char}'`)

const checkInRange = (value: number, low: number, high: number): string[] =>
  value >= low && value <= high ? [] : [rangeMessage(low, high)]

export const checkPortNumber = (port: number): string[] => checkInRange(port, 1, 65535)

/** User and group ids. */
export const checkUserId = (id: number): string[] => checkInRange(id, 0, 2147483647)

export function checkPortName(port: string): string[] {
  const problems = byteLength(port) > 15 ? [maxLengthMessage(15)] : []
  if (!/^[-a-z0-9]+$/.test(port)) problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(port)) problems.push('must contain at least one letter (a-z)')
  if (port.includes('--')) problems.push('must not contain consecutive hyphens')
  if (port.startsWith('-') || port.endsWith('-')) problems.push('must not begin or end with a hyphen')
  return problems
}

export const checkPercent = (value: string): string[] =>
  percent.test(value)
    ? []
    : [regexMessage("a valid percent string must be a numeric string followed by an ending '%'", PERCENT, '1%', '93%')]

export const checkHttpHeaderName = (value: string): string[] =>
  httpHeaderName.test(value)
    ? []
    : [regexMessage("a valid HTTP header must consist of alphanumeric characters or '-'", HTTP_HEADER_NAME, 'X-Header-Name')]

/** The path part of a domain-prefixed path such as a signer name or `acme.io/foo`. */
export const checkHttpPath = (value: string): string[] => (httpPath.test(value) ? [] : [regexMessage('Invalid path', HTTP_PATH)])

/** What must not appear in the name of a field manager, with positions in bytes. */
export function unprintableCharacters(value: string): { char: string; position: number }[] {
  const found: { char: string; position: number }[] = []
  let position = 0
  for (const char of value) {
    if (!isPrintable(char)) found.push({ char, position })
    position += byteLength(char)
  }
  return found
}

/** How a kind validates its names; with `prefix` the text is a generateName, which may end in a dash. */
export type NameCheck = (name: string, prefix: boolean) => string[]

/** The dash and the character before it become one 'a', exactly as the original does it. */
const maskTrailingDash = (name: string): string => (name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name)

const named =
  (rule: (value: string) => string[]): NameCheck =>
  (name, prefix) =>
    rule(prefix ? maskTrailingDash(name) : name)

export const nameIsDnsSubdomain: NameCheck = named(checkDns1123Subdomain)
/** As the newer, declarative validation words it: in bytes, and without looking at a generateName. */
export const nameIsLongName: NameCheck = (name, prefix) =>
  prefix ? [] : checkDns1123Subdomain(name).map((message) => message.replace(/(?<=no more than \d+ )characters$/, 'bytes'))
export const nameIsDnsLabel: NameCheck = named(checkDns1123Label)
export const nameIsPathSegment: NameCheck = (name, prefix) => (prefix ? checkPathSegmentPrefix(name) : checkPathSegmentName(name))
