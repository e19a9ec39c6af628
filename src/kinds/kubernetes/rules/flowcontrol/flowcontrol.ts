/** FlowSchema and PriorityLevelConfiguration: stored but not used; this server limits requests in its own way. */
import { child, type FieldError, forbidden, invalid, required } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import { defaultValue, ensureObject, type Fields, maybeNumber, maybeObject, number, object, restore, string } from '../fields.ts'
import { dnsSubdomainErrors } from '../formats.ts'
import { countChange, startGeneration } from '../generation.ts'
import { unsupported } from '../pod/errors.ts'

function prepareForUpdate(flow: KubeObject, old: KubeObject, { subresource }: RuleContext): void {
  if (subresource === 'status') {
    restore(flow, old, 'spec')
    // All of metadata except managedFields.
    const { managedFields } = flow.metadata
    flow.metadata = { ...old.metadata, ...(managedFields === undefined ? {} : { managedFields }) }
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
  if (precedence === 1 && schema.metadata.name !== 'exempt')
    errors.push(invalid('spec.matchingPrecedence', precedence, "only the schema named 'exempt' may have matchingPrecedence 1"))
  const method = maybeObject(spec, 'distinguisherMethod')
  const type = string(method, 'type')
  if (method !== undefined && !['ByNamespace', 'ByUser'].includes(type))
    errors.push(unsupported('spec.distinguisherMethod.type', { Type: type }, ['ByNamespace', 'ByUser']))
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
  const errors: FieldError[] = []
  if ((level.metadata.name === 'exempt') !== (type === 'Exempt'))
    errors.push(invalid('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'"))
  if (type === 'Exempt') {
    if (limited !== undefined) errors.push(forbidden('spec.limited', 'must be nil if the type is not Limited'))
    return [...errors, ...shareErrors('spec.exempt', exempt)]
  }
  if (type === '') return [...errors, required('spec.type')]
  if (type !== 'Limited') return [...errors, unsupported('spec.type', type, ['Exempt', 'Limited'])]
  if (exempt !== undefined) errors.push(forbidden('spec.exempt', 'must be nil if the type is Limited'))
  if (limited === undefined) return [...errors, required('spec.limited', 'must not be empty when type is Limited')]
  const [nominal, lendable] = [shareErrors('spec.limited', limited, 'nominal'), shareErrors('spec.limited', limited, 'lendable')]
  errors.push(...nominal, ...responseErrors('spec.limited.limitResponse', object(limited, 'limitResponse')), ...lendable)
  const borrowing = maybeNumber(limited, 'borrowingLimitPercent')
  if (borrowing !== undefined && borrowing < 0)
    errors.push(invalid('spec.limited.borrowingLimitPercent', borrowing, 'if specified, must be a non-negative integer'))
  return errors
}

function shareErrors(path: string, of: Fields | undefined, which?: 'nominal' | 'lendable'): FieldError[] {
  const [shares, lendable] = [number(of, 'nominalConcurrencyShares'), number(of, 'lendablePercent')]
  const errors: FieldError[] = []
  if (which !== 'lendable' && shares < 0)
    errors.push(invalid(child(path, 'nominalConcurrencyShares'), shares, 'must be a non-negative integer'))
  if (which !== 'nominal' && (lendable < 0 || lendable > 100))
    errors.push(invalid(child(path, 'lendablePercent'), lendable, 'must be between 0 and 100, inclusive'))
  return errors
}

function responseErrors(path: string, response: Fields): FieldError[] {
  const type = string(response, 'type')
  const queuing = maybeObject(response, 'queuing')
  const at = child(path, 'queuing')
  if (type === 'Reject') return queuing === undefined ? [] : [forbidden(at, 'must be nil if limited.limitResponse.type is not Limited')]
  if (type === '') return [required(child(path, 'type'))]
  if (type !== 'Queue') return [unsupported(child(path, 'type'), type, ['Queue', 'Reject'])]
  if (queuing === undefined) return [required(at, 'must not be empty if limited.limitResponse.type is Limited')]
  const [length, queues, hand] = [number(queuing, 'queueLengthLimit'), number(queuing, 'queues'), number(queuing, 'handSize')]
  const errors: FieldError[] = length <= 0 ? [invalid(child(at, 'queueLengthLimit'), length, 'must be positive')] : []
  if (queues <= 0) errors.push(invalid(child(at, 'queues'), queues, 'must be positive'))
  else if (queues > 10_000_000) errors.push(invalid(child(at, 'queues'), queues, 'must not be greater than 10000000'))
  if (hand <= 0) errors.push(invalid(child(at, 'handSize'), hand, 'must be positive'))
  else if (hand > queues) errors.push(invalid(child(at, 'handSize'), hand, `should not be greater than queues (${queues})`))
  return errors
}

export const priorityLevelConfigurationRules: KindRules = {
  ...shared,
  applyDefaults(level) {
    const spec = ensureObject(level, 'spec')
    const limited = maybeObject(spec, 'limited')
    if (limited !== undefined) {
      defaultValue(limited, 'nominalConcurrencyShares', 30)
      defaultValue(limited, 'lendablePercent', 0)
      const queuing = maybeObject(object(limited, 'limitResponse'), 'queuing')
      if (queuing !== undefined)
        for (const [key, value] of [
          ['handSize', 8],
          ['queues', 64],
          ['queueLengthLimit', 50],
        ] as const)
          if (number(queuing, key) === 0) queuing[key] = value
    }
    const exempt = maybeObject(spec, 'exempt')
    if (exempt !== undefined) {
      defaultValue(exempt, 'nominalConcurrencyShares', 0)
      defaultValue(exempt, 'lendablePercent', 0)
    }
  },
  validateCreate: levelErrors,
  validateUpdate: (level, _old, { subresource }) => (subresource === 'status' ? [] : levelErrors(level)),
}
