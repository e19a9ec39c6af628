/**
 * Addresses as numbers, for ranges and allocation, and the checks of fields that hold addresses of endpoints. Values
 * an object already had stay valid in fields that predate strict parsing.
 */
import { type FieldError, invalid } from '../../../kube/field-error.ts'
import { checkLegacyCidr, checkLegacyIp, formatIp, type Ip, parseIp } from '../../../kube/ip.ts'

export type IpFamily = 'IPv4' | 'IPv6'

/** A range of addresses; `start` is its network address. */
export interface IpRange {
  family: IpFamily
  start: bigint
  size: bigint
}

export const ipNumber = (ip: Ip): bigint => ip.bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)

export function ipText(family: IpFamily, value: bigint): string {
  const length = family === 'IPv4' ? 4 : 16
  const bytes = Array.from({ length }, (_, i) => Number((value >> BigInt(8 * (length - 1 - i))) & 255n))
  return formatIp({ family: family === 'IPv4' ? 4 : 6, bytes, mapped: false })
}

/** Go's IsIPv6String: false also for what is not an address. */
export function ipFamilyOf(text: string): IpFamily | undefined {
  const ip = parseIp(text)
  return ip === undefined ? undefined : ip.family === 6 ? 'IPv6' : 'IPv4'
}

export function parseIpRange(cidr: string): IpRange | undefined {
  const slash = cidr.indexOf('/')
  const ip = slash < 0 ? undefined : parseIp(cidr.slice(0, slash))
  if (ip === undefined || checkLegacyCidr('', cidr, false).length > 0) return undefined
  const bits = ip.bytes.length * 8
  const written = Number(cidr.slice(slash + 1))
  const host = BigInt(bits - (ip.mapped ? Math.max(0, written - 96) : written))
  return { family: ip.family === 6 ? 'IPv6' : 'IPv4', start: (ipNumber(ip) >> host) << host, size: 1n << host }
}

export const rangeHolds = (range: IpRange, value: bigint): boolean => value >= range.start && value < range.start + range.size

export const legacyIpErrors = (path: string, value: string, existing: readonly string[] = []): FieldError[] =>
  existing.includes(value) ? [] : checkLegacyIp(path, value, true)

export const legacyCidrErrors = (path: string, value: string, existing: readonly string[] = []): FieldError[] =>
  existing.includes(value) ? [] : checkLegacyCidr(path, value, true)

/** Addresses that no endpoint can have. */
export function endpointIpErrors(path: string, value: string): FieldError[] {
  const ip = parseIp(value)
  if (ip === undefined) return [invalid(path, value, 'must be a valid IP address')]
  const [a = 0, b = 0, c = 0] = ip.bytes
  const number = ipNumber(ip)
  const v4 = ip.family === 4
  const errors: FieldError[] = []
  if (number === 0n) errors.push(invalid(path, value, `may not be unspecified (${value})`))
  // Pods on process nodes have addresses from 127.64.0.0/10, which only this machine can reach: endpoints like any other.
  const isOfProcessNode = v4 && a === 127 && b >= 64 && b < 128
  if ((v4 ? a === 127 : number === 1n) && !isOfProcessNode)
    errors.push(invalid(path, value, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'))
  if (v4 ? a === 169 && b === 254 : a === 0xfe && (b & 0xc0) === 0x80)
    errors.push(invalid(path, value, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'))
  if (v4 ? a === 224 && b === 0 && c === 0 : a === 0xff && (b & 0x0f) === 2)
    errors.push(invalid(path, value, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'))
  return errors
}
