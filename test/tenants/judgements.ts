/**
 * What is judged of each field, label and annotation that can name something of another namespace: it is tried (`attempts.ts`), or
 * there is a reason why naming grants nothing. Whoever adds a field adds it here.
 */
import { runtimeKinds } from '../../src/kinds/fluid/index.ts'

export interface Judgement {
  /** Why it reaches no other namespace; undefined: that is tried. */
  because: string | undefined
  of: readonly string[]
}

const runtimes = runtimeKinds.map(({ kind }) => kind)
const ofRuntimes = (kinds: readonly string[], ...fields: string[]): string[] =>
  kinds.flatMap((kind) => fields.map((field) => `${kind} ${field}`))
const mirroring = runtimes.filter((kind) => kind !== 'CacheRuntime')
const policies = ['OverridePolicy', 'ClusterOverridePolicy']
const OVERRIDERS = ['plaintext[]', 'fieldOverrider[].json[]', 'fieldOverrider[].yaml[]']
const bindings = ['ResourceBinding', 'ClusterResourceBinding']
const operations = ['DataLoad', 'DataMigrate', 'DataBackup', 'DataProcess']

export const FIELDS: readonly Judgement[] = [
  {
    because: undefined,
    of: [
      'Dataset spec.mounts[].mountPoint',
      'Dataset spec.mounts[].encryptOptions[].valueFrom.secretKeyRef.name',
      'Dataset spec.sharedEncryptOptions[].valueFrom.secretKeyRef.name',
      'Dataset spec.runtimes[].namespace',
      'ReferenceGrant spec.from[].namespace',
      'DataLoad spec.dataset.namespace',
      'DataMigrate spec.from.dataset.namespace',
      'DataMigrate spec.to.dataset.namespace',
      'DataProcess spec.dataset.namespace',
      ...operations.flatMap((kind) => [`${kind} spec.runAfter.namespace`, `${kind} spec.runAfter.affinityStrategy.dependOn.namespace`]),
      'DataSourceClaim spec.workload.namespace',
      'PropagationPolicy spec.resourceSelectors[].namespace',
      'OverridePolicy spec.resourceSelectors[].namespace',
    ],
  },
  {
    because: 'a status: the roles for users give no right to write it, and what is in it is computed again by its only writer',
    of: [
      'Dataset status.dataBackupRef',
      'Dataset status.dataLoadRef',
      'Dataset status.datasetRef[]',
      'Dataset status.hcfs.endpoint',
      'Dataset status.mounts[].encryptOptions[].valueFrom.secretKeyRef.name',
      'Dataset status.mounts[].mountPoint',
      'Dataset status.operationRef{}',
      'Dataset status.runtimes[].namespace',
      'DataSource status.claimRef[].namespace',
      'DataSource status.claimRefs[].namespace',
      ...bindings.map((kind) => `${kind} status.aggregatedStatus[].status`),
      'Work status.manifestStatuses[].identifier.namespace',
      'Work status.manifestStatuses[].status',
      ...ofRuntimes(
        mirroring,
        'status.apiGateway.endpoint',
        'status.mounts[].encryptOptions[].valueFrom.secretKeyRef.name',
        'status.mounts[].mountPoint',
      ),
    ],
  },
  {
    because: 'nothing reads it: no engine serves this kind, or nobody carries out this operation',
    of: [
      'DataBackup spec.backupPath',
      'DataBackup spec.dataset',
      'DataProcess spec.processor.shell.volumes[]',
      ...['from', 'to'].flatMap((end) => [
        `DataMigrate spec.${end}.externalStorage.uri`,
        `DataMigrate spec.${end}.externalStorage.encryptOptions[].valueFrom.secretKeyRef.name`,
      ]),
      'VineyardRuntime spec.master.endpoint.encryptOptions[].valueFrom.secretKeyRef.name',
      'VineyardRuntime spec.master.endpoint.uri',
    ],
  },
  {
    because: 'it names a kind without namespaces, which administrators write',
    of: ['CacheRuntime spec.runtimeClassName', 'ThinRuntime spec.profileName'],
  },
  {
    because: 'its kind has no namespace: administrators write it',
    of: [
      'Cluster spec.apiEndpoint',
      ...['secretRef', 'impersonatorSecretRef'].flatMap((of) => [`Cluster spec.${of}.name`, `Cluster spec.${of}.namespace`]),
      'ClusterPropagationPolicy spec.resourceSelectors[].namespace',
      'ClusterOverridePolicy spec.resourceSelectors[].namespace',
      'ResourceInterpreterWebhookConfiguration webhooks[].clientConfig.service.namespace',
      'ResourceInterpreterWebhookConfiguration webhooks[].clientConfig.url',
      'ClusterResourceBinding spec.replicaRequirements.namespace',
      'ClusterResourceBinding spec.requiredBy[].namespace',
      'ClusterResourceBinding spec.resource.namespace',
    ],
  },
  {
    because: 'controllers write it: the roles for users give no right to this kind',
    of: [
      'ResourceBinding spec.replicaRequirements.namespace',
      'ResourceBinding spec.requiredBy[].namespace',
      'ResourceBinding spec.resource.namespace',
      'Work spec.workload.manifests[]',
    ],
  },
  {
    because: 'a value for objects that the policy may select, and these are of its own namespace; it cannot move them to another one',
    of: policies.flatMap((kind) =>
      ['overrideRules[].overriders', 'overriders'].flatMap((at) => OVERRIDERS.map((one) => `${kind} spec.${at}.${one}.value`)),
    ),
  },
]

