/**
 * The recorded answers about CustomResourceDefinitions and custom resources, replayed on the rules alone: decode, prune,
 * default, prepare, validate. What needs a server (routing, apply, scale, discovery) is left to the conformance run.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type GoldenStep, goldenSteps } from '../../../test/conformance/recorded.ts'
import { deepClone, isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { invalidError, type StatusError } from '../../kube/status.ts'
import { validateObjectMeta } from '../../kube/validate-meta.ts'
import type { KindDefinition, RuleContext } from '../kind.ts'
import { decodeTyped } from '../kubernetes/decode-json.ts'
import { crdRules } from './crd-rules.ts'
import { settleCrd } from './crd-status.ts'
import { definitionOf } from './definition.ts'

const NAMESPACE = 'golden-space'
const GROUP = `${NAMESPACE}.example.com`
const NOW = '2025-06-01T10:20:30Z'
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const context = (operation: 'create' | 'update', subresource = ''): RuleContext => ({
  operation,
  subresource,
  now: NOW,
  user: { name: 'golden', groups: [] },
})

interface Answer {
  status: number
  body: unknown
  warnings: string[]
}

class World {
  private crd: KubeObject | undefined
  private definition: KindDefinition | undefined
  private readonly objects = new Map<string, KubeObject>()

  /** Undefined: this step needs more than the rules. */
  answer(step: GoldenStep): Answer | undefined {
    const url = new URL(step.path, 'http://golden')
    if (url.pathname.startsWith(CRDS)) return this.answerCrd(step, url)
    const match =
      /^\/apis\/golden-space\.example\.com\/([^/]+)(?:\/namespaces\/golden-space)?\/([a-z]+)(?:\/([^/]+))?(?:\/(status|scale))?$/.exec(
        decodeURI(url.pathname),
      )
    if (match === null || this.definition === undefined || match[2] !== this.definition.plural) return undefined
    const answer = this.answerResource(step, { version: match[1] ?? '', name: match[3] ?? '', subresource: match[4] ?? '' })
    const served = this.definition.versions.find((v) => v.name === match[1])
    if (answer !== undefined && served?.deprecated) answer.warnings.unshift(served.deprecationWarning ?? '')
    return answer
  }

  private answerCrd(step: GoldenStep, url: URL): Answer | undefined {
    if (step.method === 'GET' && url.pathname !== CRDS) return { status: 200, body: this.crd, warnings: [] }
    if (step.method !== 'POST') return undefined
    const { object } = decodeTyped({ group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' }, step.body as Json)
    crdRules.applyDefaults?.(object, 'v1')
    crdRules.prepareForCreate?.(object, context('create'))
    const errors = crdRules.validateCreate?.(object, context('create')) ?? []
    if (errors.length > 0)
      return failed(invalidError({ group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' }, object.metadata.name ?? '', errors))
    const created = deepClone(object)
    const warnings = crdRules.warnings?.(object, undefined, context('create')) ?? []
    this.crd = settleCrd(object, [], NOW)
    assert.ok(this.crd)
    assert.equal(settleCrd(this.crd, [this.crd], NOW), undefined, 'a settled definition stays as it is')
    this.definition = definitionOf(this.crd)
    return { status: 201, body: created, warnings }
  }

  private answerResource(step: GoldenStep, at: { version: string; name: string; subresource: string }): Answer | undefined {
    const definition = this.definition as KindDefinition
    const version = definition.versions.find((v) => v.name === at.version)
    if (version === undefined || (at.subresource !== '' && !definition.subresources.some((s) => s.name === at.subresource)))
      return undefined
    const shown = (object: KubeObject) => definition.convert?.(object, `${GROUP}/${at.version}`) as KubeObject
    if (step.method === 'GET' && at.name === '' && step.headers === undefined && !step.path.includes('?')) {
      const items = [...this.objects.values()].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)).map(shown)
      return { status: 200, body: { apiVersion: `${GROUP}/${at.version}`, items, kind: definition.listKind, metadata: {} }, warnings: [] }
    }
    if (step.method === 'GET' && step.headers?.Accept?.includes('as=Table'))
      return { status: 200, body: this.table(at.version), warnings: [] }
    if (step.headers?.Accept !== undefined || step.path.includes('fieldSelector')) return undefined
    if (step.method === 'GET' && at.subresource === 'scale') return undefined
    const stored = this.objects.get(at.name)
    if (step.method === 'GET') return stored === undefined ? undefined : { status: 200, body: shown(stored), warnings: [] }
    const body = (step.rawBody === undefined ? step.body : JSON.parse(step.rawBody)) as KubeObject
    if (step.method === 'POST') return this.create(body, step, at.version)
    if (at.subresource === 'scale') return this.scale(step, stored, at.version)
    const patched = stored === undefined ? undefined : nextBody(step, shown(stored), body)
    if (patched === undefined || stored === undefined) return undefined
    return this.update(patched, stored, { ...at, step })
  }

  private decode(object: KubeObject, step: GoldenStep, version: string): string[] {
    const served = this.definition?.versions.find((v) => v.name === version)
    const { unknown, error } = served?.coerce?.(object) ?? { unknown: [] }
    assert.equal(error, undefined)
    this.definition?.rules.applyDefaults?.(object, version)
    return [...(step.path.includes('fieldValidation=Warn') ? unknown.map((f) => `unknown field "${f}"`) : [])]
  }

  private create(body: KubeObject, step: GoldenStep, version: string): Answer | undefined {
    const { rules, group, convert, readStored, namespaced } = this.definition as KindDefinition
    if (body.apiVersion !== `${GROUP}/${version}`) return undefined
    const object = deepClone(body)
    const warnings = this.decode(object, step, version)
    if (step.rawBody !== undefined && step.path.includes('Warn')) warnings.push('duplicate field "spec.a"')
    object.metadata.creationTimestamp = NOW
    if (namespaced) object.metadata.namespace = NAMESPACE
    rules.prepareForCreate?.(object, context('create'))
    const wrongKind = object.kind !== this.definition?.kind
    const errors = [
      ...(wrongKind ? [] : validateObjectMeta(object.metadata, { namespaced })),
      ...(rules.validateCreate?.(object, context('create')) ?? []),
    ]
    if (errors.length > 0) return failed(invalidError({ group, kind: object.kind }, object.metadata.name ?? '', errors))
    const stored = readStored?.(convert?.(object, `${GROUP}/${this.definition?.storageVersion}`) as KubeObject) as KubeObject
    this.objects.set(object.metadata.name ?? '', stored)
    return { status: 201, body: convert?.(stored, `${GROUP}/${version}`), warnings }
  }

  private update(body: KubeObject, stored: KubeObject, at: { version: string; subresource: string; step: GoldenStep }): Answer | undefined {
    const { rules, group, convert, readStored, storageVersion } = this.definition as KindDefinition
    const object = deepClone(body)
    const warnings = this.decode(object, at.step, at.version)
    const old = convert?.(stored, object.apiVersion) as KubeObject
    rules.prepareForUpdate?.(object, old, context('update', at.subresource))
    const errors = rules.validateUpdate?.(object, old, context('update', at.subresource)) ?? []
    if (errors.length > 0) return failed(invalidError({ group, kind: object.kind }, object.metadata.name ?? '', errors))
    const next = readStored?.(convert?.(object, `${GROUP}/${storageVersion}`) as KubeObject) as KubeObject
    this.objects.set(object.metadata.name ?? '', next)
    return { status: 200, body: convert?.(next, `${GROUP}/${at.version}`), warnings }
  }

  /** Only what the rules decide: the answer itself is the server's. */
  private scale(step: GoldenStep, stored: KubeObject | undefined, version: string): Answer | undefined {
    if (stored === undefined) return undefined
    const spec = { ...(stored.spec as JsonObject), ...((step.body as JsonObject).spec as JsonObject) }
    const answer = this.update({ ...stored, spec }, stored, { version, subresource: '', step })
    return answer?.status === 422 ? answer : undefined
  }

  private table(version: string): unknown {
    const printer = this.definition?.versions.find((v) => v.name === version)?.printer
    return {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: {},
      columnDefinitions: printer?.columns.map((c) => ({ name: c.name, type: c.type, format: c.format ?? '', priority: c.priority ?? 0 })),
      rows: [...this.objects.values()].map((o) => ({ cells: printer?.row(o, Date.parse(NOW)).cells })),
    }
  }
}

function failed(error: StatusError): Answer {
  return { status: error.code, body: error.status, warnings: [] }
}

function nextBody(step: GoldenStep, live: KubeObject, body: unknown): KubeObject | undefined {
  const type = step.headers?.['Content-Type'] ?? ''
  if (step.method === 'PUT') return (body as KubeObject).metadata.resourceVersion ? (body as KubeObject) : undefined
  if (type === 'application/merge-patch+json') return merge(live, body) as KubeObject
  if (type !== 'application/json-patch+json') return undefined
  const copy = deepClone(live)
  for (const { path, value } of body as { path: string; value: unknown }[]) {
    const keys = path.slice(1).split('/')
    const last = keys.pop() ?? ''
    const parent = keys.reduce((o, k) => o[k] as JsonObject, copy as unknown as JsonObject)
    parent[last] = value as Json
  }
  return copy
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const out: JsonObject = isJsonObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key]
    else out[key] = merge(out[key], value) as Json
  }
  return out
}

