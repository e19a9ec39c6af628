import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineAdmission } from '../../kinds/admission.ts'
import { webhookConfigurations, webhookPath } from './configuration.ts'

const own = defineAdmission({
  name: 'GrantCheck',
  resources: [{ group: 'data.sluice.dev', resource: 'datasets' }],
  operations: ['CREATE', 'UPDATE'],
  validate: () => undefined,
})
const others = defineAdmission({
  name: 'PodPlacement',
  resources: [{ group: '', resource: 'pods' }],
  operations: ['CREATE'],
  mutate: () => undefined,
  validate: () => undefined,
})
const mixed = defineAdmission({ ...own, name: 'Mixed', resources: [...own.resources, ...others.resources] })

const made = (admissions: (typeof own)[]) =>
  webhookConfigurations('sluice-member', admissions, {
    target: { url: 'https://10.0.0.1:9443', authority: 'PEM' },
    ownGroups: ['data.sluice.dev'],
  })
const webhooksOf = (kind: string, admissions: (typeof own)[]): Record<string, unknown>[] =>
  (made(admissions).find((one) => one.kind === kind)?.webhooks ?? []) as Record<string, unknown>[]

describe('webhook configurations', () => {
  it('make our own kinds fail closed, and all that touch kinds of others fail open', () => {
    const policies = webhooksOf('ValidatingWebhookConfiguration', [own, others, mixed]).map(({ name, failurePolicy }) => [
      name,
      failurePolicy,
    ])
    assert.deepEqual(policies, [
      ['grant-check.validate.sluice.dev', 'Fail'],
      ['pod-placement.validate.sluice.dev', 'Ignore'],
      ['mixed.validate.sluice.dev', 'Ignore'],
    ])
  })

  it('say all that a server needs to know', () => {
    assert.deepEqual(webhooksOf('MutatingWebhookConfiguration', [own, others]), [
      {
        name: 'pod-placement.mutate.sluice.dev',
        clientConfig: { url: 'https://10.0.0.1:9443/mutate/pod-placement', caBundle: Buffer.from('PEM').toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['*'], resources: ['pods'], operations: ['CREATE'], scope: '*' }],
        failurePolicy: 'Ignore',
        matchPolicy: 'Equivalent',
        sideEffects: 'None',
        timeoutSeconds: 10,
        admissionReviewVersions: ['v1'],
        reinvocationPolicy: 'IfNeeded',
      },
    ])
    assert.equal(webhookPath(others, 'validate'), '/validate/pod-placement')
  })

  it('spare the server calls about objects that do not carry the label', () => {
    const [webhook] = webhooksOf('ValidatingWebhookConfiguration', [defineAdmission({ ...own, label: { key: 'example.test/guarded' } })])
    assert.deepEqual(webhook?.objectSelector, { matchExpressions: [{ key: 'example.test/guarded', operator: 'Exists' }] })
    const label = { key: 'example.test/guarded', value: 'true' }
    const [valued] = webhooksOf('ValidatingWebhookConfiguration', [defineAdmission({ ...own, label })])
    assert.deepEqual(valued?.objectSelector, { matchLabels: { 'example.test/guarded': 'true' } })
  })

  it('fail as the admission says, but never closed for objects that did not ask for it', () => {
    const label = { key: 'example.test/inject', value: 'true' }
    const [closed] = webhooksOf('MutatingWebhookConfiguration', [defineAdmission({ ...others, label, failurePolicy: 'Fail' })])
    assert.equal(closed?.failurePolicy, 'Fail')
    const [open] = webhooksOf('ValidatingWebhookConfiguration', [defineAdmission({ ...own, failurePolicy: 'Ignore' })])
    assert.equal(open?.failurePolicy, 'Ignore')
    assert.throws(() => made([defineAdmission({ ...others, failurePolicy: 'Fail' })]), /PodPlacement would block objects of others.*label/)
    const [ownClosed] = webhooksOf('ValidatingWebhookConfiguration', [defineAdmission({ ...own, failurePolicy: 'Fail' })])
    assert.equal(ownClosed?.failurePolicy, 'Fail')
  })

  it('are called in the order of the admissions', () => {
    const last = defineAdmission({ ...others, name: 'Another' })
    assert.deepEqual(
      webhooksOf('MutatingWebhookConfiguration', [others, last]).map(({ name }) => name),
      ['pod-placement.mutate.sluice.dev', 'another.mutate.sluice.dev'],
    )
  })

  it('are left out when they would be empty', () => {
    assert.deepEqual(
      made([own]).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      ['ValidatingWebhookConfiguration sluice-member'],
    )
    assert.deepEqual(made([]), [])
  })
})
