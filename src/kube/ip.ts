/**
 * IP addresses and CIDRs as Kubernetes validates them: the sloppy parser of old fields (leading zeros allowed), the
 * strict rule on top of it, the canonical text, and the warnings for what is accepted but should not be written.
 */
import { type FieldError, invalid } from './field-error.ts'
import { goQuote } from './go-print.ts'

export interface Ip {
  /** 4 for plain and IPv4-mapped addresses, as Go's To4 sees it. */
  family: 4 | 6
  /** 4 or 16 bytes; a mapped address has 4. */
  bytes: readonly number[]
  /** Written as ::ffff:a.b.c.d. */
  mapped: boolean
}

interface Cidr {
  ip: Ip
  network: Ip
  /** Prefix length as written. */
  length: number
  /** Bits of the written family: 32 or 128. */
  bits: number
}

/** Reads an address; leading zeros in IPv4 octets are decimal and allowed. */
export function parseIp(text: string): Ip | undefined {
  for (const char of text) {
    if (char === '.') return ipv4Of(parseIpv4(text))
    if (char === ':') return ipv6Of(parseIpv6(text))
  }
  return undefined
}

const ipv4Of = (bytes: number[] | undefined): Ip | undefined => bytes && { family: 4, bytes, mapped: false }

function ipv6Of(bytes: number[] | undefined): Ip | undefined {
  if (bytes === undefined) return undefined
  const mapped = bytes.slice(0, 10).every((b) => b === 0) && bytes[10] === 0xff && bytes[11] === 0xff
  return mapped ? { family: 4, bytes: bytes.slice(12), mapped } : { family: 6, bytes, mapped }
}

function parseIpv4(text: string): number[] | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  const bytes = parts.map((part) => (/^[0-9]+$/.test(part) ? Number(part) : 256))
  return bytes.every((b) => b <= 255) ? bytes : undefined
}

function parseIpv6(text: string): number[] | undefined {
  if (text.length > 64) return undefined
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = groups(halves[0] ?? '', halves.length === 1)
  if (head === undefined) return undefined
  if (halves.length === 1) return head.length === 16 ? head : undefined
  const tail = groups(halves[1] ?? '', true)
  if (tail === undefined || head.length + tail.length > 14) return undefined
  return [...head, ...Array.from({ length: 16 - head.length - tail.length }, () => 0), ...tail]
}

/** Hex groups of one side of the ellipsis; only the very last may be dotted. */
function groups(text: string, atEnd: boolean): number[] | undefined {
  if (text === '') return []
  const bytes: number[] = []
  const parts = text.split(':')
  for (const [i, part] of parts.entries()) {
    if (atEnd && i === parts.length - 1 && part.includes('.')) {
      const ipv4 = parseIpv4(part)
      if (ipv4 === undefined || bytes.length > 12) return undefined
      bytes.push(...ipv4)
    } else {
      if (!/^0*[0-9a-fA-F]{1,4}$/.test(part)) return undefined
      const group = Number.parseInt(part, 16)
      bytes.push(group >> 8, group & 0xff)
    }
  }
  return bytes
}

/** Go's net.IP.String(): dotted for IPv4 and mapped addresses, RFC 5952 otherwise. */
export function formatIp(ip: Ip): string {
  if (ip.family === 4) return ip.bytes.join('.')
  const parts = Array.from({ length: 8 }, (_, i) => ((ip.bytes[i * 2] ?? 0) << 8) | (ip.bytes[i * 2 + 1] ?? 0))
  const run = longestZeroRun(parts)
  const hex = (list: number[]) => list.map((n) => n.toString(16)).join(':')
  return run === undefined ? hex(parts) : `${hex(parts.slice(0, run.start))}::${hex(parts.slice(run.end))}`
}

function longestZeroRun(parts: readonly number[]): { start: number; end: number } | undefined {
  let best: { start: number; end: number } | undefined
  for (let start = 0; start < parts.length; start++) {
    let end = start
    while (end < parts.length && parts[end] === 0) end++
    if (end - start >= 2 && (best === undefined || end - start > best.end - best.start)) best = { start, end }
    start = Math.max(start, end)
  }
  return best
}

function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const address = text.slice(0, slash)
  const digits = text.slice(slash + 1)
  const ipv4 = parseIpv4(address)
  const ip = ipv4Of(ipv4) ?? (address.includes(':') ? ipv6Of(parseIpv6(address)) : undefined)
  const bits = ipv4 !== undefined ? 32 : 128
  if (ip === undefined || !/^[0-9]+$/.test(digits) || Number(digits) > bits) return undefined
  const length = Number(digits)
  const written = ip.mapped ? [...MAPPED_PREFIX, ...ip.bytes] : ip.bytes
  const bytes = written.map((byte, i) => byte & (0xff << (8 - Math.min(8, Math.max(0, length - i * 8)))) & 0xff)
  const network: Ip | undefined = bits === 32 ? { family: 4, bytes, mapped: false } : ipv6Of(bytes)
  return network && { ip, network, length, bits }
}

