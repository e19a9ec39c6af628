/**
 * The recorded sequences of a real server, replayed on the pure functions alone: each step starts from the object that
 * was recorded before it. Applied objects must merge into (a part of) the recorded answer and give its managed fields;
 * other writes must give the managed fields of the answer; failures must be the recorded Status.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { deepEqual, isJsonObject } from '../../base/json.ts'
import { schemaFor } from '../../kinds/kubernetes/schemas.ts'
import { type GroupVersionKind, groupVersion, type KubeObject, type ManagedFieldsEntry, parseGroupVersion } from '../meta.ts'
import type { Schema } from '../schema.ts'
import { StatusError } from '../status.ts'
import { type ApplyContext, parentManagedFields, resetPathsOf, scaleManagedFields, serverSideApply, trackUpdate } from './index.ts'

interface Step {
  seq: string
  name: string
  method: string
  path: string
  headers?: Record<string, string>
  body?: KubeObject
  status: number
  responseBody?: KubeObject
}

const NOW = '<time>'

const stepsOf = (file: string): Step[] =>
  readFileSync(`test/conformance/goldens/${file}.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Step)

/** Failures that belong to other parts of the server: options, names, versions of the object, validation. */
const NOT_OURS = /^(PatchOptions|the name of the object|error decoding YAML|Operation cannot be fulfilled|.* is invalid: |.* not found$)/

interface Target {
  key: string
  group: string
  version: string
  subresource: string
  manager: string
}

function targetOf(step: Step): Target {
  const url = new URL(step.path, 'http://x')
  const parts = url.pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent)
  const group = parts[0] === 'api' ? '' : (parts[1] ?? '')
  const version = parts[0] === 'api' ? (parts[1] ?? '') : (parts[2] ?? '')
  let rest = parts.slice(parts[0] === 'api' ? 2 : 3)
  if (rest[0] === 'namespaces' && rest.length > 2) rest = rest.slice(2)
  const name = rest[1] ?? step.body?.metadata.name ?? ''
  const userAgent = step.headers?.['User-Agent'] ?? 'golden/1'
  const manager = url.searchParams.get('fieldManager') ?? userAgent.split('/')[0] ?? ''
  return { key: `${group}/${rest[0]}/${name}`, group, version, subresource: rest[2] ?? '', manager }
}

type Schemas = (gvk: GroupVersionKind) => Schema | undefined

const builtIn: Schemas = ({ group, version, kind }) => schemaFor(group, version, kind)

function contextOf(kind: string, target: Target, schemas: Schemas): ApplyContext {
  const { group, version, subresource } = target
  const schemaOf = (apiVersion: string) => schemas({ ...parseGroupVersion(apiVersion), kind })
  const schema = schemaOf(groupVersion(group, version))
  const builtin = schema?.definition !== undefined
  const hasStatus = schema?.properties?.status !== undefined
  return {
    gvk: { group, version, kind },
    schemaOf,
    convert: convertAutoscaler,
    subresource,
    resetPaths: resetPathsOf({ group, kind, subresource, builtin, hasStatus }),
    now: NOW,
  }
}

/** The one kind with two versions in the recordings; enough of its conversion for them. */
function convertAutoscaler(object: KubeObject, apiVersion: string): KubeObject | undefined {
  const spec = isJsonObject(object.spec) ? { ...object.spec } : undefined
  if (spec !== undefined && apiVersion === 'autoscaling/v2' && spec.targetCPUUtilizationPercentage !== undefined) {
    const target = { type: 'Utilization', averageUtilization: spec.targetCPUUtilizationPercentage }
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }]
    delete spec.targetCPUUtilizationPercentage
  } else if (spec !== undefined && apiVersion === 'autoscaling/v1' && Array.isArray(spec.metrics)) {
    const [metric] = spec.metrics as { resource: { target: { averageUtilization: number } } }[]
    if (metric !== undefined) spec.targetCPUUtilizationPercentage = metric.resource.target.averageUtilization
    delete spec.metrics
  }
  return { ...object, apiVersion, ...(spec === undefined ? {} : { spec }) }
}

