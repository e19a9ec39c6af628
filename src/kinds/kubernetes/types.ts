/**
 * Types of built-in kinds, written by `npm run generate` from the OpenAPI facts. Every field is optional: these describe
 * what may be there, and what a server sent is not ours to promise.
 */
import type { KubeObject, ObjectMeta } from '../../kube/meta.ts'

export interface AWSElasticBlockStoreVolumeSource {
  fsType?: string
  partition?: number
  readOnly?: boolean
  volumeID?: string
}

export interface Affinity {
  nodeAffinity?: NodeAffinity
  podAffinity?: PodAffinity
  podAntiAffinity?: PodAntiAffinity
}

export interface AggregationRule {
  clusterRoleSelectors?: LabelSelector[]
}

export interface AppArmorProfile {
  localhostProfile?: string
  type?: string
}

export interface AttachedVolume {
  devicePath?: string
  name?: string
}

export interface AzureDiskVolumeSource {
  cachingMode?: string
  diskName?: string
  diskURI?: string
  fsType?: string
  kind?: string
  readOnly?: boolean
}

export interface AzureFilePersistentVolumeSource {
  readOnly?: boolean
  secretName?: string
  secretNamespace?: string
  shareName?: string
}

export interface AzureFileVolumeSource {
  readOnly?: boolean
  secretName?: string
  shareName?: string
}

export interface CSIPersistentVolumeSource {
  controllerExpandSecretRef?: SecretReference
  controllerPublishSecretRef?: SecretReference
  driver?: string
  fsType?: string
  nodeExpandSecretRef?: SecretReference
  nodePublishSecretRef?: SecretReference
  nodeStageSecretRef?: SecretReference
  readOnly?: boolean
  volumeAttributes?: Record<string, string>
  volumeHandle?: string
}

export interface CSIVolumeSource {
  driver?: string
  fsType?: string
  nodePublishSecretRef?: LocalObjectReference
  readOnly?: boolean
  volumeAttributes?: Record<string, string>
}

export interface Capabilities {
  add?: string[]
  drop?: string[]
}

export interface CephFSPersistentVolumeSource {
  monitors?: string[]
  path?: string
  readOnly?: boolean
  secretFile?: string
  secretRef?: SecretReference
  user?: string
}

export interface CephFSVolumeSource {
  monitors?: string[]
  path?: string
  readOnly?: boolean
  secretFile?: string
  secretRef?: LocalObjectReference
  user?: string
}

export interface CinderPersistentVolumeSource {
  fsType?: string
  readOnly?: boolean
  secretRef?: SecretReference
  volumeID?: string
}

export interface CinderVolumeSource {
  fsType?: string
  readOnly?: boolean
  secretRef?: LocalObjectReference
  volumeID?: string
}

export interface ClientIPConfig {
  timeoutSeconds?: number
}

export interface ClusterRole extends KubeObject {
  aggregationRule?: AggregationRule
  rules?: PolicyRule[]
}

export interface ClusterTrustBundleProjection {
  labelSelector?: LabelSelector
  name?: string
  optional?: boolean
  path?: string
  signerName?: string
}

export interface Condition {
  lastTransitionTime?: string
  message?: string
  observedGeneration?: number
  reason?: string
  status?: string
  type?: string
}

export interface ConfigMap extends KubeObject {
  binaryData?: Record<string, string>
  data?: Record<string, string>
  immutable?: boolean
}

export interface ConfigMapEnvSource {
  name?: string
  optional?: boolean
}

export interface ConfigMapKeySelector {
  key?: string
  name?: string
  optional?: boolean
}

export interface ConfigMapNodeConfigSource {
  kubeletConfigKey?: string
  name?: string
  namespace?: string
  resourceVersion?: string
  uid?: string
}

export interface ConfigMapProjection {
  items?: KeyToPath[]
  name?: string
  optional?: boolean
}

export interface ConfigMapVolumeSource {
  defaultMode?: number
  items?: KeyToPath[]
  name?: string
  optional?: boolean
}

export interface Container {
  args?: string[]
  command?: string[]
  env?: EnvVar[]
  envFrom?: EnvFromSource[]
  image?: string
  imagePullPolicy?: string
  lifecycle?: Lifecycle
  livenessProbe?: Probe
  name?: string
  ports?: ContainerPort[]
  readinessProbe?: Probe
  resizePolicy?: ContainerResizePolicy[]
  resources?: ResourceRequirements
  restartPolicy?: string
  restartPolicyRules?: ContainerRestartRule[]
  securityContext?: SecurityContext
  startupProbe?: Probe
  stdin?: boolean
  stdinOnce?: boolean
  terminationMessagePath?: string
  terminationMessagePolicy?: string
  tty?: boolean
  volumeDevices?: VolumeDevice[]
  volumeMounts?: VolumeMount[]
  workingDir?: string
}

export interface ContainerExtendedResourceRequest {
  containerName?: string
  requestName?: string
  resourceName?: string
}

export interface ContainerImage {
  names?: string[]
  sizeBytes?: number
}

export interface ContainerPort {
  containerPort?: number
  hostIP?: string
  hostPort?: number
  name?: string
  protocol?: string
}

export interface ContainerResizePolicy {
  resourceName?: string
  restartPolicy?: string
}

export interface ContainerRestartRule {
  action?: string
  exitCodes?: ContainerRestartRuleOnExitCodes
}

export interface ContainerRestartRuleOnExitCodes {
  operator?: string
  values?: number[]
}

export interface ContainerState {
  running?: ContainerStateRunning
  terminated?: ContainerStateTerminated
  waiting?: ContainerStateWaiting
}

