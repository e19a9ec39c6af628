/** Webhook configurations. They are stored and validated; calling the webhooks is not implemented yet. */
import { child, duplicate, type FieldError, index, invalid, required } from '../../../../kube/field-error.ts'
import { goQuote } from '../../../../kube/go-print.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkDns1035Label, checkDns1123Subdomain } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import {
  defaultValue,
  type Fields,
  field,
  maybeNumber,
  maybeObject,
  maybeString,
  number,
  object,
  objects,
  string,
  strings,
  writableObjects,
} from '../fields.ts'
import { labelSelectorErrors } from '../formats.ts'
import { countChange, startGeneration } from '../generation.ts'
import { invalidEach, unsupported } from '../pod/errors.ts'
import { semanticEqual } from '../pod/semantic.ts'
import { defaultRules, matchConditionErrors, matchPolicyErrors, ruleErrors } from './match-rules.ts'

const NO_SIDE_EFFECTS = ['None', 'NoneOnDryRun']
const SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown']
const REVIEW_VERSIONS = ['v1', 'v1beta1']

interface Strictness {
  sideEffects: readonly string[]
  knownVersion: boolean
  uniqueNames: boolean
  tolerantSelectors: boolean
  matchConditions: boolean
}

const hooks = (configuration: KubeObject | undefined): readonly Fields[] => objects(configuration, 'webhooks')

/** Rules that an old configuration already violates are not enforced. */
function strictnessFor(configuration: KubeObject, old: KubeObject | undefined): Strictness {
  const before = hooks(old)
  const names = before.map((hook) => string(hook, 'name'))
  const sameConditions = (): boolean => {
    const after = hooks(configuration)
    return after.length === before.length && after.every((hook, i) => semanticEqual(hook.matchConditions, before[i]?.matchConditions))
  }
  return {
    sideEffects: before.every((hook) => NO_SIDE_EFFECTS.includes(string(hook, 'sideEffects'))) ? NO_SIDE_EFFECTS : SIDE_EFFECTS,
    knownVersion: before.every((hook) => {
      const versions = strings(hook, 'admissionReviewVersions')
      return versions.length === 0 || versions.some((version) => REVIEW_VERSIONS.includes(version))
    }),
    uniqueNames: new Set(names).size === names.length,
    tolerantSelectors: before.some((hook) =>
      ['namespaceSelector', 'objectSelector'].some((key) => labelSelectorErrors('', maybeObject(hook, key)).length > 0),
    ),
    matchConditions: old === undefined || !sameConditions(),
  }
}

function configurationErrors(configuration: KubeObject, mutating: boolean, old?: KubeObject): FieldError[] {
  const strictness = strictnessFor(configuration, old)
  const names = new Set<string>()
  return hooks(configuration).flatMap((hook, i) => {
    const path = index('webhooks', i)
    const name = string(hook, 'name')
    const errors = [
      ...hookErrors(path, hook, { strictness, mutating }),
      ...reviewVersionErrors(
        child(path, 'admissionReviewVersions'),
        strings(hook, 'admissionReviewVersions'),
        strictness.knownVersion ? REVIEW_VERSIONS : undefined,
      ),
    ]
    if (strictness.uniqueNames && name !== '' && names.has(name)) errors.push(duplicate(child(path, 'name'), name))
    names.add(name)
    return errors
  })
}

function hookErrors(path: string, hook: Fields, { strictness, mutating }: { strictness: Strictness; mutating: boolean }): FieldError[] {
  const errors = qualifiedHookName(child(path, 'name'), string(hook, 'name'))
  errors.push(...objects(hook, 'rules').flatMap((rule, i) => ruleErrors(index(child(path, 'rules'), i), rule)))
  const failure = maybeString(hook, 'failurePolicy')
  if (failure !== undefined && !['Fail', 'Ignore'].includes(failure))
    errors.push(unsupported(child(path, 'failurePolicy'), failure, ['Fail', 'Ignore']))
  errors.push(...matchPolicyErrors(child(path, 'matchPolicy'), hook))
  const effects = maybeString(hook, 'sideEffects')
  const allowed = strictness.sideEffects
  if (effects === undefined) errors.push(required(child(path, 'sideEffects'), `must specify one of ${allowed.join(', ')}`))
  else if (!allowed.includes(effects)) errors.push(unsupported(child(path, 'sideEffects'), effects, allowed))
  const timeout = maybeNumber(hook, 'timeoutSeconds')
  if (timeout !== undefined && (timeout > 30 || timeout < 1))
    errors.push(invalid(child(path, 'timeoutSeconds'), timeout, 'the timeout value must be between 1 and 30 seconds'))
  for (const key of ['namespaceSelector', 'objectSelector'])
    errors.push(...labelSelectorErrors(child(path, key), maybeObject(hook, key), strictness.tolerantSelectors))
  const again = maybeString(hook, 'reinvocationPolicy')
  if (mutating && again !== undefined && !['IfNeeded', 'Never'].includes(again))
    errors.push(unsupported(child(path, 'reinvocationPolicy'), again, ['IfNeeded', 'Never']))
  errors.push(...clientConfigErrors(child(path, 'clientConfig'), object(hook, 'clientConfig')))
  return strictness.matchConditions ? [...errors, ...matchConditionErrors(child(path, 'matchConditions'), hook)] : errors
}

export function qualifiedHookName(path: string, name: string): FieldError[] {
  if (name === '') return [required(path)]
  const problems = checkDns1123Subdomain(name)
  if (problems.length > 0) return [invalid(path, name, problems.join(','))]
  return name.split('.').length < 3 ? [invalid(path, name, 'should be a domain with at least three segments separated by dots')] : []
}

