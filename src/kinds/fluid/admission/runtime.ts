/** Admission of all runtimes. */
import { type FieldError, forbidden } from '../../../kube/field-error.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Admission, type AdmissionReader, defineAdmission } from '../../admission.ts'
import { quoted } from '../../volcano/annotations.ts'
import { runtimeKinds } from '../index.ts'
import { DATASETS } from '../resources.ts'
import type { HostPathPrefixes } from './host-paths.ts'
import { createdObject, introducedErrors } from './introduced.ts'
import { nameErrors } from './name-rules.ts'
import { servesReferenceErrors } from './reference-rules.ts'
import { runtimeErrorsOf } from './runtime-rules.ts'

export const runtimeAdmission = (hostPathPrefixes: HostPathPrefixes): Admission =>
  defineAdmission({
    name: 'Runtime',
    about:
      'Refuses runtimes whose name, tiered store or fuse cannot work, a second runtime of the same name, and a cache for a dataset that refers to another.',
    resources: runtimeKinds.map(({ group, plural }) => ({ group, resource: plural })),
    operations: ['CREATE', 'UPDATE'],
    reads: [DATASETS, ...runtimeKinds.map(({ resource }) => resource)],
    validate(request, { read }) {
      const errors = [
        ...introducedErrors(request, (runtime) => runtimeErrorsOf(runtime, hostPathPrefixes)),
        ...servesReferenceErrors(request, read),
      ]
      const created = createdObject(request)
      return created === undefined ? errors : [...nameErrors(created), ...otherRuntimeErrors(created, read), ...errors]
    },
  })

/** A dataset has one runtime: that of its name. Two of different kinds would fight over its objects. */
function otherRuntimeErrors({ kind, metadata: { namespace = '', name = '' } }: KubeObject, read: AdmissionReader): FieldError[] {
  const other = runtimeKinds.find(
    (own) => own.kind !== kind && read.get({ group: own.group, resource: own.plural }, namespace, name) !== undefined,
  )
  if (other === undefined) return []
  return [
    forbidden(
      'metadata.name',
      `${other.kind} ${quoted(name)} exists in this namespace, and a dataset has one runtime: delete it first, or choose another name`,
    ),
  ]
}
