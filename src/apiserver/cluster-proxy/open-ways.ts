/**
 * Ways to members that are open, one per cluster, shared by all who ask at the same time and kept a while for the next. Another
 * address or other credentials make another way; the old one is closed when its last user has left.
 */
import type { Clock } from '../../base/clock.ts'
import type { ProxyTarget } from './credentials.ts'
import type { MemberWay, MemberWays } from './member-way.ts'

export interface TakenWay {
  way: MemberWay
  /** Once is enough, more often does no harm. */
  release(): void
}

export interface OpenWays {
  /** Undefined where there is no way. */
  take(target: ProxyTarget): TakenWay | undefined
  close(): void
}

interface OpenWay {
  way: MemberWay
  madeFrom: string
  users: number
  isRetired: boolean
  stopWaiting(): void
}

const IDLE_MS = 60_000

export function createOpenWays({ connect }: Pick<MemberWays, 'connect'>, clock: Clock): OpenWays {
  const open = new Map<string, OpenWay>()

  function retire(name: string, one: OpenWay): void {
    if (open.get(name) === one) open.delete(name)
    one.stopWaiting()
    one.isRetired = true
    if (one.users === 0) void one.way.close()
  }

  function wayOf(name: string, target: ProxyTarget): OpenWay | undefined {
    const madeFrom = essenceOf(target)
    const known = open.get(name)
    if (known?.madeFrom === madeFrom) return known
    if (known !== undefined) retire(name, known)
    const way = connect(target.cluster, target.credentials)
    if (way === undefined) return undefined
    const made: OpenWay = { way, madeFrom, users: 0, isRetired: false, stopWaiting: () => undefined }
    open.set(name, made)
    return made
  }

  return {
    take(target) {
      const name = target.cluster.metadata.name ?? ''
      const one = wayOf(name, target)
      if (one === undefined) return undefined
      one.stopWaiting()
      one.users++
      let isReleased = false
      return {
        way: one.way,
        release() {
          if (isReleased) return
          isReleased = true
          one.users--
          if (one.users > 0) return
          if (one.isRetired) void one.way.close()
          else one.stopWaiting = (clock.background ?? clock).after(IDLE_MS, () => retire(name, one))
        },
      }
    },
    close() {
      for (const [name, one] of [...open]) retire(name, one)
    },
  }
}

/** Everything a way is made from, as one text. */
function essenceOf({ cluster: { metadata, spec }, credentials }: ProxyTarget): string {
  const { apiEndpoint, insecureSkipTLSVerification, proxyURL, proxyHeader } = spec
  return JSON.stringify([metadata.uid, apiEndpoint, insecureSkipTLSVerification, proxyURL, proxyHeader, credentials])
}
