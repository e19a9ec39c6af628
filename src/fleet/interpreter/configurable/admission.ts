/** A script that cannot be compiled is refused when it is written, with the line, instead of failing when it is first needed. */
import { type Admission, defineAdmission } from '../../../kinds/admission.ts'
import { GROUPS } from '../../../kinds/karmada/kube-schemas.ts'
import { type ResourceInterpreterCustomization, SCRIPT_OF_OPERATION } from '../../../kinds/karmada/resource-interpreter-customization.ts'
import { type FieldError, invalid } from '../../../kube/field-error.ts'
import { OPERATIONS } from '../interpreter.ts'
import { LuaSyntaxError } from '../lua/errors.ts'
import { FUNCTION_OF } from '../lua/kind-rules.ts'
import { tryCompile } from '../lua/script-cache.ts'
import { scriptOf } from './customization-layer.ts'

export const interpreterScriptAdmission: Admission = defineAdmission({
  name: 'ResourceInterpreterScripts',
  about: 'Refuses interpreter scripts that cannot be compiled, or that do not define their function.',
  resources: [{ group: GROUPS.config, resource: 'resourceinterpretercustomizations' }],
  operations: ['CREATE', 'UPDATE'],
  validate({ object }) {
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined
    return scriptErrors(object as ResourceInterpreterCustomization)
  },
})

function scriptErrors(customization: ResourceInterpreterCustomization): FieldError[] {
  const { customizations } = customization.spec
  const errors: FieldError[] = []
  for (const operation of OPERATIONS) {
    const source = scriptOf(customizations, operation)
    if (source === undefined) continue
    const functionName = FUNCTION_OF[operation]
    const field = `spec.customizations.${SCRIPT_OF_OPERATION[operation]}.luaScript`
    const compiled = tryCompile(source, functionName)
    if (compiled instanceof LuaSyntaxError) errors.push(invalid(field, source, `Lua script error: ${compiled.message}`))
    else if (!compiled.namesItsFunction) errors.push(invalid(field, source, `the script must define the function ${functionName}`))
  }
  return errors
}
