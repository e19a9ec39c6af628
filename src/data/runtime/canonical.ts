/**
 * An object as a server will have it: amounts in their usual form, and without what it would leave out, such as empty texts.
 * Templates come from users, and what they write differently would look like a change forever. Nothing is added. Pure.
 */
import { isJsonObject, type Json } from '../../base/json.ts'
import { DecodeError, decodeTyped } from '../../kinds/kubernetes/decode-json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'

export function canonical<T extends KubeObject>({ group, version, kind }: Resource, wanted: T): T {
  try {
    const { object } = decodeTyped({ group, version, kind }, JSON.parse(JSON.stringify(wanted)) as Json)
    return common(wanted, object) as T
  } catch (error) {
    // What cannot be read is for the server to refuse, with the place in its answer.
    if (error instanceof DecodeError) return wanted
    throw error
  }
}

/** What both have, with the values of the second. */
function common(wanted: unknown, stored: unknown): unknown {
  if (Array.isArray(wanted) && Array.isArray(stored) && wanted.length === stored.length)
    return wanted.map((item, i) => common(item, stored[i]))
  if (!isJsonObject(wanted) || !isJsonObject(stored)) return stored
  const shared = Object.keys(wanted).filter((key) => Object.hasOwn(stored, key) && wanted[key] !== undefined)
  return Object.fromEntries(shared.map((key) => [key, common(wanted[key], stored[key])]))
}
