/** APIService: a group version and who serves it. Groups served here are local and always available. */
import { type FieldError, index, invalid, required } from '../../../../kube/field-error.ts'
import { goQuote } from '../../../../kube/go-print.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkDns1035Label, checkPathSegmentName, checkPortNumber } from '../../../../kube/names.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import { boolean, defaultValue, maybeObject, number, object, objects, restore, restoreMetadata, string } from '../fields.ts'
import { dnsSubdomainErrors } from '../formats.ts'
import { invalidEach, unsupported } from '../pod/errors.ts'

function serviceErrors(service: KubeObject): FieldError[] {
  const spec = object(service, 'spec')
  const [group, version] = [string(spec, 'group'), string(spec, 'version')]
  const errors = nameErrors(service.metadata.name ?? '', `${version}.${group}`)
  if (group === '' && version !== 'v1') errors.push(required('spec.group', 'only v1 may have an empty group and it better be legacy kube'))
  if (group !== '') errors.push(...dnsSubdomainErrors('spec.group', group))
  errors.push(...invalidEach('spec.version', version, checkDns1035Label(version)))
  const [groupPriority, versionPriority] = [number(spec, 'groupPriorityMinimum'), number(spec, 'versionPriority')]
  if (groupPriority <= 0 || groupPriority > 20_000)
    errors.push(invalid('spec.groupPriorityMinimum', groupPriority, 'must be positive and less than 20000'))
  if (versionPriority <= 0 || versionPriority > 1000)
    errors.push(invalid('spec.versionPriority', versionPriority, 'must be positive and less than 1000'))
  return [...errors, ...backendErrors(service)]
}

/** The name consists of the version and the group; checked here because it needs both. */
function nameErrors(name: string, expected: string): FieldError[] {
  if (name === '' || checkPathSegmentName(name).length > 0 || name === expected) return []
  return [invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${goQuote(expected)}`)]
}

function backendErrors(service: KubeObject): FieldError[] {
  const spec = object(service, 'spec')
  const backend = maybeObject(spec, 'service')
  const bundle = Buffer.from(string(spec, 'caBundle'), 'base64').length
  const insecure = boolean(spec, 'insecureSkipTLSVerify')
  const errors: FieldError[] = []
  if (backend === undefined) {
    if (bundle > 0) errors.push(invalid('spec.caBundle', `${bundle} bytes`, 'local APIServices may not have a caBundle'))
    if (insecure) errors.push(invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify'))
    return errors
  }
  if (string(backend, 'namespace') === '') errors.push(required('spec.service.namespace'))
  if (string(backend, 'name') === '') errors.push(required('spec.service.name'))
  const problems = checkPortNumber(number(backend, 'port'))
  if (problems.length > 0) errors.push(invalid('spec.service.port', number(backend, 'port'), `port is not valid: ${problems.join(', ')}`))
  if (insecure && bundle > 0) errors.push(invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'))
  return errors
}

function statusErrors(service: KubeObject): FieldError[] {
  const allowed = ['True', 'False', 'Unknown']
  return objects(object(service, 'status'), 'conditions').flatMap((condition, i) => {
    const status = string(condition, 'status')
    return allowed.includes(status) ? [] : [unsupported(`${index('status.conditions', i)}.status`, status, allowed)]
  })
}

function prepareForUpdate(service: KubeObject, old: KubeObject, { subresource }: RuleContext): void {
  if (subresource !== 'status') {
    restore(service, old, 'status')
    return
  }
  restore(service, old, 'spec')
  restoreMetadata(service, old)
}

export const apiServiceRules: KindRules = {
  applyDefaults(service) {
    const backend = maybeObject(object(service, 'spec'), 'service')
    if (backend !== undefined) defaultValue(backend, 'port', 443)
  },
  prepareForCreate(service, { now }) {
    const local = maybeObject(object(service, 'spec'), 'service') === undefined
    const condition = {
      type: 'Available',
      status: 'True',
      lastTransitionTime: now,
      reason: 'Local',
      message: 'Local APIServices are always available',
    }
    service.status = local ? { conditions: [condition] } : {}
  },
  prepareForUpdate,
  validateCreate: serviceErrors,
  validateUpdate: (service, _old, { subresource }) => (subresource === 'status' ? statusErrors(service) : serviceErrors(service)),
  validateName: (name) => checkPathSegmentName(name),
}
