/**
 * What a request asks for, read from its method and path alone, as Kubernetes does it: authorization, routing and
 * metrics all look at this and nothing else.
 */
export interface RequestInfo {
  isResource: boolean
  /** get, list, watch, create, update, patch, delete, deletecollection; for other paths the method in lower case. */
  verb: string
  method: string
  /** Path without query. */
  path: string
  group: string
  version: string
  resource: string
  subresource: string
  namespace: string
  name: string
  /** Path elements after the subresource (pods/a/proxy/x/y). */
  rest: string[]
  query: URLSearchParams
}

const VERBS: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
  ['GET', 'get'],
  ['HEAD', 'get'],
])
/** Below `namespaces/NAME/` these are subresources of the namespace; anything else is a resource inside it. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize'])

export function parseRequestInfo(method: string, url: string): RequestInfo {
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = parseQuery(mark < 0 ? '' : url.slice(mark + 1))
  const info: RequestInfo = {
    isResource: false,
    verb: method.toLowerCase(),
    method,
    path,
    group: '',
    version: '',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
    rest: [],
    query,
  }
  // Slashes at both ends are ignored, those between are not: an empty part is an empty name. An escaped slash is a slash.
  const parts = withoutOuterSlashes(decodeText(path)).split('/')
  const root = parts[0]
  if (root === 'api') {
    if (parts.length < 3) return info
    info.version = parts[1] ?? ''
    return readResource(info, parts.slice(2))
  }
  if (root === 'apis') {
    if (parts.length < 4) return info
    info.group = parts[1] ?? ''
    info.version = parts[2] ?? ''
    return readResource(info, parts.slice(3))
  }
  return info
}

function readResource(info: RequestInfo, parts: string[]): RequestInfo {
  let at = parts
  info.isResource = true
  info.verb = VERBS.get(info.method) ?? info.method.toLowerCase()
  let isLegacyWatch = false
  if (at[0] === 'watch') {
    if (at.length < 2) return { ...info, isResource: false, verb: info.method.toLowerCase() }
    isLegacyWatch = true
    at = at.slice(1)
  }
  if (at[0] === 'namespaces' && at.length > 1) {
    info.namespace = at[1] ?? ''
    if (at.length > 2 && !NAMESPACE_SUBRESOURCES.has(at[2] ?? '')) at = at.slice(2)
    else {
      // The namespace itself: it is authorized as if it were inside itself.
      info.resource = 'namespaces'
      info.name = at[1] ?? ''
      info.subresource = at[2] ?? ''
      info.rest = at.slice(3)
      return withCollectionVerb(info, isLegacyWatch)
    }
  }
  info.resource = at[0] ?? ''
  info.name = at[1] ?? ''
  info.subresource = at[2] ?? ''
  info.rest = at.slice(3)
  return withCollectionVerb(info, isLegacyWatch)
}

function withCollectionVerb(info: RequestInfo, isLegacyWatch: boolean): RequestInfo {
  if (isLegacyWatch && info.verb === 'get') {
    info.verb = 'watch'
    return info
  }
  if (info.name === '' && info.verb === 'get') info.verb = isTrue(info.query.get('watch')) ? 'watch' : 'list'
  if (info.name === '' && info.verb === 'delete') info.verb = 'deletecollection'
  return info
}

/** Query booleans as Go reads them from options: present and not false. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0'
}

/** By hand: a regular expression for trailing slashes would try every slash of a long run, and every length of it. */
function withoutOuterSlashes(path: string): string {
  let from = 0
  let to = path.length
  while (path[from] === '/') from++
  while (to > from && path[to - 1] === '/') to--
  return path.slice(from, to)
}

/** A percent sign that does not begin an escape. */
const BAD_ESCAPE = /%(?![0-9a-fA-F]{2})/

/** Whether a URL cannot be parsed at all. */
export const isMalformedPath = (url: string): boolean => BAD_ESCAPE.test(url.split('?', 1)[0] ?? '')

/** Pairs that cannot be parsed are left out, and so are those with a semicolon, which once separated pairs. */
function parseQuery(text: string): URLSearchParams {
  if (!text.includes(';') && !BAD_ESCAPE.test(text)) return new URLSearchParams(text)
  const readable = text.split('&').filter((pair) => !pair.includes(';') && !BAD_ESCAPE.test(pair))
  return new URLSearchParams(readable.join('&'))
}

function decodeText(part: string): string {
  if (!part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch (cause) {
    if (cause instanceof URIError) return part
    throw cause
  }
}
