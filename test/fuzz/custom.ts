/** Definitions of custom resources with hostile schemas, and objects under them. */
import type { Json } from '../../src/base/json.ts'
import type { Choice } from './choice.ts'
import { NAMESPACES } from './corpus.ts'
import { hostileString, hostileValue } from './hostile.ts'
import { mutateJson } from './mutate.ts'
import { type FuzzRequest, type FuzzStep, withBody } from './request.ts'

const GROUP = 'fuzz.example.com'
const PLURALS = ['apples', 'pears', 'plums']
/** Each of these takes a backtracking engine longer than the universe lasts; `BOMBS` sets them off. */
const PATTERNS = [
  '^(a+)+$',
  '^(a|a)*$',
  '^(a|aa)+$',
  '(x+x+)+y',
  '^([a-zA-Z]+)*$',
  '(.*a){25}',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(?=a)',
  '(',
  '[',
  '\\1',
  '(?<n>a)',
  'a{99999}',
  '(a{1000}){1000}',
  '\\p{L}+',
  '\\C',
  '(?i)a',
  '^.{0,1000}$',
  '',
]
const BOMBS = [`${'a'.repeat(40)}!`, `${'x'.repeat(5000)}`, 'a'.repeat(30_000), `${'a'.repeat(5000)}!`, '', 'aA1']

function schema(choice: Choice, depth: number): Json {
  if (depth === 0) return leaf(choice)
  return choice.weighted<() => Json>([
    [4, () => leaf(choice)],
    [
      4,
      () => ({
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: choice.between(1, 4) }, (_, i) => [
            choice.of(['a', 'b', 'items', 'metadata', 'x', `p${i}`]),
            schema(choice, depth - 1),
          ]),
        ),
        ...extras(choice),
      }),
    ],
    [
      2,
      () => ({
        type: 'array',
        items: schema(choice, depth - 1),
        ...choice.of<Record<string, Json>>([
          {},
          { 'x-kubernetes-list-type': 'set' },
          { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
          { maxItems: 2 },
          { uniqueItems: true },
        ]),
      }),
    ],
    [1, () => ({ type: 'object', additionalProperties: schema(choice, depth - 1) })],
    [1, () => ({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })],
    [1, () => ({ type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true })],
    [1, () => ({ 'x-kubernetes-int-or-string': true })],
    [0.5, () => hostileValue(choice)],
  ])()
}

function leaf(choice: Choice): Json {
  return choice.weighted<() => Json>([
    [4, () => ({ type: 'string', pattern: choice.of(PATTERNS) })],
    [
      2,
      () => ({
        type: 'string',
        format: choice.of([
          'date-time',
          'email',
          'uri',
          'ipv4',
          'uuid',
          'cidr',
          'duration',
          'regex',
          'byte',
          'hostname',
          'nope',
          'bsonobjectid',
          'creditcard',
          'isbn',
          'mac',
          'password',
        ]),
      }),
    ],
    [
      2,
      () => ({
        type: 'integer',
        minimum: choice.of([0, -1, 1e21]),
        maximum: choice.of([0, 5, 1e308]),
        multipleOf: choice.of([0, 0.1, 3, -1]),
      }),
    ],
    [1, () => ({ type: 'string', enum: choice.of<Json>([['a', 'b'], [], ['a', 'a'], [null], [{}]]) })],
    [1, () => ({ type: 'string', default: hostileValue(choice) })],
    [
      1,
      () => ({
        type: 'object',
        properties: { a: { type: 'string', default: 'x' } },
        default: choice.of<Json>([{}, { a: 1 }, { b: {} }, null]),
      }),
    ],
    [1, () => ({ type: choice.of(['string', 'null', 'frob', '']), nullable: choice.chance(0.5) })],
    [1, () => ({ type: 'string', minLength: choice.of([-1, 0, 1e9]), maxLength: choice.of([0, 3, -5]) })],
    [
      0.3,
      () => ({
        type: 'object',
        not: { type: 'object' },
        anyOf: [{ required: ['a'] }],
        oneOf: [{}, {}],
        allOf: [{ not: { required: ['b'] } }],
      }),
    ],
    [0.3, () => ({ $ref: '#/x' })],
  ])()
}

function extras(choice: Choice): Record<string, Json> {
  return choice.of<Record<string, Json>>([
    {},
    {},
    { required: ['a'] },
    { required: ['__proto__'] },
    { maxProperties: 1 },
    { minProperties: 1e9 },
    { 'x-kubernetes-map-type': 'atomic' },
    { 'x-kubernetes-validations': [{ rule: 'self.a > 1' }] },
    { description: 'x'.repeat(100_000) },
  ])
}

const SCALE_PATHS = ['.spec.replicas', '.spec.a', '.status.x', 'x', '.', '.spec[0]', '.spec.__proto__.x']
const COLUMN_PATHS = [
  '.spec.a',
  '.spec[',
  '{.spec}',
  '.spec.items[*].a',
  '.spec..a',
  '.metadata.creationTimestamp',
  '.spec.items[?(@.a=="x")].b',
  '.__proto__',
  '',
  '.spec.items[99999999]',
]

