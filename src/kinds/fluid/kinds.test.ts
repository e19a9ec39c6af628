import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import type { KubeObject } from '../../kube/meta.ts'
import type { OwnKind } from '../schema/define-kind.ts'
import { admit } from './admission/testing.ts'
import { CacheRuntime, Dataset, fluidKinds } from './index.ts'

/** One of each kind, with fields of every sort: what users and controllers write. Stored with nothing lost and nothing added. */
const MANIFESTS = [
  `apiVersion: data.fluid.io/v1alpha1
kind: Dataset
metadata: { name: images, namespace: work, finalizers: [fluid-dataset-controller-finalizer] }
spec:
  mounts:
  - { mountPoint: "s3://lake/images", name: images, readOnly: true, shared: true, options: { endpoint: "http://minio:9000" }, encryptOptions: [{ name: accessKeyId, valueFrom: { secretKeyRef: { name: lake, key: id } } }] }
  - { mountPoint: "https://example.com/models", name: models, path: /models }
  - { mountPoint: "pvc://scratch/tmp", name: scratch }
  owner: { uid: 1000, gid: 1000, user: ann, group: staff }
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: disk, operator: In, values: [ssd] }] }] } }
  tolerations: [{ key: gpu, operator: Exists, effect: NoSchedule, tolerationSeconds: 5 }]
  accessModes: [ReadOnlyMany, ReadWriteMany]
  runtimes: [{ name: images, namespace: work, category: Accelerate, type: cache, masterReplicas: 1 }]
  placement: Shared
  dataRestoreLocation: { path: "pvc://backup/a", nodeName: n1 }
  sharedOptions: { region: eu }
  sharedEncryptOptions: [{ name: secretAccessKey, valueFrom: { secretKeyRef: { name: lake } } }]
status:
  mounts: [{ mountPoint: "s3://lake/images", name: images }]
  ufsTotal: 544.77MiB
  fileNum: "123"
  phase: Bound
  runtimes: [{ name: images, namespace: work, category: Accelerate, type: cache, masterReplicas: 1 }]
  conditions: [{ type: Ready, status: "True", reason: DatasetReady, message: The ddc runtime is ready., lastUpdateTime: "2025-06-01T10:20:30Z", lastTransitionTime: "2025-06-01T10:20:30Z" }]
  cacheStates: { cached: 12.00MiB, cachedPercentage: 2.2% }
  hcfs: { endpoint: "alluxio://x:1", underlayerFileSystemVersion: "3" }
  operationRef: { DataLoad: warm }
  datasetRef: [other/images]
  dataLoadRef: ""
  dataBackupRef: ""
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: Dataset
metadata: { name: smallest, namespace: work }
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: AlluxioRuntime
metadata: { name: images, namespace: work }
spec:
  alluxioVersion: { image: alluxio/alluxio-dev, imageTag: 2.9.0, imagePullPolicy: IfNotPresent }
  master: { replicas: 1, enabled: true, jvmOptions: [-Xmx4G], properties: { a.b: c }, ports: { rpc: 20000 }, resources: { limits: { cpu: 2, memory: 4Gi } }, env: { A: b }, nodeSelector: { a: b }, networkMode: ContainerNetwork, volumeMounts: [{ name: v, mountPath: /v }], podMetadata: { labels: { a: b }, annotations: { a: b } }, imagePullSecrets: [{ name: s }] }
  fuse: { image: a/b, imageTag: "1", args: [fuse], cleanPolicy: OnDemand, networkMode: HostNetwork, global: true, properties: { a: b } }
  initUsers: { image: a/b, env: { A: b }, resources: { requests: { cpu: 100m } } }
  properties: { alluxio.user.block.size.bytes.default: 16MB }
  tieredstore: { levels: [{ mediumtype: MEM, volumeType: hostPath, path: "/dev/shm,/mnt/x", quotaList: "1Gi,2Gi", high: "0.95", low: "0.7" }, { mediumtype: SSD, volumeType: emptyDir, volumeSource: { emptyDir: { medium: Memory, sizeLimit: 1Gi } }, quota: 10Gi }] }
  data: { replicas: 1, pin: true }
  replicas: 2
  runAs: { uid: 1, gid: 1, user: a, group: b }
  disablePrometheus: true
  hadoopConfig: cm
  volumes: [{ name: v, persistentVolumeClaim: { claimName: c } }]
  management: { cleanCachePolicy: { gracePeriodSeconds: 30, maxRetryAttempts: 1 }, metadataSyncPolicy: { autoSync: false } }
status: &status
  valueFile: images-alluxio-values
  setupDuration: 1m20s
  masterPhase: Ready
  desiredMasterNumberScheduled: 1
  currentMasterNumberScheduled: 1
  masterNumberReady: 1
  workerPhase: PartialReady
  desiredWorkerNumberScheduled: 2
  currentWorkerNumberScheduled: 2
  workerNumberReady: 1
  workerNumberAvailable: 1
  workerNumberUnavailable: 1
  fusePhase: Ready
  fuseReason: Fuses are ready
  desiredFuseNumberScheduled: 0
  currentFuseNumberScheduled: 0
  fuseNumberReady: 0
  conditions: [{ type: WorkersReady, status: "True", reason: Workers are ready, message: m, lastProbeTime: "2025-06-01T10:20:30Z", lastTransitionTime: "2025-06-01T10:20:30Z" }]
  cacheStates: { cached: 0.00B }
  selector: app=alluxio
  apiGateway: { endpoint: "http://x" }
  mountTime: "2025-06-01T10:20:30Z"
  mounts: [{ mountPoint: "s3://lake/images" }]
  cacheAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [{ key: metadata.name, operator: In, values: [n1] }] }] } }
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: JuiceFSRuntime
metadata: { name: images, namespace: work }
spec:
  worker: { replicas: 2, ports: [{ name: http, containerPort: 80, protocol: TCP }], env: [{ name: A, valueFrom: { fieldRef: { fieldPath: status.podIP } } }], options: { cache-size: "1" } }
  fuse: { options: { a: b }, env: [{ name: A, value: b }], cleanPolicy: OnRuntimeDeleted, global: false }
  configs: [a]
  replicas: 1
  volumeClaimTemplates: [{ metadata: { name: c, labels: { a: b } }, spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } } }]
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: JindoRuntime
metadata: { name: images, namespace: work }
spec:
  jindoVersion: { image: a, imageTag: b }
  master: { disabled: true, tolerations: [{ operator: Exists }], labels: { a: b } }
  fuse: { metrics: { enabled: true, scrapeTarget: All }, logConfig: { a: b }, disabled: false, global: true }
  networkmode: ContainerNetwork
  user: u
  secret: s
  cleanCachePolicy: { gracePeriodSeconds: 60, maxRetryAttempts: 3 }
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: ThinRuntime
metadata: { name: images, namespace: work }
spec:
  profileName: nfs
  worker: { enabled: true, livenessProbe: { exec: { command: [ls] }, periodSeconds: 5 } }
  fuse: { command: [mount], args: [-f], lifecycle: { preStop: { exec: { command: [umount] } } }, readinessProbe: { httpGet: { port: http, path: / } } }
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: ThinRuntimeProfile
metadata: { name: nfs }
spec: { fileSystemType: nfs, fuse: { image: nfs, imageTag: v1, options: { a: b } }, nodePublishSecretPolicy: NotMountNodePublishSecret }
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: CacheRuntime
metadata: { name: images, namespace: work }
spec:
  runtimeClassName: builtin
  master: { replicas: 1, options: { a: b }, runtimeVersion: { image: a, imageTag: b } }
  worker: { replicas: 3, args: [a], env: [{ name: A, value: b }], nodeSelector: { a: b }, resources: { requests: { memory: 1Gi } }, tieredStore: { levels: [{ processMemory: { quota: 1Gi } }, { hostPath: { paths: [/a, /b], quotas: [1Gi, 2Gi], type: DirectoryOrCreate }, high: "0.9", low: "0.8" }, { emptyDir: { quota: 5Gi, medium: Memory } }] } }
  client: { disabled: false, cleanPolicy: OnDemand, volumeMounts: [{ name: v, mountPath: /v }], tolerations: [{ operator: Exists }] }
  options: { a: b }
  podMetadata: { labels: { a: b } }
  imagePullSecrets: [{ name: s }]
  volumes: [{ name: v, emptyDir: {} }]
status:
  valueFile: fluid-runtime-config-images
  setupDuration: 3s
  conditions: [{ type: WorkersReady, status: "True" }]
  selector: cacheruntime.fluid.io/name=images
  mountTime: "2025-06-01T10:20:30Z"
  worker: { phase: Ready, desiredReplicas: 3, currentReplicas: 3, readyReplicas: 3, availableReplicas: 3, unavailableReplicas: 0, reason: r, message: m }
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: CacheRuntimeClass
metadata: { name: builtin }
fileSystemType: builtin
topology:
  master: { template: { metadata: { labels: { a: b }, annotations: { c: d } }, spec: { containers: [{ name: master, image: i, command: [sluice], ports: [{ containerPort: 1, protocol: TCP }], livenessProbe: { grpc: { port: 1, service: "" } } }], restartPolicy: Always } }, service: { headless: {} }, executionEntries: { mountUFS: { command: [m], timeout: 30 }, reportSummary: { command: [r] } } }
  worker: { options: { a: b }, template: { spec: { containers: [{ name: worker, image: i, resources: { limits: { cpu: 500m, example.com/gpu: 1 } } }] } }, dependencies: { secretMount: { enabled: true }, extraResources: { configMaps: [{ name: c, mountPath: /c }] } } }
  client: { template: { spec: { containers: [{ name: client, image: i, securityContext: { privileged: true } }], hostPID: true } } }
extraResources: { configMaps: [{ name: c, data: { a: b } }] }
dataOperationSpecs: [{ name: DataLoad, image: i, command: [c], args: [a] }]
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: EFCRuntime
metadata: { name: images, namespace: work }
spec: { master: { version: { image: a } }, initFuse: { version: { imageTag: b } }, osAdvise: { osVersion: centos, enabled: true }, replicas: 1 }
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: VineyardRuntime
metadata: { name: images, namespace: work }
spec: { master: { endpoint: { uri: a, options: { a: b }, encryptOptions: [{ name: p, valueFrom: { secretKeyRef: { name: s, key: k } } }] } }, worker: { ports: { rpc: 1 } }, fuse: { cleanPolicy: OnDemand }, replicas: 1 }
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: DataLoad
metadata: { name: warm, namespace: work }
spec:
  dataset: { name: images, namespace: work }
  loadMetadata: true
  target: [{ path: /a, replicas: 2 }]
  policy: Cron
  schedule: "* * * * *"
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: zone, labelSelector: { matchLabels: { a: b } } }] } }
  runAfter: { kind: DataProcess, name: p, apiVersion: data.fluid.io/v1alpha1, namespace: work, affinityStrategy: { policy: Prefer, prefers: [{ name: zone, weight: 5 }], requires: [{ name: host }], dependOn: { kind: DataLoad, name: x } } }
  ttlSecondsAfterFinished: 60
status: { phase: Complete, duration: 5s, conditions: [{ type: Complete, status: "True" }], infos: { a: b }, waitingFor: { operationComplete: false }, lastScheduleTime: "2025-06-01T10:20:30Z" }
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: DataMigrate
metadata: { name: move, namespace: work }
spec: { from: { dataset: { name: images, namespace: work, path: /a } }, to: { externalStorage: { uri: "s3://b", encryptOptions: [] } }, policy: Once, parallelism: 2, parallelOptions: { sshPort: "22" }, block: true, image: i }
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: DataBackup
metadata: { name: save, namespace: work }
spec: { dataset: images, backupPath: "pvc://backup/a", runAs: { uid: 1, gid: 1, user: a, group: b } }
`,
  `apiVersion: data.fluid.io/v1alpha1
kind: DataProcess
metadata: { name: resize, namespace: work }
spec: { policy: Once, dataset: { name: images, mountPath: /data, subPath: a }, processor: { serviceAccountName: s, script: { restartPolicy: OnFailure, source: ls, image: i, command: [sh] } } }
`,
  `apiVersion: workload.fluid.io/v1alpha1
kind: AdvancedStatefulSet
metadata: { name: images-worker, namespace: work }
spec:
  replicas: 2
  selector: { matchLabels: { app: a } }
  serviceName: svc
  podManagementPolicy: Parallel
  template: { metadata: { labels: { app: a } }, spec: { containers: [{ name: c, image: i }] } }
  reserveOrdinals: [0, "3"]
  ordinals: { start: 1 }
  updateStrategy: { type: RollingUpdate, rollingUpdate: { partition: 0, maxUnavailable: 50%, podUpdatePolicy: InPlaceIfPossible, paused: false, minReadySeconds: 5, inPlaceUpdateStrategy: { gracePeriodSeconds: 1 }, unorderedUpdate: { priorityStrategy: { weightPriority: [{ weight: 1, matchSelector: { matchLabels: { a: b } } }], orderPriority: [{ orderedKey: k }] } } } }
  scaleStrategy: { maxUnavailable: 1 }
  lifecycle: { preDelete: { labelsHandler: { a: b }, finalizersHandler: [f], markPodNotReady: true } }
  volumeClaimTemplates: [{ metadata: { name: c }, spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } } }]
  persistentVolumeClaimRetentionPolicy: { whenDeleted: Delete, whenScaled: Retain }
status: { replicas: 2, readyReplicas: 1, availableReplicas: 1, currentReplicas: 2, updatedReplicas: 2, updatedReadyReplicas: 1, currentRevision: a, updateRevision: b, collisionCount: 0, observedGeneration: 3, labelSelector: app=a }
`,
].map((text) => parse(text) as KubeObject)