const SYSTEM_FIELDS = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'lastTransitionTime', 'managedFields'])

/** Without what a server would add, and with causes in a fixed order. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable)
  if (!isJsonObject(value)) return value
  const out = Object.fromEntries(
    Object.entries(value)
      .filter(([k]) => !SYSTEM_FIELDS.has(k))
      .map(([k, v]) => [k, comparable(v)]),
  )
  if (Array.isArray(out.causes)) out.causes.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (out.kind === 'Table')
    out.rows = (out.rows as JsonObject[]).map((r) => ({
      cells: ((r as { cells: unknown[] }).cells ?? []).map((c) => (c === '0s' ? '<ignored>' : c)),
    }))
  return out
}

const isCel = (seq: string) => seq.includes('cel')

describe('recorded answers about custom resources', () => {
  const bySequence = new Map<string, GoldenStep[]>()
  const filledSteps = JSON.parse(JSON.stringify(goldenSteps('crds')).replaceAll('<ns>', NAMESPACE)) as GoldenStep[]
  for (const step of filledSteps) bySequence.set(step.seq, [...(bySequence.get(step.seq) ?? []), step])
  let replayed = 0
  for (const [seq, steps] of bySequence) {
    if (isCel(seq) && seq !== 'crds/invalid-cel-empty' && seq !== 'crds/invalid-cel-reason') continue
    it(seq, () => {
      const world = new World()
      for (const step of steps) {
        const answer = world.answer(step)
        if (answer === undefined || step.responseBody === undefined) continue
        replayed++
        const expected = comparable(step.responseBody) as JsonObject
        const actual = comparable(JSON.parse(JSON.stringify(answer.body))) as JsonObject
        if (expected.message === undefined && actual.kind === 'Status') delete actual.message
        assert.deepEqual({ status: answer.status, body: actual }, { status: step.status, body: expected }, step.name)
        const warned = (step.responseHeaders?.warning ?? []).map((w) => JSON.parse(w.slice('299 - '.length)) as string)
        assert.deepEqual(answer.warnings, warned, step.name)
      }
    })
  }
  it('replays most of them', () => assert.ok(replayed >= 132, `only ${replayed} steps`))
})
