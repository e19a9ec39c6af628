/** Updates beyond the transcripts: what may change through which subresource. The messages are those of a real server. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deepClone, deepFreeze } from '../../../../base/json.ts'
import { fieldErrorMessage } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import { workloadRules } from './index.ts'

type Fields = Record<string, unknown>

const TIME = '2026-01-02T03:04:05Z'
const context = (operation: 'create' | 'update', subresource = ''): RuleContext => ({
  operation,
  subresource,
  now: TIME,
  user: { name: 'admin', groups: [] },
})

const rulesOf = (kind: string): KindRules => {
  const rules = workloadRules[kind]
  assert.ok(rules)
  return rules
}

function created(kind: string, spec: Fields, status?: Fields): KubeObject {
  const rules = rulesOf(kind)
  const object: KubeObject = { apiVersion: '', kind: '', metadata: { name: 'a', namespace: 'b', uid: 'u' }, spec: deepClone(spec) }
  rules.applyDefaults?.(object, 'v1')
  rules.prepareForCreate?.(object, context('create'))
  assert.deepEqual(rules.validateCreate?.(object, context('create')), [])
  if (status !== undefined) object.status = { ...(object.status as Fields), ...status }
  return deepFreeze(object)
}

/** The object after the change and what was wrong with it. The stored one is frozen, as in the server. */
function changed(kind: string, old: KubeObject, change: (object: KubeObject & { spec: Fields; status: Fields }) => void, door = '') {
  const rules = rulesOf(kind)
  const object = deepClone(old) as KubeObject & { spec: Fields; status: Fields }
  change(object)
  rules.applyDefaults?.(object, 'v1')
  rules.prepareForUpdate?.(object, old, context('update', door))
  return { object, errors: (rules.validateUpdate?.(object, old, context('update', door)) ?? []).map(fieldErrorMessage) }
}

const container = { name: 'c', image: 'nginx:1' }
const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [container] } }
const selector = { matchLabels: { app: 'x' } }