describe("Fluid's definitions", () => {
  for (const manifest of MANIFESTS)
    it(`take ${manifest.kind} ${manifest.metadata.name} as it is`, async () =>
      assert.deepEqual(await admit(manifest), { object: manifest, unknown: [], schema: [], refused: [], warnings: [] }))

  it('are each shown by an example', () =>
    assert.deepEqual(new Set(MANIFESTS.map(({ kind }) => kind)), new Set(fluidKinds.map(({ kind }) => kind))))

  for (const kind of fluidKinds)
    it(`of ${kind.kind} is one that a server takes, and not too large`, () => assert.ok(JSON.stringify(kind.crd).length < 200_000))

  it('have the names, scopes and subresources of Fluid', () => {
    const rows = fluidKinds.map(({ crd, definition, scope }) =>
      [
        crd.metadata.name,
        definition.shortNames.join(),
        definition.categories.join(),
        scope,
        definition.subresources.map(({ name }) => name).join(),
      ].join(' '),
    )
    assert.deepEqual(rows, [
      'datasets.data.fluid.io dataset fluid Namespaced status',
      'alluxioruntimes.data.fluid.io alluxio fluid Namespaced status,scale',
      'juicefsruntimes.data.fluid.io juicefs fluid Namespaced status,scale',
      'jindoruntimes.data.fluid.io jindo fluid Namespaced status,scale',
      'thinruntimes.data.fluid.io   Namespaced status',
      'cacheruntimes.data.fluid.io  fluid Namespaced status,scale',
      'efcruntimes.data.fluid.io efc fluid Namespaced status,scale',
      'vineyardruntimes.data.fluid.io v6d fluid Namespaced status,scale',
      'thinruntimeprofiles.data.fluid.io   Cluster status',
      'cacheruntimeclasses.data.fluid.io  fluid Cluster ',
      'dataloads.data.fluid.io load fluid Namespaced status',
      'datamigrates.data.fluid.io migrate fluid Namespaced status',
      'databackups.data.fluid.io backup fluid Namespaced status',
      'dataprocesses.data.fluid.io   Namespaced status',
      'advancedstatefulsets.workload.fluid.io asts fluid Namespaced status,scale',
    ])
  })
})

