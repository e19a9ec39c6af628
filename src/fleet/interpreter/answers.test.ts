import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { componentsOf, referencesOf, requirementsOf } from './answers.ts'

describe('answers of scripts and webhooks', () => {
  it('have requirements as bindings have them', () => {
    const nodeClaim = { nodeSelector: { a: 'b' }, tolerations: [{ operator: 'Exists' }], hardNodeAffinity: { nodeSelectorTerms: [] } }
    assert.deepEqual(requirementsOf({ nodeClaim, priorityClassName: 'high', namespace: 'shop' }), {
      nodeClaim,
      namespace: 'shop',
      priorityClassName: 'high',
    })
    assert.deepEqual(requirementsOf({ nodeClaim: { nodeSelector: {}, tolerations: [], other: 1 }, resourceRequest: {}, namespace: '' }), {
      nodeClaim: {},
    })
    assert.deepEqual(requirementsOf({ other: 1 }), {})
  })

  const QUANTITIES: readonly [unknown, string][] = [
    ['250m', '250m'],
    ['0.5', '500m'],
    ['1000m', '1'],
    ['1024Mi', '1Gi'],
    [2, '2'],
    [0.5, '500m'],
    [null, '0'],
  ]
  for (const [given, wanted] of QUANTITIES) {
    it(`write the quantity ${JSON.stringify(given)} as ${wanted}`, () =>
      assert.deepEqual(requirementsOf({ resourceRequest: { cpu: given } }), { resourceRequest: { cpu: wanted } }))
  }

  it('have components of whole replicas, which name no namespace', () => {
    const components = [{ name: 'a', replicas: 2, replicaRequirements: { namespace: 'x', resourceRequest: { cpu: 1 } } }, { other: 1 }]
    assert.deepEqual(componentsOf(components), [
      { name: 'a', replicas: 2, replicaRequirements: { resourceRequest: { cpu: '1' } } },
      { name: '', replicas: 0 },
    ])
  })

  it('refer to what can be found', () => {
    const labelSelector = { matchLabels: { app: 'web' } }
    const references = [
      { apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: 's', uid: 'x' },
      { apiVersion: 'v1', kind: 'Secret', namespace: '', labelSelector },
    ]
    assert.deepEqual(referencesOf(references), [
      { apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: 's' },
      { apiVersion: 'v1', kind: 'Secret', labelSelector },
    ])
    assert.throws(() => referencesOf([{ name: 'x' }]), {
      message:
        '[dependencies[0].apiVersion: Invalid value: "": missing required apiVersion, dependencies[0].kind: Invalid value: "": missing required kind]',
    })
    assert.throws(
      () => referencesOf([{ apiVersion: 'v1', kind: 'Secret' }]),
      /dependencies\[0\]: .*can not leave name and labelSelector all empty/,
    )
  })

  const WRONG: readonly [string, () => unknown, RegExp][] = [
    ['requirements that are a list', () => requirementsOf([]), /replicaRequirements is not a struct/],
    ['a claim that is a text', () => requirementsOf({ nodeClaim: 'x' }), /replicaRequirements.nodeClaim is not a struct/],
    ['tolerations that are a struct', () => requirementsOf({ nodeClaim: { tolerations: {} } }), /tolerations is not a list/],
    ['a quantity that is none', () => requirementsOf({ resourceRequest: { cpu: 'x' } }), /resourceRequest.cpu is not a quantity: /],
    ['a quantity that is a struct', () => requirementsOf({ resourceRequest: { cpu: {} } }), /resourceRequest.cpu is not a quantity/],
    ['half a replica', () => componentsOf([{ name: 'a', replicas: 0.5 }]), /components\[0\].replicas is not a whole number/],
    ['a name that is a number', () => componentsOf([{ name: 1 }]), /components\[0\].name is not a text/],
    ['a reference that is a text', () => referencesOf(['x']), /dependencies\[0\] is not a struct/],
  ]
  for (const [name, answer, message] of WRONG) it(`cannot be ${name}`, () => assert.throws(answer, message))
})
