import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deepFreeze } from '../../../base/json.ts'
import type { ResourceInterpreterWebhook, ResourceInterpreterWebhookConfiguration } from '../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { AsyncKindRules } from '../interpreter.ts'
import { type AddressedService, targetOf } from './address.ts'
import { type WebhookOptions, webhookLayer } from './webhook-layer.ts'

const GADGET: KubeObject = deepFreeze({
  apiVersion: 'example.io/v1',
  kind: 'Gadget',
  metadata: { name: 'g', namespace: 'shop' },
  spec: { replicas: 1 },
})

interface Call {
  url: string
  caBundle: string | undefined
  request: Record<string, unknown>
  timeoutMs: number
}

const everything = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], kinds: ['*'] }] as ResourceInterpreterWebhook['rules']

function hook(name: string, changes: Partial<ResourceInterpreterWebhook> = {}): ResourceInterpreterWebhook {
  return { name, clientConfig: { url: `https://${name}/` }, rules: everything, interpreterContextVersions: ['v1alpha1'], ...changes }
}

const configuration = (name: string, ...webhooks: ResourceInterpreterWebhook[]): ResourceInterpreterWebhookConfiguration =>
  ({
    apiVersion: 'config.karmada.io/v1alpha1',
    kind: 'ResourceInterpreterWebhookConfiguration',
    metadata: { name },
    webhooks,
  }) as ResourceInterpreterWebhookConfiguration

/** A server that answers with `response`, and remembers what it was asked. */
function server(response: unknown): { options: WebhookOptions; calls: Call[] } {
  const calls: Call[] = []
  const options: WebhookOptions = {
    uid: () => `uid-${calls.length}`,
    addresses: { service: () => undefined },
    call: async (url, caBundle, body, timeoutMs) => {
      const { request, ...context } = JSON.parse(body) as { request: Record<string, unknown>; apiVersion: string; kind: string }
      calls.push({ url, caBundle, request, timeoutMs })
      return typeof response === 'function'
        ? (response as (asked: unknown) => unknown)(request)
        : { ...context, response: { uid: request.uid, successful: true, ...(response as object) } }
    },
  }
  return { options, calls }
}

function rulesWith(response: unknown, ...hooks: ResourceInterpreterWebhook[]): { rules: Required<AsyncKindRules>; calls: Call[] } {
  const { options, calls } = server(response)
  const layer = webhookLayer([configuration('conf', ...(hooks.length === 0 ? [hook('hook.example.io')] : hooks))], options)
  return { rules: layer.rulesOf('example.io/v1', 'Gadget') as Required<AsyncKindRules>, calls }
}

const patchOf = (...operations: unknown[]) => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

