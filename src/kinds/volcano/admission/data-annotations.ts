/**
 * Admission of the workload kinds: what they say about data must be readable. Workloads of other kinds are not seen here;
 * for them the gate itself finds the annotation unreadable, and holds them.
 */
import { type FieldError, invalid, keyed, omittedValue } from '../../../kube/field-error.ts'
import type { Parsed } from '../../../kube/parsed.ts'
import { type Admission, type AdmissionRequest, defineAdmission } from '../../admission.ts'
import { parseClaims, parseProduces } from '../annotations.ts'
import { CLAIMS_ANNOTATION, PRODUCES_ANNOTATION } from '../well-known.ts'
import { newAnnotation } from './judged.ts'

const WORKLOADS: Readonly<Record<string, readonly string[]>> = {
  batch: ['jobs', 'cronjobs'],
  apps: ['deployments', 'statefulsets', 'daemonsets', 'replicasets'],
  'batch.volcano.sh': ['jobs'],
  'kubeflow.org': ['pytorchjobs'],
  'ray.io': ['rayjobs', 'rayclusters'],
}

export const dataAnnotationsAdmission: Admission = defineAdmission({
  name: 'DataAnnotations',
  about: `Refuses workloads whose ${PRODUCES_ANNOTATION} or ${CLAIMS_ANNOTATION} cannot be read.`,
  resources: Object.entries(WORKLOADS).flatMap(([group, resources]) => resources.map((resource) => ({ group, resource }))),
  operations: ['CREATE', 'UPDATE'],
  validate: (request) => [
    ...annotationErrors(request, PRODUCES_ANNOTATION, parseProduces),
    ...annotationErrors(request, CLAIMS_ANNOTATION, parseClaims),
  ],
})

/** The error quotes the entry that is wrong; the whole text may be long. */
function annotationErrors(request: AdmissionRequest, name: string, parse: (text: string) => Parsed<unknown>): FieldError[] {
  const text = newAnnotation(request, name)
  const error = text === undefined ? undefined : parse(text).error
  return error === undefined ? [] : [invalid(keyed('metadata.annotations', name), omittedValue, error)]
}
