/**
 * Pod templates as identities: when two of them are the same, and the short hash that names the ReplicaSet of one and
 * distinguishes its pods. What a server adds without changing the meaning (nulls, empty lists and maps) makes no difference.
 */
import { setOwn } from '../../../base/json.ts'
import type { PodTemplateSpec } from '../../../kinds/kubernetes/types.ts'
import { compareStrings } from '../../../kube/go-print.ts'

export const HASH_LABEL = 'pod-template-hash'

/** Maps of the API, where empty equals absent. An empty object elsewhere has a meaning: `emptyDir: {}`. */
const MAPS: ReadonlySet<string> = new Set(['labels', 'annotations', 'nodeSelector', 'limits', 'requests', 'matchLabels', 'metadata'])

/** With sorted keys, and without values that mean nothing. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => normal(item) ?? null)
  if (typeof value !== 'object' || value === null) return value ?? undefined
  const result = {}
  for (const key of Object.keys(value).sort(compareStrings)) {
    const field = normal((value as Record<string, unknown>)[key])
    if (field === undefined || (MAPS.has(key) && isEmpty(field))) continue
    setOwn(result, key, field)
  }
  return result
}

const isEmpty = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === 0

/** The text of a template without the hash in its labels: equal for equal templates. */
export function templateText(template: PodTemplateSpec | undefined): string {
  const { [HASH_LABEL]: _, ...labels } = template?.metadata?.labels ?? {}
  return JSON.stringify(normal({ ...template, metadata: { ...template?.metadata, labels } }))
}

/** FNV-1a of the text and the number of collisions so far, in letters that do not spell words. */
export function templateHash(text: string, collisionCount: number | undefined): string {
  let hash = 0x811c9dc5
  const add = (byte: number): void => {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  }
  for (const byte of Buffer.from(text)) add(byte)
  if (collisionCount !== undefined) for (let i = 0; i < 8; i++) add(i < 4 ? (collisionCount >>> (8 * i)) & 0xff : 0)
  return safeEncode(String(hash))
}

const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

const safeEncode = (text: string): string => Array.from(text, (char) => ALPHABET[char.charCodeAt(0) % ALPHABET.length]).join('')

const MAX_NAME = 253

export function replicaSetName(deploymentName: string, hash: string): string {
  return `${deploymentName.slice(0, MAX_NAME - 1 - hash.length)}-${hash}`
}
