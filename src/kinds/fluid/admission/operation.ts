/** Admission of data operations. */
import { deepEqual } from '../../../base/json.ts'
import { type FieldError, forbidden } from '../../../kube/field-error.ts'
import { type Admission, type AdmissionContext, type AdmissionRequest, defineAdmission } from '../../admission.ts'
import { isBeingDeleted } from '../../karmada/admission/metadata.ts'
import { DataProcess } from '../index.ts'
import { OPERATIONS, type Operation } from '../operation.ts'
import { DATASETS } from '../resources.ts'
import { writeBuiltNames } from '../spellings.ts'
import type { HostPathPrefixes } from './host-paths.ts'
import { introducedErrors } from './introduced.ts'
import { cycleErrors, specErrors, targetErrors } from './operation-rules.ts'

export const operationAdmission = (hostPathPrefixes: HostPathPrefixes): Admission =>
  defineAdmission({
    name: 'DataOperation',
    about:
      'Writes the names that Fluid built beside those of the design, and refuses data operations that cannot be carried out, that would wait for themselves, or whose author may not create the pods that they run.',
    resources: OPERATIONS.map(({ group, plural }) => ({ group, resource: plural })),
    operations: ['CREATE', 'UPDATE'],
    reads: [DATASETS, ...OPERATIONS],
    asksForRights: true,
    mutate({ object, oldObject }) {
      if (object !== undefined && !isBeingDeleted(object)) writeBuiltNames(object, oldObject)
    },
    async validate(request, context) {
      const { object, oldObject } = request
      if (object === undefined || isBeingDeleted(object)) return []
      const errors = [
        ...introducedErrors<Operation>(request, (operation) => specErrors(operation, hostPathPrefixes)),
        ...cycleErrors(object, oldObject, context.read),
        ...targetErrors(object as Operation, oldObject, context.read),
      ]
      return [...errors, ...(await accessErrors(request, context))]
    },
  })

/**
 * A DataProcess runs whatever its author says, under any account of its namespace: who may not create pods must not get them in
 * this way. The pods of other operations run a program of ours.
 */
async function accessErrors(
  { kind, namespace, object, oldObject }: AdmissionRequest,
  { authorMay }: AdmissionContext,
): Promise<FieldError[]> {
  if (kind !== DataProcess.kind || (oldObject !== undefined && deepEqual(object?.spec, oldObject.spec))) return []
  return (await authorMay({ verb: 'create', group: '', resource: 'pods', namespace, name: '' }))
    ? []
    : [forbidden('spec.processor', `a DataProcess runs pods, and you may not create pods in namespace ${namespace}: ask for that right`)]
}
