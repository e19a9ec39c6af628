/** Ingress and IngressClass: hosts, paths and the backends behind them. */
import { child, type FieldError, forbidden, index, invalid, required, tooLong } from '../../../../kube/field-error.ts'
import { byteLength } from '../../../../kube/go-print.ts'
import { ipWarnings } from '../../../../kube/ip.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkHttpPath,
  checkPathSegmentName,
  checkPortName,
  checkWildcardDns1123Subdomain,
} from '../../../../kube/names.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import {
  annotation,
  defaultValue,
  type Fields,
  field,
  maybeObject,
  maybeString,
  number,
  object,
  objects,
  restore,
  string,
  strings,
} from '../fields.ts'
import { dnsSubdomainErrors, immutableErrors, portNumberErrors } from '../formats.ts'
import { countChange, startGeneration } from '../generation.ts'
import { ipFamilyOf, legacyIpErrors } from '../ip.ts'
import { invalidEach, unsupported } from '../pod/errors.ts'

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'
const BAD_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F']
const BAD_ENDINGS = ['/..', '/.']

interface Tolerance {
  secretNames: boolean
  wildcardRules: boolean
}

const STRICT: Tolerance = { secretNames: false, wildcardRules: false }

const hostMessages = (host: string): string[] => (host.includes('*') ? checkWildcardDns1123Subdomain(host) : checkDns1123Subdomain(host))

function ingressErrors(ingress: KubeObject, tolerance: Tolerance): FieldError[] {
  const spec = object(ingress, 'spec')
  const rules = objects(spec, 'rules')
  const backend = maybeObject(spec, 'defaultBackend')
  const errors: FieldError[] = []
  if (rules.length === 0 && backend === undefined)
    errors.push(invalid('spec', field(spec, 'rules') ?? null, 'either `defaultBackend` or `rules` must be specified'))
  if (backend !== undefined) errors.push(...backendErrors('spec.defaultBackend', backend))
  for (const [i, rule] of rules.entries()) errors.push(...ruleErrors(index('spec.rules', i), rule, tolerance))
  for (const [i, tls] of objects(spec, 'tls').entries()) {
    const path = index('spec.tls', i)
    errors.push(...strings(tls, 'hosts').flatMap((host, j) => invalidEach(index(child(path, 'hosts'), j), host, hostMessages(host))))
    const secret = string(tls, 'secretName')
    if (!tolerance.secretNames && secret !== '') errors.push(...dnsSubdomainErrors(child(path, 'secretName'), secret))
  }
  const className = maybeString(spec, 'ingressClassName')
  return className === undefined ? errors : [...errors, ...dnsSubdomainErrors('spec.ingressClassName', className)]
}

function ruleErrors(path: string, rule: Fields, tolerance: Tolerance): FieldError[] {
  const host = string(rule, 'host')
  const errors: FieldError[] = []
  if (host !== '') {
    if (ipFamilyOf(host) !== undefined) errors.push(invalid(child(path, 'host'), host, 'must be a DNS name, not an IP address'))
    errors.push(...invalidEach(child(path, 'host'), host, hostMessages(host)))
  }
  if (host.includes('*') && tolerance.wildcardRules) return errors
  return [...errors, ...httpErrors(child(path, 'http'), maybeObject(rule, 'http'))]
}

function httpErrors(path: string, http: Fields | undefined): FieldError[] {
  if (http === undefined) return []
  const paths = objects(http, 'paths')
  if (paths.length === 0) return [required(child(path, 'paths'))]
  return paths.flatMap((entry, i) => pathErrors(index(child(path, 'paths'), i), entry))
}