describe('webhook layer', () => {
  it('asks with the object, and reads the answer', async () => {
    const { rules, calls } = rulesWith({ replicas: 3, replicaRequirements: { resourceRequest: { cpu: '1' } } })
    assert.deepEqual(await rules.replicas(GADGET), { replicas: 3, requirements: { resourceRequest: { cpu: '1' } } })
    assert.deepEqual(calls, [
      {
        url: 'https://hook.example.io/',
        caBundle: undefined,
        timeoutMs: 10_000,
        request: {
          uid: 'uid-0',
          kind: { group: 'example.io', version: 'v1', kind: 'Gadget' },
          name: 'g',
          namespace: 'shop',
          operation: 'InterpretReplica',
          object: GADGET,
        },
      },
    ])
  })

  it('gives each operation what it needs', async () => {
    const { rules, calls } = rulesWith({
      healthy: true,
      rawStatus: { ready: 1 },
      components: [{ name: 'a', replicas: 1 }],
      dependencies: [{ apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: 's' }],
    })
    const observed = { ...GADGET, spec: { replicas: 9 } }
    assert.equal(await rules.revise(GADGET, 7), GADGET)
    assert.equal(await rules.retain(GADGET, observed), GADGET)
    assert.equal(await rules.aggregate(GADGET, [{ clusterName: 'm1', status: { ready: 1 } }]), GADGET)
    assert.equal(await rules.health(GADGET), true)
    assert.deepEqual(await rules.reflect(GADGET), { ready: 1 })
    assert.deepEqual(await rules.components(GADGET), [{ name: 'a', replicas: 1 }])
    assert.deepEqual(await rules.dependencies(GADGET), [{ apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: 's' }])
    const asked = calls.map(({ request }) => [request.operation, request.replicas, request.observedObject, request.aggregatedStatus])
    assert.deepEqual(asked, [
      ['ReviseReplica', 7, undefined, undefined],
      ['Retain', undefined, observed, undefined],
      ['AggregateStatus', undefined, undefined, [{ clusterName: 'm1', status: { ready: 1 } }]],
      ['InterpretHealth', undefined, undefined, undefined],
      ['InterpretStatus', undefined, undefined, undefined],
      ['InterpretComponent', undefined, undefined, undefined],
      ['InterpretDependency', undefined, undefined, undefined],
    ])
  })

  it('applies patches to what was asked about', async () => {
    const { rules } = rulesWith(patchOf({ op: 'replace', path: '/spec/replicas', value: 7 }))
    assert.deepEqual((await rules.revise(GADGET, 7)).spec, { replicas: 7 })
    assert.deepEqual(GADGET.spec, { replicas: 1 })
  })

  const REFUSED: readonly [string, keyof AsyncKindRules, unknown, RegExp][] = [
    ['no JSON object', 'health', () => 'hello', /was no JSON object/],
    [
      'another kind',
      'health',
      () => ({ apiVersion: 'v1', kind: 'Pod' }),
      /expected webhook response of config.karmada.io\/v1alpha1, Kind=ResourceInterpreterContext, got v1, Kind=Pod/,
    ],
    [
      'no response',
      'health',
      () => ({ apiVersion: 'config.karmada.io/v1alpha1', kind: 'ResourceInterpreterContext' }),
      /response was absent/,
    ],
    ['another uid', 'health', { uid: 'other', healthy: true }, /expected response.uid "uid-0", got "other"/],
    ['no success', 'health', { successful: false, status: { message: 'not now', code: 503 } }, /webhook call failed: not now \(code 503\)/],
    ['no success without a reason', 'health', { successful: false }, /no reason was given/],
    ['no replicas', 'replicas', {}, /no response.replicas/],
    ['no health', 'health', {}, /nil response.healthy/],
    ['no status', 'reflect', {}, /nil response.rawStatus/],
    ['a patch without type', 'revise', { patch: 'W10=' }, /response.patch but not response.patchType/],
    ['a type without patch', 'revise', { patchType: 'JSONPatch' }, /response.patchType but not response.patch/],
    ['another type of patch', 'revise', { patch: 'W10=', patchType: 'MergePatch' }, /invalid response.patchType of "MergePatch"/],
    ['a patch that does not apply', 'revise', patchOf({ op: 'remove', path: '/nothing/here' }), /does not apply/],
    ['a patch that is none', 'revise', { patchType: 'JSONPatch', patch: 'bm90IGpzb24=' }, /does not apply/],
    [
      'a dependency without kind',
      'dependencies',
      { dependencies: [{ apiVersion: 'v1', name: 'x' }] },
      /missing required apiVersion or kind/,
    ],
    [
      'a dependency on nothing',
      'dependencies',
      { dependencies: [{ apiVersion: 'v1', kind: 'Secret' }] },
      /can not leave name and labelSelector all empty/,
    ],
    [
      'a dependency by both',
      'dependencies',
      { dependencies: [{ apiVersion: 'v1', kind: 'Secret', name: 'x', labelSelector: {} }] },
      /both name and labelSelector/,
    ],
  ]
  for (const [name, rule, response, message] of REFUSED) {
    it(`refuses ${name}`, async () => {
      const { rules } = rulesWith(response)
      const ask = rules[rule] as (object: KubeObject, more?: unknown) => Promise<unknown>
      await assert.rejects(
        ask(GADGET, 1),
        (error: Error) => message.test(error.message) && error.message.startsWith('failed calling webhook "hook.example.io" for '),
      )
    })
  }

  it('a call that fails is an error with its reason', async () => {
    const { rules } = rulesWith(() => {
      throw new Error('connection refused')
    })
    await assert.rejects(rules.health(GADGET), /failed calling webhook "hook.example.io" for InterpretHealth: connection refused/)
  })

  it('chooses by rule, then by configuration and name', async () => {
    const rule = (operations: string[], kinds: string[]) =>
      [{ operations, apiGroups: ['example.io'], apiVersions: ['v1'], kinds }] as ResourceInterpreterWebhook['rules']
    const { options, calls } = server({ healthy: true, replicas: 1 })
    const layer = webhookLayer(
      [
        configuration('b', hook('a.example.io', { rules: rule(['InterpretHealth', 'InterpretReplica'], ['*']) })),
        configuration(
          'a',
          hook('z.example.io', { rules: rule(['InterpretHealth'], ['Gadget', 'Other']), timeoutSeconds: 3 }),
          hook('none.example.io', { rules: [] }),
        ),
      ],
      options,
    )
    const rules = layer.rulesOf('example.io/v1', 'Gadget') as AsyncKindRules
    await rules.health?.(GADGET)
    await rules.replicas?.(GADGET)
    assert.deepEqual(
      calls.map(({ url, timeoutMs }) => [url, timeoutMs]),
      [
        ['https://z.example.io/', 3000],
        ['https://a.example.io/', 10_000],
      ],
    )
    assert.equal(rules.retain, undefined)
    assert.equal(layer.rulesOf('example.io/v2', 'Gadget'), undefined)
    assert.equal(layer.rulesOf('v1', 'Gadget'), undefined)
  })

  it('does not talk to a server that speaks another version', async () => {
    const { rules, calls } = rulesWith({ healthy: true }, hook('hook.example.io', { interpreterContextVersions: ['v2'] }))
    await assert.rejects(rules.health(GADGET), /does not accept known ResourceInterpreterContext versions \(v1alpha1\)/)
    assert.equal(calls.length, 0)
  })
})

