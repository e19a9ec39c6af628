/**
 * CertificateSigningRequest: the server fills in the requesting user; approval and the certificate each have their own
 * subresource.
 */
import { child, duplicate, type FieldError, forbidden, index, invalid, required, tooLong } from '../../../../kube/field-error.ts'
import { byteLength, goQuote } from '../../../../kube/go-print.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkDns1123Label, checkDns1123Subdomain } from '../../../../kube/names.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import { ensureObject, type Fields, field, maybeNumber, object, objects, restore, string, strings, writableObjects } from '../fields.ts'
import { unsupported } from '../pod/errors.ts'
import { semanticEqual } from '../pod/semantic.ts'
import { unifiedDiff } from '../pod/unified-diff.ts'

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]
const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown'
const TRUE_ONLY = ['Approved', 'Denied', 'Failed']
const EXCLUSIVE = 'Approved and Denied conditions are mutually exclusive'
const PEM = /-----BEGIN ([^-\r\n]+)-----([\s\S]*?)-----END \1-----/

const requestProblem = (request: string): string | undefined => {
  const block = PEM.exec(Buffer.from(request, 'base64').toString('latin1'))
  if (block === null || block[1] !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST'
  const der = Buffer.from(block[2] ?? '', 'base64')
  return der.length < 2 || der[0] !== 0x30 ? "asn1: structure error: tags don't match" : undefined
}

function certificateProblem(certificate: string): string | undefined {
  if (certificate === '') return undefined
  let rest = Buffer.from(certificate, 'base64').toString('latin1')
  let count = 0
  for (let block = PEM.exec(rest); block !== null; block = PEM.exec(rest)) {
    if (block[1] !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${goQuote(block[1] ?? '')}`
    rest = rest.slice(block.index + block[0].length)
    count++
  }
  return count === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}

/** `host/path`; for each part only the first bad label is reported. */
function signerNameErrors(path: string, name: string): FieldError[] {
  if (name === '') return [required(path)]
  const segments = name.split('/')
  const [domain = '', leaf = ''] = segments
  if (segments.length !== 2) return [invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  const labelErrors = (segment: string, check: (label: string) => string[]): FieldError[] => {
    const bad = segment.split('.').find((label) => check(label).length > 0)
    return bad === undefined ? [] : check(bad).map((problem) => invalid(path, segment, `validating label ${goQuote(bad)}: ${problem}`))
  }
  const errors: FieldError[] = byteLength(domain) > 253 ? [tooLong(path, 253)] : []
  errors.push(...labelErrors(domain, checkDns1123Label))
  if (!domain.includes('.')) errors.push(invalid(path, domain, 'should be a domain with at least two segments separated by dots'))
  errors.push(...labelErrors(leaf, checkDns1123Subdomain))
  return byteLength(name) > 571 ? [...errors, tooLong(path, 571)] : errors
}

function conditionErrors(request: KubeObject, old: KubeObject | undefined): FieldError[] {
  const path = 'status.conditions'
  const before = objects(object(old, 'status'), 'conditions').map((condition) => string(condition, 'type'))
  const allowBoth = before.includes('Approved') && before.includes('Denied')
  const allowDuplicates = new Set(before).size < before.length
  const seen = new Set<string>()
  return objects(object(request, 'status'), 'conditions').flatMap((condition, i) => {
    const [type, status] = [string(condition, 'type'), string(condition, 'status')]
    const at = index(path, i)
    const errors: FieldError[] = type === '' && !before.includes('') ? [required(child(at, 'type'))] : []
    const allowed = TRUE_ONLY.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
    if (status === '') errors.push(required(child(at, 'status')))
    else if (!allowed.includes(status)) errors.push(unsupported(child(at, 'status'), status, allowed))
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined
    if (!allowBoth && opposite !== undefined && seen.has(opposite)) errors.push(invalid(path, type, EXCLUSIVE))
    if (!allowDuplicates && seen.has(type)) errors.push(duplicate(child(at, 'type'), type))
    seen.add(type)
    return errors
  })
}

function requestErrors(request: KubeObject, old?: KubeObject): FieldError[] {
  const spec = object(request, 'spec')
  const before = old === undefined ? undefined : object(old, 'spec')
  const errors: FieldError[] = []
  const problem = requestProblem(string(spec, 'request'))
  if (problem !== undefined) errors.push(invalid('spec.request', field(spec, 'request') ?? null, problem))
  const usages = strings(spec, 'usages')
  if (usages.length === 0) errors.push(required('spec.usages'))
  const oldUsages = strings(before, 'usages')
  if (oldUsages.every((usage) => USAGES.includes(usage)))
    for (const [i, usage] of usages.entries()) if (!USAGES.includes(usage)) errors.push(unsupported(index('spec.usages', i), usage, USAGES))
  if (new Set(oldUsages).size === oldUsages.length)
    for (const [i, usage] of usages.entries()) if (usages.indexOf(usage) < i) errors.push(duplicate(index('spec.usages', i), usage))
  const signer = string(spec, 'signerName')
  if (signer === LEGACY_SIGNER && string(before, 'signerName') !== LEGACY_SIGNER)
    errors.push(invalid('spec.signerName', signer, 'the legacy signerName is not allowed via this API version'))
  else errors.push(...signerNameErrors('spec.signerName', signer))
  const seconds = maybeNumber(spec, 'expirationSeconds')
  if (seconds !== undefined && seconds < 600)
    errors.push(invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 600 seconds (10 minutes)'))
  errors.push(...conditionErrors(request, old))
  const certificate = string(object(request, 'status'), 'certificate')
  const bad = certificate === string(object(old, 'status'), 'certificate') ? undefined : certificateProblem(certificate)
  return bad === undefined ? errors : [...errors, invalid('status.certificate', '<certificate data>', bad)]
}

const conditionsOf = (request: KubeObject, type: string): readonly Fields[] =>
  objects(object(request, 'status'), 'conditions').filter((condition) => string(condition, 'type') === type)

function updateErrors(request: KubeObject, old: KubeObject, { subresource }: RuleContext): FieldError[] {
  const errors = requestErrors(request, old)
  for (const type of TRUE_ONLY)
    if (conditionsOf(request, type).length < conditionsOf(old, type).length)
      errors.push(forbidden('status.conditions', `updates may not remove a condition of type ${goQuote(type)}`))
  if (subresource !== 'approval')
    for (const type of ['Approved', 'Denied']) {
      const [after, before] = [conditionsOf(request, type), conditionsOf(old, type)]
      if (after.length > before.length)
        errors.push(forbidden('status.conditions', `updates may not add a condition of type ${goQuote(type)}`))
      else if (after.length === before.length && !semanticEqual(after, before)) {
        const diff = unifiedDiff(JSON.stringify(before, null, 1), JSON.stringify(after, null, 1))
        errors.push(forbidden('status.conditions', `updates may not modify a condition of type ${goQuote(type)}\n${diff}`))
      }
    }
  const [certificate, before] = [request, old].map((of) => string(object(of, 'status'), 'certificate'))
  if (certificate === before) return errors
  if (subresource !== 'status') return [...errors, forbidden('status.certificate', 'updates may not set certificate content')]
  return before === '' ? errors : [...errors, forbidden('status.certificate', 'updates may not modify existing certificate content')]
}

/** New conditions get the time they were added; those that keep their status keep their transition time. */
function stampConditions(request: KubeObject, old: KubeObject, now: string): void {
  for (const condition of writableObjects(ensureObject(request, 'status'), 'conditions')) {
    if (field(condition, 'lastUpdateTime') === undefined) condition.lastUpdateTime = now
    if (field(condition, 'lastTransitionTime') !== undefined) continue
    const before = conditionsOf(old, string(condition, 'type')).find((other) => string(other, 'status') === string(condition, 'status'))
    condition.lastTransitionTime = field(before, 'lastTransitionTime') ?? now
  }
}

function prepareForUpdate(request: KubeObject, old: KubeObject, { subresource, now }: RuleContext): void {
  if (subresource === '') {
    restore(request, old, 'spec')
    restore(request, old, 'status')
    return
  }
  if (subresource === 'status') {
    restore(request, old, 'spec')
    const status = ensureObject(request, 'status')
    const others = objects(status, 'conditions').filter((condition) => !['Approved', 'Denied'].includes(string(condition, 'type')))
    const kept = ['Approved', 'Denied'].flatMap((type) => [...conditionsOf(old, type)])
    if (kept.length + others.length > 0) status.conditions = [...kept.map((condition) => ({ ...condition })), ...others]
    stampConditions(request, old, now)
    return
  }
  stampConditions(request, old, now)
  const conditions = field(object(request, 'status'), 'conditions')
  restore(request, old, 'spec')
  request.status = { ...object(old, 'status') }
  if (conditions === undefined) delete object(request, 'status').conditions
  else object(request, 'status').conditions = conditions
}

export const certificateSigningRequestRules: KindRules = {
  prepareForCreate(request, { user }) {
    const spec = ensureObject(request, 'spec')
    for (const key of ['username', 'uid', 'groups', 'extra']) delete spec[key]
    if (user.name !== '') spec.username = user.name
    if (user.uid !== undefined && user.uid !== '') spec.uid = user.uid
    if (user.groups.length > 0) spec.groups = [...user.groups]
    if (user.extra !== undefined && Object.keys(user.extra).length > 0) spec.extra = { ...user.extra }
    request.status = {}
  },
  prepareForUpdate,
  validateCreate: (request) => requestErrors(request),
  validateUpdate: updateErrors,
  validateName: () => [],
  selectableFieldNames: ['spec.signerName'],
  selectableFields: (request) => ({ 'spec.signerName': string(object(request, 'spec'), 'signerName') }),
}
