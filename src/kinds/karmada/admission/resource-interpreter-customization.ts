/** With two scripts for one operation on one kind, their names would decide which one is used: the second is refused. */
import { child, type FieldError, invalid } from '../../../kube/field-error.ts'
import { type Admission, defineAdmission } from '../../admission.ts'
import { GROUPS } from '../kube-schemas.ts'
import {
  type CustomizationRules,
  type ResourceInterpreterCustomization,
  SCRIPT_OF_OPERATION,
} from '../resource-interpreter-customization.ts'
import { isBeingDeleted } from './metadata.ts'

const CUSTOMIZATIONS = { group: GROUPS.config, resource: 'resourceinterpretercustomizations' }

export const interpreterCustomizationAdmission: Admission = defineAdmission({
  name: 'ResourceInterpreterCustomization',
  about: 'Refuses a second script for an operation on a kind that another customization already has one for.',
  resources: [CUSTOMIZATIONS],
  operations: ['CREATE', 'UPDATE'],
  reads: [
    {
      group: GROUPS.config,
      version: 'v1alpha1',
      plural: CUSTOMIZATIONS.resource,
      kind: 'ResourceInterpreterCustomization',
      namespaced: false,
    },
  ],
  validate({ object }, { read }) {
    if (object === undefined || isBeingDeleted(object)) return undefined
    const others = read.list(CUSTOMIZATIONS) as readonly ResourceInterpreterCustomization[]
    return conflictErrors(object as ResourceInterpreterCustomization, others)
  },
})

/** Only the first conflict is reported: one customization is changed at a time. */
function conflictErrors(
  customization: ResourceInterpreterCustomization,
  others: readonly ResourceInterpreterCustomization[],
): FieldError[] {
  const { target, customizations } = customization.spec
  for (const other of others) {
    if (other.metadata.name === customization.metadata.name) continue
    if (other.spec.target.apiVersion !== target.apiVersion || other.spec.target.kind !== target.kind) continue
    const operation = sharedOperation(customizations, other.spec.customizations)
    if (operation === undefined) continue
    const why = `conflicting with InterpreterOperation(${operation}) of existing ResourceInterpreterCustomization(${other.metadata.name})`
    const field = SCRIPT_OF_OPERATION[operation]
    return [invalid(child('spec.customizations', field ?? ''), target, why)]
  }
  return []
}

type Operation = keyof typeof SCRIPT_OF_OPERATION

/** Dependencies are exempt: every script may name some. */
function sharedOperation(a: CustomizationRules, b: CustomizationRules): Operation | undefined {
  const operations = Object.entries(SCRIPT_OF_OPERATION) as [Operation, keyof CustomizationRules][]
  const has = (rules: CustomizationRules, rule: keyof CustomizationRules): boolean => (rules[rule]?.luaScript ?? '') !== ''
  return operations.find(([operation, rule]) => operation !== 'InterpretDependency' && has(a, rule) && has(b, rule))?.[0]
}
