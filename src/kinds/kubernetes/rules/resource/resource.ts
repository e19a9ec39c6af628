/**
 * Dynamic resource allocation: DeviceClass, ResourceClaim, ResourceClaimTemplate and ResourceSlice. Required and
 * immutable fields are checked; CEL selectors are stored and not evaluated.
 */
import { child, duplicate, type FieldError, index, invalid, required, tooMany } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { nameIsLongName } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import { csiDriverNameErrors } from '../core/persistent-volume-source.ts'
import {
  defaultString,
  defaultValue,
  ensureObject,
  type Fields,
  field,
  maybeObject,
  object,
  objects,
  restore,
  restoreMetadata,
  string,
  writableObjects,
} from '../fields.ts'
import { dnsLabelErrors, dnsSubdomainErrors } from '../formats.ts'
import { countChange, startGeneration } from '../generation.ts'
import { semanticEqual } from '../pod/semantic.ts'

const MAX_REQUESTS = 32
const MAX_DEVICES = 128

function selectorErrors(path: string, of: Fields): FieldError[] {
  const selectors = objects(of, 'selectors')
  const errors = selectors.length > 32 ? [tooMany(path, selectors.length, 32)] : []
  for (const [i, selector] of selectors.entries()) {
    const cel = maybeObject(selector, 'cel')
    if (cel === undefined) errors.push(required(child(index(path, i), 'cel')))
    else if (string(cel, 'expression') === '') errors.push(required(child(index(path, i), 'cel', 'expression')))
  }
  return errors
}

function deviceClassErrors(deviceClass: KubeObject): FieldError[] {
  return selectorErrors('spec.selectors', object(deviceClass, 'spec'))
}

export const deviceClassRules: KindRules = {
  validateName: nameIsLongName,
  prepareForCreate: startGeneration,
  prepareForUpdate: (deviceClass, old) => countChange(deviceClass, old),
  validateCreate: deviceClassErrors,
  validateUpdate: deviceClassErrors,
}

function requestErrors(path: string, request: Fields): FieldError[] {
  const name = string(request, 'name')
  const errors = name === '' ? [required(child(path, 'name'))] : dnsLabelErrors(child(path, 'name'), name)
  const [exactly, first] = [maybeObject(request, 'exactly'), objects(request, 'firstAvailable')]
  if (exactly !== undefined && first.length > 0)
    return [...errors, invalid(path, null, 'exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set')]
  else if (exactly === undefined && first.length === 0)
    errors.push(required(path, 'exactly one of `exactly` or `firstAvailable` is required'))
  if (exactly !== undefined) errors.push(...exactErrors(child(path, 'exactly'), exactly))
  return [...errors, ...first.flatMap((sub, i) => exactErrors(index(child(path, 'firstAvailable'), i), sub))]
}

function exactErrors(path: string, request: Fields): FieldError[] {
  const name = string(request, 'deviceClassName')
  const at = child(path, 'deviceClassName')
  return [...(name === '' ? [required(at)] : dnsSubdomainErrors(at, name)), ...selectorErrors(child(path, 'selectors'), request)]
}

function claimSpecErrors(path: string, spec: Fields): FieldError[] {
  const at = child(path, 'devices', 'requests')
  const requests = objects(object(spec, 'devices'), 'requests')
  if (requests.length > MAX_REQUESTS) return [tooMany(at, requests.length, MAX_REQUESTS)]
  const seen = new Set<string>()
  return requests.flatMap((request, i) => {
    const name = string(request, 'name')
    const errors = requestErrors(index(at, i), request)
    if (name !== '' && seen.has(name)) errors.push(duplicate(index(at, i), name))
    seen.add(name)
    return errors
  })
}

/** A request asks for exactly one device unless it says otherwise. */
function claimSpecDefaults(spec: Fields): void {
  for (const request of writableObjects(object(spec, 'devices'), 'requests')) {
    const exact = maybeObject(request, 'exactly')
    for (const one of [...(exact === undefined ? [] : [exact]), ...writableObjects(request, 'firstAvailable')]) {
      defaultString(one, 'allocationMode', 'ExactCount')
      if (string(one, 'allocationMode') === 'ExactCount') defaultValue(one, 'count', 1)
      for (const toleration of writableObjects(one, 'tolerations')) defaultString(toleration, 'operator', 'Equal')
    }
  }
}

