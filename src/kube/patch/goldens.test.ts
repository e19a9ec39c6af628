/**
 * Recorded patches of a real server, replayed on the pure functions alone: each starts from the object recorded before
 * it. The result must be part of the recorded answer (the server adds defaults), and what the patch removed must be
 * gone there or be a default again; failures of patching itself must be the recorded Status.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { deepEqual, isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { schemaFor } from '../../kinds/kubernetes/schemas.ts'
import { type KubeObject, parseGroupVersion } from '../meta.ts'
import { StatusError } from '../status.ts'
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch, parseJsonPatch, parseObjectPatch } from './index.ts'

interface Step {
  seq: string
  name: string
  method: string
  path: string
  headers?: Record<string, string>
  body?: unknown
  rawBody?: string
  status: number
  responseBody?: KubeObject
}

const steps = ['patches', 'concurrency']
  .flatMap((file) => readFileSync(`test/conformance/goldens/${file}.jsonl`, 'utf8').trimEnd().split('\n'))
  .map((line) => JSON.parse(line) as Step)

const FORMS = new Map([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
])

/** Failures that patching itself explains; all others come from names, versions, validation and decoding. */
const OURS = /^(the server rejected our request|error decoding patch|The order in patch list|merging lists cannot|unknown patch type|map: )/

/** Fields the server rewrites on every update, or fills in when they are removed. */
const SERVERS_OWN = new Set([
  'resourceVersion',
  'generation',
  'managedFields',
  'uid',
  'creationTimestamp',
  'namespace',
  'deletionTimestamp',
])

/** Removed by a patch, and restored by defaulting. */
const DEFAULTED_AGAIN = /^\.spec\.(strategy|replicas):/

/** The main resource ignores a status, which is not the patch's doing. */
const STATUS_ONLY = 'merge-status-ignored-2'

function apply(step: Step, current: KubeObject): Json {
  const body = step.rawBody ?? JSON.stringify(step.body)
  const form = FORMS.get(step.headers?.['Content-Type'] ?? '')
  if (form === 'json') return applyJsonPatch(current, parseJsonPatch(body))
  if (form === 'merge') return applyMergePatch(current, parseObjectPatch(body))
  const { group, version } = parseGroupVersion(current.apiVersion)
  const schema = schemaFor(group, version, current.kind)
  assert.ok(schema)
  return applyStrategicMergePatch(current, parseObjectPatch(body, 'strategic'), schema)
}

/** Paths in `ours` that are missing or different in `theirs`. */
function missing(ours: Json | undefined, theirs: Json | undefined, path: string): string[] {
  if (Array.isArray(ours)) {
    if (ours.length === 0 && theirs === undefined) return []
    if (!Array.isArray(theirs) || theirs.length !== ours.length) return [`${path}: ${JSON.stringify(ours)} / ${JSON.stringify(theirs)}`]
    return ours.flatMap((item, i) => missing(item, theirs[i], `${path}[${i}]`))
  }
  if (isJsonObject(ours)) {
    if (!isJsonObject(theirs)) return isEmpty(ours) && theirs === undefined ? [] : [`${path}: not an object`]
    return Object.keys(ours)
      .filter((key) => !SERVERS_OWN.has(key) && !key.startsWith('$'))
      .flatMap((key) => missing(ours[key], theirs[key], `${path}.${key}`))
  }
  if (ours === null || deepEqual(ours, theirs)) return []
  return [`${path}: ${JSON.stringify(ours)} / ${JSON.stringify(theirs)}`]
}

const isEmpty = (object: JsonObject): boolean => Object.keys(object).length === 0

describe('recorded patches', () => {
  const objects = new Map<string, KubeObject>()
  let applied = 0
  let refused = 0
  for (const step of steps) {
    const path = step.path?.split('?')[0] ?? ''
    const form = FORMS.get(step.headers?.['Content-Type'] ?? '')
    const created = step.method === 'POST' && step.status === 201 ? `${path}/${step.responseBody?.metadata?.name}` : ''
    const key = `${step.seq} ${created || path}`
    const current = objects.get(key)
    const succeeded = step.status === 200 || step.status === 201
    const answer = step.responseBody
    if (succeeded && answer?.metadata?.name !== undefined && !path.endsWith('/status')) objects.set(key, answer)
    if (step.method !== 'PATCH' || form === undefined || current === undefined || step.name === STATUS_ONLY) continue
    if (succeeded) {
      applied++
      it(`applies ${step.name}`, () => {
        const result = apply(step, current)
        assert.deepEqual(missing(result, step.responseBody as unknown as Json, ''), [])
        const removed = missing(current as unknown as Json, result, '')
        const kept = missing(step.responseBody as unknown as Json, result, '').filter((p) => removed.includes(p))
        assert.deepEqual(
          kept.filter((p) => !DEFAULTED_AGAIN.test(p)),
          [],
        )
      })
    } else if (OURS.test(String(step.responseBody?.message))) {
      refused++
      it(`refuses ${step.name}`, () => {
        assert.throws(
          () => apply(step, current),
          (error: unknown) => {
            assert.ok(error instanceof StatusError)
            assert.deepEqual(error.status, step.responseBody)
            return true
          },
        )
      })
    }
  }

  it('covered the recordings', () => assert.ok(applied >= 60 && refused >= 10, `${applied} applied, ${refused} refused`))
})