export interface ContainerStateRunning {
  startedAt?: string
}

export interface ContainerStateTerminated {
  containerID?: string
  exitCode?: number
  finishedAt?: string
  message?: string
  reason?: string
  signal?: number
  startedAt?: string
}

export interface ContainerStateWaiting {
  message?: string
  reason?: string
}

export interface ContainerStatus {
  allocatedResources?: Record<string, string | number>
  allocatedResourcesStatus?: ResourceStatus[]
  containerID?: string
  image?: string
  imageID?: string
  lastState?: ContainerState
  name?: string
  ready?: boolean
  resources?: ResourceRequirements
  restartCount?: number
  started?: boolean
  state?: ContainerState
  stopSignal?: string
  user?: ContainerUser
  volumeMounts?: VolumeMountStatus[]
}

export interface ContainerUser {
  linux?: LinuxContainerUser
}

export interface ControllerRevision extends KubeObject {
  data?: Record<string, unknown>
  revision?: number
}

export interface CronJob extends KubeObject {
  spec?: CronJobSpec
  status?: CronJobStatus
}

export interface CronJobSpec {
  concurrencyPolicy?: string
  failedJobsHistoryLimit?: number
  jobTemplate?: JobTemplateSpec
  schedule?: string
  startingDeadlineSeconds?: number
  successfulJobsHistoryLimit?: number
  suspend?: boolean
  timeZone?: string
}

export interface CronJobStatus {
  active?: ObjectReference[]
  lastScheduleTime?: string
  lastSuccessfulTime?: string
}

export interface DaemonEndpoint {
  Port?: number
}

export interface DaemonSet extends KubeObject {
  spec?: DaemonSetSpec
  status?: DaemonSetStatus
}

export interface DaemonSetCondition {
  lastTransitionTime?: string
  message?: string
  reason?: string
  status?: string
  type?: string
}

export interface DaemonSetSpec {
  minReadySeconds?: number
  revisionHistoryLimit?: number
  selector?: LabelSelector
  template?: PodTemplateSpec
  updateStrategy?: DaemonSetUpdateStrategy
}

export interface DaemonSetStatus {
  collisionCount?: number
  conditions?: DaemonSetCondition[]
  currentNumberScheduled?: number
  desiredNumberScheduled?: number
  numberAvailable?: number
  numberMisscheduled?: number
  numberReady?: number
  numberUnavailable?: number
  observedGeneration?: number
  updatedNumberScheduled?: number
}

export interface DaemonSetUpdateStrategy {
  rollingUpdate?: RollingUpdateDaemonSet
  type?: string
}

export interface Deployment extends KubeObject {
  spec?: DeploymentSpec
  status?: DeploymentStatus
}

export interface DeploymentCondition {
  lastTransitionTime?: string
  lastUpdateTime?: string
  message?: string
  reason?: string
  status?: string
  type?: string
}

export interface DeploymentSpec {
  minReadySeconds?: number
  paused?: boolean
  progressDeadlineSeconds?: number
  replicas?: number
  revisionHistoryLimit?: number
  selector?: LabelSelector
  strategy?: DeploymentStrategy
  template?: PodTemplateSpec
}

export interface DeploymentStatus {
  availableReplicas?: number
  collisionCount?: number
  conditions?: DeploymentCondition[]
  observedGeneration?: number
  readyReplicas?: number
  replicas?: number
  terminatingReplicas?: number
  unavailableReplicas?: number
  updatedReplicas?: number
}

export interface DeploymentStrategy {
  rollingUpdate?: RollingUpdateDeployment
  type?: string
}

export interface DownwardAPIProjection {
  items?: DownwardAPIVolumeFile[]
}

export interface DownwardAPIVolumeFile {
  fieldRef?: ObjectFieldSelector
  mode?: number
  path?: string
  resourceFieldRef?: ResourceFieldSelector
}

export interface DownwardAPIVolumeSource {
  defaultMode?: number
  items?: DownwardAPIVolumeFile[]
}

export interface EmptyDirVolumeSource {
  medium?: string
  sizeLimit?: string | number
}

export interface EndpointAddress {
  hostname?: string
  ip?: string
  nodeName?: string
  targetRef?: ObjectReference
}

export interface EndpointPort {
  appProtocol?: string
  name?: string
  port?: number
  protocol?: string
}

export interface EndpointSlice extends KubeObject {
  addressType?: string
  endpoints?: SliceEndpoint[]
  ports?: SliceEndpointPort[]
}

export interface EndpointSubset {
  addresses?: EndpointAddress[]
  notReadyAddresses?: EndpointAddress[]
  ports?: EndpointPort[]
}

export interface Endpoints extends KubeObject {
  subsets?: EndpointSubset[]
}

export interface EnvFromSource {
  configMapRef?: ConfigMapEnvSource
  prefix?: string
  secretRef?: SecretEnvSource
}

export interface EnvVar {
  name?: string
  value?: string
  valueFrom?: EnvVarSource
}

export interface EnvVarSource {
  configMapKeyRef?: ConfigMapKeySelector
  fieldRef?: ObjectFieldSelector
  fileKeyRef?: FileKeySelector
  resourceFieldRef?: ResourceFieldSelector
  secretKeyRef?: SecretKeySelector
}

