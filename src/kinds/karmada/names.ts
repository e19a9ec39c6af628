/** Names derived from other names. Karmada derives the same ones, so objects are found again after switching control planes. */
import { EXECUTION_NAMESPACE_PREFIX } from './well-known.ts'

/** 32-bit FNV-1a over the UTF-8 bytes. */
export function fnv32a(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

const SAFE_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

/** Kubernetes' safe encoding: no vowels and no look-alikes, so that no word comes out. */
export function safeEncode(text: string): string {
  let out = ''
  for (const char of text) out += SAFE_ALPHABET[(char.codePointAt(0) ?? 0) % SAFE_ALPHABET.length]
  return out
}

const hashed = (text: string): string => safeEncode(String(fnv32a(text)))

/** Names of roles may have colons, which names of bindings and Works may not. */
const withoutColons = (name: string): string => name.replaceAll(':', '.')

/** The binding of a template. Names that differ only in case or in colon and dot share one: its creator must check the owner. */
export const bindingName = (kind: string, name: string): string => `${withoutColons(name)}-${kind}`.toLowerCase()

/** The Work of an object in the execution namespace of a cluster; `namespace` is empty for cluster-scoped objects. */
export function workName(kind: string, name: string, namespace: string | undefined): string {
  const plain = withoutColons(name)
  const whole = namespace === undefined || namespace === '' ? `${plain}-${kind}` : `${namespace}-${plain}-${kind}`
  return `${plain.toLowerCase()}-${hashed(whole.toLowerCase())}`
}

/** Identifies a binding in the label of those it depends on; without a namespace (cluster-scoped) the name alone. */
export const bindingReferenceKey = (namespace: string | undefined, name: string): string =>
  hashed(namespace === undefined || namespace === '' ? name : `${namespace}/${name}`)

export const executionNamespace = (cluster: string): string => `${EXECUTION_NAMESPACE_PREFIX}${cluster}`

/** The cluster whose Works live in a namespace; undefined for any other namespace. */
export const clusterOfExecutionNamespace = (namespace: string): string | undefined =>
  namespace.length > EXECUTION_NAMESPACE_PREFIX.length && namespace.startsWith(EXECUTION_NAMESPACE_PREFIX)
    ? namespace.slice(EXECUTION_NAMESPACE_PREFIX.length)
    : undefined

/** The objects that joining a cluster creates on either side. */
export const memberServiceAccount = (cluster: string): string => `karmada-${cluster}`
export const memberRole = (cluster: string): string => `karmada-controller-manager:karmada-${cluster}`
export const IMPERSONATOR_SERVICE_ACCOUNT = 'karmada-impersonator'
export const impersonatorSecret = (cluster: string): string => `${cluster}-impersonator`
