/** ControllerRevisions: snapshots that DaemonSets and StatefulSets keep of their templates. Their data never changes. */
import { type FieldError, required } from '../../../../kube/field-error.ts'
import type { KindRules } from '../../../kind.ts'
import { type Fields, isFields, isSet, number, raw } from '../fields.ts'
import { nonNegative } from '../pod/errors.ts'
import { immutableErrors } from './template-kind.ts'

const revisionErrors = (object: Fields): FieldError[] => nonNegative('revision', number(object, 'revision'))

export const controllerRevisionRules: KindRules = {
  validateCreate(object) {
    const errors = revisionErrors(object)
    if (!isSet(object, 'data')) return [...errors, required('data', 'data is mandatory')]
    return isFields(raw(object, 'data')) ? errors : [...errors, required('data', 'data must be a valid JSON object')]
  },
  validateUpdate: (object, old) => [
    ...revisionErrors(object),
    ...immutableErrors('data', { next: raw(object, 'data'), old: raw(old, 'data'), value: raw(object, 'data') }),
  ],
}
