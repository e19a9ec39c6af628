/** Node: taints, pod ranges and resources; status has its own subresource, but a new node may include one. */
import { child, duplicate, type FieldError, forbidden, index, internalError, invalid, required } from '../../../../kube/field-error.ts'
import { goJson } from '../../../../kube/go-print.ts'
import { cidrWarnings } from '../../../../kube/ip.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkLabelValue } from '../../../../kube/names.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import { boolean, ensureObject, type Fields, field, items, maybeNumber, object, objects, restore, string, strings } from '../fields.ts'
import { qualifiedNameErrors } from '../formats.ts'
import { legacyCidrErrors, parseIpRange } from '../ip.ts'
import { positive, unsupported } from '../pod/errors.ts'
import { resourceQuantityErrors } from './resources.ts'

const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
const POD_CIDR_FROZEN = 'node updates may not change podCIDR except from "" to valid'

function applyDefaults(node: KubeObject): void {
  const spec = ensureObject(node, 'spec')
  mirrorPodCidr(spec)
  const status = ensureObject(node, 'status')
  if (field(status, 'allocatable') === undefined && field(status, 'capacity') !== undefined)
    status.allocatable = { ...object(status, 'capacity') }
}

/** `podCIDR` is the first of `podCIDRs`; the plural form is kept. */
function mirrorPodCidr(spec: Fields): void {
  const single = string(spec, 'podCIDR')
  const plural = strings(spec, 'podCIDRs')
  if (single !== '' && plural[0] !== single) spec.podCIDRs = [single]
  else if (single === '' && plural.length > 0) spec.podCIDR = plural[0]
}

function prepareForUpdate(node: KubeObject, old: KubeObject, { subresource }: RuleContext): void {
  if (subresource === 'status') {
    restore(node, old, 'spec')
    if (field(object(old, 'status'), 'config') === undefined) delete ensureObject(node, 'status').config
    return
  }
  restore(node, old, 'status')
  if (field(object(old, 'spec'), 'configSource') === undefined) delete ensureObject(node, 'spec').configSource
}

function taintErrors(path: string, taints: readonly Fields[]): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [i, taint] of taints.entries()) {
    const at = index(path, i)
    const key = string(taint, 'key')
    const effect = string(taint, 'effect')
    errors.push(...qualifiedNameErrors(child(at, 'key'), key))
    const value = checkLabelValue(string(taint, 'value'))
    if (value.length > 0) errors.push(invalid(child(at, 'value'), string(taint, 'value'), value.join(';')))
    if (effect === '') errors.push(required(child(at, 'effect')))
    else if (!TAINT_EFFECTS.includes(effect)) errors.push(unsupported(child(at, 'effect'), effect, TAINT_EFFECTS))
    const pair = `${effect}\0${key}`
    if (seen.has(pair)) errors.push({ ...duplicate(at, internalTaint(taint)), detail: 'taints must be unique by key and effect pair' })
    seen.add(pair)
  }
  return errors
}

const internalTaint = (taint: Fields): Fields => ({
  Key: string(taint, 'key'),
  Value: string(taint, 'value'),
  Effect: string(taint, 'effect'),
  TimeAdded: field(taint, 'timeAdded') ?? null,
})

function capacityErrors(node: KubeObject): FieldError[] {
  return ['capacity', 'allocatable'].flatMap((list) => {
    const amounts = object(object(node, 'status'), list)
    return Object.keys(amounts)
      .sort()
      .flatMap((name) => resourceQuantityErrors(child('status', list, name), name, field(amounts, name)))
  })
}

function swapErrors(node: KubeObject): FieldError[] {
  const capacity = maybeNumber(object(object(object(node, 'status'), 'nodeInfo'), 'swap'), 'capacity')
  return capacity === undefined ? [] : positive('metadata.nodeSwapStatus.capacity', capacity)
}

