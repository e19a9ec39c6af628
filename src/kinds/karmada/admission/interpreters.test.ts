import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../../../kube/meta.ts'
import { ResourceInterpreterCustomization, ResourceInterpreterWebhookConfiguration } from '../index.ts'
import { aComing, admit } from './testing.ts'

const script = { luaScript: 'function F() end' }
const customization = (customizations: Record<string, unknown>, target = { apiVersion: 'apps/v1', kind: 'Deployment' }) => ({
  spec: { target, customizations },
})

describe('an interpreter customization', () => {
  const other = (customizations: Record<string, unknown>, name = 'other'): KubeObject =>
    aComing(ResourceInterpreterCustomization, customization(customizations), { name })

  it('is refused when another one has a script for the same operation of the same kind', async () => {
    for (const [rule, operation] of [
      ['retention', 'Retain'],
      ['replicaResource', 'InterpretReplica'],
      ['componentResource', 'InterpretComponent'],
      ['replicaRevision', 'ReviseReplica'],
      ['statusReflection', 'InterpretStatus'],
      ['statusAggregation', 'AggregateStatus'],
      ['healthInterpretation', 'InterpretHealth'],
    ] as const) {
      const { refused } = await admit(ResourceInterpreterCustomization, customization({ [rule]: script }), {
        stored: [other({ [rule]: script })],
      })
      assert.equal(refused.length, 1)
      assert.ok(
        refused[0]?.endsWith(`conflicting with InterpreterOperation(${operation}) of existing ResourceInterpreterCustomization(other)`),
        refused[0],
      )
    }
  })

  const fine: [string, Record<string, unknown>, KubeObject][] = [
    ['for dependencies, of which there may be many', { dependencyInterpretation: script }, other({ dependencyInterpretation: script })],
    ['for another operation', { retention: script }, other({ replicaResource: script })],
    ['beside an empty script', { retention: script }, other({ retention: { luaScript: '' } })],
    ['that is the same one', { retention: script }, other({ retention: script }, 'one')],
  ]
  for (const [name, customizations, stored] of fine)
    it(`is accepted ${name}`, async () => {
      assert.deepEqual((await admit(ResourceInterpreterCustomization, customization(customizations), { stored: [stored] })).refused, [])
    })

  it('is accepted for another kind', async () => {
    const target = { apiVersion: 'apps/v1', kind: 'StatefulSet' }
    const content = customization({ retention: script }, target)
    assert.deepEqual((await admit(ResourceInterpreterCustomization, content, { stored: [other({ retention: script })] })).refused, [])
  })
})