function version(choice: Choice, name: string, storage: boolean): Json {
  const scale = { specReplicasPath: choice.of(SCALE_PATHS), statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' }
  const spec = schema(choice, choice.of([1, 2, 4, 12]))
  return {
    name,
    served: choice.chance(0.9),
    storage,
    schema: {
      openAPIV3Schema: { type: 'object', properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } },
    },
    subresources: choice.of<Json>([{}, { status: {} }, { status: {}, scale }]),
    additionalPrinterColumns: choice.of<Json>([
      [],
      [{ name: 'A', type: 'string', jsonPath: choice.of(COLUMN_PATHS) }],
      [{ name: '', type: 'date', jsonPath: '.x', priority: 9e99 }],
    ]),
    selectableFields: choice.of<Json>([[], [{ jsonPath: '.spec.a' }], [{ jsonPath: '.metadata.name' }], [{ jsonPath: 'x' }]]),
  }
}

const kindOf = (plural: string): string => `${plural.charAt(0).toUpperCase()}${plural.slice(1, -1)}`

function definition(choice: Choice, plural: string): { [key: string]: Json } {
  const kind = kindOf(plural)
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: choice.of(['Namespaced', 'Namespaced', 'Cluster', 'x']),
      names: {
        plural,
        singular: plural.slice(0, -1),
        kind,
        listKind: `${kind}List`,
        shortNames: choice.of<Json>([[], ['po'], ['x'.repeat(80)]]),
      },
      versions: choice.of([
        () => [version(choice, 'v1', true)],
        () => [version(choice, 'v1', true), version(choice, 'v2', false)],
        () => [version(choice, 'v1', true), version(choice, 'v1', true)],
      ])(),
      preserveUnknownFields: choice.chance(0.02),
    },
  }
}

function spec(choice: Choice, depth: number): Json {
  if (depth === 0 || choice.chance(0.4)) return choice.chance(0.6) ? choice.of(BOMBS) : hostileValue(choice)
  if (choice.chance(0.3)) return [spec(choice, depth - 1), spec(choice, depth - 1)]
  return Object.fromEntries(
    ['a', 'b', 'items', 'metadata', 'x', 'p0', 'p1'].filter(() => choice.chance(0.5)).map((key) => [key, spec(choice, depth - 1)]),
  )
}

const JSON_TYPE = 'application/json'
const MERGE_TYPE = 'application/merge-patch+json'
const PATCH_TYPES = ['application/apply-patch+yaml', MERGE_TYPE, 'application/strategic-merge-patch+json']
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export function customStep(choice: Choice): FuzzStep {
  const plural = choice.of(PLURALS)
  return [choice.chance(0.35) ? definitionRequest(choice, plural) : objectRequest(choice, plural)]
}

function definitionRequest(choice: Choice, plural: string): FuzzRequest {
  const send = (method: string, url: string, type: string, body: Json): FuzzRequest =>
    withBody({ family: 'definition', method, url, headers: { 'content-type': type } }, JSON.stringify(body))
  const one = `${CRDS}/${plural}.${GROUP}`
  return choice.weighted<() => FuzzRequest>([
    [3, () => send('POST', CRDS, JSON_TYPE, definition(choice, plural))],
    [1, () => send('POST', CRDS, JSON_TYPE, mutateJson(definition(choice, plural), choice))],
    [1, () => send('PATCH', one, MERGE_TYPE, { spec: definition(choice, plural).spec })],
    [0.6, () => ({ family: 'definition', method: 'DELETE', url: one, headers: {} })],
  ])()
}

function objectRequest(choice: Choice, plural: string): FuzzRequest {
  const name = choice.of(['a', 'b'])
  const served = choice.of(['v1', 'v1', 'v1', 'v2'])
  const all = `/apis/${GROUP}/${served}/namespaces/${choice.of(NAMESPACES)}/${plural}`
  const object = {
    apiVersion: `${GROUP}/${served}`,
    kind: kindOf(plural),
    metadata: { name },
    spec: spec(choice, 3),
    status: { replicas: 1, selector: hostileString(choice).slice(0, 200) },
  }
  const family = 'custom object'
  const send = (method: string, url: string, type: string): FuzzRequest =>
    withBody({ family, method, url, headers: { 'content-type': type } }, JSON.stringify(object))
  const query = choice.of(['', 'fieldSelector=spec.a%3Dx', 'limit=1', 'watch=1&timeoutSeconds=1'])
  const accept = choice.of([JSON_TYPE, 'application/json;as=Table;v=v1;g=meta.k8s.io', 'application/yaml'])
  return choice.weighted<() => FuzzRequest>([
    [5, () => send('POST', all, JSON_TYPE)],
    [2, () => send('PUT', `${all}/${name}${choice.of(['', '/status', '/scale'])}`, JSON_TYPE)],
    [2, () => send('PATCH', `${all}/${name}?fieldManager=f&force=true`, choice.of(PATCH_TYPES))],
    [1, () => ({ family, method: 'GET', url: `${all}?${query}`, headers: { accept } })],
    [0.5, () => ({ family, method: 'DELETE', url: all, headers: {} })],
  ])()
}
