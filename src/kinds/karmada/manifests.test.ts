import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { deepClone } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { admit } from './admission/testing.ts'
import { karmadaKinds } from './index.ts'

/** Manifests as people write them, with what a server adds to `spec` (or, without a spec, to the object). */
const MANIFESTS: [string, Record<string, unknown>][] = [
  [
    `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: one, namespace: work }
spec:
  resourceSelectors:
    - { apiVersion: apps/v1, kind: Deployment, namespace: work, name: web }
    - apiVersion: v1
      kind: ConfigMap
      namespace: work
      labelSelector: { matchLabels: { app: web }, matchExpressions: [{ key: tier, operator: In, values: [front] }] }
  propagateDeps: true
  priority: 5
  preemption: Never
  schedulerName: default-scheduler
  conflictResolution: Overwrite
  activationPreference: Lazy
  dependentOverrides: [images]
  placement:
    clusterAffinities:
      - affinityName: local
        clusterNames: [member1, member2]
        overflowAffinities:
          - affinityName: cloud
            fieldSelector: { matchExpressions: [{ key: provider, operator: In, values: [cloud] }] }
      - affinityName: backup
        labelSelector: { matchLabels: { role: backup } }
        exclude: [member9]
    clusterTolerations:
      - { key: cluster.karmada.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 30 }
    spreadConstraints:
      - { spreadByField: region, minGroups: 2, maxGroups: 3 }
      - { spreadByField: cluster, minGroups: 2, maxGroups: 5 }
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference: { dynamicWeight: AvailableReplicas }
    workloadAffinity: { antiAffinity: { groupByLabelKey: app } }
  failover:
    application:
      decisionConditions: { tolerationSeconds: 120 }
      purgeMode: Gracefully
      gracePeriodSeconds: 300
      statePreservation: { rules: [{ aliasLabelName: failover/job, jsonPath: '{ .jobStatus.jobID }' }] }
    cluster: { purgeMode: Directly }
  suspension: { dispatching: false, dispatchingOnClusters: { clusterNames: [member3] } }
  preserveResourcesOnDeletion: true
  schedulePriority: { priorityClassSource: KubePriorityClass, priorityClassName: high }
`,
    {},
  ],
  [
    `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: { name: one }
spec:
  resourceSelectors: [{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: 'system:reader' }]
  placement:
    clusterAffinity: { clusterNames: [member1] }
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference:
        staticWeightList:
          - { targetCluster: { clusterNames: [member1] }, weight: 2 }
          - { targetCluster: { labelSelector: { matchLabels: { a: b } } }, weight: 1 }
`,
    { priority: 0, preemption: 'Never', conflictResolution: 'Abort', schedulerName: 'default-scheduler' },
  ],
  [
    `apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: { name: one, namespace: work }
spec:
  resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment, namespace: work, name: web }]
  overrideRules:
    - targetCluster: { clusterNames: [member1] }
      overriders:
        plaintext: [{ path: /spec/template/spec/priority, operator: add, value: 7 }, { path: /x, operator: remove }]
        imageOverrider: [{ predicate: { path: /spec/template/spec/containers/0/image }, component: Registry, operator: replace, value: mirror.example.com }]
        commandOverrider: [{ containerName: web, operator: add, value: [--debug] }]
        argsOverrider: [{ containerName: web, operator: remove, value: [--quiet] }]
        labelsOverrider: [{ operator: add, value: { place: east } }]
        annotationsOverrider: [{ operator: remove, value: { note: '' } }]
        fieldOverrider:
          - fieldPath: /data/config.yaml
            yaml: [{ subPath: /db/host, operator: replace, value: { any: [shape, 1, null] } }]
`,
    {},
  ],
  [
    `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: { name: one }
spec:
  targetCluster: { clusterNames: [member1] }
  overriders: { plaintext: [{ path: /metadata/labels/a, operator: replace, value: text }] }
`,
    {},
  ],
  [
    `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: { name: one }
spec:
  targetClusters: { clusterNames: [member1] }
  addOnConditions: [{ conditionType: Ready, operator: NotIn, statusValues: ['True'] }]
  removeOnConditions: [{ conditionType: Ready, operator: In, statusValues: ['True'] }]
  taints: [{ key: not-ready, effect: NoExecute, value: x }]
`,
    {},
  ],
  [
    `apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: { name: one, namespace: work }
spec:
  resource: { apiVersion: apps/v1, kind: Deployment, namespace: work, name: web, uid: u, resourceVersion: '7' }
  replicas: 3
  replicaRequirements:
    nodeClaim:
      hardNodeAffinity: { nodeSelectorTerms: [{ matchExpressions: [{ key: disk, operator: In, values: [ssd] }] }] }
      nodeSelector: { a: b }
      tolerations: [{ key: gpu, operator: Exists }]
    resourceRequest: { cpu: 500m, memory: 1Gi }
    namespace: work
    priorityClassName: high
  components:
    - { name: head, replicas: 1, replicaRequirements: { resourceRequest: { cpu: '1' } } }
  clusters:
    - { name: member1, replicas: 2 }
    - { name: member2, components: [{ name: head, replicas: 1 }] }
  gracefulEvictionTasks:
    - { fromCluster: member3, purgeMode: Never, replicas: 1, reason: ApplicationFailure, message: it is ill, producer: x, gracePeriodSeconds: 5, suppressDeletion: true, preservedLabelState: { a: b }, creationTimestamp: '2025-01-01T00:00:00Z', clustersBeforeFailover: [member3] }
  requiredBy: [{ namespace: work, name: other, clusters: [{ name: member1 }] }]
  rescheduleTriggeredAt: '2025-01-01T00:00:00Z'
  suspension: { scheduling: true }
  schedulePriority: { priority: 9 }
  workloadAffinityGroups: { affinityGroup: a=b, antiAffinityGroup: c=d }
status:
  schedulerObservedGeneration: 2
  schedulerObservingAffinityName: local
  lastScheduledTime: '2025-01-01T00:00:00Z'
  conditions:
    - { type: Scheduled, status: 'True', reason: Success, message: done, lastTransitionTime: '2025-01-01T00:00:00Z' }
  aggregatedStatus:
    - { clusterName: member1, applied: true, health: Healthy, status: { readyReplicas: 2, deep: { er: [1] } } }
    - { clusterName: member2, applied: false, appliedMessage: no }
`,
    { conflictResolution: 'Abort' },
  ],
  [
    `apiVersion: work.karmada.io/v1alpha2
kind: ClusterResourceBinding
metadata: { name: one }
spec:
  resource: { apiVersion: v1, kind: Namespace, name: work }
  schedulePriority: { priority: 0 }
`,
    { conflictResolution: 'Abort' },
  ],
  [
    `apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: { name: one }
spec:
  target: { apiVersion: example.com/v1, kind: Job }
  customizations:
    retention: { luaScript: 'function Retain(d, o) return d end' }
    replicaResource: { luaScript: 'function GetReplicas(o) return 1 end' }
    componentResource: { luaScript: 'function GetComponents(o) return {} end' }
    replicaRevision: { luaScript: 'function ReviseReplica(o, n) return o end' }
    statusReflection: { luaScript: 'function ReflectStatus(o) return o.status end' }
    statusAggregation: { luaScript: 'function AggregateStatus(o, s) return o end' }
    healthInterpretation: { luaScript: 'function InterpretHealth(o) return true end' }
    dependencyInterpretation: { luaScript: 'function GetDependencies(o) return {} end' }
`,
    {},
  ],
  [
    `apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterWebhookConfiguration
metadata: { name: one }
webhooks:
  - name: jobs.example.com
    clientConfig: { service: { namespace: system, name: interpreter, port: 443, path: /interpret }, caBundle: QUJD }
    rules: [{ operations: [InterpretReplica, Retain], apiGroups: [example.com], apiVersions: [v1], kinds: [Job] }]
    timeoutSeconds: 3
    interpreterContextVersions: [v1alpha1]
`,
    {},
  ],
  [
    `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: { name: one, labels: { env: prod } }
spec:
  id: 6b0f3a1e
  syncMode: Push
  apiEndpoint: https://10.0.0.1:6443
  secretRef: { namespace: karmada-cluster, name: one }
  impersonatorSecretRef: { namespace: karmada-cluster, name: one-impersonator }
  insecureSkipTLSVerification: true
  proxyURL: http://proxy:8080
  proxyHeader: { a: b }
  provider: cloud
  region: east
  zones: [east-a]
  taints: [{ key: cluster.karmada.io/not-ready, effect: NoSchedule, timeAdded: '2025-01-01T00:00:00Z' }]
status:
  kubernetesVersion: v1.35.0
  apiEnablements: [{ groupVersion: apps/v1, resources: [{ name: deployments, kind: Deployment }] }]
  conditions: [{ type: Ready, status: 'True', reason: ClusterReady, message: well, lastTransitionTime: '2025-01-01T00:00:00Z' }]
  nodeSummary: { totalNum: 3, readyNum: 2 }
  resourceSummary: { allocatable: { cpu: '8' }, allocating: { cpu: 100m }, allocated: { cpu: 2 }, allocatableModelings: [{ grade: 0, count: 1 }] }
  remedyActions: [TrafficControl]
`,
    {},
  ],
]

