/** Bad patches of all four kinds: broken documents, wrong directives, paths to nowhere, field sets that are none. */
import type { Json } from '../../src/base/json.ts'
import type { Choice } from './choice.ts'
import type { Corpus } from './corpus.ts'
import { hostileString, hostileText, hostileValue } from './hostile.ts'
import { mutateBytes, mutateJson } from './mutate.ts'
import { pathOf, sampleRequest, schemaObject } from './plain.ts'
import { type FuzzRequest, type FuzzStep, withBody } from './request.ts'

const TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

/** The object first, so that most patches meet one. */
export function patchStep(corpus: Corpus, choice: Choice): FuzzStep {
  if (choice.chance(0.3)) return [mutatedGolden(corpus, choice)]
  const kind = choice.of(corpus.kinds.filter((one) => POPULAR.has(one.plural)))
  const type = choice.of(['json', 'merge', 'strategic', 'apply'] as const)
  const subresource = choice.chance(0.2) ? choice.of(['/status', '/scale', '/ephemeralcontainers', '/resize', '/finalize']) : ''
  const query =
    type === 'apply'
      ? `?fieldManager=${choice.of(['a', 'b', ''])}&force=${choice.of(['true', 'false', 'maybe'])}`
      : choice.of(['', '', '?dryRun=All', '?fieldValidation=Strict'])
  const request: FuzzRequest = {
    family: `${type} patch`,
    method: 'PATCH',
    url: `${pathOf(kind, choice, choice.of(['a', 'b', 'web']))}${subresource}${query}`,
    headers: { 'content-type': TYPES[type] },
  }
  const object = schemaObject(kind, choice)
  const document =
    type === 'json'
      ? jsonPatch(choice)
      : type === 'apply'
        ? mutateJson(withManagedFields(object, choice), choice)
        : directives(object, choice)
  const text = choice.chance(0.05) ? hostileText(choice) : JSON.stringify(document)
  return [withBody(request, choice.chance(0.05) ? mutateBytes(Buffer.from(text), choice) : text)]
}

const POPULAR = new Set([
  'pods',
  'deployments',
  'services',
  'configmaps',
  'secrets',
  'jobs',
  'nodes',
  'customresourcedefinitions',
  'ingresses',
  'statefulsets',
  'horizontalpodautoscalers',
  'roles',
  'serviceaccounts',
  'namespaces',
])

function mutatedGolden(corpus: Corpus, choice: Choice): FuzzRequest {
  const sample = choice.of(corpus.writes.filter((one) => one.method === 'PATCH'))
  return sampleRequest({ ...sample, body: mutateJson(sample.body, choice) }, choice, 'mutated patch')
}

const POINTERS = [
  '',
  '/',
  '/metadata',
  '/metadata/labels',
  '/metadata/labels/a',
  '/metadata/name',
  '/spec',
  '/spec/containers/0',
  '/spec/containers/-',
  '/spec/containers/-1',
  '/spec/containers/99999999999',
  '/spec/containers/01',
  '/data/a~1b',
  '/data/~2',
  '/__proto__/polluted',
  '/constructor/prototype/polluted',
  '/metadata/__proto__',
  'metadata',
  '/a/b/c/d',
  '/metadata/managedFields',
  '/metadata/managedFields/0',
  '/apiVersion',
  '/kind',
  '/spec/template/spec/containers/0/image',
  '/data/length',
]

function jsonPatch(choice: Choice): Json {
  return Array.from({ length: choice.of([0, 1, 1, 2, 5, 200]) }, () => {
    const operation: Record<string, Json> = {
      op: choice.of(['add', 'remove', 'replace', 'move', 'copy', 'test', 'ADD', '', 'frob']),
      path: choice.of(POINTERS),
    }
    if (choice.chance(0.8)) operation.value = hostileValue(choice)
    if (choice.chance(0.5)) operation.from = choice.of(POINTERS)
    return choice.chance(0.05) ? hostileValue(choice) : operation
  })
}

const DIRECTIVES: readonly Record<string, Json>[] = [
  { $patch: 'replace' },
  { $patch: 'delete' },
  { $patch: 'merge' },
  { $patch: 'frob' },
  { $patch: 1 },
  { $patch: null },
  { $retainKeys: ['a'] },
  { $retainKeys: 'x' },
  { '$setElementOrder/containers': [{ name: 'a' }] },
  { '$setElementOrder/containers': 'x' },
  { '$setElementOrder/': [] },
  { '$deleteFromPrimitiveList/finalizers': ['a'] },
  { '$deleteFromPrimitiveList/finalizers': [{}] },
  { '$deleteFromPrimitiveList/': null },
]

/** Directives sprinkled over an object. */
function directives(value: Json, choice: Choice): Json {
  if (Array.isArray(value))
    return [...value.map((item) => directives(item, choice)), ...(choice.chance(0.1) ? [choice.of(DIRECTIVES)] : [])]
  if (typeof value !== 'object' || value === null) return choice.chance(0.05) ? hostileValue(choice) : value
  const entries = Object.entries(value).map(([key, child]) => [key, directives(child ?? null, choice)] as const)
  return { ...Object.fromEntries(entries), ...(choice.chance(0.15) ? choice.of(DIRECTIVES) : {}) }
}

const ELEMENTS = [
  'f:spec',
  'f:',
  'f',
  '.',
  'k:{"name":"a"}',
  'k:{}',
  'k:',
  'k:{"name":',
  'k:[1]',
  'v:"a"',
  'v:',
  'v:{',
  'i:0',
  'i:-1',
  'i:x',
  'i:99999999999999999999',
  'x:y',
  '',
  '__proto__',
  'f:__proto__',
  'k:{"__proto__":1}',
  'v:1e999',
  'f:metadata',
]

function fieldSet(choice: Choice, depth: number): Json {
  if (depth === 0 || choice.chance(0.1)) return choice.of<Json>([{}, null, [], 'x', 1, true])
  return JSON.parse(
    `{${Array.from({ length: choice.between(0, 3) }, () => `${JSON.stringify(choice.of(ELEMENTS))}:${JSON.stringify(fieldSet(choice, depth - 1))}`).join(',')}}`,
  ) as Json
}

function withManagedFields(object: Record<string, Json>, choice: Choice): Json {
  if (choice.chance(0.6)) return object
  const entry = {
    manager: choice.of(['a', '', 'x'.repeat(200), hostileString(choice)]),
    operation: choice.of(['Apply', 'Update', 'Frob', '']),
    apiVersion: choice.of(['v1', 'apps/v1', 'nope/v9', '', '/', 'a/b/c']),
    time: choice.of(['2025-01-01T00:00:00Z', '', 'x']),
    fieldsType: choice.of(['FieldsV1', 'FieldsV2', '']),
    fieldsV1: fieldSet(choice, choice.of([1, 2, 4, 30])),
    subresource: choice.of(['', 'status', 'x']),
  }
  const metadata = object.metadata as Record<string, Json>
  return {
    ...object,
    metadata: { ...metadata, managedFields: choice.of<Json>([[entry], [entry, entry], [], null, 'x', [{}], [null], entry]) },
  }
}
