/** Where a paged list continues: the snapshot's revision (-1: the newest) and the last key returned, in the real server's encoding. */
import { isJsonObject } from '../../base/json.ts'
import { JsonTextError, parseJsonText } from '../../kube/json-text.ts'
import { badRequestError } from '../../kube/status.ts'

export function encodeContinue(revision: number, prefix: string, last: string): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `${last.slice(prefix.length)}\u0000` })).toString(
    'base64url',
  )
}

/** `after` is a full key; `revision` undefined reads the current state. */
export function decodeContinue(token: string, prefix: string): { revision: number | undefined; after: string } {
  const parsed = parseToken(token)
  if (parsed.v !== 'meta.k8s.io/v1') throw invalidToken(`server does not recognize this encoded version ${JSON.stringify(parsed.v ?? '')}`)
  const { rv, start } = parsed
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0)
    throw invalidToken('incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  if (typeof start !== 'string' || start === '') throw invalidToken('missing start key (version meta.k8s.io/v1)')
  if (start.split('/').includes('..')) throw invalidToken(`${JSON.stringify(start)} goes outside the list`)
  const after = prefix + (start.endsWith('\u0000') ? start.slice(0, -1) : start)
  return { revision: rv < 0 ? undefined : rv, after }
}

/** The position of the first invalid byte of unpadded base64, as Go counts it. */
function illegalBase64At(token: string): number | undefined {
  const at = token.search(/[^A-Za-z0-9_-]/)
  if (at >= 0) return at
  return token.length % 4 === 1 ? token.length - 1 : undefined
}

function parseToken(token: string): { v?: unknown; rv?: unknown; start?: unknown } {
  const illegal = illegalBase64At(token)
  if (illegal !== undefined) throw invalidToken(`illegal base64 data at input byte ${illegal}`)
  try {
    const value = parseJsonText(Buffer.from(token, 'base64url').toString('utf8')).value
    if (isJsonObject(value)) return value
    throw invalidToken('it holds no object')
  } catch (error) {
    if (error instanceof JsonTextError) throw invalidToken(error.message)
    throw error
  }
}

const invalidToken = (why: string): Error => badRequestError(`invalid continue token: continue key is not valid: ${why}`)
