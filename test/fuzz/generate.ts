/** Request number N of a seed. A pure function of both, so that a failure can be made again from two numbers. */
import { isJsonObject, type Json } from '../../src/base/json.ts'
import { messageFor } from '../../src/kinds/kubernetes/message-names.ts'
import { encodeProtobuf } from '../../src/kinds/kubernetes/protobuf.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { type Choice, choiceFor } from './choice.ts'
import type { Corpus, FuzzKind } from './corpus.ts'
import { customStep } from './custom.ts'
import { hostileBytes, hostileString, hostileText, hostileValue } from './hostile.ts'
import { mutateBytes, mutateJson } from './mutate.ts'
import { patchStep } from './patches.ts'
import { NAMES, pathOf, sampleRequest, schemaObject } from './plain.ts'
import { type FuzzRequest, type FuzzStep, withBody } from './request.ts'
import { listStep, pathStep } from './targets.ts'

const TLS_SHARE = 0.03

export function generate(seed: number, index: number, corpus: Corpus): FuzzStep {
  const choice = choiceFor(seed, index)
  const step = choice.weighted<() => FuzzStep>([
    [5, () => [sampleRequest(choice.of(corpus.samples), choice, 'sample')]],
    [22, () => [mutatedSample(corpus, choice)]],
    [7, () => [cutSample(corpus, choice)]],
    [18, () => [schemaRequest(choice.of(corpus.kinds), choice)]],
    [9, () => [protobufRequest(corpus, choice)]],
    [5, () => [textRequest(corpus, choice)]],
    [12, () => patchStep(corpus, choice)],
    [7, () => listStep(corpus, choice)],
    [6, () => pathStep(corpus, choice)],
    [7, () => customStep(choice)],
    [3, () => concurrent(corpus, choice)],
  ])()
  const overTls = choice.chance(TLS_SHARE)
  const user = choice.chance(0.02) ? choice.of(['anonymous', 'nobody'] as const) : undefined
  return step.map((request) => ({ ...request, ...(overTls ? { overTls } : {}), ...(user === undefined ? {} : { user }) }))
}

/** Some samples carry patterns for `mutateJson` to bite into: metadata that is usually absent. */
function enriched(body: Json, choice: Choice): Json {
  if (!isJsonObject(body) || !choice.chance(0.15)) return body
  const metadata = isJsonObject(body.metadata) ? body.metadata : {}
  return { ...body, metadata: { ...metadata, ...choice.of(METADATA) } }
}

const METADATA: readonly Record<string, Json>[] = [
  {
    managedFields: [
      {
        manager: 'm',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2025-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
      },
    ],
  },
  {
    managedFields: [
      {
        manager: 'm',
        operation: 'Apply',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:metadata': { 'f:labels': { 'f:a': {} } }, 'f:spec': { 'f:containers': { 'k:{"name":"a"}': { '.': {} } } } },
      },
    ],
  },
  { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'u', controller: true, blockOwnerDeletion: true }] },
  { finalizers: ['example.com/f', 'foregroundDeletion'] },
  { labels: { a: 'b', 'example.com/x': '' }, annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"a":1}' } },
  { generateName: 'g-', name: '' },
  {
    uid: 'x',
    resourceVersion: '1',
    generation: 7,
    creationTimestamp: '2020-01-01T00:00:00Z',
    deletionTimestamp: '2020-01-01T00:00:00Z',
    deletionGracePeriodSeconds: 5,
    selfLink: '/x',
  },
]

function mutatedSample(corpus: Corpus, choice: Choice): FuzzRequest {
  const sample = choice.of(corpus.writes)
  return sampleRequest({ ...sample, body: mutateJson(enriched(sample.body, choice), choice) }, choice, 'mutated sample')
}

function cutSample(corpus: Corpus, choice: Choice): FuzzRequest {
  const request = sampleRequest(choice.of(corpus.writes), choice, 'broken text')
  return withBody(request, mutateBytes(Buffer.from(request.body ?? '', 'base64'), choice))
}