export interface EphemeralContainer {
  args?: string[]
  command?: string[]
  env?: EnvVar[]
  envFrom?: EnvFromSource[]
  image?: string
  imagePullPolicy?: string
  lifecycle?: Lifecycle
  livenessProbe?: Probe
  name?: string
  ports?: ContainerPort[]
  readinessProbe?: Probe
  resizePolicy?: ContainerResizePolicy[]
  resources?: ResourceRequirements
  restartPolicy?: string
  restartPolicyRules?: ContainerRestartRule[]
  securityContext?: SecurityContext
  startupProbe?: Probe
  stdin?: boolean
  stdinOnce?: boolean
  targetContainerName?: string
  terminationMessagePath?: string
  terminationMessagePolicy?: string
  tty?: boolean
  volumeDevices?: VolumeDevice[]
  volumeMounts?: VolumeMount[]
  workingDir?: string
}

export interface EphemeralVolumeSource {
  volumeClaimTemplate?: PersistentVolumeClaimTemplate
}

export interface Event extends KubeObject {
  action?: string
  count?: number
  eventTime?: string
  firstTimestamp?: string
  involvedObject?: ObjectReference
  lastTimestamp?: string
  message?: string
  reason?: string
  related?: ObjectReference
  reportingComponent?: string
  reportingInstance?: string
  series?: EventSeries
  source?: EventSource
  type?: string
}

export interface EventSeries {
  count?: number
  lastObservedTime?: string
}

export interface EventSource {
  component?: string
  host?: string
}

export interface ExecAction {
  command?: string[]
}

export interface FCVolumeSource {
  fsType?: string
  lun?: number
  readOnly?: boolean
  targetWWNs?: string[]
  wwids?: string[]
}

export interface FileKeySelector {
  key?: string
  optional?: boolean
  path?: string
  volumeName?: string
}

export interface FlexPersistentVolumeSource {
  driver?: string
  fsType?: string
  options?: Record<string, string>
  readOnly?: boolean
  secretRef?: SecretReference
}

export interface FlexVolumeSource {
  driver?: string
  fsType?: string
  options?: Record<string, string>
  readOnly?: boolean
  secretRef?: LocalObjectReference
}

export interface FlockerVolumeSource {
  datasetName?: string
  datasetUUID?: string
}

export interface ForNode {
  name?: string
}

export interface ForZone {
  name?: string
}

export interface GCEPersistentDiskVolumeSource {
  fsType?: string
  partition?: number
  pdName?: string
  readOnly?: boolean
}

export interface GRPCAction {
  port?: number
  service?: string
}

export interface GitRepoVolumeSource {
  directory?: string
  repository?: string
  revision?: string
}

export interface GlusterfsPersistentVolumeSource {
  endpoints?: string
  endpointsNamespace?: string
  path?: string
  readOnly?: boolean
}

export interface GlusterfsVolumeSource {
  endpoints?: string
  path?: string
  readOnly?: boolean
}

export interface HTTPGetAction {
  host?: string
  httpHeaders?: HTTPHeader[]
  path?: string
  port?: string | number
  scheme?: string
}

export interface HTTPHeader {
  name?: string
  value?: string
}

export interface HostAlias {
  hostnames?: string[]
  ip?: string
}

export interface HostIP {
  ip?: string
}

export interface HostPathVolumeSource {
  path?: string
  type?: string
}

export interface ISCSIPersistentVolumeSource {
  chapAuthDiscovery?: boolean
  chapAuthSession?: boolean
  fsType?: string
  initiatorName?: string
  iqn?: string
  iscsiInterface?: string
  lun?: number
  portals?: string[]
  readOnly?: boolean
  secretRef?: SecretReference
  targetPortal?: string
}

export interface ISCSIVolumeSource {
  chapAuthDiscovery?: boolean
  chapAuthSession?: boolean
  fsType?: string
  initiatorName?: string
  iqn?: string
  iscsiInterface?: string
  lun?: number
  portals?: string[]
  readOnly?: boolean
  secretRef?: LocalObjectReference
  targetPortal?: string
}

export interface ImageVolumeSource {
  pullPolicy?: string
  reference?: string
}

export interface ImageVolumeStatus {
  imageRef?: string
}

export interface Job extends KubeObject {
  spec?: JobSpec
  status?: JobStatus
}

export interface JobCondition {
  lastProbeTime?: string
  lastTransitionTime?: string
  message?: string
  reason?: string
  status?: string
  type?: string
}

export interface JobSpec {
  activeDeadlineSeconds?: number
  backoffLimit?: number
  backoffLimitPerIndex?: number
  completionMode?: string
  completions?: number
  managedBy?: string
  manualSelector?: boolean
  maxFailedIndexes?: number
  parallelism?: number
  podFailurePolicy?: PodFailurePolicy
  podReplacementPolicy?: string
  selector?: LabelSelector
  successPolicy?: SuccessPolicy
  suspend?: boolean
  template?: PodTemplateSpec
  ttlSecondsAfterFinished?: number
}

export interface JobStatus {
  active?: number
  completedIndexes?: string
  completionTime?: string
  conditions?: JobCondition[]
  failed?: number
  failedIndexes?: string
  ready?: number
  startTime?: string
  succeeded?: number
  terminating?: number
  uncountedTerminatedPods?: UncountedTerminatedPods
}

export interface JobTemplateSpec {
  metadata?: ObjectMeta
  spec?: JobSpec
}

export interface KeyToPath {
  key?: string
  mode?: number
  path?: string
}

export interface LabelSelector {
  matchExpressions?: LabelSelectorRequirement[]
  matchLabels?: Record<string, string>
}

export interface LabelSelectorRequirement {
  key?: string
  operator?: string
  values?: string[]
}

export interface Lease extends KubeObject {
  spec?: LeaseSpec
}