function pathErrors(path: string, entry: Fields): FieldError[] {
  const type = maybeString(entry, 'pathType')
  const where = string(entry, 'path')
  const at = child(path, 'path')
  if (type === undefined) return [required(child(path, 'pathType'), 'pathType must be specified')]
  const errors: FieldError[] = []
  if (type === 'Exact' || type === 'Prefix') {
    if (!where.startsWith('/')) errors.push(invalid(at, where, 'must be an absolute path'))
    for (const bad of BAD_SEQUENCES) if (where.includes(bad)) errors.push(invalid(at, where, `must not contain '${bad}'`))
    for (const bad of BAD_ENDINGS) if (where.endsWith(bad)) errors.push(invalid(at, where, `cannot end with '${bad}'`))
  } else if (type === 'ImplementationSpecific') {
    if (where !== '' && !where.startsWith('/')) errors.push(invalid(at, where, 'must be an absolute path'))
  } else errors.push(unsupported(child(path, 'pathType'), type, ['Exact', 'ImplementationSpecific', 'Prefix']))
  return [...errors, ...backendErrors(child(path, 'backend'), object(entry, 'backend'))]
}

function backendErrors(path: string, backend: Fields): FieldError[] {
  const service = maybeObject(backend, 'service')
  const resource = maybeObject(backend, 'resource')
  if (service !== undefined && resource !== undefined) return [invalid(path, '', 'cannot set both resource and service backends')]
  if (resource !== undefined) return referenceErrors(child(path, 'resource'), resource)
  if (service === undefined) return [invalid(path, '', 'resource or service backend is required')]
  const name = string(service, 'name')
  const namePath = child(path, 'service', 'name')
  const errors = name === '' ? [required(namePath)] : invalidEach(namePath, name, checkDns1123Label(name))
  const port = object(service, 'port')
  const [portName, portNumber] = [string(port, 'name'), number(port, 'number')]
  if (portName !== '' && portNumber !== 0) errors.push(invalid(path, '', 'cannot set both port name & port number'))
  else if (portName !== '') errors.push(...invalidEach(child(path, 'service', 'port', 'name'), portName, checkPortName(portName)))
  else if (portNumber !== 0) errors.push(...portNumberErrors(child(path, 'service', 'port', 'number'), portNumber))
  else errors.push(required(path, 'port name or number is required'))
  return errors
}

function referenceErrors(path: string, reference: Fields): FieldError[] {
  const group = maybeString(reference, 'apiGroup')
  const errors = group === undefined ? [] : dnsSubdomainErrors(child(path, 'apiGroup'), group)
  for (const key of ['kind', 'name']) {
    const value = string(reference, key)
    if (value === '') errors.push(required(child(path, key)))
    else errors.push(...invalidEach(child(path, key), value, checkPathSegmentName(value)))
  }
  return errors
}

function createErrors(ingress: KubeObject): FieldError[] {
  const errors = ingressErrors(ingress, STRICT)
  const noted = annotation(ingress, CLASS_ANNOTATION)
  const className = maybeString(object(ingress, 'spec'), 'ingressClassName')
  if (noted !== undefined && className !== undefined && noted !== className)
    errors.push(invalid(child('annotations', CLASS_ANNOTATION), noted, 'must match `ingressClassName` when both are specified'))
  return errors
}

function toleranceFor(old: KubeObject): Tolerance {
  const spec = object(old, 'spec')
  return {
    secretNames: objects(spec, 'tls').some((tls) => {
      const name = string(tls, 'secretName')
      return name !== '' && checkDns1123Subdomain(name).length > 0
    }),
    wildcardRules: objects(spec, 'rules').some(
      (rule) => string(rule, 'host').includes('*') && httpErrors('', maybeObject(rule, 'http')).length > 0,
    ),
  }
}

const statusIngresses = (ingress: KubeObject): readonly Fields[] => objects(object(object(ingress, 'status'), 'loadBalancer'), 'ingress')

function statusErrors(ingress: KubeObject, old: KubeObject): FieldError[] {
  const before = statusIngresses(old).map((entry) => string(entry, 'ip'))
  return statusIngresses(ingress).flatMap((entry, i) => {
    const path = index('status.loadBalancer.ingress', i)
    const [ip, host] = [string(entry, 'ip'), string(entry, 'hostname')]
    const errors = ip === '' ? [] : legacyIpErrors(child(path, 'ip'), ip, before)
    if (host === '') return errors
    errors.push(...dnsSubdomainErrors(child(path, 'hostname'), host))
    if (ipFamilyOf(host) !== undefined) errors.push(invalid(child(path, 'hostname'), host, 'must be a DNS name, not an IP address'))
    return errors
  })
}

