/**
 * Recorded creations of every kind but pods and workloads, replayed on the rules and the built-in admission alone:
 * decode, default, admit, prepare, validate, in the order of the server.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type GoldenStep, goldenSteps } from '../../../../test/conformance/recorded.ts'
import { deepClone, deepFreeze, isJsonObject, type Json, type JsonObject } from '../../../base/json.ts'
import type { FieldError } from '../../../kube/field-error.ts'
import { type KubeObject, parseGroupVersion } from '../../../kube/meta.ts'
import { invalidError, StatusError } from '../../../kube/status.ts'
import { validateObjectMeta } from '../../../kube/validate-meta.ts'
import type { AdmissionContext, AdmissionRequest } from '../../admission.ts'
import type { KindDefinition, RuleContext } from '../../kind.ts'
import { builtinAdmission } from '../admission/index.ts'
import { decodeTyped } from '../decode-json.ts'
import { builtinKinds } from '../registry.ts'
import { rulesFor } from './index.ts'

const NS = 'golden-ns'
const NOW = '2025-06-01T10:20:30Z'
const kinds = builtinKinds({ rulesFor, printerFor: () => undefined })

interface World {
  objects: Map<string, KubeObject>
  admission: ReturnType<typeof builtinAdmission>
}

const keyOf = (of: { group: string; resource: string }, namespace: string, name: string): string =>
  `${of.group}/${of.resource}/${namespace}/${name}`

function newWorld(): World {
  const objects = new Map<string, KubeObject>()
  const put = (group: string, resource: string, object: KubeObject): void => {
    objects.set(keyOf({ group, resource }, object.metadata.namespace ?? '', object.metadata.name ?? ''), deepFreeze(object))
  }
  put('', 'namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS }, status: { phase: 'Active' } })
  for (const [name, value] of [
    ['system-node-critical', 2000001000],
    ['system-cluster-critical', 2000000000],
  ] as const)
    put('scheduling.k8s.io', 'priorityclasses', {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      value,
      preemptionPolicy: 'PreemptLowerPriority',
    })
  return { objects, admission: builtinAdmission({ serviceAccount: false, storageProtection: true }) }
}

function contextOf(world: World, warnings: string[]): AdmissionContext {
  return {
    read: {
      get: (of, namespace, name) => world.objects.get(keyOf(of, namespace, name)),
      list: (of, namespace) =>
        [...world.objects]
          .filter(([key]) => key.startsWith(`${of.group}/${of.resource}/${namespace === undefined ? '' : `${namespace}/`}`))
          .map(([, object]) => object),
    },
    nowMs: Date.parse(NOW),
    newUid: () => assert.fail('no recorded answer depends on chance'),
    authorMay: () => assert.fail('no recorded answer depends on rights'),
    warn: (message) => warnings.push(message),
    async adjust(of, namespace, name, change) {
      const copy = deepClone(world.objects.get(keyOf(of, namespace, name)))
      if (copy !== undefined && change(copy)) world.objects.set(keyOf(of, namespace, name), deepFreeze(copy))
    },
  }
}

async function create(
  world: World,
  definition: KindDefinition,
  body: JsonObject,
  namespace: string,
): Promise<{ object: KubeObject; warnings: string[] }> {
  const { version } = parseGroupVersion(String(body.apiVersion))
  const { object } = decodeTyped({ group: definition.group, version, kind: definition.kind }, body)
  const { rules } = definition
  rules.applyDefaults?.(object, version)
  if (definition.namespaced) object.metadata.namespace = namespace
  else delete object.metadata.namespace
  const warnings: string[] = []
  const context = contextOf(world, warnings)
  const request: AdmissionRequest = {
    operation: 'CREATE',
    group: definition.group,
    version,
    kind: definition.kind,
    resource: definition.plural,
    subresource: '',
    namespace: definition.namespaced ? namespace : '',
    name: object.metadata.name ?? '',
    object,
    user: { name: 'admin', groups: ['system:masters'] },
    dryRun: false,
  }
  const applicable = world.admission.filter(
    (one) =>
      one.operations.includes('CREATE') &&
      one.resources.some(
        (of) => (of.group === '*' || of.group === definition.group) && ['*', '*/*', definition.plural].includes(of.resource),
      ),
  )
  for (const one of applicable) await one.mutate?.(request, context)
  const stored = definition.convert?.(object, definition.storageApiVersion ?? storageVersion(definition)) ?? object
  stored.metadata.uid = '<uid>'
  const ruleContext: RuleContext = { operation: 'create', subresource: '', now: NOW, user: request.user }
  rules.prepareForCreate?.(stored, ruleContext)
  const errors: FieldError[] = [
    ...validateObjectMeta(stored.metadata, { namespaced: definition.namespaced, validateName: rules.validateName }),
    ...(rules.validateCreate?.(stored, ruleContext) ?? []),
  ]
  // Failures name the kind as it is stored: events of either group are core ones.
  if (errors.length > 0)
    throw invalidError({ group: parseGroupVersion(stored.apiVersion).group, kind: definition.kind }, stored.metadata.name ?? '', errors)
  warnings.push(...(rules.warnings?.(stored, undefined, ruleContext) ?? []))
  for (const one of applicable) await one.validate?.({ ...request, object: stored }, context)
  const key = keyOf({ group: definition.group, resource: definition.plural }, stored.metadata.namespace ?? '', stored.metadata.name ?? '')
  world.objects.set(key, deepFreeze(deepClone(stored)))
  return { object: definition.convert?.(stored, String(body.apiVersion)) ?? stored, warnings }
}

