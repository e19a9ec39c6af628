import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { filled, goldenObjects, goldenSteps } from '../../../test/conformance/recorded.ts'
import type { Json } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { parseGroupVersion } from '../../kube/meta.ts'
import { bootstrapObjects } from './bootstrap.ts'
import { decodeTyped } from './decode-json.ts'
import { convertEvent } from './event-conversion.ts'
import { convertHorizontalPodAutoscaler } from './hpa-conversion.ts'
import { messageFor } from './message-names.ts'
import { builtinKinds } from './registry.ts'

const kinds = builtinKinds({ rulesFor: () => ({}), printerFor: () => undefined })
const kind = (group: string, plural: string) => kinds.find((k) => k.group === group && k.plural === plural)

describe('the registry of built-in kinds', () => {
  it('has every resource of the recorded discovery with a schema and a struct', () => {
    assert.equal(kinds.length, 67)
    for (const definition of kinds) {
      for (const version of definition.versions) {
        const gvk = { group: definition.group, version: version.name, kind: definition.kind }
        assert.notEqual(version.schema.properties?.metadata, undefined, JSON.stringify(gvk))
        assert.notEqual(messageFor(gvk), undefined, JSON.stringify(gvk))
        if (definition.verbs.includes('list'))
          assert.notEqual(messageFor({ ...gvk, kind: definition.listKind }), undefined, JSON.stringify(gvk))
      }
      for (const { responseKind, name } of definition.subresources) {
        if (responseKind !== undefined) assert.notEqual(messageFor(responseKind), undefined, `${definition.plural}/${name}`)
      }
    }
  })

  it('names versions, subresources and shared storage as the real server does', () => {
    const hpa = kind('autoscaling', 'horizontalpodautoscalers')
    assert.deepEqual(
      hpa?.versions.map((v) => v.name),
      ['v2', 'v1'],
    )
    assert.equal(hpa?.storageVersion, 'v2')
    assert.deepEqual(kind('', 'pods')?.subresources.find((s) => s.name === 'eviction')?.responseKind, {
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
    })
    assert.equal(kind('', 'pods')?.subresources.find((s) => s.name === 'status')?.responseKind, undefined)
    assert.deepEqual(kind('', 'nodes')?.subresources[0]?.responseKind, { group: '', version: 'v1', kind: 'NodeProxyOptions' })
    assert.equal(kind('events.k8s.io', 'events')?.storageKey, 'events')
    assert.deepEqual(kind('apps', 'deployments')?.emptyObject?.('apps/v1'), {
      spec: { replicas: 0, selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} },
      status: {},
    })
  })

  it('has bootstrap objects that typed decoding leaves alone', () => {
    const objects = bootstrapObjects({ now: '2025-06-01T00:00:00Z' })
    assert.equal(objects.length, 182)
    for (const object of objects) {
      const gvk = { ...parseGroupVersion(object.apiVersion), kind: object.kind }
      assert.deepEqual(decodeTyped(gvk, object as unknown as Json).object, object)
    }
  })
})

const recorded = (name: string): KubeObject => {
  const step = goldenSteps().find((s) => s.name === name)
  return filled(step?.responseBody) as unknown as KubeObject
}

describe('conversion between served versions', () => {
  it('shows a v2 autoscaler as v1 as recorded, and back without loss', () => {
    const v2 = recorded('hpa-v2-read-as-v1-1')
    const v1 = recorded('hpa-v2-read-as-v1-2')
    assert.deepEqual(convertHorizontalPodAutoscaler(v2, 'autoscaling/v1'), v1)
    const back = convertHorizontalPodAutoscaler(v1, 'autoscaling/v2') as KubeObject & { spec: { metrics: unknown[] } }
    assert.deepEqual(back.spec.metrics.length, 2)
    assert.equal(back.metadata.annotations, undefined)
  })

  it('carries every kind of metric, status, condition and behaviour through v1', () => {
    const quantity = { type: 'AverageValue', averageValue: '5' }
    const v2 = decodeTyped(
      { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
      {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'a', annotations: { keep: 'me' } },
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
          minReplicas: 2,
          maxReplicas: 9,
          metrics: [
            { type: 'Object', object: { describedObject: { kind: 'Service', name: 's' }, metric: { name: 'm' }, target: quantity } },
            { type: 'Pods', pods: { metric: { name: 'm', selector: { matchLabels: { a: 'b' } } }, target: quantity } },
            { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 60 } } },
            { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target: quantity } },
            { type: 'External', external: { metric: { name: 'q' }, target: { type: 'Value', value: '10k' } } },
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
          ],
          behavior: { scaleDown: { selectPolicy: 'Min', policies: [{ type: 'Pods', value: 1, periodSeconds: 15 }], tolerance: '100m' } },
        },
        status: {
          currentReplicas: 3,
          desiredReplicas: 4,
          currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 42, averageValue: '210m' } } }],
          conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z', reason: 'R', message: 'm' }],
        },
      },
    ).object
    const v1 = convertHorizontalPodAutoscaler(v2, 'autoscaling/v1') as KubeObject & { status: Record<string, unknown> }
    assert.equal(v1.status.currentCPUUtilizationPercentage, 42)
    assert.equal(
      v1.metadata.annotations?.['autoscaling.alpha.kubernetes.io/behavior'],
      '{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Min","Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":15}],"Tolerance":"100m"}}',
    )
    assert.deepEqual(convertHorizontalPodAutoscaler(v1, 'autoscaling/v2'), v2)
  })

  it('gives an old autoscaler without a target its implicit CPU target, and ignores broken annotations', () => {
    const v1 = {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: {
        name: 'a',
        annotations: { 'autoscaling.alpha.kubernetes.io/metrics': '{', 'autoscaling.alpha.kubernetes.io/conditions': '[{"type":1}]' },
      },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3 },
    }
    assert.deepEqual(convertHorizontalPodAutoscaler(v1, 'autoscaling/v2').spec, {
      scaleTargetRef: { kind: 'Deployment', name: 'd' },
      maxReplicas: 3,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }],
    })
  })

  it('shows events under both groups as recorded', () => {
    const events = goldenObjects().filter((o) => o.kind === 'Event') as unknown as KubeObject[]
    assert.ok(events.length >= 3)
    for (const event of events) {
      const other = event.apiVersion === 'v1' ? 'events.k8s.io/v1' : 'v1'
      const converted = convertEvent(event, other)
      assert.equal(converted.apiVersion, other)
      assert.deepEqual(convertEvent(converted, event.apiVersion), event)
    }
    const core = convertEvent(
      {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name: 'e' },
        regarding: { kind: 'Pod', name: 'p' },
        note: 'hi',
        reportingController: 'c',
      },
      'v1',
    )
    assert.deepEqual(core, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p' },
      message: 'hi',
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      eventTime: null,
      reportingComponent: 'c',
      reportingInstance: '',
    })
  })
})