const sorted = (entries: readonly ManagedFieldsEntry[] | undefined) =>
  [...(entries ?? [])].sort((a, b) => (entryOrder(a) < entryOrder(b) ? -1 : 1))

const entryOrder = (e: ManagedFieldsEntry) =>
  [e.operation, e.manager, e.subresource ?? '', e.apiVersion, JSON.stringify(e.fieldsV1)].join('\u0000')

/** Whether everything in `part` is in `whole`; lists of objects item by item. */
function contains(whole: unknown, part: unknown): boolean {
  if (isJsonObject(part)) {
    if (Object.keys(part).length === 0) return whole === undefined || isJsonObject(whole)
    return isJsonObject(whole) && Object.keys(part).every((key) => contains(whole[key], part[key]))
  }
  if (Array.isArray(part)) return Array.isArray(whole) && part.length === whole.length && part.every((item, i) => contains(whole[i], item))
  return part === null ? whole === undefined || whole === null : deepEqual(whole, part)
}

/** What admission and preparation add after ownership was recorded. */
function beforeAdmission(step: Step, recorded: KubeObject): KubeObject {
  if (recorded.kind !== 'Pod' || step.method !== 'POST') return recorded
  const { tolerations: _t, priority: _p, preemptionPolicy: _q, ...spec } = recorded.spec as Record<string, unknown>
  return { ...recorded, spec, status: {} }
}

/** The recorded answers show what is stored; quantities and the like are normalised after merging. */
const NORMALISED = new Set([
  'hpa-v1-v2-3',

  'quantity-normalised-1',
  'secret-stringdata-1',
  'secret-stringdata-2',
  'status-in-main-ignored',
  'status-subresource-4',
])

