/** Bad addresses: paths, queries, selectors, continue tokens, headers and verbs. */
import type { Choice } from './choice.ts'
import type { Corpus } from './corpus.ts'
import { hostileString } from './hostile.ts'
import { pathOf, sampleRequest } from './plain.ts'
import type { FuzzRequest, FuzzStep } from './request.ts'

const LABEL_SELECTORS = [
  'a',
  '!a',
  'a=b',
  'a==b',
  'a!=b',
  'a in (b)',
  'a notin (b,c)',
  'a in ()',
  'a in (',
  'a>1',
  'a<x',
  ',',
  'a,,b',
  '=',
  'a=',
  '!',
  'a b',
  'in in (in)',
  'a=b,'.repeat(2000),
  `a in (${'b,'.repeat(5000)}c)`,
  '__proto__=x',
  `${'a'.repeat(70)}=b`,
  'a/b/c=d',
  'ä=b',
  'a\u0000',
  '(',
  ')',
  'a=(b)',
  'x in (a)y',
]
const FIELD_SELECTORS = [
  'metadata.name=a',
  'metadata.name!=a',
  'metadata.namespace=fuzz-0',
  'spec.nodeName=x',
  'status.phase=Running',
  'nope=x',
  'metadata.name',
  '=',
  'metadata.name=a\\,b',
  'metadata.name=\\',
  ',',
  'metadata.name==a',
  '__proto__=x',
  'constructor=x',
  `metadata.name=${'a'.repeat(10_000)}`,
  'involvedObject.name=x',
  'type=Opaque',
]
const REVISIONS = [
  '0',
  '1',
  '2',
  '-1',
  'x',
  '',
  '1.5',
  '1e3',
  '999999999',
  '99999999999999999999',
  '00',
  ' 1',
  '0x1',
  '18446744073709551616',
]
const CONTINUES = [
  'x',
  '',
  '%',
  'e30',
  'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0',
  Buffer.from('{"v":"meta.k8s.io/v1","rv":-1,"start":"a\\u0000"}').toString('base64url'),
  Buffer.from('{"v":"meta.k8s.io/v1","rv":99999999,"start":"../../x"}').toString('base64url'),
  Buffer.from('{"v":1}').toString('base64url'),
  Buffer.from('null').toString('base64url'),
  'A'.repeat(20_000),
  '====',
]
const ACCEPTS = [
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=Frob;v=v9;g=x',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/cbor',
  '*/*',
  '',
  'text/html',
  ';;;',
  'application/json;as=',
  'a/b/c',
  'application/json,'.repeat(500),
  'application/json;q=0',
  'application/json;stream=watch',
]

type Parameter = readonly [string, (choice: Choice) => string]

const PARAMETERS: readonly Parameter[] = [
  ['labelSelector', (choice) => choice.of(LABEL_SELECTORS)],
  ['fieldSelector', (choice) => choice.of(FIELD_SELECTORS)],
  ['limit', (choice) => choice.of(['1', '0', '-1', 'x', '9999999999999999999', '1.5'])],
  ['continue', (choice) => choice.of(CONTINUES)],
  ['resourceVersion', (choice) => choice.of(REVISIONS)],
  ['resourceVersionMatch', (choice) => choice.of(['Exact', 'NotOlderThan', 'x', ''])],
  ['watch', (choice) => choice.of(['1', 'true', '0', 'x', ''])],
  ['timeoutSeconds', (choice) => choice.of(['0', '1', '-1', 'x', '99999999999999'])],
  ['allowWatchBookmarks', (choice) => choice.of(['true', 'x'])],
  ['sendInitialEvents', (choice) => choice.of(['true', 'false', 'x'])],
  ['includeObject', (choice) => choice.of(['None', 'Object', 'x'])],
  ['pretty', (choice) => choice.of(['1', 'x'])],
  ['dryRun', (choice) => choice.of(['All', 'x', ''])],
  ['propagationPolicy', (choice) => choice.of(['Orphan', 'Foreground', 'Background', 'x'])],
  ['gracePeriodSeconds', (choice) => choice.of(['0', '-1', 'x', '1e9', '99999999999999999999'])],
  ['fieldManager', (choice) => choice.of(['x'.repeat(200), '\u0000', 'a'])],
  ['fieldValidation', (choice) => choice.of(['Strict', 'x'])],
  ['__proto__', () => 'x'],
  ['ignoreStoreReadErrorWithClusterBreakingPotential', () => 'true'],
]

function query(choice: Choice): string {
  const parts = Array.from({ length: choice.between(1, 4) }, () => {
    const [name, value] = choice.of(PARAMETERS)
    const text = choice.chance(0.1) ? hostileString(choice) : value(choice)
    return `${name}=${choice.chance(0.9) ? encode(text) : text.replaceAll('\u0000', '+').replace(/\s/g, '+')}`
  })
  return `?${parts.join('&')}`
}

/** encodeURIComponent throws on lone surrogates, which is a fine thing to send. */
const encode = (text: string): string => encodeURIComponent(text.replace(/[\ud800-\udfff]/g, '\ufffd'))

