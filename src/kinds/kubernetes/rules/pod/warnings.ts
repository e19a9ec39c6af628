/** Warnings about pods and templates that are valid but outdated, doubtful or probably not intended. */

import { deepEqual } from '../../../../base/json.ts'
import { goQuote } from '../../../../kube/go-print.ts'
import { ipWarnings } from '../../../../kube/ip.ts'
import { checkLabelValue } from '../../../../kube/names.ts'
import { entries, type Fields, fieldsOf, isSet, maybeNumber, maybeObject, objects, raw, string, strings } from '../fields.ts'
import { claimSpecWarnings } from './claim-spec.ts'
import { allContainers } from './containers-walk.ts'
import { appendAll } from './errors.ts'
import type { SpecAndMeta } from './options.ts'
import { overlapWarnings } from './overlap-warnings.ts'
import { portWarnings } from './port-warnings.ts'
import { hasFraction, quantitiesAsSent } from './quantities.ts'
import { APPARMOR_CONTAINER, appArmorFromAnnotation, SECCOMP_CONTAINER, SECCOMP_POD } from './security-profiles.ts'

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

const DEPRECATED_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
])

const DEPRECATED_ANNOTATIONS: readonly (readonly [string, string])[] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
]

const OLD_VOLUMES: readonly (readonly [key: string, path: string, message: string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['ephemeral', '', ''],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
]

const below = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

/** `path` is '' for a pod itself, else that of the template. */
export function podWarnings(path: string, { spec, metadata }: SpecAndMeta): string[] {
  const at = below(path, 'spec')
  return [
    ...nodeLabelWarnings(at, spec),
    ...deprecatedAnnotationWarnings(below(path, 'metadata.annotations'), metadata),
    ...volumeWarnings(`${at}.volumes`, spec),
    ...overlapWarnings(spec),
    ...duplicateWarnings(at, spec),
    ...fractionWarnings(at, spec, ['overhead']),
    ...containerWarnings(path, { spec, metadata }),
    ...portWarnings(at, spec),
    ...graceWarnings(at, spec),
    ...affinityWarnings(`${at}.affinity`, spec),
    ...addressWarnings(at, spec),
  ]
}

function nodeLabelWarnings(at: string, spec: Fields): string[] {
  const warnings: string[] = []
  for (const [key] of entries(spec, 'nodeSelector')) {
    const message = DEPRECATED_LABELS.get(key)
    if (message !== undefined) warnings.push(`${at}.nodeSelector[${key}]: ${message}`)
  }
  const affinity = maybeObject(maybeObject(spec, 'affinity'), 'nodeAffinity')
  const path = `${at}.affinity.nodeAffinity`
  objects(maybeObject(affinity, REQUIRED), 'nodeSelectorTerms').forEach((term, i) => {
    appendAll(warnings, termWarnings(`${path}.${REQUIRED}.nodeSelectorTerms[${i}]`, term, false))
  })
  objects(affinity, PREFERRED).forEach((term, i) => {
    appendAll(warnings, termWarnings(`${path}.${PREFERRED}[${i}].preference`, fieldsOf(raw(term, 'preference')), true))
  })
  objects(spec, 'topologySpreadConstraints').forEach((constraint, i) => {
    const [key, place] = [string(constraint, 'topologyKey'), `${at}.topologySpreadConstraints[${i}]`]
    const message = DEPRECATED_LABELS.get(key)
    if (message !== undefined) warnings.push(`${place}.topologyKey: ${key} is ${message}`)
    if (!isSet(constraint, 'labelSelector')) warnings.push(noPodWarning(`${place}.labelSelector`))
  })
  return warnings
}

const noPodWarning = (path: string): string => `${path}: a null labelSelector results in matching no pod`

function termWarnings(path: string, term: Fields, checksValues: boolean): string[] {
  return objects(term, 'matchExpressions').flatMap((expression, i) => {
    const at = `${path}.matchExpressions[${i}]`
    const key = string(expression, 'key')
    const message = DEPRECATED_LABELS.get(key)
    const warnings = message === undefined ? [] : [`${at}.key: ${key} is ${message}`]
    if (!checksValues) return warnings
    strings(expression, 'values').forEach((value, j) => {
      for (const problem of checkLabelValue(value)) warnings.push(`${at}.values[${j}]: ${value} is invalid, ${problem}`)
    })
    return warnings
  })
}

function deprecatedAnnotationWarnings(path: string, metadata: Fields): string[] {
  const known = new Set(entries(metadata, 'annotations').map(([key]) => key))
  return DEPRECATED_ANNOTATIONS.filter(([key]) => known.has(key)).map(([key, message]) => `${path}[${key}]: ${message}`)
}

function volumeWarnings(path: string, spec: Fields): string[] {
  return objects(spec, 'volumes').flatMap((volume, i) =>
    OLD_VOLUMES.flatMap(([key, name, message]) => {
      const source = maybeObject(volume, key)
      if (source === undefined) return []
      if (key !== 'ephemeral') return [`${path}[${i}].${name}: ${message}`]
      const claim = maybeObject(source, 'volumeClaimTemplate')
      const at = `${path}[${i}].ephemeral.volumeClaimTemplate.spec`
      return claim === undefined ? [] : claimSpecWarnings(at, fieldsOf(raw(claim, 'spec')))
    }),
  )
}

function duplicateWarnings(at: string, spec: Fields): string[] {
  const warnings: string[] = []
  for (const [list, key] of [
    ['hostAliases', 'ip'],
    ['imagePullSecrets', 'name'],
  ] as const) {
    const seen = new Set<string>()
    objects(spec, list).forEach((item, i) => {
      const value = string(item, key)
      if (seen.has(value)) warnings.push(`${at}.${list}[${i}].${key}: duplicate ${key} ${goQuote(value)}`)
      seen.add(value)
    })
  }
  objects(spec, 'imagePullSecrets').forEach((secret, i) => {
    if (string(secret, 'name') === '') warnings.push(`${at}.imagePullSecrets[${i}].name: invalid empty name ""`)
  })
  return warnings
}

/** Bytes cannot be fractional. */
function fractionWarnings(at: string, holder: Fields | undefined, keys: readonly string[]): string[] {
  const warnings: string[] = []
  for (const name of ['memory', 'ephemeral-storage']) {
    for (const key of keys) {
      const amount = quantitiesAsSent(holder, key).get(name)
      if (amount === undefined || !hasFraction(amount)) continue
      const written = string(maybeObject(holder, key), name)
      warnings.push(`${at}.${key}[${name}]: fractional byte value ${goQuote(written)} is invalid, must be an integer`)
    }
  }
  return warnings
}

function containerWarnings(path: string, { spec, metadata }: SpecAndMeta): string[] {
  const annotations = new Map(entries(metadata, 'annotations'))
  const place = below(path, 'metadata.annotations')
  const podContext = maybeObject(spec, 'securityContext')
  const warnings: string[] = []
  if (annotations.has(SECCOMP_POD) && !isSet(podContext, 'seccompProfile')) {
    warnings.push(`${place}[${SECCOMP_POD}]: non-functional in v1.27+; use the "seccompProfile" field instead`)
  }
  for (const { container, path: at } of allContainers(spec, below(path, 'spec'))) {
    const context = maybeObject(container, 'securityContext')
    const seccomp = `${SECCOMP_CONTAINER}${string(container, 'name')}`
    const appArmor = `${APPARMOR_CONTAINER}${string(container, 'name')}`
    if (annotations.has(seccomp) && !isSet(context, 'seccompProfile')) {
      warnings.push(`${place}[${seccomp}]: non-functional in v1.27+; use the "seccompProfile" field instead`)
    }
    // For a pod itself this warning is given when the annotation is copied to the field.
    const annotation = annotations.get(appArmor)
    if (annotation !== undefined && !isSet(context, 'appArmorProfile')) {
      const podProfile = maybeObject(podContext, 'appArmorProfile')
      if (podProfile === undefined || !deepEqual(podProfile, appArmorFromAnnotation(annotation))) {
        warnings.push(`${place}[${appArmor}]: deprecated since v1.30; use the "appArmorProfile" field instead`)
      }
    }
    appendAll(warnings, fractionWarnings(`${at}.resources`, maybeObject(container, 'resources'), ['limits', 'requests']))
    appendAll(warnings, envWarnings(`${at}.env`, container))
  }
  return warnings
}

/** A second definition of a variable is fine only if it refers to the first. */
function envWarnings(path: string, container: Fields): string[] {
  const seen = new Set<string>()
  return objects(container, 'env').flatMap((variable, i) => {
    const [name, value] = [string(variable, 'name'), string(variable, 'value')]
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    const reference = `$(${name})`
    const hides = isSet(variable, 'valueFrom') || value === reference || !value.includes(reference)
    return hides ? [`${path}[${i}]: hides previous definition of ${goQuote(name)}, which may be dropped when using apply`] : []
  })
}

function graceWarnings(at: string, spec: Fields): string[] {
  const grace = maybeNumber(spec, 'terminationGracePeriodSeconds')
  if (grace === undefined || grace >= 0) return []
  return [`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
}

function affinityWarnings(path: string, spec: Fields): string[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap((key) => {
    const affinity = maybeObject(maybeObject(spec, 'affinity'), key)
    const required = objects(affinity, REQUIRED).map((term, i) => ({ term, at: `${path}.${key}.${REQUIRED}[${i}]` }))
    const preferred = objects(affinity, PREFERRED).map((weighted, i) => ({
      term: fieldsOf(raw(weighted, 'podAffinityTerm')),
      at: `${path}.${key}.${PREFERRED}[${i}].podAffinityTerm`,
    }))
    return [...required, ...preferred]
      .filter(({ term }) => !isSet(term, 'labelSelector'))
      .map(({ at }) => noPodWarning(`${at}.labelSelector`))
  })
}

const addressWarnings = (at: string, spec: Fields): string[] => [
  ...strings(maybeObject(spec, 'dnsConfig'), 'nameservers').flatMap((ip, i) => ipWarnings(`${at}.dnsConfig.nameservers[${i}]`, ip)),
  ...objects(spec, 'hostAliases').flatMap((alias, i) => ipWarnings(`${at}.hostAliases[${i}].ip`, string(alias, 'ip'))),
]