class Replay {
  readonly #live = new Map<string, KubeObject>()
  checked = 0
  readonly #schemas: Schemas

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  step(step: Step): void {
    const target = targetOf(step)
    if (step.method === 'DELETE' || step.method === 'GET') {
      if (step.method === 'GET' && step.responseBody?.metadata.managedFields !== undefined) this.#store(target, step)
      if (step.method === 'DELETE') this.#store(target, step)
      return
    }
    const live = this.#live.get(target.key)
    if (target.subresource === 'scale') {
      this.#scale(step, target, live)
      return
    }
    if (step.headers?.['Content-Type'] === 'application/apply-patch+yaml') this.#apply(step, target, live)
    else if (step.responseBody !== undefined && step.status < 300) {
      const next = beforeAdmission(step, this.#sent(step, step.responseBody))
      const tracked = trackUpdate({ live, next, manager: target.manager, context: contextOf(next.kind, target, this.#schemas) })
      assert.deepEqual(sorted(tracked.metadata.managedFields), sorted(step.responseBody.metadata.managedFields), step.name)
      this.checked++
    }
    if (step.status < 300 && !step.path.includes('dryRun')) this.#store(target, step)
  }

  /** A patch of managedFields themselves is not in the answer, so it is redone. */
  #sent(step: Step, recorded: KubeObject): KubeObject {
    const live = this.#live.get(targetOf(step).key)
    const { managedFields: _answer, ...metadata } = recorded.metadata
    const patch = (Array.isArray(step.body) ? step.body : []) as { path: string; value: unknown }[]
    const operation = patch.find(({ path }) => path.startsWith('/metadata/managedFields'))
    if (operation === undefined) return { ...recorded, metadata }
    const [first, ...others] = live?.metadata.managedFields ?? []
    const managedFields = (
      operation.path.endsWith('/manager') ? [{ ...first, manager: operation.value }, ...others] : operation.value
    ) as ManagedFieldsEntry[]
    return { ...recorded, metadata: { ...metadata, managedFields } }
  }

  #store(target: Target, { responseBody }: Step): void {
    if (responseBody !== undefined && responseBody.kind !== 'Status') this.#live.set(target.key, responseBody)
  }

  #apply(step: Step, target: Target, live: KubeObject | undefined): void {
    if (step.body === undefined || step.responseBody === undefined) return
    const recorded = step.responseBody
    const message = String(recorded.message ?? '')
    if (recorded.kind === 'Status' && NOT_OURS.test(message)) return
    const force = step.path.includes('force=true')
    const kind = step.name === 'wrong-apiversion' ? 'ConfigMap' : step.body.kind
    const context = contextOf(kind, target, this.#schemas)
    const run = () => serverSideApply({ live, applied: step.body as KubeObject, manager: target.manager, force, context })
    this.checked++
    if (recorded.kind === 'Status') {
      assert.throws(run, (error: unknown) => {
        assert.ok(error instanceof StatusError, String(error))
        assert.deepEqual(error.status, recorded, step.name)
        return true
      })
      return
    }
    const { object } = run()
    assert.deepEqual(sorted(object.metadata.managedFields), sorted(recorded.metadata.managedFields), step.name)
    const { metadata, ...rest } = object
    const { managedFields: _m, resourceVersion: _v, generation: _g, ...meta } = metadata
    if (!NORMALISED.has(step.name)) assert.ok(contains(recorded, { ...rest, metadata: meta }), `${step.name}: ${JSON.stringify(object)}`)
  }

  #scale(step: Step, target: Target, live: KubeObject | undefined): void {
    assert.ok(live !== undefined && step.responseBody !== undefined)
    const ownership = {
      parent: live.metadata.managedFields ?? [],
      group: target.group,
      version: target.version,
      replicasPaths: new Map([[groupVersion(target.group, target.version), ['spec', 'replicas']]]),
    }
    const managedFields = scaleManagedFields(ownership) ?? []
    const before = { ...step.responseBody, spec: live.spec, metadata: { ...step.responseBody.metadata, managedFields } } as KubeObject
    const scaleTarget = { ...target, group: 'autoscaling', version: 'v1' }
    const context = { ...contextOf('Scale', scaleTarget, this.#schemas), subresource: 'scale' }
    const { replicas } = live.spec as { replicas: number }
    const written = trackUpdate({ live: { ...before, spec: { replicas } }, next: step.responseBody, manager: target.manager, context })
    const after = parentManagedFields(ownership, written.metadata.managedFields ?? [])
    this.#live.set(target.key, { ...live, metadata: { ...live.metadata, ...(after === undefined ? {} : { managedFields: after }) } })
  }

  /** The result of the functions for the last object, for steps whose answer does not show it. */
  managedFieldsOf(key: string): readonly ManagedFieldsEntry[] {
    return sorted(this.#live.get(key)?.metadata.managedFields)
  }
}

function sequencesOf(file: string): Map<string, Step[]> {
  const sequences = new Map<string, Step[]>()
  for (const step of stepsOf(file)) sequences.set(step.seq, [...(sequences.get(step.seq) ?? []), step])
  return sequences
}

describe('recorded server-side apply', () => {
  let checked = 0
  for (const [name, steps] of sequencesOf('ssa')) {
    it(name, () => {
      const replay = new Replay(builtIn)
      for (const step of steps) {
        if (step.name === 'replicas-handover-3') {
          assert.deepEqual(replay.managedFieldsOf('apps/deployments/a'), sorted(step.responseBody?.metadata.managedFields))
        }
        replay.step(step)
      }
      checked += replay.checked
    })
  }
  it('checks nearly every step', () => assert.ok(checked >= 95, String(checked)))

  it('crds/cr-ssa', () => {
    const steps = sequencesOf('crds').get('crds/cr-ssa') ?? []
    const crd = steps[0]?.body as unknown as { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } }
    const schema = crd.spec.versions[0]?.schema.openAPIV3Schema
    const replay = new Replay(({ version }) => (version === 'v1' ? schema : undefined))
    for (const step of steps.slice(3)) replay.step(step)
    assert.equal(replay.checked, 15)
  })
})
