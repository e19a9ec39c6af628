/** The admission of a hub, besides that of Kubernetes: everything that Karmada's own webhooks do for these kinds. */
import type { Admission } from '../../admission.ts'
import { bindingAdmission } from './binding.ts'
import { clusterAdmission } from './cluster.ts'
import { clusterTaintPolicyAdmission } from './cluster-taint-policy.ts'
import { deletionProtectionAdmission } from './deletion-protection.ts'
import { overridePolicyAdmission } from './override-policy.ts'
import { propagationPolicyAdmission } from './propagation-policy.ts'
import { interpreterCustomizationAdmission } from './resource-interpreter-customization.ts'
import { interpreterWebhookAdmission } from './resource-interpreter-webhook-configuration.ts'
import { workAdmission } from './work.ts'

export interface KarmadaAdmissionOptions {
  /** Whether a ClusterTaintPolicy may evict running work (default true). */
  allowNoExecuteTaintPolicy?: boolean
}

export const karmadaAdmission = ({ allowNoExecuteTaintPolicy = true }: KarmadaAdmissionOptions = {}): Admission[] => [
  clusterAdmission,
  propagationPolicyAdmission,
  overridePolicyAdmission,
  clusterTaintPolicyAdmission({ allowNoExecute: allowNoExecuteTaintPolicy }),
  bindingAdmission,
  workAdmission,
  interpreterCustomizationAdmission,
  interpreterWebhookAdmission,
  deletionProtectionAdmission,
]