describe('manifests of the fleet', () => {
  for (const [text, added] of MANIFESTS) {
    const manifest = parse(text) as KubeObject
    it(`${manifest.kind} is taken as it is written, and what is added is what is promised`, async () => {
      const kind = karmadaKinds.find((one) => one.kind === manifest.kind && manifest.apiVersion === `${one.group}/${one.storageVersion}`)
      assert.ok(kind !== undefined)
      assert.deepEqual(kind.definition.versions[0]?.coerce?.(deepClone(manifest)), { unknown: [] })
      const { apiVersion, kind: _, metadata, ...content } = manifest
      const { object, schema, refused } = await admit(kind, content, { metadata })
      assert.deepEqual([...schema, ...refused], [])
      const expected = content.spec === undefined ? content : { ...content, spec: { ...(content.spec as object), ...added } }
      const { apiVersion: version, kind: name, metadata: meta, ...stored } = object
      assert.deepEqual(
        { ...stored, version, name, meta: meta.name },
        { ...expected, version: apiVersion, name: manifest.kind, meta: 'one' },
      )
    })
  }

  it('are there for every kind but Work, whose manifests gain marks', () => {
    const shown = new Set(MANIFESTS.map(([text]) => (parse(text) as KubeObject).kind))
    assert.deepEqual(
      karmadaKinds.map(({ kind }) => kind).filter((kind) => !shown.has(kind)),
      ['Work'],
    )
  })
})