describe('pods', () => {
  it('keep their status at the front door, their spec at the back', () => {
    const old = created('/Pod', { containers: [container] })
    const front = changed('/Pod', old, (pod) => {
      pod.status.phase = 'Running'
    })
    assert.deepEqual(front.object.status, old.status)
    assert.equal(front.object.metadata.generation, 1)
    const back = changed(
      '/Pod',
      old,
      (pod) => {
        pod.spec.nodeName = 'n1'
        pod.status.phase = 'Running'
      },
      'status',
    )
    assert.deepEqual(back.object.spec, old.spec)
    assert.equal((back.object.status as Fields).phase, 'Running')
  })

  it('count a generation when an image changes', () => {
    const { object, errors } = changed('/Pod', created('/Pod', { containers: [container] }), (pod) => {
      pod.spec.containers = [{ ...container, image: 'nginx:2' }]
    })
    assert.deepEqual(errors, [])
    assert.equal(object.metadata.generation, 2)
  })

  it('can be narrowed to fewer nodes while they are gated, and no longer', () => {
    const gated = created('/Pod', { containers: [container], schedulingGates: [{ name: 'a/b' }], nodeSelector: { a: 'b' } })
    const narrow = (value: string) => (pod: { spec: Fields }) => {
      pod.spec.nodeSelector = { a: value, c: 'd' }
    }
    assert.deepEqual(changed('/Pod', gated, narrow('b')).errors, [])
    assert.deepEqual(changed('/Pod', gated, narrow('z')).errors, [
      'spec.nodeSelector: Invalid value: {"a":"z","c":"d"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ])
    const free = created('/Pod', { containers: [container] })
    assert.match(changed('/Pod', free, narrow('b')).errors[0] ?? '', /^spec: Forbidden: pod updates may not change fields other than/)
  })

  it('get no new scheduling gates', () => {
    const { errors } = changed('/Pod', created('/Pod', { containers: [container] }), (pod) => {
      pod.spec.schedulingGates = [{ name: 'a/b' }]
    })
    assert.deepEqual(errors, ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a/b'"])
  })

  it('take only resources through the door for resizing', () => {
    const resources = { requests: { cpu: '1' }, limits: { cpu: '2' } }
    const old = created('/Pod', { containers: [{ ...container, resources }] })
    const { object, errors } = changed(
      '/Pod',
      old,
      (pod) => {
        pod.metadata.labels = { a: 'b' }
        pod.spec.nodeName = 'n1'
        pod.spec.containers = [{ ...container, image: 'other', resources: { requests: { cpu: '500m' }, limits: { cpu: '2' } } }]
      },
      'resize',
    )
    assert.deepEqual(errors, [])
    assert.equal(object.metadata.labels, undefined)
    assert.equal(object.metadata.generation, 2)
    const [resized] = object.spec.containers as Fields[]
    assert.equal(resized?.image, 'nginx:1')
    assert.deepEqual(resized?.resources, { requests: { cpu: '500m' }, limits: { cpu: '2' } })
  })

  it('lose no resources by resizing', () => {
    const old = created('/Pod', { containers: [{ ...container, resources: { requests: { cpu: '1', memory: '1Gi' } } }] })
    const { errors } = changed(
      '/Pod',
      old,
      (pod) => {
        pod.spec.containers = [{ ...container, resources: { requests: { cpu: '1' } } }]
      },
      'resize',
    )
    assert.deepEqual(errors, ['spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed'])
  })

  it('end at once unless a node runs them', () => {
    const grace = (spec: Fields, phase: string, requested?: number) =>
      rulesOf('/Pod').graceOnDelete?.({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec, status: { phase } }, requested)
    assert.equal(grace({ terminationGracePeriodSeconds: 30 }, 'Pending'), 0)
    assert.equal(grace({ nodeName: 'n', terminationGracePeriodSeconds: 30 }, 'Running'), 30)
    assert.equal(grace({ nodeName: 'n', terminationGracePeriodSeconds: 30 }, 'Running', 5), 5)
    assert.equal(grace({ nodeName: 'n', terminationGracePeriodSeconds: 30 }, 'Running', -1), 1)
    assert.equal(grace({ nodeName: 'n', terminationGracePeriodSeconds: 30 }, 'Succeeded', 5), 0)
  })
})

describe('workloads', () => {
  it('of kind DaemonSet count the changes of their template', () => {
    const old = created('apps/DaemonSet', { selector, template })
    const annotation = (object: KubeObject) => object.metadata.annotations?.['deprecated.daemonset.template.generation']
    assert.equal(annotation(old), '1')
    const same = changed('apps/DaemonSet', old, (object) => {
      object.spec.minReadySeconds = 5
    })
    assert.deepEqual([annotation(same.object), same.object.metadata.generation], ['1', 2])
    const other = changed('apps/DaemonSet', old, (object) => {
      object.spec.template = { ...template, spec: { containers: [{ ...container, image: 'nginx:2' }] } }
    })
    assert.deepEqual([annotation(other.object), other.object.metadata.generation], ['2', 2])
  })

  it('of kind StatefulSet keep their claims', () => {
    const old = created('apps/StatefulSet', { selector, template, serviceName: 's' })
    const { errors } = changed('apps/StatefulSet', old, (object) => {
      object.spec.serviceName = 't'
      object.spec.replicas = 3
    })
    assert.equal(errors.length, 1)
    assert.match(errors[0] ?? '', /^spec: Forbidden: updates to statefulset spec for fields other than 'replicas'/)
  })

  it('of kind Job keep their template, unless they are suspended and at rest', () => {
    const spec = { template: { spec: { restartPolicy: 'Never', containers: [container] } } }
    const steer = (object: { spec: Fields }) => {
      const pod = (object.spec.template as { spec: Fields }).spec
      pod.nodeSelector = { a: 'b' }
      pod.containers = [{ ...container, resources: { requests: { cpu: '1' } } }]
    }
    assert.match(
      changed('batch/Job', created('batch/Job', spec), steer).errors[0] ?? '',
      /^spec\.template: Invalid value: \{.*field is immutable$/,
    )
    const waiting = created('batch/Job', { ...spec, suspend: true })
    assert.deepEqual(changed('batch/Job', waiting, steer).errors, [])
    const active = created('batch/Job', { ...spec, suspend: true }, { startTime: TIME, active: 1 })
    assert.equal(changed('batch/Job', active, steer).errors.length, 1)
  })

  it('of kind Job never go back on their status', () => {
    const spec = { template: { spec: { restartPolicy: 'Never', containers: [container] } } }
    const old = created('batch/Job', spec, { startTime: TIME, failed: 2, succeeded: 1 })
    const { errors } = changed(
      'batch/Job',
      old,
      (job) => {
        job.status = { startTime: TIME, failed: 1, conditions: [{ type: 'Complete', status: 'True' }] }
      },
      'status',
    )
    assert.deepEqual(errors, [
      'status.completionTime: Required value: completionTime is required for Complete jobs',
      'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
      'status.failed: Invalid value: 1: cannot decrease the failed counter',
      'status.succeeded: Invalid value: 0: cannot decrease the succeeded counter',
    ])
  })

  it('of kind Deployment count annotations as a change', () => {
    const old = created('apps/Deployment', { selector, template })
    const { object } = changed('apps/Deployment', old, (deployment) => {
      deployment.metadata.annotations = { a: 'b' }
    })
    assert.equal(object.metadata.generation, 2)
  })

  it('have the fields to select by that the real ones have', () => {
    assert.deepEqual(
      rulesOf('batch/Job').selectableFields?.(
        created('batch/Job', { template: { spec: { restartPolicy: 'Never', containers: [container] } } }, { succeeded: 3 }),
      ),
      {
        'status.successful': '3',
      },
    )
    assert.equal(rulesOf('batch/Job').defaultPropagation, 'orphan')
    assert.equal(rulesOf('apps/Deployment').defaultPropagation, undefined)
  })
})