export interface LeaseSpec {
  acquireTime?: string
  holderIdentity?: string
  leaseDurationSeconds?: number
  leaseTransitions?: number
  preferredHolder?: string
  renewTime?: string
  strategy?: string
}

export interface Lifecycle {
  postStart?: LifecycleHandler
  preStop?: LifecycleHandler
  stopSignal?: string
}

export interface LifecycleHandler {
  exec?: ExecAction
  httpGet?: HTTPGetAction
  sleep?: SleepAction
  tcpSocket?: TCPSocketAction
}

export interface LinuxContainerUser {
  gid?: number
  supplementalGroups?: number[]
  uid?: number
}

export interface LoadBalancerIngress {
  hostname?: string
  ip?: string
  ipMode?: string
  ports?: PortStatus[]
}

export interface LoadBalancerStatus {
  ingress?: LoadBalancerIngress[]
}

export interface LocalObjectReference {
  name?: string
}

export interface LocalVolumeSource {
  fsType?: string
  path?: string
}

export interface ModifyVolumeStatus {
  status?: string
  targetVolumeAttributesClassName?: string
}

export interface NFSVolumeSource {
  path?: string
  readOnly?: boolean
  server?: string
}

export interface Namespace extends KubeObject {
  spec?: NamespaceSpec
  status?: NamespaceStatus
}

export interface NamespaceCondition {
  lastTransitionTime?: string
  message?: string
  reason?: string
  status?: string
  type?: string
}

export interface NamespaceSpec {
  finalizers?: string[]
}

export interface NamespaceStatus {
  conditions?: NamespaceCondition[]
  phase?: string
}

export interface Node extends KubeObject {
  spec?: NodeSpec
  status?: NodeStatus
}

export interface NodeAddress {
  address?: string
  type?: string
}

export interface NodeAffinity {
  preferredDuringSchedulingIgnoredDuringExecution?: PreferredSchedulingTerm[]
  requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector
}

export interface NodeAllocatableResourceClaimStatus {
  containers?: string[]
  resourceClaimName?: string
  resources?: Record<string, string | number>
}

export interface NodeCondition {
  lastHeartbeatTime?: string
  lastTransitionTime?: string
  message?: string
  reason?: string
  status?: string
  type?: string
}

export interface NodeConfigSource {
  configMap?: ConfigMapNodeConfigSource
}

export interface NodeConfigStatus {
  active?: NodeConfigSource
  assigned?: NodeConfigSource
  error?: string
  lastKnownGood?: NodeConfigSource
}

export interface NodeDaemonEndpoints {
  kubeletEndpoint?: DaemonEndpoint
}

export interface NodeFeatures {
  supplementalGroupsPolicy?: boolean
}

export interface NodeRuntimeHandler {
  features?: NodeRuntimeHandlerFeatures
  name?: string
}

export interface NodeRuntimeHandlerFeatures {
  recursiveReadOnlyMounts?: boolean
  userNamespaces?: boolean
}

export interface NodeSelector {
  nodeSelectorTerms?: NodeSelectorTerm[]
}

export interface NodeSelectorRequirement {
  key?: string
  operator?: string
  values?: string[]
}

export interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[]
  matchFields?: NodeSelectorRequirement[]
}

export interface NodeSpec {
  configSource?: NodeConfigSource
  externalID?: string
  podCIDR?: string
  podCIDRs?: string[]
  providerID?: string
  taints?: Taint[]
  unschedulable?: boolean
}

export interface NodeStatus {
  addresses?: NodeAddress[]
  allocatable?: Record<string, string | number>
  capacity?: Record<string, string | number>
  conditions?: NodeCondition[]
  config?: NodeConfigStatus
  daemonEndpoints?: NodeDaemonEndpoints
  declaredFeatures?: string[]
  features?: NodeFeatures
  images?: ContainerImage[]
  nodeInfo?: NodeSystemInfo
  phase?: string
  runtimeHandlers?: NodeRuntimeHandler[]
  volumesAttached?: AttachedVolume[]
  volumesInUse?: string[]
}

export interface NodeSwapStatus {
  capacity?: number
}

export interface NodeSystemInfo {
  architecture?: string
  bootID?: string
  containerRuntimeVersion?: string
  kernelVersion?: string
  kubeProxyVersion?: string
  kubeletVersion?: string
  machineID?: string
  operatingSystem?: string
  osImage?: string
  swap?: NodeSwapStatus
  systemUUID?: string
}

export interface ObjectFieldSelector {
  apiVersion?: string
  fieldPath?: string
}

export interface ObjectReference {
  apiVersion?: string
  fieldPath?: string
  kind?: string
  name?: string
  namespace?: string
  resourceVersion?: string
  uid?: string
}

export interface PersistentVolume extends KubeObject {
  spec?: PersistentVolumeSpec
  status?: PersistentVolumeStatus
}

export interface PersistentVolumeClaim extends KubeObject {
  spec?: PersistentVolumeClaimSpec
  status?: PersistentVolumeClaimStatus
}

export interface PersistentVolumeClaimCondition {
  lastProbeTime?: string
  lastTransitionTime?: string
  message?: string
  reason?: string
  status?: string
  type?: string
}

export interface PersistentVolumeClaimSpec {
  accessModes?: string[]
  dataSource?: TypedLocalObjectReference
  dataSourceRef?: TypedObjectReference
  resources?: VolumeResourceRequirements
  selector?: LabelSelector
  storageClassName?: string
  volumeAttributesClassName?: string
  volumeMode?: string
  volumeName?: string
}