/** The spec as the struct the real server keeps; its rarer parts are kept as sent. */
function internalClaim(spec: Fields): Fields {
  const devices = object(spec, 'devices')
  const exact = (of: Fields | undefined): Fields | null =>
    of === undefined
      ? null
      : {
          DeviceClassName: string(of, 'deviceClassName'),
          Selectors: field(of, 'selectors') ?? null,
          AllocationMode: string(of, 'allocationMode'),
          Count: field(of, 'count') ?? 0,
          AdminAccess: field(of, 'adminAccess') ?? null,
          Tolerations: field(of, 'tolerations') ?? null,
          Capacity: field(of, 'capacity') ?? null,
        }
  const requests = objects(devices, 'requests').map((request) => ({
    Name: string(request, 'name'),
    Exactly: exact(maybeObject(request, 'exactly')),
    FirstAvailable: field(request, 'firstAvailable') ?? null,
  }))
  return {
    Devices: {
      Requests: requests.length === 0 ? null : requests,
      Constraints: field(devices, 'constraints') ?? null,
      Config: field(devices, 'config') ?? null,
    },
  }
}

export const resourceClaimRules: KindRules = {
  applyDefaults: (claim) => claimSpecDefaults(ensureObject(claim, 'spec')),
  prepareForCreate(claim) {
    claim.status = {}
  },
  prepareForUpdate(claim, old, { subresource }) {
    restore(claim, old, subresource === 'status' ? 'spec' : 'status')
    if (subresource === 'status') restoreMetadata(claim, old)
  },
  validateCreate: (claim) => claimSpecErrors('spec', object(claim, 'spec')),
  validateUpdate: (claim, old, { subresource }) =>
    subresource === 'status' || semanticEqual(claim.spec, old.spec, 'spec')
      ? []
      : [invalid('spec', internalClaim(object(claim, 'spec')), 'field is immutable')],
}

export const resourceClaimTemplateRules: KindRules = {
  applyDefaults: (template) => claimSpecDefaults(ensureObject(ensureObject(template, 'spec'), 'spec')),
  validateCreate: (template) => claimSpecErrors('spec.spec', object(object(template, 'spec'), 'spec')),
  validateUpdate: (template, old) =>
    semanticEqual(template.spec, old.spec, 'spec') ? [] : [invalid('spec', field(template, 'spec') ?? null, 'field is immutable')],
}

function sliceErrors(slice: KubeObject): FieldError[] {
  const spec = object(slice, 'spec')
  const pool = object(spec, 'pool')
  const errors = csiDriverNameErrors('spec.driver', string(spec, 'driver'))
  const poolName = string(pool, 'name')
  if (poolName === '') errors.push(required('spec.pool.name'))
  else for (const [i, part] of poolName.split('/').entries()) if (i < 64) errors.push(...dnsSubdomainErrors('spec.pool.name', part))
  const count = field(pool, 'resourceSliceCount')
  if (typeof count !== 'number' || count <= 0) errors.push(invalid('spec.pool.resourceSliceCount', count ?? 0, 'must be greater than zero'))
  const where = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'].filter(
    (key) => field(spec, key) !== undefined && field(spec, key) !== false,
  )
  if (where.length === 0)
    errors.push(required('spec', 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'))
  const devices = objects(spec, 'devices')
  if (devices.length > MAX_DEVICES) return [...errors, tooMany('spec.devices', devices.length, MAX_DEVICES)]
  const seen = new Set<string>()
  for (const [i, device] of devices.entries()) {
    const at = child(index('spec.devices', i), 'name')
    const name = string(device, 'name')
    errors.push(...(name === '' ? [required(at)] : dnsLabelErrors(at, name)))
    if (seen.has(name)) errors.push(duplicate(at, name))
    seen.add(name)
  }
  return errors
}

export const resourceSliceRules: KindRules = {
  prepareForCreate: startGeneration,
  prepareForUpdate: (slice, old) => countChange(slice, old),
  validateCreate: sliceErrors,
  validateUpdate: sliceErrors,
  selectableFieldNames: ['spec.nodeName', 'spec.driver'],
  selectableFields: (slice) => ({
    'spec.nodeName': string(object(slice, 'spec'), 'nodeName'),
    'spec.driver': string(object(slice, 'spec'), 'driver'),
  }),
}