function warnings(ingress: KubeObject, old: KubeObject | undefined, { subresource }: RuleContext): string[] {
  if (subresource === 'status')
    return statusIngresses(ingress).flatMap((entry, i) =>
      string(entry, 'ip') === '' ? [] : ipWarnings(index('status.loadBalancer.ingress', i), string(entry, 'ip')),
    )
  if (old !== undefined || annotation(ingress, CLASS_ANNOTATION) === undefined) return []
  if (field(object(ingress, 'spec'), 'ingressClassName') !== undefined) return []
  return [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
}

export const ingressRules: KindRules = {
  prepareForCreate(ingress) {
    ingress.status = { loadBalancer: {} }
    startGeneration(ingress)
  },
  prepareForUpdate(ingress, old, { subresource }) {
    if (subresource === 'status') {
      restore(ingress, old, 'spec')
      return
    }
    restore(ingress, old, 'status')
    countChange(ingress, old)
  },
  validateCreate: createErrors,
  validateUpdate: (ingress, old, { subresource }) =>
    subresource === 'status' ? statusErrors(ingress, old) : ingressErrors(ingress, toleranceFor(old)),
  warnings,
  tracksGeneration: true,
}

/** `acme.io/foo`: a DNS subdomain, a slash and a path. */
function domainPrefixedPathErrors(path: string, value: string): FieldError[] {
  if (value === '') return [required(path)]
  const slash = value.indexOf('/')
  const [host, rest] = [value.slice(0, Math.max(slash, 0)), value.slice(slash + 1)]
  if (slash < 0 || host === '' || rest === '') return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  return [...dnsSubdomainErrors(path, host), ...invalidEach(path, rest, checkHttpPath(rest))]
}

function classErrors(ingressClass: KubeObject): FieldError[] {
  const spec = object(ingressClass, 'spec')
  const controller = string(spec, 'controller')
  const errors = byteLength(controller) > 250 ? [tooLong('spec.controller', 250)] : []
  errors.push(...domainPrefixedPathErrors('spec.controller', controller))
  const parameters = maybeObject(spec, 'parameters')
  return parameters === undefined ? errors : [...errors, ...parameterErrors('spec.parameters', parameters)]
}

function parameterErrors(path: string, parameters: Fields): FieldError[] {
  const errors = referenceErrors(path, parameters)
  const scope = maybeString(parameters, 'scope')
  const namespace = maybeString(parameters, 'namespace')
  const at = child(path, 'namespace')
  if (scope === undefined) return [...errors, required(child(path, 'scope'))]
  if (scope === 'Namespace') {
    if (namespace === undefined) errors.push(required(at, "`parameters.scope` is set to 'Namespace'"))
    else errors.push(...invalidEach(at, namespace, checkDns1123Label(namespace)))
  } else if (scope === 'Cluster') {
    if (namespace !== undefined) errors.push(forbidden(at, "`parameters.scope` is set to 'Cluster'"))
  } else errors.push(unsupported(child(path, 'scope'), scope, ['Cluster', 'Namespace']))
  return errors
}

export const ingressClassRules: KindRules = {
  applyDefaults(ingressClass) {
    const parameters = maybeObject(object(ingressClass, 'spec'), 'parameters')
    if (parameters !== undefined) defaultValue(parameters, 'scope', 'Cluster')
  },
  prepareForCreate: startGeneration,
  prepareForUpdate: (ingressClass, old) => countChange(ingressClass, old),
  validateCreate: classErrors,
  validateUpdate: (ingressClass, old) => [
    ...immutableErrors('spec.controller', string(object(ingressClass, 'spec'), 'controller'), string(object(old, 'spec'), 'controller')),
    ...classErrors(ingressClass),
  ],
  tracksGeneration: true,
}