describe('address of a webhook', () => {
  const service = { namespace: 'ops', name: 'rules', path: '/interpret', port: 8443 }
  const at = (found: AddressedService | undefined, changes = {}) =>
    targetOf({ service: { ...service, ...changes } }, { service: () => found }).url

  it('is its url, or that of its service', () => {
    assert.deepEqual(targetOf({ url: 'https://x/y', caBundle: Buffer.from('PEM').toString('base64') }, { service: () => undefined }), {
      url: 'https://x/y',
      caBundle: 'PEM',
    })
    assert.equal(at(undefined), 'https://rules.ops.svc:8443/interpret')
    assert.equal(at(undefined, { port: undefined, path: undefined }), 'https://rules.ops.svc:443')
    assert.equal(at({ spec: { clusterIP: '10.0.0.9' } }), 'https://10.0.0.9:8443/interpret')
    assert.equal(at({ spec: { type: 'NodePort', clusterIP: 'fd00::9' } }), 'https://[fd00::9]:8443/interpret')
    assert.equal(at({ spec: { type: 'ExternalName', externalName: 'rules.example.com' } }), 'https://rules.example.com:8443/interpret')
  })

  it('cannot be a headless service, nor nothing', () => {
    assert.throws(() => at({ spec: { clusterIP: 'None' } }), /headless service ops\/rules is not supported/)
    assert.throws(() => targetOf({}, { service: () => undefined }), /either service or URL/)
  })
})