export interface PersistentVolumeClaimStatus {
  accessModes?: string[]
  allocatedResourceStatuses?: Record<string, string>
  allocatedResources?: Record<string, string | number>
  capacity?: Record<string, string | number>
  conditions?: PersistentVolumeClaimCondition[]
  currentVolumeAttributesClassName?: string
  modifyVolumeStatus?: ModifyVolumeStatus
  phase?: string
}

export interface PersistentVolumeClaimTemplate {
  metadata?: ObjectMeta
  spec?: PersistentVolumeClaimSpec
}

export interface PersistentVolumeClaimVolumeSource {
  claimName?: string
  readOnly?: boolean
}

export interface PersistentVolumeSpec {
  accessModes?: string[]
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource
  azureDisk?: AzureDiskVolumeSource
  azureFile?: AzureFilePersistentVolumeSource
  capacity?: Record<string, string | number>
  cephfs?: CephFSPersistentVolumeSource
  cinder?: CinderPersistentVolumeSource
  claimRef?: ObjectReference
  csi?: CSIPersistentVolumeSource
  fc?: FCVolumeSource
  flexVolume?: FlexPersistentVolumeSource
  flocker?: FlockerVolumeSource
  gcePersistentDisk?: GCEPersistentDiskVolumeSource
  glusterfs?: GlusterfsPersistentVolumeSource
  hostPath?: HostPathVolumeSource
  iscsi?: ISCSIPersistentVolumeSource
  local?: LocalVolumeSource
  mountOptions?: string[]
  nfs?: NFSVolumeSource
  nodeAffinity?: VolumeNodeAffinity
  persistentVolumeReclaimPolicy?: string
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource
  portworxVolume?: PortworxVolumeSource
  quobyte?: QuobyteVolumeSource
  rbd?: RBDPersistentVolumeSource
  scaleIO?: ScaleIOPersistentVolumeSource
  storageClassName?: string
  storageos?: StorageOSPersistentVolumeSource
  volumeAttributesClassName?: string
  volumeMode?: string
  vsphereVolume?: VsphereVirtualDiskVolumeSource
}

export interface PersistentVolumeStatus {
  lastPhaseTransitionTime?: string
  message?: string
  phase?: string
  reason?: string
}

export interface PhotonPersistentDiskVolumeSource {
  fsType?: string
  pdID?: string
}

export interface Pod extends KubeObject {
  spec?: PodSpec
  status?: PodStatus
}

export interface PodAffinity {
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[]
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[]
}

export interface PodAffinityTerm {
  labelSelector?: LabelSelector
  matchLabelKeys?: string[]
  mismatchLabelKeys?: string[]
  namespaceSelector?: LabelSelector
  namespaces?: string[]
  topologyKey?: string
}

export interface PodAntiAffinity {
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[]
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[]
}

export interface PodCertificateProjection {
  certificateChainPath?: string
  credentialBundlePath?: string
  keyPath?: string
  keyType?: string
  maxExpirationSeconds?: number
  signerName?: string
  userAnnotations?: Record<string, string>
}

export interface PodCondition {
  lastProbeTime?: string
  lastTransitionTime?: string
  message?: string
  observedGeneration?: number
  reason?: string
  status?: string
  type?: string
}

export interface PodDNSConfig {
  nameservers?: string[]
  options?: PodDNSConfigOption[]
  searches?: string[]
}

export interface PodDNSConfigOption {
  name?: string
  value?: string
}

export interface PodDisruptionBudget extends KubeObject {
  spec?: PodDisruptionBudgetSpec
  status?: PodDisruptionBudgetStatus
}

export interface PodDisruptionBudgetSpec {
  maxUnavailable?: string | number
  minAvailable?: string | number
  selector?: LabelSelector
  unhealthyPodEvictionPolicy?: string
}

export interface PodDisruptionBudgetStatus {
  conditions?: Condition[]
  currentHealthy?: number
  desiredHealthy?: number
  disruptedPods?: Record<string, string>
  disruptionsAllowed?: number
  expectedPods?: number
  observedGeneration?: number
}

export interface PodExtendedResourceClaimStatus {
  requestMappings?: ContainerExtendedResourceRequest[]
  resourceClaimName?: string
}

export interface PodFailurePolicy {
  rules?: PodFailurePolicyRule[]
}

export interface PodFailurePolicyOnExitCodesRequirement {
  containerName?: string
  operator?: string
  values?: number[]
}

export interface PodFailurePolicyOnPodConditionsPattern {
  status?: string
  type?: string
}

export interface PodFailurePolicyRule {
  action?: string
  onExitCodes?: PodFailurePolicyOnExitCodesRequirement
  onPodConditions?: PodFailurePolicyOnPodConditionsPattern[]
}

export interface PodIP {
  ip?: string
}

export interface PodOS {
  name?: string
}

export interface PodReadinessGate {
  conditionType?: string
}

export interface PodResourceClaim {
  name?: string
  resourceClaimName?: string
  resourceClaimTemplateName?: string
}

export interface PodResourceClaimStatus {
  name?: string
  resourceClaimName?: string
}

export interface PodSchedulingGate {
  name?: string
}

export interface PodSchedulingGroup {
  podGroupName?: string
}

export interface PodSecurityContext {
  appArmorProfile?: AppArmorProfile
  fsGroup?: number
  fsGroupChangePolicy?: string
  runAsGroup?: number
  runAsNonRoot?: boolean
  runAsUser?: number
  seLinuxChangePolicy?: string
  seLinuxOptions?: SELinuxOptions
  seccompProfile?: SeccompProfile
  supplementalGroups?: number[]
  supplementalGroupsPolicy?: string
  sysctls?: Sysctl[]
  windowsOptions?: WindowsSecurityContextOptions
}

