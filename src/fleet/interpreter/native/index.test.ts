import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deepFreeze } from '../../../base/json.ts'
import { nativeLayer } from './index.ts'

/** What each kind has besides reflecting its status. */
const RULES: Readonly<Record<string, string[]>> = {
  'apps/v1 Deployment': ['aggregate', 'dependencies', 'health', 'replicas', 'retain', 'revise'],
  'apps/v1 ReplicaSet': ['aggregate', 'dependencies', 'health', 'replicas', 'revise'],
  'apps/v1 StatefulSet': ['aggregate', 'dependencies', 'health', 'replicas', 'revise'],
  'apps/v1 DaemonSet': ['aggregate', 'dependencies', 'health'],
  'batch/v1 Job': ['aggregate', 'dependencies', 'replicas', 'retain', 'revise'],
  'batch/v1 CronJob': ['aggregate', 'dependencies'],
  'v1 Pod': ['aggregate', 'dependencies', 'health', 'replicas', 'retain'],
  'v1 Service': ['aggregate', 'health', 'retain'],
  'v1 ServiceAccount': ['retain'],
  'v1 Secret': ['retain'],
  'v1 PersistentVolume': ['aggregate', 'retain'],
  'v1 PersistentVolumeClaim': ['aggregate', 'health', 'retain'],
  'networking.k8s.io/v1 Ingress': ['aggregate', 'dependencies', 'health'],
  'policy/v1 PodDisruptionBudget': ['aggregate', 'health'],
  'autoscaling/v2 HorizontalPodAutoscaler': ['aggregate'],
  'multicluster.x-k8s.io/v1alpha1 ServiceImport': ['dependencies'],
  'v1 ConfigMap': [],
  'apps/v1beta1 Deployment': [],
  'batch.volcano.sh/v1alpha1 Job': [],
}

describe('the native layer', () => {
  for (const [gvk, wanted] of Object.entries(RULES)) {
    it(`${gvk}: reflect ${wanted.join(' ')}`, () => {
      const [apiVersion = '', kind = ''] = gvk.split(' ')
      const rules = nativeLayer().rulesOf(apiVersion, kind) ?? {}
      assert.deepEqual(Object.keys(rules).sort(), [...wanted, 'reflect'].sort())
    })
  }

  it('reflects the whole status of a kind it does not know', () => {
    const rules = nativeLayer().rulesOf('example.com/v1', 'Widget')
    const metadata = { name: 'x' }
    const widget = deepFreeze({ apiVersion: 'example.com/v1', kind: 'Widget', metadata, status: { any: ['thing'] } })
    assert.equal(rules?.reflect?.(widget), widget.status)
    assert.equal(rules?.reflect?.({ apiVersion: 'example.com/v1', kind: 'Widget', metadata }), undefined)
  })

  it('names the priority class of pods unless told otherwise', () => {
    const spec = { replicas: 1, template: { spec: { nodeSelector: { a: 'b' }, priorityClassName: 'high' } } }
    const deployment = deepFreeze({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' }, spec })
    const nodeClaim = { nodeSelector: { a: 'b' } }
    const ask = (layer: ReturnType<typeof nativeLayer>) => layer.rulesOf('apps/v1', 'Deployment')?.replicas?.(deployment)
    assert.deepEqual(ask(nativeLayer()), { replicas: 1, requirements: { nodeClaim, priorityClassName: 'high' } })
    assert.deepEqual(ask(nativeLayer({ priorityClassName: false })), { replicas: 1, requirements: { nodeClaim } })
  })
})
