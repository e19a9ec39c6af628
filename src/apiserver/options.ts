/**
 * The options of each verb as they come in the query (or, for deletes, in the body), validated with the real server's
 * messages. Every parser throws a StatusError and never guesses.
 */
import { type FieldError, forbidden, invalid, notSupported, required } from '../kube/field-error.ts'
import { isTrue } from '../kube/request-info.ts'
import { badRequestError, invalidError, type StatusError } from '../kube/status.ts'
import { validateFieldManager } from '../kube/validate-meta.ts'

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

export interface WriteOptions {
  dryRun: boolean
  fieldManager: string
  fieldValidation: FieldValidation
  force: boolean
}

export interface ListOptions {
  labelSelector: string
  fieldSelector: string
  resourceVersion: string
  resourceVersionMatch: string
  limit: number
  continueToken: string
  timeoutSeconds: number | undefined
  allowWatchBookmarks: boolean
  sendInitialEvents: boolean | undefined
}

const optionsInvalid = (kind: string, errors: readonly FieldError[]): StatusError =>
  invalidError({ group: 'meta.k8s.io', kind }, '', errors)

const MAX_FIELD_MANAGER_BYTES = 128

/** `userAgent` names the manager when the client does not: everything before the first slash. */
export function parseWriteOptions(
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  query: URLSearchParams,
  context: { userAgent: string; isApply?: boolean },
): WriteOptions {
  const errors: FieldError[] = []
  const force = query.get('force')
  if (kind === 'PatchOptions') {
    if (context.isApply) {
      if ((query.get('fieldManager') ?? '') === '') errors.push(required('fieldManager', 'is required for apply patch'))
    } else if (force !== null) errors.push(forbidden('force', 'may not be specified for non-apply patch'))
  }
  const fieldManager = query.get('fieldManager') ?? ''
  errors.push(...validateFieldManager(fieldManager, 'fieldManager'))
  errors.push(...validateDryRun(query.getAll('dryRun')))
  const fieldValidation = query.get('fieldValidation') ?? ''
  if (!['', 'Strict', 'Warn', 'Ignore'].includes(fieldValidation))
    errors.push({
      ...notSupported('fieldValidation', fieldValidation, []),
      detail: 'supported values: "", "Ignore", "Strict", "Warn"',
    })
  if (errors.length > 0) throw optionsInvalid(kind, errors)
  return {
    dryRun: query.getAll('dryRun').length > 0,
    fieldManager: fieldManager !== '' ? fieldManager : managerOfAgent(context.userAgent),
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    force: isTrue(force),
  }
}

/** The manager of a request that names none: the client's program name, up to 128 bytes. */
function managerOfAgent(userAgent: string): string {
  const program = userAgent.split('/')[0] ?? ''
  return (program === '' ? 'unknown' : program).slice(0, MAX_FIELD_MANAGER_BYTES)
}

function validateDryRun(values: readonly string[]): FieldError[] {
  if (values.length === 0 || values.every((value) => value === 'All')) return []
  return [{ ...notSupported('dryRun', values, []), detail: 'supported values: "All"' }]
}

export function parseListOptions(query: URLSearchParams, isWatch: boolean): ListOptions {
  const sendInitial = query.get('sendInitialEvents')
  const limit = wholeNumber(query.get('limit')) ?? 0
  const options: ListOptions = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    limit: Math.max(limit, 0),
    continueToken: query.get('continue') ?? '',
    timeoutSeconds: positive(wholeNumber(query.get('timeoutSeconds'))),
    allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: sendInitial === null ? undefined : isTrue(sendInitial),
  }
  const errors = isWatch ? watchOptionErrors(options) : listOptionErrors(options)
  if (errors.length > 0) throw optionsInvalid('ListOptions', errors)
  return options
}

function listOptionErrors(o: ListOptions): FieldError[] {
  const errors: FieldError[] = []
  const match = o.resourceVersionMatch
  if (match !== '') {
    if (o.resourceVersion === '')
      errors.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
    if (o.continueToken !== '')
      errors.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'))
    if (match !== 'Exact' && match !== 'NotOlderThan')
      errors.push({
        ...notSupported('resourceVersionMatch', match, []),
        detail: 'supported values: "Exact", "NotOlderThan", ""',
      })
    if (match === 'Exact' && o.resourceVersion === '0')
      errors.push(forbidden('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  if (o.sendInitialEvents !== undefined) errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  return errors
}

function watchOptionErrors(o: ListOptions): FieldError[] {
  const errors: FieldError[] = []
  const match = o.resourceVersionMatch
  if (o.sendInitialEvents !== undefined) {
    if (match !== 'NotOlderThan')
      errors.push(forbidden('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  } else if (match !== '')
    errors.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'))
  if (match !== '' && match !== 'NotOlderThan') errors.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']))
  // A watch that implicitly starts with the current state counts as one that asked for initial events.
  const beginsWithState = o.sendInitialEvents === undefined && (o.resourceVersion === '' || o.resourceVersion === '0')
  if (o.continueToken !== '' && (match !== '' || beginsWithState))
    errors.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'))
  return errors
}

export interface DeleteOptions {
  gracePeriodSeconds: number | undefined
  propagationPolicy: string
  orphanDependents: boolean | undefined
  preconditions: { uid?: string; resourceVersion?: string }
  dryRun: boolean
}

/** `body` is the decoded DeleteOptions, if there was one; the query is used only without it. */
export function parseDeleteOptions(query: URLSearchParams, body: Record<string, unknown> | undefined): DeleteOptions {
  const grace = body !== undefined ? body.gracePeriodSeconds : wholeNumber(query.get('gracePeriodSeconds'))
  const policy = String((body !== undefined ? body.propagationPolicy : query.get('propagationPolicy')) ?? '')
  const orphan = body !== undefined ? body.orphanDependents : booleanOrUndefined(query.get('orphanDependents'))
  const preconditions = (body?.preconditions ?? {}) as { uid?: string; resourceVersion?: string }
  const dryRun = body !== undefined ? ((body.dryRun ?? []) as string[]) : query.getAll('dryRun')
  const errors: FieldError[] = []
  if (policy !== '' && orphan !== undefined)
    errors.push(invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'))
  if (policy !== '' && !['Foreground', 'Background', 'Orphan'].includes(policy))
    errors.push({
      ...notSupported('propagationPolicy', policy, []),
      detail: 'supported values: "Foreground", "Background", "Orphan", "nil"',
    })
  errors.push(...validateDryRun(dryRun))
  if (errors.length > 0) throw optionsInvalid('DeleteOptions', errors)
  return {
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
    propagationPolicy: policy,
    orphanDependents: typeof orphan === 'boolean' ? orphan : undefined,
    preconditions,
    dryRun: dryRun.length > 0,
  }
}

const MAX_TIMEOUT_SECONDS = 2 ** 31

const positive = (value: number | undefined): number | undefined =>
  value === undefined || value <= 0 ? undefined : Math.min(value, MAX_TIMEOUT_SECONDS)

/** An int64 of the query; anything else is refused with Go's message. */
export function wholeNumber(text: string | null): number | undefined {
  if (text === null || text === '') return undefined
  if (!/^[+-]?\d+$/.test(text)) throw badRequestError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  const value = BigInt(text)
  if (value > 9223372036854775807n || value < -9223372036854775808n)
    throw badRequestError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
  return Number(value)
}

const booleanOrUndefined = (text: string | null): boolean | undefined => (text === null ? undefined : isTrue(text))
