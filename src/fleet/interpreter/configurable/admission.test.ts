import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AdmissionContext, AdmissionRequest } from '../../../kinds/admission.ts'
import type { FieldError } from '../../../kube/field-error.ts'
import { interpreterScriptAdmission } from './admission.ts'

function errorsOf(customizations: Record<string, { luaScript: string }>, metadata: Record<string, unknown> = {}): FieldError[] | undefined {
  const object = {
    apiVersion: 'config.karmada.io/v1alpha1',
    kind: 'ResourceInterpreterCustomization',
    metadata: { name: 'x', ...metadata },
    spec: { target: { apiVersion: 'v1', kind: 'X' }, customizations },
  }
  return interpreterScriptAdmission.validate?.({ object } as unknown as AdmissionRequest, {} as AdmissionContext) as
    | FieldError[]
    | undefined
}

describe('admission of interpreter scripts', () => {
  it('takes scripts that compile', () => {
    assert.deepEqual(
      errorsOf({
        retention: { luaScript: 'function Retain(a, b) return a end' },
        statusReflection: { luaScript: 'ReflectStatus = function(o) return o.status end' },
      }),
      [],
    )
    assert.deepEqual(errorsOf({ retention: { luaScript: '' } }), [])
  })

  it('names the field, the line and the reason', () => {
    const [error, ...rest] =
      errorsOf({ healthInterpretation: { luaScript: 'function InterpretHealth(obj)\n  if obj.ready the\n  return true\nend' } }) ?? []
    assert.equal(rest.length, 0)
    assert.equal(error?.field, 'spec.customizations.healthInterpretation.luaScript')
    assert.match(error?.detail ?? '', /^Lua script error: line 2: 'then' expected near 'the'$/)
  })

  it('names every script that is wrong', () => {
    const errors = errorsOf({
      retention: { luaScript: 'function Retain(' },
      replicaResource: { luaScript: 'x = }' },
      statusReflection: { luaScript: 'function ReflectStatus(o) goto nowhere end' },
    })
    assert.deepEqual(errors?.map(({ field }) => field).sort(), [
      'spec.customizations.replicaResource.luaScript',
      'spec.customizations.retention.luaScript',
      'spec.customizations.statusReflection.luaScript',
    ])
  })

  it('refuses a script that does not define its function', () => {
    const [error] = errorsOf({ retention: { luaScript: 'function Retian(a, b) return a end' } }) ?? []
    assert.equal(error?.detail, 'the script must define the function Retain')
  })

  it('does not hold up a deletion', () => {
    assert.equal(errorsOf({ retention: { luaScript: 'broken(' } }, { deletionTimestamp: '2024-01-01T00:00:00Z' }), undefined)
  })
})
