/**
 * The recorded answers of a real server (test/conformance/goldens/auth.jsonl), replayed through the gate, the reviews and
 * the escalation check without a server: a stand-in stores what a step creates. Bodies of plain lists are not compared here
 * (the server core's part); statuses, errors and every review are.
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { isJsonObject } from '../../base/json.ts'
import { seededRandom, uuid } from '../../base/random.ts'
import { bootstrapObjects } from '../../kinds/kubernetes/bootstrap.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { parseRequestInfo, type RequestInfo } from '../../kube/request-info.ts'
import { failure, StatusError } from '../../kube/status.ts'
import {
  type AuthGate,
  checkEscalation,
  createAuthenticator,
  createAuthorizer,
  createGate,
  createRbac,
  createReviews,
  createServiceAccountTokens,
  isRbacResource,
  MASTERS,
  readSigningKey,
} from './index.ts'
import { memoryReader } from './memory-reader.ts'

interface Step {
  seq: string
  name: string
  method: string
  path: string
  headers?: Record<string, string | string[]>
  body?: KubeObject
  auth?: string
  save?: Record<string, string>
  ignore?: string[]
  status: number
  compare?: string
  responseBody?: unknown
}

const NS = 'ns-of-a-sequence'
const lines = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
const steps = lines('test/conformance/goldens/auth.jsonl').map((line) => JSON.parse(line) as Step)

function aServer() {
  const random = seededRandom(1)
  const clock = { now: () => 1_800_000_000_000, after: () => () => undefined }
  const { reader, put } = memoryReader()
  const rbac = createRbac()
  const authorizer = createAuthorizer(rbac, reader)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = readSigningKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  const serviceAccounts = createServiceAccountTokens({ keys: [key], read: reader, clock, random })
  const authenticator = createAuthenticator({ serviceAccounts })
  const gate: AuthGate = createGate(authenticator, authorizer)
  const reviews = createReviews({ authorizer, authenticator, serviceAccounts, read: reader, clock })

  const store = (group: string, resource: string, object: KubeObject) => {
    const { namespace = '', name = '' } = object.metadata
    put({ group, resource }, object)
    if (isRbacResource(group, resource)) rbac.apply(resource, namespace, name, object)
  }
  for (const object of bootstrapObjects({ now: '2025-06-01T00:00:00Z' })) {
    if (object.apiVersion.startsWith('rbac.')) store('rbac.authorization.k8s.io', `${object.kind.toLowerCase()}s`, object)
  }

  function serve(step: Step): { status: number; body: unknown } {
    const headers: Record<string, string | string[]> = {}
    for (const [name, value] of Object.entries(step.headers ?? {})) headers[name.toLowerCase()] = value
    const peer = step.auth === 'none' ? undefined : { commonName: 'golden', organizations: [MASTERS] }
    try {
      const user = gate.authenticate({ method: step.method, url: step.path, headers, peer })
      const info = parseRequestInfo(step.method, step.path)
      gate.authorize(user, info)
      const place = `${info.group}/${info.resource}${info.subresource === '' ? '' : `/${info.subresource}`}`
      const review = reviews.get(place)
      if (review !== undefined) {
        if (step.method !== 'POST')
          throw failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
        const object = withManagedFields(step.body, info)
        return { status: 201, body: review(object, { user, namespace: info.namespace, name: info.name, warn: () => undefined }) }
      }
      if (step.method !== 'POST' || step.body === undefined) return { status: 200, body: undefined }
      const object = { ...step.body, metadata: { ...step.body.metadata, namespace: info.namespace, uid: uuid(random) } }
      if (isRbacResource(info.group, info.resource)) {
        const { resource, namespace } = info
        checkEscalation({ user, resource, namespace, requestName: info.name, object }, { rbac, authorizer })
      }
      store(info.group, info.resource, object)
      return { status: 201, body: undefined }
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      return { status: error.code, body: error.status }
    }
  }
  return { serve }
}

/** As in the server core: the writer's managed fields are recorded before the review sees the object. */
function withManagedFields(body: KubeObject | undefined, info: RequestInfo): KubeObject {
  assert.ok(body !== undefined)
  const apiVersion = `${info.group}/${info.version}`
  const fieldsV1 = { 'f:spec': { 'f:resourceAttributes': { '.': {}, 'f:resource': {}, 'f:verb': {} }, 'f:user': {} } }
  const entry = {
    manager: 'golden',
    operation: 'Update' as const,
    apiVersion,
    time: '2026-01-01T00:00:00Z',
    fieldsType: 'FieldsV1' as const,
    fieldsV1,
  }
  return { ...body, metadata: { ...body.metadata, managedFields: [entry] } }
}

function normalise(value: unknown, uids: Map<string, string>): unknown {
  if (typeof value === 'string') {
    return value
      .replaceAll(NS, '<ns>')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, (id) => {
        if (!uids.has(id)) uids.set(id, `<uid${uids.size + 1}>`)
        return uids.get(id) ?? id
      })
      .replace(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>')
  }
  if (Array.isArray(value)) return value.map((item) => normalise(item, uids))
  if (!isJsonObject(value)) return value
  const out: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    if (key === 'managedFields' || item === undefined) continue
    out[key] = key === 'token' && typeof item === 'string' && item.split('.').length === 3 ? '<token>' : normalise(item, uids)
  }
  return out
}

function drop(body: unknown, pointers: readonly string[]): void {
  for (const pointer of pointers) {
    const parts = pointer
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = parts.pop() ?? ''
    const holder = parts.reduce<unknown>((at, part) => (isJsonObject(at) ? at[part] : undefined), body)
    if (isJsonObject(holder)) delete holder[last]
  }
}

describe('recorded answers about identities and rights', () => {
  const sequences = new Map<string, Step[]>()
  for (const step of steps) sequences.set(step.seq, [...(sequences.get(step.seq) ?? []), step])
  assert.equal(steps.length, 94)

  for (const [sequence, members] of sequences) {
    it(sequence, () => {
      const { serve } = aServer()
      const saved = new Map<string, string>()
      const uids = new Map<string, string>()
      for (const raw of members) {
        const text = JSON.stringify(raw).replace(/\$\{(\w+)\}/g, (_, name: string) => saved.get(name) ?? '')
        const step = JSON.parse(text.replaceAll('<ns>', NS)) as Step
        const { status, body } = serve(step)
        assert.equal(status, step.status, `${step.name}: ${JSON.stringify(body)}`)
        if (isJsonObject(body) && isJsonObject(body.status) && typeof body.status.token === 'string') saved.set('t', body.status.token)
        const normal = normalise(body, uids)
        if (body === undefined || step.compare === 'status') continue
        drop(normal, step.ignore ?? [])
        const wanted = normalise(step.responseBody, new Map())
        drop(wanted, step.ignore ?? [])
        assert.deepEqual(normal, wanted, step.name)
      }
    })
  }
})
