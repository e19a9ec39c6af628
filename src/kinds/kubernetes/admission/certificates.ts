/** Nobody may request a client certificate for the group that may do everything. */
import { type Admission, defineAdmission } from '../../admission.ts'
import { object, string } from '../rules/fields.ts'
import { forbidden } from './forbid.ts'

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client'
const MASTERS = 'system:masters'
/** DER of the object identifier of an organization, 2.5.4.10. */
const ORGANIZATION = Buffer.from([0x06, 0x03, 0x55, 0x04, 0x0a])

/** Organizations named in a PKCS#10 request, read from its DER without a full parser. */
function organizationsOf(request: string): string[] {
  const pem = /-----BEGIN CERTIFICATE REQUEST-----([\s\S]*?)-----END/.exec(Buffer.from(request, 'base64').toString('latin1'))
  const der = Buffer.from(pem?.[1] ?? '', 'base64')
  const found: string[] = []
  for (let at = der.indexOf(ORGANIZATION); at >= 0; at = der.indexOf(ORGANIZATION, at + 1)) {
    const length = der[at + ORGANIZATION.length + 1] ?? 0
    const start = at + ORGANIZATION.length + 2
    found.push(der.subarray(start, start + length).toString('utf8'))
  }
  return found
}

export const certificateSubjectRestriction: Admission = defineAdmission({
  name: 'CertificateSubjectRestriction',
  about: 'Refuses requests for client certificates of the group `system:masters`.',
  resources: [{ group: 'certificates.k8s.io', resource: 'certificatesigningrequests' }],
  operations: ['CREATE'],
  validate(request) {
    const spec = object(request.object, 'spec')
    if (string(spec, 'signerName') !== CLIENT_SIGNER || !organizationsOf(string(spec, 'request')).includes(MASTERS)) return undefined
    throw forbidden(request, `use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`)
  },
})
