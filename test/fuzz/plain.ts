/** Where requests go and what they carry when nothing is wrong with them: recorded samples, paths of kinds, objects of schemas. */
import { isJsonObject, type Json } from '../../src/base/json.ts'
import type { Choice } from './choice.ts'
import { type FuzzKind, NAMESPACES, type Sample } from './corpus.ts'
import { fromSchema } from './from-schema.ts'
import { type FuzzRequest, withBody } from './request.ts'

export const NAMES = ['a', 'b', 'c', 'd', 'web', 'x1']

export function sampleRequest(sample: Sample, choice: Choice, family: string): FuzzRequest {
  const namespace = choice.of(NAMESPACES)
  const put = (text: string): string => text.replaceAll('<ns>', namespace)
  const headers = Object.fromEntries(Object.entries(sample.headers).map(([name, value]) => [name, put(value)]))
  const request: FuzzRequest = { family, method: sample.method, url: put(sample.path), headers }
  if (sample.body === undefined) return request
  headers['content-type'] ??= 'application/json'
  return withBody(request, put(JSON.stringify(sample.body)))
}

export function pathOf(kind: FuzzKind, choice: Choice, name?: string): string {
  const base = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`
  const place = kind.namespaced ? `${base}/namespaces/${choice.of(NAMESPACES)}/${kind.plural}` : `${base}/${kind.plural}`
  return name === undefined ? place : `${place}/${name}`
}

export function schemaObject(kind: FuzzKind, choice: Choice): Record<string, Json> {
  const value = fromSchema(kind.schema, choice, { density: choice.of([0.1, 0.3, 0.6]), wrong: choice.of([0, 0, 0.01, 0.05]) })
  const object = isJsonObject(value) ? (value as Record<string, Json>) : { spec: value }
  const metadata = isJsonObject(object.metadata) && choice.chance(0.2) ? object.metadata : {}
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
  return { ...object, apiVersion, kind: kind.kind, metadata: { ...metadata, name: choice.of(NAMES) } as Json }
}