const storageVersion = (definition: KindDefinition): string =>
  definition.group === '' ? definition.storageVersion : `${definition.group}/${definition.storageVersion}`

function resolve(path: string): { definition: KindDefinition; namespace: string } | undefined {
  const parts = path.split('?')[0]?.split('/').filter(Boolean) ?? []
  const [root, ...rest] = parts
  const group = root === 'api' ? '' : (rest.shift() ?? '')
  rest.shift()
  const namespace = rest[0] === 'namespaces' && rest.length > 1 ? rest.splice(0, 2)[1] : ''
  if (rest.length !== 1) return undefined
  const definition = kinds.find((kind) => kind.group === group && kind.plural === rest[0])
  return definition === undefined ? undefined : { definition, namespace: namespace ?? '' }
}

/** How many recorded creations of these kinds each group has at least. */
const LEAST = [
  ['defaulting', 60],
  ['validation', 65],
  ['concurrency', 10],
  ['patches', 10],
  ['misc', 5],
  ['listwatch', 30],
  ['auth', 5],
] as const

const OTHERS = new Set([
  'Pod',
  'PodTemplate',
  'ReplicationController',
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
  'DaemonSet',
  'ControllerRevision',
  'Job',
  'CronJob',
  'CustomResourceDefinition',
])

const named = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('<ns>', NS)) as T

/** What depends on the clock, on randomness or on the store, replaced by one mark on both sides. */
function normalised(value: unknown, key = ''): unknown {
  if (key === 'clusterIP' || key === 'clusterIPs')
    return Array.isArray(value) ? value.map((one) => (one === 'None' ? one : '#')) : value === 'None' ? value : '#'
  if (key === 'nodePort' || key === 'healthCheckNodePort') return '#'
  if (typeof value === 'string') return value === NOW || value === '<time>' ? '<time>' : value
  // The recording sorts causes, because the real server's order depends on the order of maps.
  if (key === 'causes' && Array.isArray(value)) return value.map((item) => JSON.stringify(Object.entries(item ?? {}).sort())).sort()
  if (Array.isArray(value)) return value.map((item) => normalised(item))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, item]) => item !== undefined && !['uid', 'resourceVersion', 'creationTimestamp', 'managedFields'].includes(name))
      .map(([name, item]) => [name, normalised(item, name)]),
  )
}

function isReplayable(step: GoldenStep): boolean {
  if (
    step.method !== 'POST' ||
    !isJsonObject(step.body) ||
    step.status >= 500 ||
    step.status === 400 ||
    step.path.includes('?') ||
    step.headers !== undefined
  )
    return false
  if (JSON.stringify(step.body).includes('${') || !isJsonObject(step.body.metadata) || step.body.metadata.generateName !== undefined)
    return false
  const target = resolve(named(step.path))
  return target !== undefined && step.body.kind === target.definition.kind && target.definition.verbs.includes('get')
}

describe('rules and admission against recorded creations', () => {
  for (const [group, least] of LEAST) {
    it(group, async () => {
      let world = newWorld()
      let seq = ''
      let checked = 0
      for (const step of goldenSteps(group)) {
        if (step.seq !== seq) world = newWorld()
        seq = step.seq
        // Objects that others created or changed do not exist here: what depends on them is not compared.
        if (/terminating|quota-exceeded|managedfields-bad|anonymous/.test(step.seq) || !isReplayable(step)) continue
        const target = resolve(named(step.path))
        if (target === undefined) continue
        const body = named(step.body as JsonObject)
        const outcome = await create(world, target.definition, body, target.namespace).then(
          (made) => ({ status: 201, body: made.object as unknown as Json, warnings: made.warnings }),
          (error: unknown) => {
            if (!(error instanceof StatusError)) throw error
            return { status: error.code, body: error.status as unknown as Json, warnings: [] as string[] }
          },
        )
        if (OTHERS.has(target.definition.kind) || [405, 409].includes(step.status) || step.responseBody === undefined) continue
        const expected = named(step.responseBody)
        assert.equal(outcome.status, step.status, `${step.name}: ${JSON.stringify(outcome.body)}`)
        if (step.ignore === undefined) assert.deepEqual(normalised(outcome.body), normalised(expected), step.name)
        const said = (step.responseHeaders?.warning ?? []).map((text) => JSON.parse(text.slice(text.indexOf('"'))) as string)
        if (!said.some((text) => text.includes('is deprecated in v1')))
          assert.deepEqual(
            outcome.warnings,
            said.filter((text) => !text.includes('unknown field')),
            step.name,
          )
        checked++
      }
      assert.ok(checked >= least, `${group}: only ${checked} were checked`)
    })
  }
})
