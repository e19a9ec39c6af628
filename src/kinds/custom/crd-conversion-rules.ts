/** How the versions of a CustomResourceDefinition are converted: not at all, or by a webhook. */
import { child, type FieldError, forbidden, index, invalid, notSupported, required } from '../../kube/field-error.ts'
import { checkDns1035Label, checkDns1123Subdomain, checkPortNumber } from '../../kube/names.ts'
import type { CrdConversion } from './crd.ts'

const PATH = 'spec.conversion'
const REVIEW_VERSIONS = ['v1', 'v1beta1']

type ClientConfig = NonNullable<NonNullable<CrdConversion['webhook']>['clientConfig']>

export const hasRecognizedReviewVersion = (versions: readonly string[] | undefined): boolean =>
  versions === undefined || versions.length === 0 || versions.some((v) => REVIEW_VERSIONS.includes(v))

export function validateConversion(
  conversion: CrdConversion | undefined,
  options: { requireRecognizedReviewVersion: boolean; allowInvalidCaBundle: boolean },
): FieldError[] {
  if (conversion === undefined) return []
  const errors: FieldError[] = []
  const { strategy } = conversion
  const client = conversion.webhook?.clientConfig
  const versions = conversion.webhook?.conversionReviewVersions ?? []
  const clientPath = child(PATH, 'webhookClientConfig')
  const versionsPath = child(PATH, 'conversionReviewVersions')
  if (!strategy) errors.push(required(child(PATH, 'strategy')))
  else if (strategy !== 'None' && strategy !== 'Webhook') errors.push(notSupported(child(PATH, 'strategy'), strategy, ['None', 'Webhook']))
  if (strategy === 'Webhook') {
    if (client === undefined) errors.push(required(clientPath, 'required when strategy is set to Webhook'))
    else errors.push(...validateClient(client, clientPath))
    errors.push(...validateReviewVersions(versions, options.requireRecognizedReviewVersion, versionsPath))
    return errors
  }
  if (client !== undefined) errors.push(forbidden(clientPath, 'should not be set when strategy is not set to Webhook'))
  if (versions.length > 0) errors.push(forbidden(versionsPath, 'should not be set when strategy is not set to Webhook'))
  return errors
}

function validateReviewVersions(versions: readonly string[], requireRecognized: boolean, path: string): FieldError[] {
  if (versions.length === 0) return [required(path)]
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [i, version] of versions.entries()) {
    if (seen.has(version)) errors.push(invalid(index(path, i), version, 'duplicate version'))
    else for (const message of checkDns1035Label(version)) errors.push(invalid(index(path, i), version, message))
    seen.add(version)
  }
  if (requireRecognized && !hasRecognizedReviewVersion(versions))
    errors.push(invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`))
  return errors
}

function validateClient(client: ClientConfig, path: string): FieldError[] {
  if ((client.url === undefined) === (client.service === undefined)) return [required(path, 'exactly one of url or service is required')]
  return client.url !== undefined
    ? validateUrl(client.url, child(path, 'url'))
    : validateService(client.service ?? {}, child(path, 'service'))
}

const URL_FORM = '; desired format: https://host[/path]'

function validateUrl(text: string, path: string): FieldError[] {
  const match = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text)
  if (match === null) return [required(path, `url must be a valid URL: parse ${JSON.stringify(text)}: invalid URL${URL_FORM}`)]
  const [, scheme = '', user, host = '', , query = '', fragment = ''] = match
  const errors: FieldError[] = []
  if (scheme.toLowerCase() !== 'https')
    errors.push(invalid(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${URL_FORM}`))
  if (host === '') errors.push(invalid(path, '', `host must be specified${URL_FORM}`))
  if (user !== undefined) errors.push(invalid(path, user, 'user information is not permitted in the URL'))
  if (fragment !== '') errors.push(invalid(path, fragment, 'fragments are not permitted in the URL'))
  if (query !== '') errors.push(invalid(path, query, 'query parameters are not permitted in the URL'))
  return errors
}

/** The real server passes name and namespace in the other order, which only shows in the order of the two errors. */
function validateService(service: NonNullable<ClientConfig['service']>, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (!service.namespace) errors.push(required(child(path, 'name')))
  if (!service.name) errors.push(required(child(path, 'namespace')))
  const port = service.port ?? 443
  const wrong = checkPortNumber(port)
  if (wrong.length > 0) errors.push(invalid(child(path, 'port'), port, `port is not valid: ${wrong.join(', ')}`))
  const urlPath = service.path ?? ''
  return urlPath === '' || urlPath === '/' ? errors : [...errors, ...validateServicePath(urlPath, child(path, 'path'))]
}

function validateServicePath(urlPath: string, path: string): FieldError[] {
  if (urlPath === '//') return [invalid(path, urlPath, 'segment[0] may not be empty')]
  const errors: FieldError[] = []
  if (!urlPath.startsWith('/')) errors.push(invalid(path, urlPath, "must start with a '/'"))
  for (const [i, step] of urlPath.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (step === '') errors.push(invalid(path, urlPath, `segment[${i}] may not be empty`))
    else for (const message of checkDns1123Subdomain(step)) errors.push(invalid(path, urlPath, `segment[${i}]: ${message}`))
  }
  return errors
}
