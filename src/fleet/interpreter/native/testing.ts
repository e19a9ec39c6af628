/** Shared by the tests of the native rules: objects of any kind, and the rules that the layer has for them. */
import assert from 'node:assert/strict'
import { deepFreeze } from '../../../base/json.ts'
import type { AggregatedStatusItem } from '../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { KindRules } from '../interpreter.ts'
import { nativeLayer } from './index.ts'

const GROUP_OF: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  DaemonSet: 'apps/v1',
  Job: 'batch/v1',
  CronJob: 'batch/v1',
  Ingress: 'networking.k8s.io/v1',
  PodDisruptionBudget: 'policy/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  ServiceImport: 'multicluster.x-k8s.io/v1alpha1',
}

/** A frozen object named `x` in the namespace `shop`. */
export function anObject(kind: string, fields: object, metadata: object = {}): KubeObject {
  return deepFreeze({ apiVersion: GROUP_OF[kind] ?? 'v1', kind, metadata: { name: 'x', namespace: 'shop', ...metadata }, ...fields })
}

const layer = nativeLayer()

/** The rule of the layer; fails the test when there is none. */
export function ruleOf<Rule extends keyof KindRules>(kind: string, rule: Rule): NonNullable<KindRules[Rule]> {
  const found = layer.rulesOf(GROUP_OF[kind] ?? 'v1', kind)?.[rule]
  assert.ok(found, `${kind} has no rule ${rule}`)
  return found
}

/** Statuses of clusters by name; undefined stands for a cluster that has not reported anything. */
export const itemsOf = (statuses: Readonly<Record<string, Record<string, unknown> | undefined>>): AggregatedStatusItem[] =>
  deepFreeze(
    Object.entries(statuses).map(([clusterName, status]) => ({ clusterName, ...(status === undefined ? {} : { status }), applied: true })),
  )