export interface PodSpec {
  activeDeadlineSeconds?: number
  affinity?: Affinity
  automountServiceAccountToken?: boolean
  containers?: Container[]
  dnsConfig?: PodDNSConfig
  dnsPolicy?: string
  enableServiceLinks?: boolean
  ephemeralContainers?: EphemeralContainer[]
  hostAliases?: HostAlias[]
  hostIPC?: boolean
  hostNetwork?: boolean
  hostPID?: boolean
  hostUsers?: boolean
  hostname?: string
  hostnameOverride?: string
  imagePullSecrets?: LocalObjectReference[]
  initContainers?: Container[]
  nodeName?: string
  nodeSelector?: Record<string, string>
  os?: PodOS
  overhead?: Record<string, string | number>
  preemptionPolicy?: string
  priority?: number
  priorityClassName?: string
  readinessGates?: PodReadinessGate[]
  resourceClaims?: PodResourceClaim[]
  resources?: ResourceRequirements
  restartPolicy?: string
  runtimeClassName?: string
  schedulerName?: string
  schedulingGates?: PodSchedulingGate[]
  schedulingGroup?: PodSchedulingGroup
  securityContext?: PodSecurityContext
  serviceAccount?: string
  serviceAccountName?: string
  setHostnameAsFQDN?: boolean
  shareProcessNamespace?: boolean
  subdomain?: string
  terminationGracePeriodSeconds?: number
  tolerations?: Toleration[]
  topologySpreadConstraints?: TopologySpreadConstraint[]
  volumes?: Volume[]
}

export interface PodStatus {
  allocatedResources?: Record<string, string | number>
  conditions?: PodCondition[]
  containerStatuses?: ContainerStatus[]
  ephemeralContainerStatuses?: ContainerStatus[]
  extendedResourceClaimStatus?: PodExtendedResourceClaimStatus
  hostIP?: string
  hostIPs?: HostIP[]
  initContainerStatuses?: ContainerStatus[]
  message?: string
  nodeAllocatableResourceClaimStatuses?: NodeAllocatableResourceClaimStatus[]
  nominatedNodeName?: string
  observedGeneration?: number
  phase?: string
  podIP?: string
  podIPs?: PodIP[]
  qosClass?: string
  reason?: string
  resize?: string
  resourceClaimStatuses?: PodResourceClaimStatus[]
  resources?: ResourceRequirements
  startTime?: string
}

export interface PodTemplateSpec {
  metadata?: ObjectMeta
  spec?: PodSpec
}

export interface PolicyRule {
  apiGroups?: string[]
  nonResourceURLs?: string[]
  resourceNames?: string[]
  resources?: string[]
  verbs?: string[]
}

export interface PortStatus {
  error?: string
  port?: number
  protocol?: string
}

export interface PortworxVolumeSource {
  fsType?: string
  readOnly?: boolean
  volumeID?: string
}

export interface PreferredSchedulingTerm {
  preference?: NodeSelectorTerm
  weight?: number
}

export interface PriorityClass extends KubeObject {
  description?: string
  globalDefault?: boolean
  preemptionPolicy?: string
  value?: number
}

export interface Probe {
  exec?: ExecAction
  failureThreshold?: number
  grpc?: GRPCAction
  httpGet?: HTTPGetAction
  initialDelaySeconds?: number
  periodSeconds?: number
  successThreshold?: number
  tcpSocket?: TCPSocketAction
  terminationGracePeriodSeconds?: number
  timeoutSeconds?: number
}

export interface ProjectedVolumeSource {
  defaultMode?: number
  sources?: VolumeProjection[]
}

export interface QuobyteVolumeSource {
  group?: string
  readOnly?: boolean
  registry?: string
  tenant?: string
  user?: string
  volume?: string
}

export interface RBDPersistentVolumeSource {
  fsType?: string
  image?: string
  keyring?: string
  monitors?: string[]
  pool?: string
  readOnly?: boolean
  secretRef?: SecretReference
  user?: string
}

export interface RBDVolumeSource {
  fsType?: string
  image?: string
  keyring?: string
  monitors?: string[]
  pool?: string
  readOnly?: boolean
  secretRef?: LocalObjectReference
  user?: string
}

export interface ReplicaSet extends KubeObject {
  spec?: ReplicaSetSpec
  status?: ReplicaSetStatus
}

export interface ReplicaSetCondition {
  lastTransitionTime?: string
  message?: string
  reason?: string
  status?: string
  type?: string
}

export interface ReplicaSetSpec {
  minReadySeconds?: number
  replicas?: number
  selector?: LabelSelector
  template?: PodTemplateSpec
}

export interface ReplicaSetStatus {
  availableReplicas?: number
  conditions?: ReplicaSetCondition[]
  fullyLabeledReplicas?: number
  observedGeneration?: number
  readyReplicas?: number
  replicas?: number
  terminatingReplicas?: number
}

export interface ResourceClaim {
  name?: string
  request?: string
}

export interface ResourceFieldSelector {
  containerName?: string
  divisor?: string | number
  resource?: string
}

export interface ResourceHealth {
  health?: string
  message?: string
  resourceID?: string
}

export interface ResourceQuota extends KubeObject {
  spec?: ResourceQuotaSpec
  status?: ResourceQuotaStatus
}

export interface ResourceQuotaSpec {
  hard?: Record<string, string | number>
  scopeSelector?: ScopeSelector
  scopes?: string[]
}

