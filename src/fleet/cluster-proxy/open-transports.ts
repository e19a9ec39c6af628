/**
 * Open transports to members, one per cluster, shared by concurrent requests and kept for a while for the next one. A new
 * address or new credentials make a new transport; the old one is closed when its last user has released it.
 */
import type { Clock } from '../../base/clock.ts'
import type { MemberCredentials } from '../../client/members.ts'
import type { Transport } from '../../client/transport.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ProxyTarget } from './credentials.ts'

export type Connect = (cluster: KubeObject, credentials: MemberCredentials) => Transport | undefined

export interface TakenTransport {
  transport: Transport
  /** May be called more than once. */
  release(): void
}

export interface OpenTransports {
  /** Undefined where the cluster cannot be reached at all. */
  take(target: ProxyTarget): TakenTransport | undefined
  close(): void
}

interface OpenTransport {
  transport: Transport
  madeFrom: string
  users: number
  isRetired: boolean
  stopWaiting(): void
}

const IDLE_MS = 60_000

export function createOpenTransports(connect: Connect, clock: Clock): OpenTransports {
  const open = new Map<string, OpenTransport>()

  function retire(name: string, one: OpenTransport): void {
    if (open.get(name) === one) open.delete(name)
    one.stopWaiting()
    one.isRetired = true
    if (one.users === 0) void one.transport.close()
  }

  function transportOf(name: string, target: ProxyTarget): OpenTransport | undefined {
    const madeFrom = essenceOf(target)
    const known = open.get(name)
    if (known?.madeFrom === madeFrom) return known
    if (known !== undefined) retire(name, known)
    const transport = connect(target.cluster, target.credentials)
    if (transport === undefined) return undefined
    const made: OpenTransport = { transport, madeFrom, users: 0, isRetired: false, stopWaiting: () => undefined }
    open.set(name, made)
    return made
  }

  return {
    take(target) {
      const name = target.cluster.metadata.name ?? ''
      const one = transportOf(name, target)
      if (one === undefined) return undefined
      one.stopWaiting()
      one.users++
      let isReleased = false
      return {
        transport: one.transport,
        release() {
          if (isReleased) return
          isReleased = true
          one.users--
          if (one.users > 0) return
          if (one.isRetired) void one.transport.close()
          else one.stopWaiting = (clock.background ?? clock).after(IDLE_MS, () => retire(name, one))
        },
      }
    },
    close() {
      for (const [name, one] of [...open]) retire(name, one)
    },
  }
}

/** Everything a transport depends on, as one string. */
function essenceOf({ cluster: { metadata, spec }, credentials }: ProxyTarget): string {
  const { apiEndpoint, insecureSkipTLSVerification, proxyURL, proxyHeader } = spec
  return JSON.stringify([metadata.uid, apiEndpoint, insecureSkipTLSVerification, proxyURL, proxyHeader, credentials])
}
