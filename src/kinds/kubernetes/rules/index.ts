/** The rules of every built-in kind, by group and kind. Kinds without their own rules follow the general ones. */
import type { KindRules } from '../../kind.ts'
import {
  mutatingAdmissionPolicyBindingRules,
  mutatingAdmissionPolicyRules,
  validatingAdmissionPolicyBindingRules,
  validatingAdmissionPolicyRules,
} from './admissionregistration/policies.ts'
import { mutatingWebhookConfigurationRules, validatingWebhookConfigurationRules } from './admissionregistration/webhooks.ts'
import { apiServiceRules } from './apiregistration/api-service.ts'
import { horizontalPodAutoscalerRules } from './autoscaling/horizontal-pod-autoscaler.ts'
import { certificateSigningRequestRules } from './certificates/certificate-signing-request.ts'
import { leaseRules } from './coordination/lease.ts'
import { configMapRules, secretRules, serviceAccountRules } from './core/config.ts'
import { endpointsRules } from './core/endpoints.ts'
import { eventRules, newEventRules } from './core/event.ts'
import { namespaceRules } from './core/namespace.ts'
import { nodeRules } from './core/node.ts'
import { persistentVolumeRules } from './core/persistent-volume.ts'
import { persistentVolumeClaimRules } from './core/persistent-volume-claim.ts'
import { limitRangeRules, resourceQuotaRules } from './core/quota.ts'
import { serviceRules } from './core/service.ts'
import { endpointSliceRules } from './discovery/endpoint-slice.ts'
import { flowSchemaRules, priorityLevelConfigurationRules } from './flowcontrol/flowcontrol.ts'
import { ipAddressRules, serviceCidrRules } from './networking/addresses.ts'
import { ingressClassRules, ingressRules } from './networking/ingress.ts'
import { networkPolicyRules } from './networking/network-policy.ts'
import { runtimeClassRules } from './node/runtime-class.ts'
import { podDisruptionBudgetRules } from './policy/pod-disruption-budget.ts'
import { clusterRoleBindingRules, clusterRoleRules, roleBindingRules, roleRules } from './rbac/rbac.ts'
import { deviceClassRules, resourceClaimRules, resourceClaimTemplateRules, resourceSliceRules } from './resource/resource.ts'
import { priorityClassRules } from './scheduling/priority-class.ts'
import { storageClassRules, volumeAttributesClassRules } from './storage/classes.ts'
import { csiDriverRules, csiNodeRules, csiStorageCapacityRules, volumeAttachmentRules } from './storage/csi.ts'
import { workloadRules } from './workloads/index.ts'

const otherRules: Readonly<Record<string, KindRules>> = {
  '/ConfigMap': configMapRules,
  '/Endpoints': endpointsRules,
  '/Event': eventRules,
  '/LimitRange': limitRangeRules,
  '/Namespace': namespaceRules,
  '/Node': nodeRules,
  '/PersistentVolume': persistentVolumeRules,
  '/PersistentVolumeClaim': persistentVolumeClaimRules,
  '/ResourceQuota': resourceQuotaRules,
  '/Secret': secretRules,
  '/Service': serviceRules,
  '/ServiceAccount': serviceAccountRules,
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': mutatingAdmissionPolicyRules,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': mutatingAdmissionPolicyBindingRules,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': mutatingWebhookConfigurationRules,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': validatingAdmissionPolicyRules,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': validatingAdmissionPolicyBindingRules,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': validatingWebhookConfigurationRules,
  'apiregistration.k8s.io/APIService': apiServiceRules,
  'autoscaling/HorizontalPodAutoscaler': horizontalPodAutoscalerRules,
  'certificates.k8s.io/CertificateSigningRequest': certificateSigningRequestRules,
  'coordination.k8s.io/Lease': leaseRules,
  'discovery.k8s.io/EndpointSlice': endpointSliceRules,
  'events.k8s.io/Event': newEventRules,
  'flowcontrol.apiserver.k8s.io/FlowSchema': flowSchemaRules,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': priorityLevelConfigurationRules,
  'networking.k8s.io/IPAddress': ipAddressRules,
  'networking.k8s.io/Ingress': ingressRules,
  'networking.k8s.io/IngressClass': ingressClassRules,
  'networking.k8s.io/NetworkPolicy': networkPolicyRules,
  'networking.k8s.io/ServiceCIDR': serviceCidrRules,
  'node.k8s.io/RuntimeClass': runtimeClassRules,
  'policy/PodDisruptionBudget': podDisruptionBudgetRules,
  'rbac.authorization.k8s.io/ClusterRole': clusterRoleRules,
  'rbac.authorization.k8s.io/ClusterRoleBinding': clusterRoleBindingRules,
  'rbac.authorization.k8s.io/Role': roleRules,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingRules,
  'resource.k8s.io/DeviceClass': deviceClassRules,
  'resource.k8s.io/ResourceClaim': resourceClaimRules,
  'resource.k8s.io/ResourceClaimTemplate': resourceClaimTemplateRules,
  'resource.k8s.io/ResourceSlice': resourceSliceRules,
  'scheduling.k8s.io/PriorityClass': priorityClassRules,
  'storage.k8s.io/CSIDriver': csiDriverRules,
  'storage.k8s.io/CSINode': csiNodeRules,
  'storage.k8s.io/CSIStorageCapacity': csiStorageCapacityRules,
  'storage.k8s.io/StorageClass': storageClassRules,
  'storage.k8s.io/VolumeAttachment': volumeAttachmentRules,
  'storage.k8s.io/VolumeAttributesClass': volumeAttributesClassRules,
}

const GENERAL: KindRules = {}

/** The rules of a built-in kind; '' is the core group. */
export function rulesFor(group: string, kind: string): KindRules {
  const key = `${group}/${kind}`
  for (const rules of [otherRules, workloadRules]) if (Object.hasOwn(rules, key)) return rules[key] ?? GENERAL
  return GENERAL
}
