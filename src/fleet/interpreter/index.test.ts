import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ResourceInterpreterCustomization, ResourceInterpreterWebhookConfiguration } from '../../kinds/karmada/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { createInterpreter } from './index.ts'
import { type KindRules, type Layer, OPERATIONS } from './interpreter.ts'

const GADGET: KubeObject = { apiVersion: 'example.io/v1', kind: 'Gadget', metadata: { name: 'g' } }

const layerOf = (rules: KindRules): Layer => ({ rulesOf: (_, kind) => (kind === 'Gadget' ? rules : undefined) })

const customization = (script: string): ResourceInterpreterCustomization => ({
  apiVersion: 'config.karmada.io/v1alpha1',
  kind: 'ResourceInterpreterCustomization',
  metadata: { name: 'c' },
  spec: { target: { apiVersion: 'example.io/v1', kind: 'Gadget' }, customizations: { statusReflection: { luaScript: script } } },
})

const webhook: ResourceInterpreterWebhookConfiguration = {
  apiVersion: 'config.karmada.io/v1alpha1',
  kind: 'ResourceInterpreterWebhookConfiguration',
  metadata: { name: 'w' },
  webhooks: [
    {
      name: 'w.example.io',
      clientConfig: { url: 'https://w.example.io' },
      rules: [{ operations: ['InterpretStatus'], apiGroups: ['example.io'], apiVersions: ['*'], kinds: ['*'] }],
      interpreterContextVersions: ['v1alpha1'],
    },
  ],
}

function interpreter() {
  return createInterpreter({
    now: () => 0,
    native: layerOf({ reflect: () => 'native', health: () => true }),
    thirdParty: layerOf({ reflect: () => 'bundled' }),
    webhooks: {
      uid: () => '1',
      addresses: { service: () => undefined },
      call: async () => ({
        apiVersion: 'config.karmada.io/v1alpha1',
        kind: 'ResourceInterpreterContext',
        response: { uid: '1', successful: true, rawStatus: 'webhook' },
      }),
    },
  })
}

describe('interpreter', () => {
  it('asks customizations, webhooks, bundled and native rules, in this order', async () => {
    const asked = interpreter()
    assert.equal(await asked.reflect(GADGET), 'bundled')
    assert.equal(await asked.health(GADGET), true)
    asked.useWebhooks([webhook])
    assert.equal(await asked.reflect(GADGET), 'webhook')
    asked.useCustomizations([customization('function ReflectStatus(obj) return {from = "lua"} end')])
    assert.deepEqual(await asked.reflect(GADGET), { from: 'lua' })
    asked.useCustomizations([])
    asked.useWebhooks([])
    assert.equal(await asked.reflect(GADGET), 'bundled')
  })

  it('an error of the first layer is final', async () => {
    const asked = interpreter()
    asked.useCustomizations([customization('function ReflectStatus(obj) return obj.a.b end')])
    await assert.rejects(asked.reflect(GADGET), /ReflectStatus of Gadget: line 1: attempt to index a nil value \(field 'a'\)/)
  })

  it('knows what it has rules for, and says what it has none for', async () => {
    const asked = interpreter()
    assert.deepEqual(
      OPERATIONS.filter((operation) => asked.has(GADGET, operation)),
      ['InterpretStatus', 'InterpretHealth'],
    )
    assert.equal(asked.has({ apiVersion: 'v1', kind: 'Pod' }, 'InterpretHealth'), false)
    await assert.rejects(asked.replicas(GADGET), {
      message: 'default InterpretReplica interpreter for "example.io/v1, Kind=Gadget" not found',
    })
    await assert.rejects(asked.health({ ...GADGET, apiVersion: 'v1', kind: 'Pod' }), {
      message: 'default InterpretHealth interpreter for "/v1, Kind=Pod" not found',
    })
  })

  it('reports when rules of a kind changed, and only then', () => {
    const asked = interpreter()
    const reported: unknown[] = []
    const stop = asked.onChange((kinds) => reported.push(kinds))
    asked.useCustomizations([customization('x = 1')])
    asked.useCustomizations([customization('x = 1')])
    asked.useCustomizations([customization('x = 2')])
    asked.useWebhooks([webhook])
    stop()
    asked.useCustomizations([])
    const gadget = [{ apiVersion: 'example.io/v1', kind: 'Gadget' }]
    assert.deepEqual(reported, [gadget, gadget, undefined])
  })
})
