/** The admission that is built into the server, in the order in which the real one runs it. */
import type { Admission } from '../../admission.ts'
import type { ServiceAllocatorOptions } from '../rules/core/service-allocator.ts'
import { certificateSubjectRestriction } from './certificates.ts'
import { defaultIngressClass, defaultStorageClass, persistentVolumeClaimResize, storageObjectInUseProtection } from './classes.ts'
import { limitRanger } from './limit-ranger.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { defaultTolerationSeconds, priority, runtimeClass, taintNodesByCondition } from './pod-defaults.ts'
import { podSecurity } from './pod-security.ts'
import { podTopologyLabels } from './pod-topology-labels.ts'
import { resourceQuota } from './resource-quota.ts'
import { serviceAccount } from './service-account.ts'
import { serviceAddresses } from './service-addresses.ts'

export interface BuiltinAdmissionOptions {
  /** Pods get an account and its token; off for a bare server and for the hub. */
  serviceAccount: boolean
  /** Volumes and claims get a finalizer that a controller must remove; off for the hub. */
  storageProtection: boolean
  /** Ranges of cluster addresses and node ports. */
  services?: ServiceAllocatorOptions
}

/** Created once per cluster: part of it remembers its allocations. */
export function builtinAdmission(options: BuiltinAdmissionOptions): readonly Admission[] {
  return [
    namespaceLifecycle,
    limitRanger,
    ...(options.serviceAccount ? [serviceAccount] : []),
    taintNodesByCondition,
    podSecurity,
    podTopologyLabels,
    priority,
    defaultTolerationSeconds,
    defaultStorageClass,
    ...(options.storageProtection ? [storageObjectInUseProtection] : []),
    persistentVolumeClaimResize,
    runtimeClass,
    certificateSubjectRestriction,
    defaultIngressClass,
    serviceAddresses(options.services),
    resourceQuota,
  ]
}