const MAPPED_PREFIX: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

/** A network that is still a mapped one prints as IPv4, and so does its length. */
const formatNetwork = (cidr: Cidr): string => `${formatIp(cidr.network)}/${cidr.network.mapped ? cidr.length - 96 : cidr.length}`

const hasLeadingZero = (text: string): boolean => /(^|[:.])0[0-9]+(?=\.|$)/.test(text) && text.includes('.')
const isStrictIp = (text: string): boolean => !hasLeadingZero(text) && !/[0-9a-fA-F]{5,}/.test(text)

const sameBytes = (a: Ip, b: Ip): boolean => a.bytes.length === b.bytes.length && a.bytes.every((byte, i) => byte === b.bytes[i])

/** Fields that predate strict parsing: `strict` follows the feature gate, and values the object already had are accepted. */
export function checkLegacyIp(path: string, value: string, strict: boolean): FieldError[] {
  const ip = parseIp(value)
  if (ip === undefined) return [invalid(path, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]
  if (!strict) return []
  if (!isStrictIp(value)) return [invalid(path, value, 'must not have leading 0s')]
  return ip.mapped ? [invalid(path, value, 'must not be an IPv4-mapped IPv6 address')] : []
}

export function checkIp(path: string, value: string): FieldError[] {
  const errors = checkLegacyIp(path, value, true)
  const ip = parseIp(value)
  if (errors.length > 0 || ip === undefined || formatIp(ip) === value) return errors
  return [invalid(path, value, `must be in canonical form (${goQuote(formatIp(ip))})`)]
}

export function checkLegacyCidr(path: string, value: string, strict: boolean): FieldError[] {
  const cidr = parseCidr(value)
  if (cidr === undefined) return [invalid(path, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')]
  if (!strict) return []
  if (!isStrictCidr(value)) return [invalid(path, value, 'must not have leading 0s in IP or prefix length')]
  if (cidr.ip.mapped) return [invalid(path, value, 'must not have an IPv4-mapped IPv6 address')]
  return sameBytes(cidr.ip, cidr.network) ? [] : [invalid(path, value, 'must not have bits set beyond the prefix length')]
}

function isStrictCidr(value: string): boolean {
  const slash = value.indexOf('/')
  return isStrictIp(value.slice(0, slash)) && /^(0|[1-9][0-9]*)$/.test(value.slice(slash + 1))
}

export function checkCidr(path: string, value: string): FieldError[] {
  const errors = checkLegacyCidr(path, value, true)
  const cidr = parseCidr(value)
  if (errors.length > 0 || cidr === undefined || formatNetwork(cidr) === value) return errors
  return [invalid(path, value, `must be in canonical form (${goQuote(formatNetwork(cidr))})`)]
}

export function ipWarnings(path: string, value: string): string[] {
  const ip = parseIp(value)
  if (ip === undefined) return []
  if (!isStrictIp(value) || ip.mapped)
    return [`${path}: non-standard IP address ${goQuote(value)} is invalid: use ${goQuote(formatIp(ip))}`]
  if (ip.family === 6 && formatIp(ip) !== value)
    return [`${path}: IPv6 address ${goQuote(value)} should be in RFC 5952 canonical format (${goQuote(formatIp(ip))})`]
  return []
}

export function cidrWarnings(path: string, value: string): string[] {
  const cidr = parseCidr(value)
  if (cidr === undefined) return []
  const warnings: string[] = []
  const network = formatNetwork(cidr)
  if (!sameBytes(cidr.ip, cidr.network)) {
    const single = `${formatIp(cidr.ip)}/${cidr.bits}`
    warnings.push(
      `${path}: CIDR value ${goQuote(value)} is ambiguous in this context (should be ${goQuote(network)} or ${goQuote(single)}?)`,
    )
  }
  if (!isStrictCidr(value) || cidr.ip.mapped)
    warnings.push(`${path}: non-standard CIDR value ${goQuote(value)} is invalid: use ${goQuote(network)}`)
  if (warnings.length === 0 && cidr.ip.family === 6 && network !== value)
    warnings.push(`${path}: IPv6 CIDR value ${goQuote(value)} should be in RFC 5952 canonical format (${goQuote(network)})`)
  return warnings
}
