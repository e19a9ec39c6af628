/** Nothing is created in a namespace that does not exist or is being deleted, and the initial namespaces are never deleted. */
import { forbiddenError, notFoundError } from '../../../kube/status.ts'
import { type Admission, type AdmissionContext, type AdmissionRequest, defineAdmission } from '../../admission.ts'
import { object, string } from '../rules/fields.ts'
import { forbidden } from './forbid.ts'

const NAMESPACES = { group: '', resource: 'namespaces' }
const IMMORTAL = ['default', 'kube-system', 'kube-public']

const isNamespace = (request: AdmissionRequest): boolean => request.group === '' && request.kind === 'Namespace'
const isAccessReview = (request: AdmissionRequest): boolean =>
  request.group === 'authorization.k8s.io' && request.resource === 'localsubjectaccessreviews'

/** A delete has no object to change: it is only validated. */
function validate(request: AdmissionRequest): undefined {
  if (request.operation === 'DELETE' && isNamespace(request) && request.subresource === '' && IMMORTAL.includes(request.name))
    throw forbiddenError(NAMESPACES, request.name, 'this namespace may not be deleted')
}

function mutate(request: AdmissionRequest, { read }: AdmissionContext): void {
  if (isNamespace(request)) return
  if (request.namespace === '' || request.operation === 'DELETE' || isAccessReview(request)) return
  const namespace = read.get(NAMESPACES, '', request.namespace)
  if (namespace === undefined) throw notFoundError(NAMESPACES, request.namespace)
  if (request.operation !== 'CREATE' || string(object(namespace, 'status'), 'phase') !== 'Terminating') return
  const error = forbidden(request, `unable to create new content in namespace ${request.namespace} because it is being terminated`)
  error.status.details = {
    ...error.status.details,
    causes: [
      { reason: 'NamespaceTerminating', message: `namespace ${request.namespace} is being terminated`, field: 'metadata.namespace' },
    ],
  }
  throw error
}

export const namespaceLifecycle: Admission = defineAdmission({
  name: 'NamespaceLifecycle',
  about: 'Refuses objects in namespaces that do not exist or are going away, and deletion of the system namespaces.',
  resources: [{ group: '*', resource: '*/*' }],
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  mutate,
  validate,
})
