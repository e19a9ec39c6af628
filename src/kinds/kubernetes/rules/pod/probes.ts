/** Probes and lifecycle hooks: one handler each, with valid numbers. */
import { type FieldError, forbidden, invalid, required } from '../../../../kube/field-error.ts'
import { checkHttpHeaderName } from '../../../../kube/names.ts'
import { type Fields, intOrText, maybeNumber, maybeObject, number, objects, string, strings } from '../fields.ts'
import { portNumberErrors, portNumberOrNameErrors } from '../formats.ts'
import { appendAll, invalidEach, nonNegative, unsupported } from './errors.ts'

type HandlerRule = (path: string, handler: Fields, gracePeriod: number | undefined) => FieldError[]

const HANDLERS: Readonly<Record<string, HandlerRule>> = {
  exec: (path, handler) => (strings(handler, 'command').length === 0 ? [required(`${path}.command`)] : []),
  httpGet: httpGetErrors,
  tcpSocket: (path, handler) => portNumberOrNameErrors(`${path}.port`, intOrText(handler, 'port')),
  grpc: (path, handler) => portNumberErrors(`${path}.port`, number(handler, 'port')),
  sleep: (path, handler, gracePeriod) => {
    const seconds = number(handler, 'seconds')
    if (gracePeriod === undefined || (seconds >= 0 && seconds <= gracePeriod)) return []
    return [invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`)]
  },
}
const PROBE_HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc']
const HOOK_HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'sleep']

function httpGetErrors(path: string, handler: Fields): FieldError[] {
  const scheme = string(handler, 'scheme')
  return [
    ...(string(handler, 'path') === '' ? [required(`${path}.path`)] : []),
    ...portNumberOrNameErrors(`${path}.port`, intOrText(handler, 'port')),
    ...(scheme === 'HTTP' || scheme === 'HTTPS' ? [] : [unsupported(`${path}.scheme`, scheme, ['HTTP', 'HTTPS'])]),
    ...objects(handler, 'httpHeaders').flatMap((header) =>
      invalidEach(`${path}.httpHeaders`, string(header, 'name'), checkHttpHeaderName(string(header, 'name'))),
    ),
  ]
}

function handlerErrors(
  path: string,
  holder: Fields,
  { keys, gracePeriod }: { keys: readonly string[]; gracePeriod: number | undefined },
): FieldError[] {
  const errors: FieldError[] = []
  let found = false
  for (const key of keys) {
    const handler = maybeObject(holder, key)
    if (handler === undefined) continue
    if (found) errors.push(forbidden(`${path}.${key}`, 'may not specify more than 1 handler type'))
    else appendAll(errors, HANDLERS[key]?.(`${path}.${key}`, handler, gracePeriod) ?? [])
    found = true
  }
  if (!found) errors.push(required(path, 'must specify a handler type'))
  return errors
}

const PROBE_NUMBERS = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold']

/** All three probes of a container, at the paths below it. */
export function validateProbes(path: string, container: Fields): FieldError[] {
  const errors: FieldError[] = []
  for (const key of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = maybeObject(container, key)
    if (probe === undefined) continue
    const at = `${path}.${key}`
    const grace = maybeNumber(probe, 'terminationGracePeriodSeconds')
    appendAll(errors, handlerErrors(at, probe, { keys: PROBE_HANDLERS, gracePeriod: undefined }))
    for (const name of PROBE_NUMBERS) appendAll(errors, nonNegative(`${at}.${name}`, number(probe, name)))
    if (grace !== undefined && grace <= 0) errors.push(invalid(`${at}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'))
    if (key === 'readinessProbe') {
      if (grace !== undefined) errors.push(invalid(`${at}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes'))
    } else if (number(probe, 'successThreshold') !== 1) {
      errors.push(invalid(`${at}.successThreshold`, number(probe, 'successThreshold'), 'must be 1'))
    }
  }
  return errors
}

/** `gracePeriod` bounds how long a hook may sleep. */
export function validateLifecycle(path: string, container: Fields, gracePeriod: number | undefined): FieldError[] {
  const lifecycle = maybeObject(container, 'lifecycle')
  return ['postStart', 'preStop'].flatMap((key) => {
    const hook = maybeObject(lifecycle, key)
    return hook === undefined ? [] : handlerErrors(`${path}.lifecycle.${key}`, hook, { keys: HOOK_HANDLERS, gracePeriod })
  })
}
