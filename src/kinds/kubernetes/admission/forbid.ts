/** The error of admission: a Forbidden about the object of the request, by its name or its generateName. */
import { forbiddenError, type StatusError } from '../../../kube/status.ts'
import type { AdmissionRequest } from '../../admission.ts'

export function forbidden(request: AdmissionRequest, why: string): StatusError {
  const { name, generateName } = request.object?.metadata ?? {}
  const shown = [request.name, name, generateName].find((text) => text !== undefined && text !== '') ?? 'Unknown'
  return forbiddenError({ group: request.group, resource: request.resource }, shown, why)
}