export interface ResourceQuotaStatus {
  hard?: Record<string, string | number>
  used?: Record<string, string | number>
}

export interface ResourceRequirements {
  claims?: ResourceClaim[]
  limits?: Record<string, string | number>
  requests?: Record<string, string | number>
}

export interface ResourceStatus {
  name?: string
  resources?: ResourceHealth[]
}

export interface RollingUpdateDaemonSet {
  maxSurge?: string | number
  maxUnavailable?: string | number
}

export interface RollingUpdateDeployment {
  maxSurge?: string | number
  maxUnavailable?: string | number
}

export interface RollingUpdateStatefulSetStrategy {
  maxUnavailable?: string | number
  partition?: number
}

export interface SELinuxOptions {
  level?: string
  role?: string
  type?: string
  user?: string
}

export interface ScaleIOPersistentVolumeSource {
  fsType?: string
  gateway?: string
  protectionDomain?: string
  readOnly?: boolean
  secretRef?: SecretReference
  sslEnabled?: boolean
  storageMode?: string
  storagePool?: string
  system?: string
  volumeName?: string
}

export interface ScaleIOVolumeSource {
  fsType?: string
  gateway?: string
  protectionDomain?: string
  readOnly?: boolean
  secretRef?: LocalObjectReference
  sslEnabled?: boolean
  storageMode?: string
  storagePool?: string
  system?: string
  volumeName?: string
}

export interface ScopeSelector {
  matchExpressions?: ScopedResourceSelectorRequirement[]
}

export interface ScopedResourceSelectorRequirement {
  operator?: string
  scopeName?: string
  values?: string[]
}

export interface SeccompProfile {
  localhostProfile?: string
  type?: string
}

export interface Secret extends KubeObject {
  data?: Record<string, string>
  immutable?: boolean
  stringData?: Record<string, string>
  type?: string
}

export interface SecretEnvSource {
  name?: string
  optional?: boolean
}

export interface SecretKeySelector {
  key?: string
  name?: string
  optional?: boolean
}

export interface SecretProjection {
  items?: KeyToPath[]
  name?: string
  optional?: boolean
}

export interface SecretReference {
  name?: string
  namespace?: string
}

export interface SecretVolumeSource {
  defaultMode?: number
  items?: KeyToPath[]
  optional?: boolean
  secretName?: string
}

export interface SecurityContext {
  allowPrivilegeEscalation?: boolean
  appArmorProfile?: AppArmorProfile
  capabilities?: Capabilities
  privileged?: boolean
  procMount?: string
  readOnlyRootFilesystem?: boolean
  runAsGroup?: number
  runAsNonRoot?: boolean
  runAsUser?: number
  seLinuxOptions?: SELinuxOptions
  seccompProfile?: SeccompProfile
  windowsOptions?: WindowsSecurityContextOptions
}

export interface Service extends KubeObject {
  spec?: ServiceSpec
  status?: ServiceStatus
}

export interface ServiceAccount extends KubeObject {
  automountServiceAccountToken?: boolean
  imagePullSecrets?: LocalObjectReference[]
  secrets?: ObjectReference[]
}

export interface ServiceAccountTokenProjection {
  audience?: string
  expirationSeconds?: number
  path?: string
}

export interface ServicePort {
  appProtocol?: string
  name?: string
  nodePort?: number
  port?: number
  protocol?: string
  targetPort?: string | number
}

export interface ServiceSpec {
  allocateLoadBalancerNodePorts?: boolean
  clusterIP?: string
  clusterIPs?: string[]
  externalIPs?: string[]
  externalName?: string
  externalTrafficPolicy?: string
  healthCheckNodePort?: number
  internalTrafficPolicy?: string
  ipFamilies?: string[]
  ipFamilyPolicy?: string
  loadBalancerClass?: string
  loadBalancerIP?: string
  loadBalancerSourceRanges?: string[]
  ports?: ServicePort[]
  publishNotReadyAddresses?: boolean
  selector?: Record<string, string>
  sessionAffinity?: string
  sessionAffinityConfig?: SessionAffinityConfig
  trafficDistribution?: string
  type?: string
}

export interface ServiceStatus {
  conditions?: Condition[]
  loadBalancer?: LoadBalancerStatus
}

export interface SessionAffinityConfig {
  clientIP?: ClientIPConfig
}

export interface SleepAction {
  seconds?: number
}

export interface SliceEndpoint {
  addresses?: string[]
  conditions?: SliceEndpointConditions
  deprecatedTopology?: Record<string, string>
  hints?: SliceEndpointHints
  hostname?: string
  nodeName?: string
  targetRef?: ObjectReference
  zone?: string
}

export interface SliceEndpointConditions {
  ready?: boolean
  serving?: boolean
  terminating?: boolean
}

export interface SliceEndpointHints {
  forNodes?: ForNode[]
  forZones?: ForZone[]
}

export interface SliceEndpointPort {
  appProtocol?: string
  name?: string
  port?: number
  protocol?: string
}

export interface StatefulSet extends KubeObject {
  spec?: StatefulSetSpec
  status?: StatefulSetStatus
}

export interface StatefulSetCondition {
  lastTransitionTime?: string
  message?: string
  reason?: string
  status?: string
  type?: string
}

export interface StatefulSetOrdinals {
  start?: number
}

export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  whenDeleted?: string
  whenScaled?: string
}

export interface StatefulSetSpec {
  minReadySeconds?: number
  ordinals?: StatefulSetOrdinals
  persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy
  podManagementPolicy?: string
  replicas?: number
  revisionHistoryLimit?: number
  selector?: LabelSelector
  serviceName?: string
  template?: PodTemplateSpec
  updateStrategy?: StatefulSetUpdateStrategy
  volumeClaimTemplates?: PersistentVolumeClaim[]
}