export function listStep(corpus: Corpus, choice: Choice): FuzzStep {
  const kind = choice.of(corpus.kinds)
  const headers: Record<string, string> = choice.chance(0.5) ? { accept: choice.of(ACCEPTS) } : {}
  const method = choice.weighted([
    [8, 'GET'],
    [1, 'DELETE'],
  ] as const)
  const name = choice.chance(0.15) ? choice.of(['a', 'default', hostileName(choice)]) : undefined
  return [{ family: 'list and watch', method, url: `${pathOf(kind, choice, name)}${query(choice)}`, headers }]
}

const hostileName = (choice: Choice): string => encode(hostileString(choice)).slice(0, 20_000)

const PATHS = [
  '/',
  '//',
  '/api',
  '/api/',
  '/apis',
  '/apis/',
  '/api/v1',
  '/api/v2',
  '/api//v1',
  '/apis/apps',
  '/apis/apps/v1',
  '/apis/nope',
  '/apis/apps/v9/x',
  '/api/v1/namespaces',
  '/api/v1/namespaces/',
  '/api/v1/namespaces//pods',
  '/api/v1/namespaces/a/b/c/d/e/f',
  '/api/v1/watch/pods',
  '/api/v1/watch/namespaces/fuzz-0/pods/a',
  '/api/v1/proxy/x',
  '/version',
  '/healthz',
  '/livez?verbose',
  '/readyz/ping',
  '/readyz/../x',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/api/v1',
  '/openapi/v3/apis/x/y',
  '/openapi/v3/%00',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
  '/%2e%2e/etc/passwd',
  '/api/v1/../../x',
  '/api/v1/pods/%',
  '/api/v1/pods/%zz',
  '/api/v1/namespaces/fuzz-0/pods/a%2fb',
  '/api/v1/namespaces/fuzz-0/pods/a/log',
  '/api/v1/namespaces/fuzz-0/pods/a/exec?command=x',
  '/api/v1/namespaces/fuzz-0/pods/a/proxy/x/y',
  '/api/v1/nodes/x/proxy',
  '/__proto__',
  '/api/__proto__',
  '/apis/__proto__/v1',
  '/apis/constructor/prototype/toString',
  '/api/v1/__proto__',
  '/api/v1/constructor/toString',
  '/api/v1/namespaces/__proto__/configmaps/__proto__',
  '/api/v1/namespaces/fuzz-0/configmaps/__proto__',
  '*',
  'http://x/api',
  '/logs',
  '/debug/pprof',
  '/sluice.dev',
  `/${'a/'.repeat(2000)}`,
  `/api/v1/namespaces/${'a'.repeat(10_000)}/pods`,
  '/api/v1/namespaces/ä/pods',
  '/?',
  '/#',
  '/api?watch=1',
  '/api/v1/bindings',
  '/api/v1/componentstatuses',
]
const VERBS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'get', '', 'X'.repeat(100)]
const HEADERS: readonly (readonly [string, (choice: Choice) => string])[] = [
  ['accept', (choice) => choice.of(ACCEPTS)],
  [
    'content-type',
    (choice) =>
      choice.of([
        'application/json',
        'application/json; charset=latin1',
        'multipart/form-data',
        'x',
        ';',
        'application/vnd.kubernetes.protobuf',
        'application/apply-patch+cbor',
        'application/cbor',
      ]),
  ],
  ['content-encoding', () => 'gzip'],
  ['accept-encoding', (choice) => choice.of(['gzip', 'br', 'gzip;q=0', '*'])],
  [
    'authorization',
    (choice) =>
      choice.of([
        'Bearer x',
        'Bearer ',
        'Basic YTpi',
        'bearer a.b.c',
        `Bearer ${'a.'.repeat(5000)}`,
        'Bearer eyJhbGciOiJub25lIn0.e30.',
        'x',
      ]),
  ],
  [
    'impersonate-user',
    (choice) => choice.of(['a', '', 'system:serviceaccount:x:y', hostileString(choice).replaceAll('\u0000', '').replace(/\s/g, '')]),
  ],
  ['impersonate-group', () => 'system:masters'],
  ['impersonate-extra-__proto__', () => 'x'],
  ['impersonate-uid', () => 'x'],
  ['x-forwarded-for', () => '1.1.1.1'],
  ['user-agent', (choice) => choice.of(['', 'a'.repeat(5000), '/', 'ä/1', 'kubectl/v1.36'])],
  ['__proto__', () => 'x'],
  ['if-none-match', () => '"x"'],
  ['upgrade', () => 'SPDY/3.1'],
  ['connection', () => 'Upgrade'],
]

export function pathStep(corpus: Corpus, choice: Choice): FuzzStep {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>
  for (let i = choice.below(3); i > 0; i--) {
    const [name, value] = choice.of(HEADERS)
    headers[name] = value(choice)
  }
  const request: FuzzRequest = choice.chance(0.5)
    ? { family: 'path', method: choice.of(VERBS), url: `${choice.of(PATHS)}${choice.chance(0.3) ? query(choice) : ''}`, headers }
    : { ...sampleRequest(choice.of(corpus.samples), choice, 'path'), method: choice.of(VERBS) }
  if (choice.chance(0.3)) request.url = `${request.url.split('?')[0]}/${hostileName(choice)}`
  return [{ ...request, headers: { ...request.headers, ...headers } }]
}
