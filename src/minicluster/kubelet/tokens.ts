/**
 * Service account tokens of pods, from the TokenRequest API: bound to the pod, renewed when four fifths of their lifetime
 * have passed. A token on disk from before a restart is read back rather than requested again.
 */

import { messageOf } from '../../base/error-text.ts'
import type { Client } from '../../client/client.ts'
import { SERVICE_ACCOUNTS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Token, TokenOrder } from '../../runtime/seams/volume-driver.ts'
import type { ContainerMachine } from './container-machine.ts'
import { isClean } from './volumes/payload.ts'

export interface Tokens {
  /** Never rejects: problems are in the answer. */
  get(pod: Pod, volume: string, order: TokenOrder, at: { client: Client; nowMs: number }): Promise<{ token: Token; refreshAtMs: number }>
  forget(podUid: string): void
}

interface Held {
  token: Token
  refreshAtMs: number
  expiresAtMs: number
}

const RETRY_MS = 10_000
const MAX_AGE_MS = 24 * 3_600_000
const MAX_TOKEN_BYTES = 64 * 1024

export function createTokens(machine: ContainerMachine): Tokens {
  const pods = new Map<string, Map<string, Held>>()

  async function fetchToken(pod: Pod, order: TokenOrder, client: Client): Promise<string> {
    const { name, namespace, uid } = pod.metadata
    const request: KubeObject = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name: pod.spec?.serviceAccountName ?? 'default', namespace },
      spec: {
        audiences: order.audience === undefined || order.audience === '' ? [] : [order.audience],
        expirationSeconds: order.expirationSeconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
      },
    }
    const answer = await client.create(SERVICE_ACCOUNTS, request, { subresource: 'token' })
    return String((answer.status as { token?: unknown } | undefined)?.token ?? '')
  }

  return {
    async get(pod, volume, order, { client, nowMs }) {
      const uid = pod.metadata.uid ?? ''
      const own = pods.get(uid) ?? new Map<string, Held>()
      pods.set(uid, own)
      const key = JSON.stringify([volume, order])
      const old = own.get(key) ?? (await fromDisk(machine, { uid, volume, order }))
      if (old !== undefined) own.set(key, old)
      if (old !== undefined && nowMs < old.refreshAtMs) return old
      try {
        const token = await fetchToken(pod, order, client)
        const held = heldOf(token, order, nowMs)
        own.set(key, held)
        return held
      } catch (error) {
        const isUsable = old !== undefined && 'token' in old.token && nowMs < old.expiresAtMs
        const token = isUsable ? old.token : { problem: `failed to fetch token: ${messageOf(error)}` }
        const held = { token, refreshAtMs: nowMs + RETRY_MS, expiresAtMs: isUsable ? old.expiresAtMs : nowMs }
        own.set(key, held)
        return held
      }
    },
    forget: (podUid) => void pods.delete(podUid),
  }
}

function heldOf(token: string, order: TokenOrder, issuedAtMs: number): Held {
  const lifeMs = order.expirationSeconds * 1000
  const refreshAtMs = issuedAtMs + Math.min(lifeMs * 0.8, MAX_AGE_MS)
  return { token: { token, issuedAtMs }, refreshAtMs, expiresAtMs: issuedAtMs + lifeMs }
}

async function fromDisk(machine: ContainerMachine, of: { uid: string; volume: string; order: TokenOrder }): Promise<Held | undefined> {
  if (!isClean(of.order.path) || !machine.pods().includes(of.uid)) return undefined
  const directory = await machine.directory(of.uid, 'volumes', of.volume)
  const bytes = await machine.readFile(`${directory}/${of.order.path}`, MAX_TOKEN_BYTES)
  if (bytes === undefined) return undefined
  const token = Buffer.from(bytes).toString()
  const issuedAtMs = issuedAt(token)
  return issuedAtMs === undefined ? undefined : heldOf(token, of.order, issuedAtMs)
}

/** When a token was issued, according to itself. It is not verified here: it is ours, and the server verifies it. */
function issuedAt(token: string): number | undefined {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { iat?: unknown } | null
    return typeof claims?.iat === 'number' ? claims.iat * 1000 : undefined
  } catch {
    return undefined
  }
}