export interface StatefulSetStatus {
  availableReplicas?: number
  collisionCount?: number
  conditions?: StatefulSetCondition[]
  currentReplicas?: number
  currentRevision?: string
  observedGeneration?: number
  readyReplicas?: number
  replicas?: number
  updateRevision?: string
  updatedReplicas?: number
}

export interface StatefulSetUpdateStrategy {
  rollingUpdate?: RollingUpdateStatefulSetStrategy
  type?: string
}

export interface StorageClass extends KubeObject {
  allowVolumeExpansion?: boolean
  allowedTopologies?: TopologySelectorTerm[]
  mountOptions?: string[]
  parameters?: Record<string, string>
  provisioner?: string
  reclaimPolicy?: string
  volumeBindingMode?: string
}

export interface StorageOSPersistentVolumeSource {
  fsType?: string
  readOnly?: boolean
  secretRef?: ObjectReference
  volumeName?: string
  volumeNamespace?: string
}

export interface StorageOSVolumeSource {
  fsType?: string
  readOnly?: boolean
  secretRef?: LocalObjectReference
  volumeName?: string
  volumeNamespace?: string
}

export interface SuccessPolicy {
  rules?: SuccessPolicyRule[]
}

export interface SuccessPolicyRule {
  succeededCount?: number
  succeededIndexes?: string
}

export interface Sysctl {
  name?: string
  value?: string
}

export interface TCPSocketAction {
  host?: string
  port?: string | number
}

export interface Taint {
  effect?: string
  key?: string
  timeAdded?: string
  value?: string
}

export interface Toleration {
  effect?: string
  key?: string
  operator?: string
  tolerationSeconds?: number
  value?: string
}

export interface TopologySelectorLabelRequirement {
  key?: string
  values?: string[]
}

export interface TopologySelectorTerm {
  matchLabelExpressions?: TopologySelectorLabelRequirement[]
}

export interface TopologySpreadConstraint {
  labelSelector?: LabelSelector
  matchLabelKeys?: string[]
  maxSkew?: number
  minDomains?: number
  nodeAffinityPolicy?: string
  nodeTaintsPolicy?: string
  topologyKey?: string
  whenUnsatisfiable?: string
}

export interface TypedLocalObjectReference {
  apiGroup?: string
  kind?: string
  name?: string
}

export interface TypedObjectReference {
  apiGroup?: string
  kind?: string
  name?: string
  namespace?: string
}

export interface UncountedTerminatedPods {
  failed?: string[]
  succeeded?: string[]
}

export interface Volume {
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource
  azureDisk?: AzureDiskVolumeSource
  azureFile?: AzureFileVolumeSource
  cephfs?: CephFSVolumeSource
  cinder?: CinderVolumeSource
  configMap?: ConfigMapVolumeSource
  csi?: CSIVolumeSource
  downwardAPI?: DownwardAPIVolumeSource
  emptyDir?: EmptyDirVolumeSource
  ephemeral?: EphemeralVolumeSource
  fc?: FCVolumeSource
  flexVolume?: FlexVolumeSource
  flocker?: FlockerVolumeSource
  gcePersistentDisk?: GCEPersistentDiskVolumeSource
  gitRepo?: GitRepoVolumeSource
  glusterfs?: GlusterfsVolumeSource
  hostPath?: HostPathVolumeSource
  image?: ImageVolumeSource
  iscsi?: ISCSIVolumeSource
  name?: string
  nfs?: NFSVolumeSource
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource
  portworxVolume?: PortworxVolumeSource
  projected?: ProjectedVolumeSource
  quobyte?: QuobyteVolumeSource
  rbd?: RBDVolumeSource
  scaleIO?: ScaleIOVolumeSource
  secret?: SecretVolumeSource
  storageos?: StorageOSVolumeSource
  vsphereVolume?: VsphereVirtualDiskVolumeSource
}

export interface VolumeDevice {
  devicePath?: string
  name?: string
}

export interface VolumeMount {
  mountPath?: string
  mountPropagation?: string
  name?: string
  readOnly?: boolean
  recursiveReadOnly?: string
  subPath?: string
  subPathExpr?: string
}

export interface VolumeMountStatus {
  mountPath?: string
  name?: string
  readOnly?: boolean
  recursiveReadOnly?: string
  volumeStatus?: VolumeStatus
}

export interface VolumeNodeAffinity {
  required?: NodeSelector
}

export interface VolumeProjection {
  clusterTrustBundle?: ClusterTrustBundleProjection
  configMap?: ConfigMapProjection
  downwardAPI?: DownwardAPIProjection
  podCertificate?: PodCertificateProjection
  secret?: SecretProjection
  serviceAccountToken?: ServiceAccountTokenProjection
}

export interface VolumeResourceRequirements {
  limits?: Record<string, string | number>
  requests?: Record<string, string | number>
}

export interface VolumeStatus {
  image?: ImageVolumeStatus
}

export interface VsphereVirtualDiskVolumeSource {
  fsType?: string
  storagePolicyID?: string
  storagePolicyName?: string
  volumePath?: string
}

export interface WeightedPodAffinityTerm {
  podAffinityTerm?: PodAffinityTerm
  weight?: number
}

export interface WindowsSecurityContextOptions {
  gmsaCredentialSpec?: string
  gmsaCredentialSpecName?: string
  hostProcess?: boolean
  runAsUserName?: string
}