/** Fields of types of Kubernetes, wherever a kind of ours has one. */
export const FIELDS_OF_TYPES: readonly Judgement[] = [
  {
    because: undefined,
    of: [
      'PodTemplateSpec metadata.namespace',
      'PersistentVolumeClaim metadata.namespace',
      'PersistentVolumeClaim spec.dataSourceRef.namespace',
      'PodTemplateSpec spec.affinity.podAffinity…namespaceSelector',
      'PodTemplateSpec spec.affinity.podAffinity…namespaces[]',
      'PodTemplateSpec spec.volumes[].ephemeral.volumeClaimTemplate.metadata.namespace',
      'PodTemplateSpec spec.volumes[].ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace',
    ],
  },
  {
    because: 'volumes of a runtime become volumes of its pods, in its own namespace, where they mean what they mean in any pod',
    of: ['Volume', 'VolumeSource'].flatMap((type) => [
      `${type} ephemeral.volumeClaimTemplate.metadata.namespace`,
      `${type} ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace`,
      `${type} storageos.volumeNamespace`,
    ]),
  },
  {
    because: 'no namespace of Kubernetes: one of processes, or of another storage system',
    of: ['PodTemplateSpec spec.shareProcessNamespace', 'PodTemplateSpec spec.volumes[].storageos.volumeNamespace'],
  },
  {
    because: 'only data operations contain it, and nobody carries these out',
    of: [
      'Affinity podAffinity…namespaceSelector',
      'Affinity podAffinity…namespaces[]',
      'PodSpec affinity.podAffinity…namespaceSelector',
      'PodSpec affinity.podAffinity…namespaces[]',
      'PodSpec shareProcessNamespace',
      'PodSpec volumes[].ephemeral.volumeClaimTemplate.metadata.namespace',
      'PodSpec volumes[].ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace',
      'PodSpec volumes[].storageos.volumeNamespace',
    ],
  },
]

/** Fields of ours that are of such a type: one more of them is one more place where the judgement above must hold. */
export const PLACES_OF_TYPES: Readonly<Record<string, readonly string[]>> = {
  Affinity: ['DataLoad spec.affinity', 'DataMigrate spec.affinity'],
  PersistentVolumeClaim: ['AdvancedStatefulSet spec.volumeClaimTemplates[]', 'JuiceFSRuntime spec.volumeClaimTemplates[]'],
  PodSpec: ['DataProcess spec.processor.job.podSpec'],
  PodTemplateSpec: [
    'AdvancedStatefulSet spec.template',
    ...['client', 'master', 'worker'].map((of) => `CacheRuntimeClass topology.${of}.template`),
    'DataProcess spec.job.template',
    'DataProcess spec.processor.job.template',
  ],
  Volume: [
    'AlluxioRuntime spec.volumes[]',
    'CacheRuntime spec.volumes[]',
    'DataProcess spec.processor.script.volumes[]',
    'JindoRuntime spec.volumes[]',
    'JuiceFSRuntime spec.volumes[]',
    'ThinRuntime spec.volumes[]',
    'ThinRuntimeProfile spec.volumes[]',
    'VineyardRuntime spec.volumes[]',
  ],
  VolumeSource: ofRuntimes(
    runtimes.filter((kind) => kind !== 'CacheRuntime'),
    'spec.tieredstore.levels[].volumeSource',
  ).sort(),
}