describe('an interpreter webhook', () => {
  const hook = (more: Record<string, unknown> = {}) => ({
    name: 'a.example.com',
    clientConfig: { url: 'https://example.com/interpret' },
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], kinds: ['Pod'] }],
    interpreterContextVersions: ['v1alpha1'],
    ...more,
  })
  const rule = (more: Record<string, unknown>) =>
    hook({ rules: [{ operations: ['Retain'], apiGroups: ['apps'], apiVersions: ['*'], kinds: ['*'], ...more }] })

  const accepted: [string, Record<string, unknown>[]][] = [
    ['at an address', [hook()]],
    ['at a service without a port', [hook({ clientConfig: { service: { namespace: 'n', name: 's', path: '/x' } } })]],
    ['without rules', [hook({ rules: undefined })]],
    ['with a deadline', [hook({ timeoutSeconds: 30 })]],
    ['among others', [hook(), hook({ name: 'b.example.com' })]],
    ['that knows newer versions too', [hook({ interpreterContextVersions: ['v1beta1', 'v1alpha1'] })]],
    ['for several operations', [rule({ operations: ['InterpretReplica', 'InterpretComponent', 'InterpretHealth'] })]],
  ]
  for (const [name, webhooks] of accepted)
    it(`is accepted ${name}`, async () => {
      const { schema, refused } = await admit(ResourceInterpreterWebhookConfiguration, JSON.parse(JSON.stringify({ webhooks })))
      assert.deepEqual([...schema, ...refused], [])
    })

  const refusedBy: [string, Record<string, unknown>[], RegExp][] = [
    [
      'a short name',
      [hook({ name: 'example.com' })],
      /^webhooks\[0\]\.name: Invalid value: "example\.com": should be a domain with at least three segments separated by dots$/,
    ],
    ['a name twice', [hook(), hook()], /^webhooks\[1\]\.name: Duplicate value: "a\.example\.com"$/],
    [
      'no address',
      [hook({ clientConfig: {} })],
      /^webhooks\[0\]\.clientConfig: Required value: exactly one of url or service is required$/,
    ],
    [
      'two addresses',
      [hook({ clientConfig: { url: 'https://x.example.com', service: { namespace: 'n', name: 's' } } })],
      /exactly one of url or service is required$/,
    ],
    [
      'an open address',
      [hook({ clientConfig: { url: 'http://example.com' } })],
      /^webhooks\[0\]\.clientConfig\.url: .*'https' is the only allowed URL scheme/,
    ],
    [
      'a service at a bad port',
      [hook({ clientConfig: { service: { namespace: 'n', name: 's', port: 0 } } })],
      /service\.port: Invalid value: 0/,
    ],
    [
      'no patience',
      [hook({ timeoutSeconds: 0 })],
      /^webhooks\[0\]\.timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds$/,
    ],
    ['too much patience', [hook({ timeoutSeconds: 31 })], /between 1 and 30 seconds$/],
    ['no operation', [rule({ operations: [] })], /^webhooks\[0\]\.rules\[0\]\.operations: Required value$/],
    [
      'everything and more',
      [rule({ operations: ['*', 'Retain'] })],
      /operations: .*: if '\*' is present, must not specify other operations$/,
    ],
    [
      'an unknown operation',
      [rule({ operations: ['Retain', 'Dance'] })],
      /^webhooks\[0\]\.rules\[0\]\.operations\[1\]: Unsupported value: "Dance": supported values: "\*", "AggregateStatus"/,
    ],
    ['an operation that nobody asks', [rule({ operations: ['Prune'] })], /Unsupported value: "Prune"/],
    ['no group', [rule({ apiGroups: [] })], /apiGroups: Required value$/],
    ['all groups and more', [rule({ apiGroups: ['*', 'apps'] })], /if '\*' is present, must not specify other API groups$/],
    ['no version', [rule({ apiVersions: [] })], /apiVersions: Required value$/],
    ['all versions and more', [rule({ apiVersions: ['*', 'v1'] })], /must not specify other API versions$/],
    ['an empty version', [rule({ apiVersions: [''] })], /apiVersions\[0\]: Required value$/],
    ['no kind', [rule({ kinds: [] })], /kinds: Required value$/],
    ['all kinds and more', [rule({ kinds: ['*', 'Pod'] })], /must not specify other kinds$/],
    ['an empty kind', [rule({ kinds: [''] })], /kinds\[0\]: Required value$/],
    [
      'no version of the protocol',
      [hook({ interpreterContextVersions: [] })],
      /^webhooks\[0\]\.interpreterContextVersions: Required value: must specify one of v1alpha1$/,
    ],
    ['only other versions of the protocol', [hook({ interpreterContextVersions: ['v2'] })], /must include at least one of v1alpha1$/],
    [
      'a version of the protocol twice',
      [hook({ interpreterContextVersions: ['v1alpha1', 'v1alpha1'] })],
      /interpreterContextVersions\[1\]: Invalid value: "v1alpha1": duplicate version$/,
    ],
  ]
  for (const [name, webhooks, message] of refusedBy)
    it(`is refused with ${name}`, async () => {
      const { schema, refused } = await admit(ResourceInterpreterWebhookConfiguration, { webhooks })
      assert.deepEqual(schema, [])
      assert.equal(refused.length, 1, refused.join('\n'))
      assert.match(refused[0] ?? '', message)
    })
})
