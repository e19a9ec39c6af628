/** Validation of a Cluster. */
import { child, duplicate, type FieldError, index, invalid, notSupported, required, typeInvalid } from '../../../kube/field-error.ts'
import { byteLength, goQuote } from '../../../kube/go-print.ts'
import { checkDns1123Label, checkLabelValue } from '../../../kube/names.ts'
import { qualifiedNameErrors } from '../../kubernetes/rules/formats.ts'
import { invalidEach } from '../../kubernetes/rules/pod/errors.ts'
import type { ClusterSpec } from '../cluster.ts'
import type { Taint } from '../kube-schemas.ts'
import { modelErrors } from './cluster-models.ts'

/** The execution namespace of a cluster is a prefix and the cluster's name, and must still be a DNS label. */
const MAX_NAME_LENGTH = 48

export function clusterNameErrors(name: string): FieldError[] {
  const problems = byteLength(name) > MAX_NAME_LENGTH ? [`must be no more than ${MAX_NAME_LENGTH} characters`] : checkDns1123Label(name)
  return invalidEach('metadata.name', name, problems)
}

export function clusterErrors(spec: ClusterSpec): FieldError[] {
  return [
    ...endpointErrors('spec.apiEndpoint', spec.apiEndpoint ?? ''),
    ...secretErrors('spec.secretRef', spec.secretRef),
    ...secretErrors('spec.impersonatorSecretRef', spec.impersonatorSecretRef),
    ...proxyErrors('spec.proxyURL', spec.proxyURL ?? ''),
    ...placeErrors(spec),
    ...taintErrors('spec.taints', spec.taints ?? []),
    ...modelErrors('spec.resourceModels', spec.resourceModels ?? []),
  ]
}

const FORM = '; desired format: hostname, hostname:port, IP or IP:port'

function endpointErrors(path: string, endpoint: string): FieldError[] {
  if (endpoint === '') return []
  if (!URL.canParse(endpoint)) return [invalid(path, endpoint, `apiEndpoint must be a valid URL${FORM}`)]
  const { host, username, password, hash, search } = new URL(endpoint)
  const errors: FieldError[] = []
  if (host === '') errors.push(invalid(path, host, `host must be provided${FORM}`))
  if (username !== '' || password !== '')
    errors.push(invalid(path, password === '' ? username : `${username}:${password}`, 'user information is not permitted in the URL'))
  if (hash !== '') errors.push(invalid(path, hash.slice(1), 'fragments are not permitted in the URL'))
  if (search !== '') errors.push(invalid(path, search.slice(1), 'query parameters are not permitted in the URL'))
  return errors
}

const secretErrors = (path: string, reference: ClusterSpec['secretRef']): FieldError[] =>
  reference === undefined
    ? []
    : (['namespace', 'name'] as const).flatMap((part) => (reference[part] === '' ? [required(child(path, part))] : []))

const PROXY_SCHEMES = ['http', 'https', 'socks5']

function proxyErrors(path: string, proxy: string): FieldError[] {
  if (proxy === '') return []
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(proxy)?.[1]?.toLowerCase() ?? ''
  if (!PROXY_SCHEMES.includes(scheme))
    return [invalid(path, proxy, `unsupported scheme ${goQuote(scheme)}, must be http, https, or socks5`)]
  return URL.canParse(proxy) ? [] : [invalid(path, proxy, 'proxyURL must be a valid URL')]
}

/** Clusters are selected by these as if they were labels. */
function placeErrors({ provider = '', region = '', zone = '', zones = [] }: ClusterSpec): FieldError[] {
  const errors = [...valueErrors('spec.provider', provider), ...valueErrors('spec.region', region)]
  if (zone !== '' && zones.length > 0) return [...errors, typeInvalid('spec.zone', zone, 'Zone and Zones cannot co-exist')]
  return [...errors, ...valueErrors('spec.zone', zone), ...zones.flatMap((value, i) => valueErrors(index('spec.zones', i), value))]
}

function valueErrors(path: string, value: string): FieldError[] {
  const problems = checkLabelValue(value)
  return problems.length === 0 ? [] : [invalid(path, value, problems.join('; '))]
}

const EFFECTS = ['NoSchedule', 'NoExecute']

function taintErrors(path: string, taints: readonly Taint[]): FieldError[] {
  const seen = new Set<string>()
  return taints.flatMap((taint, i) => {
    const at = index(path, i)
    const { key, value = '', effect } = taint
    const pair = `${effect}\0${key}`
    const isTaken = seen.has(pair)
    seen.add(pair)
    return [
      ...qualifiedNameErrors(child(at, 'key'), key),
      ...valueErrors(child(at, 'value'), value),
      ...effectErrors(child(at, 'effect'), effect),
      ...(isTaken ? [{ ...duplicate(at, taint), detail: 'taints must be unique by key and effect pair' }] : []),
    ]
  })
}

function effectErrors(path: string, effect: string): FieldError[] {
  if (effect === '') return [required(path)]
  return EFFECTS.includes(effect) ? [] : [notSupported(path, effect, EFFECTS)]
}
