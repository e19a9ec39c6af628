/**
 * Which checks validate metadata, kind by kind. The real server checks the metadata of every object in general; most kinds
 * then check it again themselves, some as a change, some as if the object were new, some both. The error message is the same,
 * but each check adds its causes; and a kind's own check is what refuses finalizers that are neither known nor qualified.
 */
import type { MetadataChecks, MetadataPasses } from '../kind.ts'

const NONE: MetadataPasses = { asChange: 0, asNew: 0 }
const CHANGE: MetadataPasses = { asChange: 1, asNew: 0 }
const NEW: MetadataPasses = { asChange: 0, asNew: 1 }
const BOTH: MetadataPasses = { asChange: 1, asNew: 1 }

/** By default metadata is validated as a change, and finalizers without a domain must be known ones. */
const USUAL: MetadataChecks = { standardFinalizers: true, update: CHANGE, status: CHANGE }

const both: MetadataChecks = { ...USUAL, update: BOTH }
const asNew: MetadataChecks = { ...USUAL, update: NEW, status: NONE }
const anyFinalizer: MetadataChecks = { ...USUAL, standardFinalizers: false }
const unchecked: MetadataChecks = { standardFinalizers: false, afterOwnChecks: true, update: NONE, status: NONE }
const registration: MetadataChecks = { standardFinalizers: false, update: NEW, status: NONE }

const CHECKS: Readonly<Record<string, MetadataChecks>> = {
  '/configmaps': both,
  '/endpoints': both,
  '/events': unchecked,
  '/limitranges': asNew,
  '/namespaces': both,
  '/nodes': both,
  '/persistentvolumeclaims': both,
  '/persistentvolumes': { ...USUAL, update: { asChange: 0, asNew: 2 } },
  '/pods': both,
  '/secrets': both,
  '/serviceaccounts': both,
  'admissionregistration.k8s.io/mutatingadmissionpolicies': registration,
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': registration,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': registration,
  'admissionregistration.k8s.io/validatingadmissionpolicies': registration,
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': registration,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': registration,
  'apiextensions.k8s.io/customresourcedefinitions': anyFinalizer,
  'apiregistration.k8s.io/apiservices': { ...anyFinalizer, update: BOTH },
  'apps/controllerrevisions': both,
  'batch/cronjobs': { ...USUAL, status: NONE },
  'batch/jobs': both,
  'certificates.k8s.io/certificatesigningrequests': { ...both, status: BOTH },
  'coordination.k8s.io/leases': anyFinalizer,
  'discovery.k8s.io/endpointslices': asNew,
  'flowcontrol.apiserver.k8s.io/flowschemas': asNew,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': asNew,
  'networking.k8s.io/ingressclasses': both,
  'networking.k8s.io/ingresses': both,
  'networking.k8s.io/ipaddresses': both,
  'node.k8s.io/runtimeclasses': { ...anyFinalizer, update: BOTH },
  'policy/poddisruptionbudgets': unchecked,
  'rbac.authorization.k8s.io/clusterrolebindings': both,
  'rbac.authorization.k8s.io/clusterroles': both,
  'rbac.authorization.k8s.io/rolebindings': both,
  'rbac.authorization.k8s.io/roles': both,
  'resource.k8s.io/deviceclasses': both,
  'resource.k8s.io/resourceclaims': both,
  'resource.k8s.io/resourceclaimtemplates': both,
  'storage.k8s.io/csinodes': asNew,
  'storage.k8s.io/csistoragecapacities': both,
  'storage.k8s.io/storageclasses': both,
  'storage.k8s.io/volumeattachments': asNew,
  'storage.k8s.io/volumeattributesclasses': both,
}

export function metadataChecksFor(group: string, resource: string): MetadataChecks {
  const key = `${group}/${resource}`
  return Object.hasOwn(CHECKS, key) ? (CHECKS[key] ?? USUAL) : USUAL
}
