/**
 * The `spec` that SubjectAccessReview, LocalSubjectAccessReview and SelfSubjectAccessReview share: read from whatever was
 * sent, validated with the real server's messages, and turned into the question for an authorizer.
 */
import { isJsonObject, type JsonObject, setOwn } from '../../base/json.ts'
import type { UserInfo } from '../../kinds/kind.ts'
import { type FieldError, forbidden, invalid, required } from '../../kube/field-error.ts'
import { parseFieldSelector } from '../../kube/field-selector.ts'
import { parseLabelSelector } from '../../kube/selector.ts'
import { type Attributes, pathAttributes, resourceAttributes } from './attributes.ts'

interface ResourceAsk {
  namespace: string
  verb: string
  group: string
  resource: string
  subresource: string
  name: string
  fieldSelector?: string
}

export interface AccessSpec {
  user: UserInfo
  resource?: ResourceAsk
  path?: { path: string; verb: string }
  /** `hasSubject`: the spec itself names the user. */
  errors(hasSubject: boolean): FieldError[]
  /** nonResourceAttributes with Go's field names, as messages quote them. */
  goPath(): Record<string, string>
}

export function accessSpec(value: unknown): AccessSpec {
  const spec = isJsonObject(value) ? value : {}
  const resource = isJsonObject(spec.resourceAttributes) ? readResource(spec.resourceAttributes) : undefined
  const path = isJsonObject(spec.nonResourceAttributes)
    ? { path: text(spec.nonResourceAttributes.path), verb: text(spec.nonResourceAttributes.verb) }
    : undefined
  const user = readUser(spec)
  const goPath = () => ({ Path: path?.path ?? '', Verb: path?.verb ?? '' })
  return {
    user,
    resource,
    path,
    goPath,
    errors(hasSubject) {
      const errors: FieldError[] = []
      if (resource !== undefined && path !== undefined)
        errors.push(invalid('spec.nonResourceAttributes', goPath(), 'cannot be specified in combination with resourceAttributes'))
      if (resource === undefined && path === undefined)
        errors.push(
          invalid('spec.resourceAttributes', null, 'exactly one of nonResourceAttributes or resourceAttributes must be specified'),
        )
      if (hasSubject && user.name === '' && user.groups.length === 0)
        errors.push(invalid('spec.user', '', 'at least one of user or group must be specified'))
      if (isJsonObject(spec.resourceAttributes)) errors.push(...selectorErrors(spec.resourceAttributes))
      return errors
    },
  }
}

export function attributesOf(spec: AccessSpec, user: UserInfo): Attributes {
  return spec.resource !== undefined
    ? resourceAttributes(user, spec.resource)
    : pathAttributes(user, spec.path?.verb ?? '', spec.path?.path ?? '')
}

function readUser(spec: JsonObject): UserInfo {
  const user: UserInfo = { name: text(spec.user), groups: strings(spec.groups) }
  if (text(spec.uid) !== '') user.uid = text(spec.uid)
  if (isJsonObject(spec.extra)) {
    user.extra = {}
    for (const [key, values] of Object.entries(spec.extra)) setOwn(user.extra, key, strings(values))
  }
  return user
}

function readResource(attributes: JsonObject): ResourceAsk {
  const selector = isJsonObject(attributes.fieldSelector) ? attributes.fieldSelector : {}
  const raw = text(selector.rawSelector)
  return {
    namespace: text(attributes.namespace),
    verb: text(attributes.verb),
    group: text(attributes.group),
    resource: text(attributes.resource),
    subresource: text(attributes.subresource),
    name: text(attributes.name),
    fieldSelector: raw !== '' ? raw : equalities(selector.requirements),
  }
}

/** `In` with one value is the equality that authorizers look at; everything else only narrows further. */
function equalities(requirements: unknown): string {
  if (!Array.isArray(requirements)) return ''
  return requirements
    .filter(isJsonObject)
    .filter((r) => r.operator === 'In' && strings(r.values).length === 1)
    .map((r) => `${text(r.key)}=${strings(r.values)[0] ?? ''}`)
    .join(',')
}

const SELECTORS = ['fieldSelector', 'labelSelector'] as const

function selectorErrors(attributes: JsonObject): FieldError[] {
  return SELECTORS.flatMap((name) => {
    const selector = attributes[name]
    if (!isJsonObject(selector)) return []
    const path = `spec.resourceAttributes.${name}`
    const raw = text(selector.rawSelector)
    const requirements = Array.isArray(selector.requirements) ? selector.requirements : []
    const errors: FieldError[] = []
    if (raw !== '' && requirements.length > 0)
      errors.push(invalid(`${path}.rawSelector`, raw, 'may not specified at the same time as requirements'))
    if (raw === '' && requirements.length === 0)
      errors.push(required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`))
    return [...errors, ...requirements.flatMap((r, i) => requirementErrors(r, name, `${path}.requirements[${i}]`))]
  })
}

function requirementErrors(value: unknown, selector: string, path: string): FieldError[] {
  const requirement = isJsonObject(value) ? value : {}
  const values = strings(requirement.values)
  const errors: FieldError[] = []
  if (selector === 'fieldSelector' && text(requirement.key) === '') errors.push(required(`${path}.key`, 'must be specified'))
  if ((requirement.operator === 'In' || requirement.operator === 'NotIn') && values.length === 0)
    errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
  if ((requirement.operator === 'Exists' || requirement.operator === 'DoesNotExist') && values.length > 0)
    errors.push(forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
  return errors
}

/** Selector requirements that this server does not understand are dropped, and the answer says so. */
export function evaluationError(spec: unknown): string {
  const attributes = isJsonObject(spec) && isJsonObject(spec.resourceAttributes) ? spec.resourceAttributes : {}
  const problems = SELECTORS.flatMap((name) => {
    const selector = isJsonObject(attributes[name]) ? attributes[name] : {}
    const raw = text(selector.rawSelector)
    if (raw !== '') return parses(name, raw) ? [] : [`spec.resourceAttributes.${name} ignored due to parse error`]
    const requirements = Array.isArray(selector.requirements) ? selector.requirements.filter(isJsonObject) : []
    const understood = requirements.filter((r) => (name === 'fieldSelector' ? isKnownField(r) : isKnownLabel(r))).length
    if (understood === requirements.length) return []
    return [`spec.resourceAttributes.${name} ${understood > 0 ? 'partially ignored' : 'ignored'} due to parse error`]
  })
  return problems.join('; ')
}

const parses = (selector: (typeof SELECTORS)[number], raw: string): boolean =>
  (selector === 'fieldSelector' ? parseFieldSelector(raw) : parseLabelSelector(raw)).error === undefined

const isKnownField = (r: JsonObject): boolean => (r.operator === 'In' || r.operator === 'NotIn') && strings(r.values).length === 1
const isKnownLabel = (r: JsonObject): boolean => ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(text(r.operator))

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const strings = (value: unknown): string[] => (Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [])
