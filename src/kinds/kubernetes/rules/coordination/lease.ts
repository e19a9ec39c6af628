/** Lease: who holds something, since when and for how long. */
import { type FieldError, invalid } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { KindRules } from '../../../kind.ts'
import { ensureObject, field, maybeNumber, object } from '../fields.ts'

function leaseErrors(lease: KubeObject): FieldError[] {
  const spec = object(lease, 'spec')
  const [duration, transitions] = [maybeNumber(spec, 'leaseDurationSeconds'), maybeNumber(spec, 'leaseTransitions')]
  const errors: FieldError[] = []
  if (duration !== undefined && duration <= 0) errors.push(invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0'))
  if (transitions !== undefined && transitions < 0)
    errors.push(invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'))
  return errors
}

/** Coordinated leader election is off: its fields are dropped unless already present. */
function dropCoordination(lease: KubeObject, old?: KubeObject): void {
  const spec = ensureObject(lease, 'spec')
  for (const key of ['strategy', 'preferredHolder']) if (field(object(old, 'spec'), key) === undefined) delete spec[key]
}

export const leaseRules: KindRules = {
  prepareForCreate: (lease) => dropCoordination(lease),
  prepareForUpdate: (lease, old) => dropCoordination(lease, old),
  validateCreate: leaseErrors,
  validateUpdate: leaseErrors,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
}