function reviewVersionErrors(path: string, versions: readonly string[], known: readonly string[] | undefined): FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${REVIEW_VERSIONS.join(', ')}`)]
  return spokenVersionErrors(path, versions, known)
}

/** Protocol versions in order of preference; at least one must be known to us. */
export function spokenVersionErrors(path: string, versions: readonly string[], known: readonly string[] | undefined): FieldError[] {
  const errors = versions.flatMap((version, i) =>
    versions.indexOf(version) < i
      ? [invalid(index(path, i), version, 'duplicate version')]
      : invalidEach(index(path, i), version, checkDns1035Label(version)),
  )
  if (known !== undefined && !versions.some((version) => known.includes(version)))
    errors.push(invalid(path, versions, `must include at least one of ${known.join(', ')}`))
  return errors
}

export function clientConfigErrors(path: string, config: Fields): FieldError[] {
  const url = maybeString(config, 'url')
  const service = maybeObject(config, 'service')
  if ((url === undefined) === (service === undefined)) return [required(path, 'exactly one of url or service is required')]
  if (url !== undefined) return urlErrors(child(path, 'url'), url)
  return service === undefined ? [] : serviceReferenceErrors(child(path, 'service'), service)
}

const URL_FORM = '; desired format: https://host[/path]'

function urlErrors(path: string, text: string): FieldError[] {
  if (!URL.canParse(text)) {
    const relative = !/^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text)
    if (!relative) return [required(path, `url must be a valid URL: parse ${goQuote(text)}: invalid URL${URL_FORM}`)]
    return [invalid(path, '', `'https' is the only allowed URL scheme${URL_FORM}`), invalid(path, '', `host must be specified${URL_FORM}`)]
  }
  const url = new URL(text)
  const errors: FieldError[] = []
  const scheme = url.protocol.slice(0, -1)
  if (scheme !== 'https') errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme${URL_FORM}`))
  if (url.host === '') errors.push(invalid(path, url.host, `host must be specified${URL_FORM}`))
  if (url.username !== '' || url.password !== '')
    errors.push(
      invalid(path, url.password === '' ? url.username : `${url.username}:${url.password}`, 'user information is not permitted in the URL'),
    )
  if (url.hash !== '') errors.push(invalid(path, url.hash.slice(1), 'fragments are not permitted in the URL'))
  if (url.search !== '') errors.push(invalid(path, url.search.slice(1), 'query parameters are not permitted in the URL'))
  return errors
}

function serviceReferenceErrors(path: string, service: Fields): FieldError[] {
  const errors: FieldError[] = []
  // The real server mixes the two up, and clients see it.
  if (string(service, 'namespace') === '') errors.push(required(child(path, 'name')))
  if (string(service, 'name') === '') errors.push(required(child(path, 'namespace')))
  const port = number(service, 'port')
  if (port < 1 || port > 65535) errors.push(invalid(child(path, 'port'), port, 'port is not valid: must be between 1 and 65535, inclusive'))
  const where = maybeString(service, 'path')
  return where === undefined ? errors : [...errors, ...servicePathErrors(child(path, 'path'), where)]
}

function servicePathErrors(path: string, where: string): FieldError[] {
  if (where === '/' || where === '') return []
  if (where === '//') return [invalid(path, where, 'segment[0] may not be empty')]
  const errors = where.startsWith('/') ? [] : [invalid(path, where, "must start with a '/'")]
  const steps = where.slice(1).replace(/\/$/, '').split('/')
  for (const [i, step] of steps.entries()) {
    if (step === '') errors.push(invalid(path, where, `segment[${i}] may not be empty`))
    else for (const problem of checkDns1123Subdomain(step)) errors.push(invalid(path, where, `segment[${i}]: ${problem}`))
  }
  return errors
}

function applyDefaults(configuration: KubeObject, mutating: boolean): void {
  for (const hook of writableObjects(configuration, 'webhooks')) {
    defaultValue(hook, 'failurePolicy', 'Fail')
    defaultValue(hook, 'matchPolicy', 'Equivalent')
    defaultValue(hook, 'namespaceSelector', {})
    defaultValue(hook, 'objectSelector', {})
    defaultValue(hook, 'timeoutSeconds', 10)
    if (mutating) defaultValue(hook, 'reinvocationPolicy', 'Never')
    defaultRules(hook, 'rules')
    const service = maybeObject(object(hook, 'clientConfig'), 'service')
    if (service !== undefined) defaultValue(service, 'port', 443)
  }
}

function warnings(configuration: KubeObject): string[] {
  const uses = hooks(configuration).some((hook) => field(hook, 'matchConditions') !== undefined)
  return uses ? ['webhooks[].matchConditions: CEL expressions are stored but not evaluated by this server'] : []
}

const webhookRules = (mutating: boolean): KindRules => ({
  applyDefaults: (configuration) => applyDefaults(configuration, mutating),
  prepareForCreate: startGeneration,
  prepareForUpdate: (configuration, old) => countChange(configuration, old, ['webhooks']),
  validateCreate: (configuration) => configurationErrors(configuration, mutating),
  validateUpdate: (configuration, old) => configurationErrors(configuration, mutating, old),
  warnings,
  allowUnconditionalUpdate: false,
})

export const validatingWebhookConfigurationRules = webhookRules(false)
export const mutatingWebhookConfigurationRules = webhookRules(true)
