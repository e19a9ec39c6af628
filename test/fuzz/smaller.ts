/** Every way to make a list of steps a little smaller: without a request, a header, a parameter, a part of a body. */
import { deepClone, isJsonObject, type Json } from '../../src/base/json.ts'
import { bodyOf, type FuzzRequest, type FuzzStep, withBody } from './request.ts'

export function* smallerSteps(steps: readonly FuzzStep[]): Generator<FuzzStep[]> {
  for (let at = steps.length - 1; at >= 0; at--) {
    const step = steps[at] as FuzzStep
    for (const [i, request] of step.entries()) {
      const replace = (smaller: FuzzRequest): FuzzStep[] =>
        steps.map((one, j) => (j === at ? one.map((each, k) => (k === i ? smaller : each)) : one))
      if (step.length > 1) yield steps.map((one, j) => (j === at ? one.filter((_, k) => k !== i) : one))
      for (const smaller of smallerRequests(request)) yield replace(smaller)
    }
  }
}

function* smallerRequests(request: FuzzRequest): Generator<FuzzRequest> {
  if (request.overTls) yield { ...request, overTls: undefined }
  const [path = '', query] = request.url.split('?')
  if (query !== undefined) {
    yield { ...request, url: path }
    const parts = query.split('&')
    if (parts.length > 1) for (const i of parts.keys()) yield { ...request, url: `${path}?${parts.filter((_, j) => j !== i).join('&')}` }
  }
  for (const name of Object.keys(request.headers)) {
    const { [name]: _removed, ...headers } = request.headers
    yield { ...request, headers }
  }
  const body = bodyOf(request)
  if (body === undefined) return
  const { body: _body, ...bare } = request
  yield bare
  const value = parsed(body)
  if (value === undefined) {
    for (let size = Math.floor(body.length / 2); size >= 1; size = Math.floor(size / 2))
      for (let at = 0; at < body.length && at / size < 64; at += size)
        yield withBody(request, Buffer.concat([body.subarray(0, at), body.subarray(at + size)]))
    return
  }
  for (const smaller of smallerValues(value)) yield withBody(request, JSON.stringify(smaller))
}

function parsed(body: Buffer): Json | undefined {
  try {
    return JSON.parse(body.toString('utf8')) as Json
  } catch {
    // Not JSON: it is shrunk as bytes.
    return undefined
  }
}

/** Large parts first. */
function* smallerValues(value: Json, path: readonly (string | number)[] = [], root: Json = value): Generator<Json> {
  if (path.length > 12) return
  const keys = Array.isArray(value) ? [...value.keys()] : isJsonObject(value) ? Object.keys(value) : []
  for (const key of keys) yield without(root, [...path, key])
  for (const key of keys) {
    const child = (value as Record<string | number, Json>)[key]
    if (typeof child === 'object' && child !== null) yield* smallerValues(child, [...path, key], root)
    else if (typeof child === 'string' && child.length > 8)
      yield withValue(root, [...path, key], child.slice(0, Math.floor(child.length / 2)))
  }
}

function without(root: Json, path: readonly (string | number)[]): Json {
  const copy = deepClone(root)
  const holder = path.slice(0, -1).reduce<Json>((at, key) => (at as Record<string | number, Json>)[key] as Json, copy)
  const last = path.at(-1) as string | number
  if (Array.isArray(holder)) holder.splice(last as number, 1)
  else delete (holder as Record<string, Json>)[last]
  return copy
}

function withValue(root: Json, path: readonly (string | number)[], value: Json): Json {
  const copy = deepClone(root)
  const holder = path.slice(0, -1).reduce<Json>((at, key) => (at as Record<string | number, Json>)[key] as Json, copy)
  ;(holder as Record<string | number, Json>)[path.at(-1) as string | number] = value
  return copy
}