export const KEYS: readonly Judgement[] = [
  {
    because: undefined,
    of: [
      'dataset-name.sidecar.fluid.io/',
      'dataset-namespace.sidecar.fluid.io/',
      'fluid.io/dataset.referring-name',
      'fluid.io/dataset.referring-namespace',
      'fluid.io/managed-by',
      'fluid.io/wrapped-by',
      'sluice.dev/mirror-of',
      'sluice.dev/mirror-source',
      'sluice.dev/resolves-namespaces',
      'sluice.dev/produces',
      'propagationpolicy.karmada.io/name',
      'propagationpolicy.karmada.io/namespace',
    ],
  },
  {
    because: 'it is written on cluster-scoped sources, and whether a claim may use one with it is asked of the owner of that namespace',
    of: ['sluice.dev/producer-namespace'],
  },
  {
    because: 'it names Works of the hub; a Work in which the object is not, by its own manifest, is not concerned',
    of: ['work.karmada.io/name', 'work.karmada.io/namespace', 'work.karmada.io/permanent-id'],
  },
  {
    because: 'it is on bindings, Works and what hubs write: the roles for users give no right to these',
    of: `binding.karmada.io/managed-by clusterpropagationpolicy.karmada.io/name clusterpropagationpolicy.karmada.io/permanent-id
      clusterresourcebinding.karmada.io/name clusterresourcebinding.karmada.io/permanent-id propagationpolicy.karmada.io/permanent-id
      resourcebinding.karmada.io/depended-by- resourcebinding.karmada.io/dependencies resourcebinding.karmada.io/name
      resourcebinding.karmada.io/namespace resourcebinding.karmada.io/permanent-id resourcetemplate.karmada.io/claimed-by`.split(/\s+/),
  },
  {
    because: 'names of nothing, or of something of the same namespace, the node or the cluster',
    of: `affinity.dataflow.fluid.io/labels app.poststart.fluid.io/inject cachedir.sidecar.fluid.io/inject cacheruntime.fluid.io/component-name cacheruntime.fluid.io/name
      cluster.karmada.io/not-ready cluster.karmada.io/unreachable data.fluid.io/metadataList
      datadependency.volcano.sh/datasource-finalizer datadependency.volcano.sh/finalizer datadependency.volcano.sh/placement-injected
      default.fuse-sidecar.fluid.io/host-mount-path-mode done.sidecar.fluid.io/inject fluid.io/ fluid.io/check-mount-script-sha256
      fluid.io/dataset fluid.io/dataset-id fluid.io/dataset-num fluid.io/dataset-placement fluid.io/datasets-in-use
      fluid.io/enable-injection fluid.io/f- fluid.io/fuse fluid.io/fuse-balloon fluid.io/jobPolicy fluid.io/node fluid.io/node-publish-method
      fluid.io/operation fluid.io/s-
      fluid.io/skip-check-mount-ready-target fuse.runtime.fluid.io/generation fuse.serverful.fluid.io/inject
      fuse.sidecar.fluid.io/inject fuse.sidecar.poststart.fluid.io/inject karmada.io/binding-controller
      karmada.io/binding-dependencies-distributor karmada.io/cluster-controller karmada.io/cluster-propagation-policy-controller
      karmada.io/cluster-resource-binding-controller karmada.io/execution-controller karmada.io/managed
      karmada.io/propagation-policy-controller karmada.io/system namespace.karmada.io/skip-auto-propagation
      policy.karmada.io/applied-cluster-overrides policy.karmada.io/applied-overrides policy.karmada.io/applied-placement
      prometheus.fuse.fluid.io/scrape pvc.fluid.io/resources.requests.storage resourcetemplate.karmada.io/deletion-protected
      resourcetemplate.karmada.io/generation resourcetemplate.karmada.io/managed-annotations
      resourcetemplate.karmada.io/managed-labels resourcetemplate.karmada.io/retain-replicas resourcetemplate.karmada.io/uid
      scheduling.volcano.sh/queue-name serverless.fluid.io/inject serverless.fluid.io/platform sidecar.fluid.io/skip-precheck
      sluice.dev/ sluice.dev/MemoryVolume sluice.dev/Simulated sluice.dev/cache sluice.dev/cache-quota sluice.dev/claims
      sluice.dev/clear sluice.dev/client-reads-tiers sluice.dev/converted-by sluice.dev/decision sluice.dev/decommission
      sluice.dev/deferred sluice.dev/dependencies-unknown sluice.dev/directory sluice.dev/fixed-options sluice.dev/fuse-global
      sluice.dev/handover-seconds sluice.dev/held-because sluice.dev/held-by sluice.dev/held-reason sluice.dev/key
      sluice.dev/l- sluice.dev/leaving-worker sluice.dev/local sluice.dev/local-storage-class sluice.dev/narrowed-by sluice.dev/native-mounts sluice.dev/progress-port
      sluice.dev/node sluice.dev/on-locality-change sluice.dev/pool sluice.dev/preload sluice.dev/provisioned-by sluice.dev/public-options sluice.dev/queue
      sluice.dev/recommission sluice.dev/released sluice.dev/requested sluice.dev/run sluice.dev/runtime sluice.dev/sidecar-files
      sluice.dev/simulated sluice.dev/simulated-because sluice.dev/simulated-exit-code sluice.dev/simulated-run-for sluice.dev/sluice
      sluice.dev/story sluice.dev/template-content sluice.dev/template-hash sluice.dev/this-machine sluice.dev/unhealthy-since
      sluice.dev/version sluice.dev/waiting-because unprivileged.sidecar.fluid.io/inject volcano.sh/queue-name
      work.karmada.io/conflict-resolution workload.fluid.io/inplace-update-state workload.fluid.io/specified-delete`.split(/\s+/),
  },
]
