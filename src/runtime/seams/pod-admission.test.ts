import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AdmissionContext, AdmissionRequest } from '../../kinds/admission.ts'
import { invalid } from '../../kube/field-error.ts'
import { asAdmission } from './pod-admission.ts'

const context = {} as AdmissionContext
const request = (object: object | undefined): AdmissionRequest =>
  ({ operation: 'CREATE', group: '', resource: 'pods', namespace: 'default', object }) as unknown as AdmissionRequest

describe('pod admission', () => {
  it('is admission of new pods, with what it declared', () => {
    const reads = [{ group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false }]
    const label = { key: 'example.dev/inject', value: 'yes' }
    const admission = asAdmission({ name: 'Sample', about: 'Nothing.', label, reads, failurePolicy: 'Fail', runsLast: true })
    assert.deepEqual(
      [admission.name, admission.about, admission.label, admission.reads, admission.resources, admission.operations],
      ['Sample', 'Nothing.', label, reads, [{ group: '', resource: 'pods' }], ['CREATE']],
    )
    assert.deepEqual([admission.failurePolicy, admission.runsLast], ['Fail', true])
    assert.deepEqual([admission.mutate, admission.validate], [undefined, undefined], 'what it does not do is not called')
  })

  it('changes the pod in place, and reports what is wrong with it', async () => {
    const admission = asAdmission({
      name: 'Sample',
      about: 'Marks and judges.',
      mutate(pod, namespace) {
        pod.metadata.labels = { seen: namespace }
      },
      validate: (pod) => (pod.metadata.name === 'bad' ? [invalid('metadata.name', 'bad', 'is bad')] : []),
    })
    const pod = { metadata: { name: 'bad' } as Record<string, unknown> }
    await admission.mutate?.(request(pod), context)
    assert.deepEqual(pod.metadata.labels, { seen: 'default' })
    assert.equal((await admission.validate?.(request(pod), context))?.length, 1)
    assert.equal((await admission.validate?.(request({ metadata: { name: 'good' } }), context))?.length, 0)
  })

  it('has nothing to say about a request without an object', async () => {
    const admission = asAdmission({
      name: 'Sample',
      about: 'Never called here.',
      mutate: () => assert.fail('there is no pod'),
      validate: () => assert.fail('there is no pod'),
    })
    await admission.mutate?.(request(undefined), context)
    assert.equal(await admission.validate?.(request(undefined), context), undefined)
  })
})
