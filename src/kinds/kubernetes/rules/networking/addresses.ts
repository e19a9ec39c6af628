/** IPAddress and ServiceCIDR: which addresses Services may have, and which are taken. */
import { child, type FieldError, index, invalid, required } from '../../../../kube/field-error.ts'
import { checkCidr, checkIp } from '../../../../kube/ip.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkPathSegmentName } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import { type Fields, field, maybeObject, object, restore, restoreMetadata, string, strings } from '../fields.ts'
import { dnsSubdomainErrors } from '../formats.ts'
import { parseIpRange } from '../ip.ts'
import { invalidEach } from '../pod/errors.ts'
import { semanticEqual } from '../pod/semantic.ts'

function parentErrors(address: KubeObject): FieldError[] {
  const path = 'spec.parentRef'
  const parent = maybeObject(object(address, 'spec'), 'parentRef')
  if (parent === undefined) return [required(path)]
  const group = string(parent, 'group')
  const errors = group === '' ? [] : dnsSubdomainErrors(child(path, 'group'), group)
  for (const key of ['resource', 'name', 'namespace']) {
    const value = string(parent, key)
    if (value !== '') errors.push(...invalidEach(child(path, key), value, checkPathSegmentName(value)))
    else if (key !== 'namespace') errors.push(required(child(path, key)))
  }
  return errors
}

const internalParent = (parent: Fields | undefined): Fields | null =>
  parent === undefined
    ? null
    : {
        Group: string(parent, 'group'),
        Resource: string(parent, 'resource'),
        Namespace: string(parent, 'namespace'),
        Name: string(parent, 'name'),
      }

export const ipAddressRules: KindRules = {
  validateCreate: parentErrors,
  validateUpdate(address, old) {
    const [after, before] = [maybeObject(object(address, 'spec'), 'parentRef'), maybeObject(object(old, 'spec'), 'parentRef')]
    return semanticEqual(after, before) ? [] : [invalid('spec.parentRef', internalParent(after), 'field is immutable')]
  },
  validateName: (name) => checkIp('', name).map((error) => error.detail),
}

function cidrErrors(range: KubeObject): FieldError[] {
  const path = 'spec.cidrs'
  const cidrs = strings(object(range, 'spec'), 'cidrs')
  if (cidrs.length === 0) return [required(path, 'at least one CIDR required')]
  if (cidrs.length > 2) return [invalid(path, { CIDRs: cidrs }, 'may only hold up to 2 values')]
  const errors = cidrs.flatMap((cidr, i) => checkCidr(index(path, i), cidr))
  const families = cidrs.map((cidr) => parseIpRange(cidr)?.family)
  if (families.length === 2 && families[0] !== undefined && families[0] === families[1])
    errors.push(invalid(path, cidrs, 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'))
  return errors
}

function cidrUpdateErrors(range: KubeObject, old: KubeObject): FieldError[] {
  const path = 'spec.cidrs'
  const [after, before] = [strings(object(range, 'spec'), 'cidrs'), strings(object(old, 'spec'), 'cidrs')]
  const frozen = (i: number): FieldError => invalid(index(path, i), after[i] ?? '', 'field is immutable')
  if (before.length === after.length) return before.flatMap((cidr, i) => (cidr === after[i] ? [] : [frozen(i)]))
  if (before.length === 1 && after.length === 2) return [...(before[0] === after[0] ? [] : [frozen(0)]), ...cidrErrors(range)]
  return [invalid(path, field(object(range, 'spec'), 'cidrs') ?? null, 'field is immutable')]
}

export const serviceCidrRules: KindRules = {
  prepareForCreate(range) {
    range.status = {}
  },
  prepareForUpdate(range, old, { subresource }) {
    restore(range, old, subresource === 'status' ? 'spec' : 'status')
    if (subresource === 'status') restoreMetadata(range, old)
  },
  validateCreate: cidrErrors,
  validateUpdate: (range, old, { subresource }) => (subresource === 'status' ? [] : cidrUpdateErrors(range, old)),
}
