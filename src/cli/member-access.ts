/**
 * How the hub reaches members: its own (those of `up`) in this process or over TLS like any other, all others over TLS. An
 * own member can be cut off and reconnected: its address stops answering, while its pods and controllers keep running.
 */

import type { ConnectMember } from '../client/members.ts'
import { NetworkLink } from '../client/network-link.ts'
import type { ForwardProxy } from '../client/transport/forward-proxy.ts'
import { undiciTransport } from '../client/transport/undici.ts'
import type { Transport } from '../client/transport.ts'
import type { Cluster } from '../kinds/karmada/cluster.ts'
import type { MemberTransport } from './member-transports.ts'

/** A member of this process. */
export interface OwnMember {
  name: string
  url: string
  /** The in-process transport to it. */
  inProcess(): Transport
  /** Accepts no more connections from outside; open ones are cut. */
  close(): Promise<void>
  /** At the previous address. */
  open(): Promise<void>
}

export interface MemberAccess {
  connect: ConnectMember
  /** False when this process has no member of this name. No effect on one that is already cut off. */
  stop(name: string): Promise<boolean>
  start(name: string): Promise<boolean>
}

/** All parts of the program share the connections to a member; they are closed with the last user. */
function sharedTransports(): (key: string, make: () => Transport) => Transport {
  const open = new Map<string, { transport: Transport; users: number }>()
  return (key, make) => {
    const known = open.get(key) ?? { transport: make(), users: 0 }
    open.set(key, known)
    known.users++
    const { transport } = known
    return {
      request: (request) => transport.request(request),
      connect: transport.connect === undefined ? undefined : (request, handlers) => transport.connect?.(request, handlers) as never,
      async close() {
        known.users--
        if (known.users > 0) return
        if (open.get(key) === known) open.delete(key)
        await transport.close()
      },
    }
  }
}

/** Undefined where the member is reached directly. */
const proxyOf = ({ proxyURL, proxyHeader }: Cluster['spec']): ForwardProxy | undefined =>
  proxyURL === undefined || proxyURL === '' ? undefined : { url: proxyURL, headers: proxyHeader }

/** `own` is called on every look-up, because the members start after the hub. */
export function memberAccess(own: () => readonly OwnMember[], transport: MemberTransport): MemberAccess {
  const links = new Map<string, NetworkLink>()
  const find = (name: string): { member: OwnMember; link: NetworkLink } | undefined => {
    const member = own().find((one) => one.name === name)
    if (member === undefined) return undefined
    const link = links.get(name) ?? new NetworkLink()
    links.set(name, link)
    return { member, link }
  }
  const shared = sharedTransports()
  const connect: ConnectMember = (object, credentials) => {
    const { metadata, spec } = object as Cluster
    const endpoint = spec?.apiEndpoint
    if (endpoint === undefined || endpoint === '' || credentials.token === '') return undefined
    const known = find(metadata.name ?? '')
    if (known !== undefined && known.member.url === endpoint && transport === 'in-process') return known.link.over(known.member.inProcess())
    const insecureSkipTlsVerify = spec?.insecureSkipTLSVerification === true
    const ca = credentials.caBundle === '' ? undefined : credentials.caBundle
    const proxy = proxyOf(spec)
    return shared(JSON.stringify([endpoint, ca, credentials.token, insecureSkipTlsVerify, proxy]), () =>
      undiciTransport({ server: endpoint, ca, insecureSkipTlsVerify, token: () => credentials.token, proxy }),
    )
  }
  return {
    connect,
    async stop(name) {
      const known = find(name)
      if (known === undefined) return false
      if (known.link.isCut) return true
      known.link.cut()
      await known.member.close()
      return true
    },
    async start(name) {
      const known = find(name)
      if (known === undefined) return false
      if (!known.link.isCut) return true
      await known.member.open()
      known.link.mend()
      return true
    },
  }
}