describe('the kinds of the fleet', () => {
  const rows = karmadaKinds.map(({ definition, group, scope }) => [
    `${definition.plural}.${group}`,
    definition.versions.map(({ name }) => name).join(),
    scope,
    definition.shortNames.join(),
    definition.categories.join(),
    definition.subresources.map(({ name }) => name).join(),
    definition.versions[0]?.printer?.columns.map(({ name }) => name).join(),
  ])

  it('are named, listed and written as Karmada’s', () => {
    const AGE = 'Name,Age'
    assert.deepEqual(rows, [
      [
        'clusters.cluster.karmada.io',
        'v1alpha1',
        'Cluster',
        '',
        'karmada-io',
        'status',
        'Name,Version,Mode,Ready,Age,Zones,Region,Provider,API-Endpoint,Proxy-URL',
      ],
      ['propagationpolicies.policy.karmada.io', 'v1alpha1', 'Namespaced', 'pp', 'karmada-io', '', 'Name,CONFLICT-RESOLUTION,PRIORITY,AGE'],
      [
        'clusterpropagationpolicies.policy.karmada.io',
        'v1alpha1',
        'Cluster',
        'cpp',
        'karmada-io',
        '',
        'Name,CONFLICT-RESOLUTION,PRIORITY,AGE',
      ],
      ['overridepolicies.policy.karmada.io', 'v1alpha1', 'Namespaced', 'op', 'karmada-io', '', AGE],
      ['clusteroverridepolicies.policy.karmada.io', 'v1alpha1', 'Cluster', 'cop', 'karmada-io', '', AGE],
      ['clustertaintpolicies.policy.karmada.io', 'v1alpha1', 'Cluster', '', '', '', AGE],
      ['resourcebindings.work.karmada.io', 'v1alpha2', 'Namespaced', 'rb', 'karmada-io', 'status', 'Name,SCHEDULED,FULLYAPPLIED,AGE'],
      ['clusterresourcebindings.work.karmada.io', 'v1alpha2', 'Cluster', 'crb', 'karmada-io', 'status', 'Name,SCHEDULED,FULLYAPPLIED,AGE'],
      ['works.work.karmada.io', 'v1alpha1', 'Namespaced', 'wk', 'karmada-io', 'status', 'Name,WORKLOAD-KIND,APPLIED,AGE'],
      [
        'resourceinterpretercustomizations.config.karmada.io',
        'v1alpha1',
        'Cluster',
        'ric',
        'karmada-io',
        '',
        'Name,TARGET-API-VERSION,TARGET-KIND,AGE',
      ],
      ['resourceinterpreterwebhookconfigurations.config.karmada.io', 'v1alpha1', 'Cluster', '', 'karmada-io', '', AGE],
    ])
  })

  const missing: [string, Record<string, unknown>, string[]][] = [
    ['PropagationPolicy', { spec: {} }, ['spec.resourceSelectors']],
    ['PropagationPolicy', { spec: { resourceSelectors: [] } }, ['spec.resourceSelectors']],
    [
      'PropagationPolicy',
      { spec: { resourceSelectors: [{}] } },
      ['spec.resourceSelectors[0].apiVersion', 'spec.resourceSelectors[0].kind'],
    ],
    ['ClusterPropagationPolicy', {}, ['spec']],
    ['OverridePolicy', { spec: { overrideRules: [{}] } }, ['spec.overrideRules[0].overriders']],
    ['ResourceBinding', { spec: {} }, ['spec.resource']],
    ['ResourceBinding', { spec: { resource: { apiVersion: 'v1', kind: 'X', name: 'x' }, clusters: [{}] } }, ['spec.clusters[0].name']],
    ['Work', {}, ['spec']],
    ['ResourceInterpreterCustomization', { spec: { target: {} } }, ['spec.customizations', 'spec.target.apiVersion', 'spec.target.kind']],
    ['ResourceInterpreterWebhookConfiguration', {}, ['webhooks']],
    [
      'ClusterTaintPolicy',
      { spec: { addOnConditions: [{}], taints: [{}] } },
      [
        'spec.addOnConditions[0].conditionType',
        'spec.addOnConditions[0].operator',
        'spec.addOnConditions[0].statusValues',
        'spec.taints[0].effect',
        'spec.taints[0].key',
      ],
    ],
  ]
  for (const [name, content, fields] of missing)
    it(`${name} needs ${fields.join(', ')}`, async () => {
      const kind = karmadaKinds.find((one) => one.kind === name)
      assert.ok(kind !== undefined)
      const { schema } = await admit(kind, content)
      assert.deepEqual(schema.map((message) => message.slice(0, message.indexOf(': '))).sort(), fields)
    })
})