describe('defaults and limits', () => {
  const stored = async (kind: string, content: object) => {
    const own = fluidKinds.find((one) => one.kind === kind)
    return (await admit({ apiVersion: `${own?.group}/v1alpha1`, kind, metadata: { name: 'one', namespace: 'work' }, ...content })) ?? {}
  }
  it('are those of Fluid', async () => {
    const { object: runtime } = await stored('CacheRuntime', { spec: { runtimeClassName: 'builtin', master: {}, worker: {}, client: {} } })
    assert.deepEqual(runtime.spec, {
      runtimeClassName: 'builtin',
      master: { replicas: 1 },
      worker: { replicas: 1 },
      client: { cleanPolicy: 'OnRuntimeDeleted' },
    })
    const { object: alluxio } = await stored('AlluxioRuntime', {
      spec: { tieredstore: { levels: [{ mediumtype: 'MEM', quota: 1 }] }, management: { cleanCachePolicy: {} } },
    })
    assert.deepEqual(alluxio.spec, {
      tieredstore: { levels: [{ mediumtype: 'MEM', volumeType: 'hostPath', quota: 1 }] },
      management: { cleanCachePolicy: { gracePeriodSeconds: 60, maxRetryAttempts: 3 } },
    })
  })
  const REFUSED: [string, object, RegExp][] = [
    ['Dataset', { spec: { mounts: [] } }, /spec\.mounts: Invalid value: 0: .*at least 1/],
    ['Dataset', { spec: { mounts: [{ mountPoint: 's3:/' }] } }, /mountPoint.*at least 5 chars/],
    ['Dataset', { spec: { placement: 'Alone' } }, /spec\.placement: Unsupported value: "Alone"/],
    ['CacheRuntime', { spec: {} }, /spec\.runtimeClassName: Required value/],
    ['CacheRuntime', { spec: { runtimeClassName: 'a', worker: { replicas: -1 } } }, /replicas.*greater than or equal to 0/],
    ['AlluxioRuntime', { spec: { tieredstore: { levels: [{ mediumtype: 'TAPE' }] } } }, /mediumtype: Unsupported value/],
    ['AlluxioRuntime', { spec: { tieredstore: { levels: [{ mediumtype: 'MEM', quotaList: '1Gi' }] } } }, /quotaList.*should match/],
    ['CacheRuntimeClass', { topology: {} }, /fileSystemType: Required value/],
    ['AdvancedStatefulSet', {}, /spec: Required value/],
  ]
  for (const [kind, content, expected] of REFUSED)
    it(`of ${kind} refuse ${JSON.stringify(content)}`, async () => assert.match((await stored(kind, content)).schema.join('\n'), expected))
})