function declaredFeatureErrors(node: KubeObject): FieldError[] {
  const names = strings(object(node, 'status'), 'declaredFeatures')
  const errors: FieldError[] = []
  for (const [i, name] of names.entries()) {
    const path = index('status.declaredFeatures', i)
    if (name.length > 253) errors.push(invalid(path, name, `invalid feature name ${goJson(name)}: must be no more than 253 characters`))
    else if (!/^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z0-9]+)*$/.test(name))
      errors.push(
        invalid(
          path,
          name,
          `invalid feature name ${goJson(name)}: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`,
        ),
      )
    const next = names[i + 1]
    if (next === name) errors.push(duplicate(index('status.declaredFeatures', i + 1), next))
    else if (next !== undefined && name > next)
      errors.push(invalid(index('status.declaredFeatures', i + 1), next, 'list must be sorted alphabetically'))
  }
  return errors
}

function podCidrErrors(node: KubeObject): FieldError[] {
  const cidrs = strings(object(node, 'spec'), 'podCIDRs')
  const errors = cidrs.flatMap((cidr, i) => legacyCidrErrors(index('spec.podCIDRs', i), cidr))
  if (cidrs.length < 2) return errors
  const parsed = cidrs.map(parseIpRange)
  const bad = cidrs.find((_, i) => parsed[i] === undefined)
  if (bad !== undefined)
    errors.push(
      internalError(
        'spec.podCIDRs',
        `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]: <nil> (invalid CIDR address: ${bad})`,
      ),
    )
  if (cidrs.length > 2 || bad !== undefined || new Set(parsed.map((cidr) => cidr?.family)).size !== 2)
    errors.push(invalid('spec.podCIDRs', cidrs, 'may specify no more than one CIDR for each IP family'))
  return errors
}

function validateNode(node: KubeObject): FieldError[] {
  return [
    ...taintErrors('metadata.taints', objects(object(node, 'spec'), 'taints')),
    ...capacityErrors(node),
    ...swapErrors(node),
    ...declaredFeatureErrors(node),
    ...podCidrErrors(node),
  ]
}

function nodeUpdateErrors(node: KubeObject, old: KubeObject): FieldError[] {
  const errors = [...capacityErrors(node), ...declaredFeatureErrors(node)]
  const seen = new Set<string>()
  for (const [i, address] of objects(object(node, 'status'), 'addresses').entries()) {
    const key = goJson([string(address, 'type'), string(address, 'address')])
    if (seen.has(key))
      errors.push(duplicate(index('status.addresses', i), { Type: string(address, 'type'), Address: string(address, 'address') }))
    seen.add(key)
  }
  const before = strings(object(old, 'spec'), 'podCIDRs')
  const after = strings(object(node, 'spec'), 'podCIDRs')
  if (before.length > 0 && before.length !== after.length) errors.push(forbidden('spec.podCIDRs', POD_CIDR_FROZEN))
  else for (const [i, cidr] of before.entries()) if (cidr !== after[i]) errors.push(forbidden('spec.podCIDRs', POD_CIDR_FROZEN))
  const provider = string(object(old, 'spec'), 'providerID')
  if (provider !== '' && provider !== string(object(node, 'spec'), 'providerID'))
    errors.push(forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'))
  errors.push(...taintErrors('metadata.taints', objects(object(node, 'spec'), 'taints')))
  if (string(object(node, 'spec'), 'externalID') !== string(object(old, 'spec'), 'externalID'))
    errors.push(forbidden('spec.externalID', 'may not be updated'))
  return errors
}

export const nodeRules: KindRules = {
  applyDefaults,
  prepareForCreate(node) {
    delete ensureObject(node, 'spec').configSource
    delete ensureObject(node, 'status').config
  },
  prepareForUpdate,
  validateCreate: validateNode,
  validateUpdate: (node, old, { subresource }) =>
    subresource === 'status' ? nodeUpdateErrors(node, old) : [...validateNode(node), ...nodeUpdateErrors(node, old)],
  warnings(node, _old, { subresource }) {
    if (subresource === 'status') return []
    const spec = object(node, 'spec')
    return [
      ...(field(spec, 'configSource') === undefined ? [] : ['spec.configSource: the feature is removed']),
      ...(string(spec, 'externalID') === '' ? [] : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
      ...items(spec, 'podCIDRs').flatMap((cidr, i) => (typeof cidr === 'string' ? cidrWarnings(index('spec.podCIDRs', i), cidr) : [])),
    ]
  },
  selectableFieldNames: ['spec.unschedulable'],
  selectableFields: (node) => ({ 'spec.unschedulable': String(boolean(object(node, 'spec'), 'unschedulable')) }),
}
