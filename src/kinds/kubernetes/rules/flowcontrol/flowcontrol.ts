/** FlowSchema and PriorityLevelConfiguration: kept for those who write them; this server limits requests in its own way. */
import { type FieldError, forbidden, invalid, required } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import { defaultString, defaultValue, ensureObject, maybeObject, number, object, restore, string } from '../fields.ts'
import { dnsSubdomainErrors } from '../formats.ts'
import { countChange, startGeneration } from '../generation.ts'
import { unsupported } from '../pod/errors.ts'

function prepareForUpdate(flow: KubeObject, old: KubeObject, { subresource }: RuleContext): void {
  if (subresource === 'status') {
    restore(flow, old, 'spec')
    return
  }
  restore(flow, old, 'status')
  countChange(flow, old)
}

const shared: KindRules = {
  prepareForCreate(flow) {
    flow.status = {}
    startGeneration(flow)
  },
  prepareForUpdate,
  tracksGeneration: true,
}

function schemaErrors(schema: KubeObject): FieldError[] {
  const spec = object(schema, 'spec')
  const precedence = number(spec, 'matchingPrecedence')
  const errors: FieldError[] = []
  if (precedence <= 0) errors.push(invalid('spec.matchingPrecedence', precedence, 'must be a positive value'))
  if (precedence > 10_000) errors.push(invalid('spec.matchingPrecedence', precedence, 'must not be greater than 10000'))
  const method = maybeObject(spec, 'distinguisherMethod')
  const type = string(method, 'type')
  if (method !== undefined && !['ByNamespace', 'ByUser'].includes(type))
    errors.push(unsupported('spec.distinguisherMethod', type, ['ByNamespace', 'ByUser']))
  const level = string(object(spec, 'priorityLevelConfiguration'), 'name')
  if (level === '') return [...errors, required('spec.priorityLevelConfiguration.name', 'must reference a priority level')]
  return [...errors, ...dnsSubdomainErrors('spec.priorityLevelConfiguration.name', level)]
}

export const flowSchemaRules: KindRules = {
  ...shared,
  applyDefaults(schema) {
    const spec = ensureObject(schema, 'spec')
    if (number(spec, 'matchingPrecedence') === 0) spec.matchingPrecedence = 1000
  },
  validateCreate: schemaErrors,
  validateUpdate: (schema, _old, { subresource }) => (subresource === 'status' ? [] : schemaErrors(schema)),
}

function levelErrors(level: KubeObject): FieldError[] {
  const spec = object(level, 'spec')
  const type = string(spec, 'type')
  const [limited, exempt] = [maybeObject(spec, 'limited'), maybeObject(spec, 'exempt')]
  if (type === 'Exempt') return limited === undefined ? [] : [forbidden('spec.limited', 'must be nil if the type is not Limited')]
  if (type !== 'Limited') return [unsupported('spec.type', type, ['Exempt', 'Limited'])]
  if (exempt !== undefined) return [forbidden('spec.exempt', 'must be nil if the type is Limited')]
  return limited === undefined ? [required('spec.limited', 'must not be empty when type is Limited')] : []
}

export const priorityLevelConfigurationRules: KindRules = {
  ...shared,
  applyDefaults(level) {
    const spec = ensureObject(level, 'spec')
    const limited = maybeObject(spec, 'limited')
    if (limited !== undefined) {
      defaultValue(limited, 'nominalConcurrencyShares', 30)
      defaultValue(limited, 'lendablePercent', 0)
      const response = ensureObject(limited, 'limitResponse')
      defaultString(response, 'type', 'Reject')
    }
    if (string(spec, 'type') === 'Exempt') {
      const exempt = ensureObject(spec, 'exempt')
      defaultValue(exempt, 'nominalConcurrencyShares', 0)
      defaultValue(exempt, 'lendablePercent', 0)
    }
  },
  validateCreate: levelErrors,
  validateUpdate: (level, _old, { subresource }) => (subresource === 'status' ? [] : levelErrors(level)),
}