describe('columns', () => {
  const row = (kind: OwnKind, object: object) => {
    const printer = kind.definition.versions[0]?.printer
    const metadata = { name: 'images', creationTimestamp: '2025-06-01T10:10:30Z' }
    const cells = printer?.row({ apiVersion: 'a', kind: kind.kind, metadata, ...object }, Date.parse('2025-06-01T10:20:30Z')).cells ?? []
    return Object.fromEntries((printer?.columns ?? []).map(({ name }, i) => [name, cells[i]]))
  }
  it('of a dataset are those of Fluid', () => {
    const example = MANIFESTS[0] ?? {}
    assert.deepEqual(row(Dataset, { ...example, metadata: { name: 'images', creationTimestamp: '2025-06-01T10:10:30Z' } }), {
      Name: 'images',
      'Ufs Total Size': '544.77MiB',
      Cached: '12.00MiB',
      'Cache Capacity': null,
      'Cached Percentage': '2.2%',
      Phase: 'Bound',
      'HCFS URL': 'alluxio://x:1',
      'TOTAL FILES': '123',
      'CACHE HIT RATIO': null,
      Age: '10m',
    })
  })
  it('of a CacheRuntime show the phase of its workers', () => {
    assert.equal(row(CacheRuntime, { status: { worker: { phase: 'PartialReady' } } }).Phase, 'PartialReady')
  })
})
