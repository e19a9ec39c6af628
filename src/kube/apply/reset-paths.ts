/**
 * Which fields an endpoint of a kind resets whatever is sent: the object itself its status, /status the spec (for custom
 * kinds and some others also all metadata). Writing such fields gives no ownership.
 */
const STATUS = [['status']]
const SPEC = [['spec']]
const SPEC_AND_METADATA = [['spec'], ['metadata']]

/** By `group/Kind subresource`, for built-in kinds that differ. */
const EXCEPTIONS: ReadonlyMap<string, readonly (readonly string[])[]> = new Map([
  ['admissionregistration.k8s.io/ValidatingAdmissionPolicy status', SPEC_AND_METADATA],
  ['apiregistration.k8s.io/APIService status', SPEC_AND_METADATA],
  ['apps/Deployment status', [['spec'], ['metadata', 'labels']]],
  ['certificates.k8s.io/CertificateSigningRequest ', [['spec'], ['status']]],
  ['certificates.k8s.io/CertificateSigningRequest status', [['spec'], ['status', 'conditions']]],
  ['certificates.k8s.io/CertificateSigningRequest approval', [['spec'], ['status', 'certificate']]],
  ['/Namespace finalize', STATUS],
  ['/Pod status', [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']]],
  ['/Pod ephemeralcontainers', STATUS],
  ['/Pod resize', STATUS],
  ['networking.k8s.io/ServiceCIDR status', SPEC_AND_METADATA],
  ['resource.k8s.io/ResourceClaim status', SPEC_AND_METADATA],
  ['storage.k8s.io/VolumeAttachment status', SPEC_AND_METADATA],
])

export interface Door {
  group: string
  kind: string
  /** '' for the object itself. */
  subresource: string
  builtin: boolean
  /** Whether the kind has a status subresource; without one, status is a field like any other. */
  hasStatus: boolean
}

export function resetPathsOf({ group, kind, subresource, builtin, hasStatus }: Door): readonly (readonly string[])[] {
  const exception = builtin ? EXCEPTIONS.get(`${group}/${kind} ${subresource}`) : undefined
  if (exception !== undefined) return exception
  if (subresource === 'status') return builtin ? SPEC : SPEC_AND_METADATA
  return subresource === '' && hasStatus ? STATUS : []
}