function schemaRequest(kind: FuzzKind, choice: Choice): FuzzRequest {
  const object = schemaObject(kind, choice)
  const name = choice.of(NAMES)
  const isUpdate = choice.chance(0.35)
  const subresource = isUpdate && kind.subresources.length > 0 && choice.chance(0.3) ? `/${choice.of(kind.subresources)}` : ''
  const posts = !isUpdate && kind.subresources.length > 0 && choice.chance(0.1) ? `/${name}/${choice.of(kind.subresources)}` : ''
  const query = choice.chance(0.2)
    ? `?${choice.of(['dryRun=All', 'fieldValidation=Strict', 'fieldValidation=Ignore', 'fieldManager=x', 'dryRun=x'])}`
    : ''
  const isYaml = choice.chance(0.05)
  const request: FuzzRequest = {
    family: 'object of a schema',
    method: isUpdate ? 'PUT' : 'POST',
    url: `${isUpdate ? `${pathOf(kind, choice, name)}${subresource}` : `${pathOf(kind, choice)}${posts}`}${query}`,
    headers: { 'content-type': isYaml ? 'application/yaml' : 'application/json' },
  }
  if (isUpdate) (object.metadata as Record<string, Json>).name = name
  return withBody(request, JSON.stringify(object))
}

function protobufRequest(corpus: Corpus, choice: Choice): FuzzRequest {
  const kind = choice.of(corpus.kinds)
  const request: FuzzRequest = {
    family: 'protobuf',
    method: choice.of(['POST', 'POST', 'PUT', 'DELETE']),
    url: '',
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
  }
  request.url = request.method === 'POST' ? pathOf(kind, choice) : pathOf(kind, choice, choice.of(NAMES))
  const good = encoded(kind, choice)
  if (good === undefined || choice.chance(0.15)) return withBody(request, hostileBytes(choice))
  return withBody(request, choice.chance(0.2) ? good : mutateBytes(good, choice))
}

/** Undefined for what this encoder cannot write, because it was wrong on purpose. */
function encoded(kind: FuzzKind, choice: Choice): Buffer | undefined {
  const model = messageFor(kind)
  if (model === undefined) return undefined
  try {
    return encodeProtobuf(schemaObject({ ...kind }, choice) as unknown as KubeObject, model)
  } catch {
    // The encoder is for well-formed objects only; the fuzzer falls back to bytes without form.
    return undefined
  }
}

function textRequest(corpus: Corpus, choice: Choice): FuzzRequest {
  const kind = choice.of(corpus.kinds)
  const method = choice.of(['POST', 'PUT', 'PATCH', 'DELETE'])
  const type = choice.of([
    'application/json',
    'application/yaml',
    'application/apply-patch+yaml',
    'application/merge-patch+json',
    'application/json-patch+json',
    'text/plain',
    '',
  ])
  const url = method === 'POST' ? pathOf(kind, choice) : pathOf(kind, choice, 'a')
  const query = method === 'PATCH' ? '?fieldManager=f&force=true' : ''
  const headers: Record<string, string> = type === '' ? {} : { 'content-type': type }
  const request: FuzzRequest = { family: 'hostile text', method, url: `${url}${query}`, headers }
  return withBody(request, choice.chance(0.9) ? hostileText(choice) : JSON.stringify(hostileValue(choice)))
}

/** Several at once on the same few objects: creates, updates, deletes, collections. */
function concurrent(corpus: Corpus, choice: Choice): FuzzStep {
  const kind = choice.of(
    corpus.kinds.filter((one) =>
      ['configmaps', 'pods', 'services', 'deployments', 'namespaces', 'resourcequotas', 'serviceaccounts'].includes(one.plural),
    ),
  )
  const name = choice.of(NAMES)
  const headers = { 'content-type': 'application/json' }
  const family = 'concurrent'
  return Array.from({ length: choice.between(3, 10) }, () =>
    choice.of<() => FuzzRequest>([
      () => ({ family, method: 'DELETE', url: pathOf(kind, choice, kind.plural === 'namespaces' ? 'gone' : name), headers: {} }),
      () =>
        withBody(
          { family, method: 'POST', url: pathOf(kind, choice), headers },
          JSON.stringify({ ...schemaObject(kind, choice), metadata: { name } }),
        ),
      () =>
        withBody(
          { family, method: 'PUT', url: pathOf(kind, choice, name), headers },
          JSON.stringify({ ...schemaObject(kind, choice), metadata: { name } }),
        ),
      () =>
        withBody(
          { family, method: 'PATCH', url: pathOf(kind, choice, name), headers: { 'content-type': 'application/merge-patch+json' } },
          JSON.stringify({ metadata: { labels: { a: hostileString(choice).slice(0, 100) } } }),
        ),
      () => ({
        family,
        method: 'DELETE',
        url: `${pathOf({ ...kind, plural: kind.plural === 'namespaces' ? 'nodes' : kind.plural }, choice)}?labelSelector=a`,
        headers: {},
      }),
      () => ({ family, method: 'GET', url: pathOf(kind, choice), headers: {} }),
    ])(),
  )
}
