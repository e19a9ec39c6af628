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

const everyKind = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], kinds: ['*'] }] as ResourceInterpreterWebhook['rules']

function hook(name: string, changes: Partial<ResourceInterpreterWebhook> = {}): ResourceInterpreterWebhook {
  return { name, clientConfig: { url: `https://${name}/` }, rules: everyKind, interpreterContextVersions: ['v1alpha1'], ...changes }
}

const configuration = (name: string, ...webhooks: ResourceInterpreterWebhook[]): ResourceInterpreterWebhookConfiguration =>
  ({
    apiVersion: 'config.karmada.io/v1alpha1',
    kind: 'ResourceInterpreterWebhookConfiguration',
    metadata: { name },
    webhooks,
  }) as ResourceInterpreterWebhookConfiguration

/** A server that answers with `response`, and records its requests. */
function server(response: unknown): { options: WebhookOptions; calls: Call[] } {
  const calls: Call[] = []
  const options: WebhookOptions = {
    uid: () => `uid-${calls.length}`,
    addresses: { service: () => undefined },
    call: async ({ url, caBundle }, body, timeoutMs) => {
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
          replicas: 0,
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
      ['Retain', 0, observed, undefined],
      ['AggregateStatus', 0, undefined, [{ clusterName: 'm1', status: { ready: 1 } }]],
      ['InterpretHealth', 0, undefined, undefined],
      ['InterpretStatus', 0, undefined, undefined],
      ['InterpretComponent', 0, undefined, undefined],
      ['InterpretDependency', 0, undefined, undefined],
    ])
  })

  it('applies patches to what was asked about', async () => {
    const { rules } = rulesWith(patchOf({ op: 'replace', path: '/spec/replicas', value: 7 }))
    assert.deepEqual((await rules.revise(GADGET, 7)).spec, { replicas: 7 })
    assert.deepEqual(GADGET.spec, { replicas: 1 })
  })

  for (const [said, context] of [
    ['nothing', {}],
    ['an empty text', { apiVersion: '', kind: '' }],
    ['its kind alone', { kind: 'ResourceInterpreterContext' }],
    ['its version alone', { apiVersion: 'config.karmada.io/v1alpha1' }],
  ] as const)
    it(`takes an answer that says ${said} about what it is, as Karmada's library writes it`, async () => {
      const answer = ({ uid }: { uid: string }) => ({ ...context, response: { uid, successful: true, healthy: true } })
      assert.equal(await rulesWith(answer).rules.health(GADGET), true)
      const wrong = () => ({ ...context, response: { uid: 'other', successful: true, healthy: true } })
      await assert.rejects(rulesWith(wrong).rules.health(GADGET), /expected response.uid/)
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
      'another version',
      'health',
      ({ uid }: { uid: string }) => ({ apiVersion: 'config.karmada.io/v2', response: { uid, successful: true, healthy: true } }),
      /got config.karmada.io\/v2, Kind=/,
    ],
    [
      'no response',
      'health',
      () => ({ apiVersion: 'config.karmada.io/v1alpha1', kind: 'ResourceInterpreterContext' }),
      /response was absent/,
    ],
    ['another uid', 'health', { uid: 'other', healthy: true }, /expected response.uid "uid-0", got "other"/],
    [
      'no success',
      'health',
      { successful: false, status: { message: 'not now', code: 503 } },
      /"conf\/hook.example.io": webhook call failed, get status code: 503, msg: not now$/,
    ],
    ['no success without a reason', 'health', { successful: false }, /require response.status when response.successful is false/],
    ['no replicas', 'replicas', {}, /nil response.replicas/],
    ['no health', 'health', {}, /nil response.healthy/],
    ['no status', 'reflect', {}, /nill response.rawStatus/],
    ['a patch without type', 'revise', { patch: 'W10=' }, /nil response.patchType/],
    ['a type without patch', 'revise', { patchType: 'JSONPatch' }, /empty response.patch/],
    ['another type of patch', 'revise', { patch: 'W10=', patchType: 'MergePatch' }, /invalid response.patchType of "MergePatch"/],
    ['a patch that does not apply', 'revise', patchOf({ op: 'remove', path: '/nothing/here' }), /does not apply/],
    ['a patch that is none', 'revise', { patchType: 'JSONPatch', patch: 'bm90IGpzb24=' }, /does not apply/],
    [
      'a dependency without kind',
      'dependencies',
      { dependencies: [{ apiVersion: 'v1', name: 'x' }] },
      /dependencies\[0\].kind: Invalid value: "": missing required kind/,
    ],
    [
      'a dependency on nothing',
      'dependencies',
      { dependencies: [{ apiVersion: 'v1', kind: 'Secret' }] },
      /can not leave name and labelSelector all empty/,
    ],
    [
      'a dependency with a selector that is none',
      'dependencies',
      { dependencies: [{ apiVersion: 'v1', kind: 'Secret', labelSelector: { matchLabels: { 'a b': 'c' } } }] },
      /dependencies\[0\].labelSelector.matchLabels: Invalid value: "a b"/,
    ],
    ['requirements that are none', 'replicas', { replicas: 1, replicaRequirements: { resourceRequest: { cpu: 'x' } } }, /not a quantity/],
    ['a component of half a replica', 'components', { components: [{ name: 'a', replicas: 0.5 }] }, /components\[0\].replicas/],
  ]
  for (const [name, rule, response, message] of REFUSED) {
    it(`refuses ${name}`, async () => {
      const { rules } = rulesWith(response)
      const ask = rules[rule] as (object: KubeObject, more?: unknown) => Promise<unknown>
      await assert.rejects(
        ask(GADGET, 1),
        (error: Error) =>
          message.test(error.message) &&
          error.message.startsWith('Internal error occurred: failed calling webhook "conf/hook.example.io": '),
      )
    })
  }

  it('a call that fails is an error with its reason', async () => {
    const { rules } = rulesWith(() => {
      throw new Error('connection refused')
    })
    await assert.rejects(rules.health(GADGET), /failed calling webhook "conf\/hook.example.io": failed to call webhook: connection refused/)
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
        ['https://z.example.io/?timeout=3s', 3000],
        ['https://a.example.io/', 10_000],
      ],
    )
    assert.equal(rules.retain, undefined)
    assert.equal(layer.rulesOf('example.io/v2', 'Gadget'), undefined)
    assert.equal(layer.rulesOf('v1', 'Gadget'), undefined)
  })

  it('takes hooks in the order of their names, not of what stands behind them', async () => {
    const { rules, calls } = rulesWith({ healthy: true }, hook('rules-b'), hook('rules'))
    await rules.health(GADGET)
    assert.deepEqual(
      calls.map(({ url }) => url),
      ['https://rules/'],
    )
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
  })

  it('is the name of its service, wherever that is: certificates are for the name', () => {
    const url = 'https://rules.ops.svc:8443/interpret'
    const ports = [{ port: 443 }, { port: 8443 }]
    const found = (spec: AddressedService['spec']) => targetOf({ service }, { service: () => ({ spec }) })
    const connectTo = (host: string) => ({ url, caBundle: undefined, connectTo: { host, port: 8443 } })
    assert.deepEqual(found({ clusterIP: '10.0.0.9', ports }), connectTo('10.0.0.9'))
    assert.deepEqual(found({ type: 'NodePort', clusterIP: 'fd00::9', ports }), connectTo('fd00::9'))
    assert.deepEqual(found({ type: 'ExternalName', externalName: 'rules.example.com' }), connectTo('rules.example.com'))
  })

  it('cannot be a headless service, a port that it does not have, nor nothing', () => {
    assert.throws(() => at({ spec: { clusterIP: 'None' } }), /cannot route to service with ClusterIP "None"/)
    assert.throws(() => at({ spec: { clusterIP: '10.0.0.9', ports: [{ port: 80 }] } }), /no service port 8443 found for service "rules"/)
    assert.throws(() => targetOf({}, { service: () => undefined }), /either service or URL/)
  })
})
