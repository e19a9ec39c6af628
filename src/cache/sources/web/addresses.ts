/**
 * Which addresses a source may be reached at. Mount points are written by tenants: a name that resolves to the loopback, to a
 * private network or to a cloud's metadata service would make the cache read for them what they cannot reach themselves. Every
 * name is resolved here, and the connection goes to the address that was checked, not to the name.
 */
import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { BlockList, isIP } from 'node:net'
import { SourceRefused } from '../source.ts'

/** Not reachable in public, by the registries of special addresses (RFC 6890 and those after it). */
const PRIVATE: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 96, 'ipv6'],
  ['64:ff9b::', 32, 'ipv6'],
  ['100::', 64, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 9, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
]

export type Resolve = (host: string, options: LookupOptions, done: (error: Error | null, addresses: LookupAddress[]) => void) => void

const resolveAll: Resolve = (host, options, done) =>
  dnsLookup(host, { ...options, all: true }, (error, addresses) => done(error, addresses as LookupAddress[]))

const blocked = blockList()

/** IPv4 written as IPv6 (`::ffff:10.0.0.1`) is judged as what it is. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 0) return false
  return !blocked.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** What `net.connect` calls for names; it never calls it for addresses, which `assertHost` is for. */
export function checkedLookup(mayBePrivate: boolean, resolve: Resolve = resolveAll) {
  return (
    host: string,
    options: LookupOptions,
    done: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
  ) => {
    resolve(host, options, (error, addresses) => {
      if (error !== null) return done(error, [])
      const allowed = mayBePrivate ? addresses : addresses.filter(({ address }) => isPublicAddress(address))
      const [first] = allowed
      if (first === undefined) return done(refusal(host), [])
      if (options.all) done(null, allowed)
      else done(null, first.address, first.family)
    })
  }
}

export function assertHost(url: URL, mayBePrivate: boolean): void {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (!mayBePrivate && isIP(host) !== 0 && !isPublicAddress(host)) throw refusal(host)
}

const refusal = (host: string): SourceRefused =>
  new SourceRefused(
    `${host} has a loopback, link-local or private address: an administrator can permit that with the option allowPrivateAddresses`,
  )

function blockList(): BlockList {
  const list = new BlockList()
  for (const [address, bits, family] of PRIVATE) list.addSubnet(address, bits, family)
  return list
}
