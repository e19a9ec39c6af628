/** Rows of cluster administration: access, admission, certificates, priorities, leases, devices, API services. */
import { humanDuration } from '../../../kube/go-duration.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { ageOf, at, type Cells, count, keysOf, list, nameOf, selectorOf, text } from './fields.ts'

export const roleBinding: Cells = (object, nowMs) => {
  const subjects = list(at(object, 'subjects'))
  const named = (kind: string, show: (subject: unknown) => string) =>
    subjects
      .filter((subject) => at(subject, 'kind') === kind)
      .map(show)
      .join(', ')
  const name = (subject: unknown) => text(at(subject, 'name'))
  return [
    nameOf(object),
    `${text(at(object, 'roleRef', 'kind'))}/${text(at(object, 'roleRef', 'name'))}`,
    ageOf(object, nowMs),
    named('User', name),
    named('Group', name),
    named('ServiceAccount', (subject) => `${text(at(subject, 'namespace'))}/${name(subject)}`),
  ]
}

export const webhookConfiguration: Cells = (object, nowMs) => [nameOf(object), list(at(object, 'webhooks')).length, ageOf(object, nowMs)]

const policy =
  (field: string): Cells =>
  (object, nowMs) => {
    const kind = at(object, 'spec', 'paramKind')
    const shown = kind === undefined ? '<unset>' : `${text(at(kind, 'apiVersion'))}/${text(at(kind, 'kind'))}`
    return [nameOf(object), list(at(object, 'spec', field)).length, shown, ageOf(object, nowMs)]
  }

export const validatingPolicy = policy('validations')
export const mutatingPolicy = policy('mutations')

export const policyBinding: Cells = (object, nowMs) => [
  nameOf(object),
  text(at(object, 'spec', 'policyName')),
  paramText(at(object, 'spec', 'paramRef')),
  ageOf(object, nowMs),
]

function paramText(reference: unknown): string {
  const name = text(at(reference, 'name'))
  // Without a namespace it is unknown whether the parameter has one.
  if (name !== '') return `${text(at(reference, 'namespace'), '*')}/${name}`
  const selector = at(reference, 'selector')
  return selector === undefined ? '<unset>' : goSelector(selector)
}

/** The generated String() of a LabelSelector. */
function goSelector(value: unknown): string {
  const { matchLabels = {}, matchExpressions = [] } = selectorOf(value) ?? {}
  const labels = keysOf(matchLabels).map((key) => `${key}: ${matchLabels[key]},`)
  const expressions = matchExpressions.map(
    (e) => `LabelSelectorRequirement{Key:${e.key},Operator:${e.operator},Values:[${(e.values ?? []).join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}

export const certificateSigningRequest: Cells = (object, nowMs) => {
  const seconds = at(object, 'spec', 'expirationSeconds')
  return [
    nameOf(object),
    ageOf(object, nowMs),
    text(at(object, 'spec', 'signerName'), '<none>'),
    text(at(object, 'spec', 'username')),
    seconds === undefined ? '<none>' : humanDuration(count(seconds) * 1000),
    requestState(object),
  ]
}

function requestState(object: KubeObject): string {
  const types = list(at(object, 'status', 'conditions')).map((condition) => at(condition, 'type'))
  const state = types.includes('Denied') ? 'Denied' : types.includes('Approved') ? 'Approved' : 'Pending'
  const failed = types.includes('Failed') ? ',Failed' : ''
  return `${state}${failed}${text(at(object, 'status', 'certificate')) === '' ? '' : ',Issued'}`
}

export const priorityClass: Cells = (object, nowMs) => [
  nameOf(object),
  count(at(object, 'value')),
  at(object, 'globalDefault') === true,
  ageOf(object, nowMs),
  text(at(object, 'preemptionPolicy')),
]

export const lease: Cells = (object, nowMs) => [nameOf(object), text(at(object, 'spec', 'holderIdentity')), ageOf(object, nowMs)]

export const runtimeClass: Cells = (object, nowMs) => [nameOf(object), text(at(object, 'handler')), ageOf(object, nowMs)]

export const apiService: Cells = (object, nowMs) => {
  const service = at(object, 'spec', 'service')
  const condition = list(at(object, 'status', 'conditions')).find((c) => at(c, 'type') === 'Available')
  const status = text(at(condition, 'status'), 'Unknown')
  const reason = text(at(condition, 'reason'))
  return [
    nameOf(object),
    service === undefined ? 'Local' : `${text(at(service, 'namespace'))}/${text(at(service, 'name'))}`,
    status === 'True' || reason === '' ? status : `${status} (${reason})`,
    ageOf(object, nowMs),
  ]
}

export const resourceClaim: Cells = (object, nowMs) => {
  const isDeleted = object.metadata.deletionTimestamp !== undefined
  const states = isDeleted ? ['deleted'] : []
  if (at(object, 'status', 'allocation') !== undefined) {
    states.push('allocated')
    if (list(at(object, 'status', 'reservedFor')).length > 0) states.push('reserved')
  } else if (!isDeleted) states.push('pending')
  return [nameOf(object), states.join(','), ageOf(object, nowMs)]
}

export const resourceSlice: Cells = (object, nowMs) => [
  nameOf(object),
  text(at(object, 'spec', 'nodeName')),
  text(at(object, 'spec', 'driver')),
  text(at(object, 'spec', 'pool', 'name')),
  ageOf(object, nowMs),
]

export const flowSchema: Cells = (object, nowMs) => {
  const dangling = list(at(object, 'status', 'conditions')).find((c) => at(c, 'type') === 'Dangling')
  return [
    nameOf(object),
    text(at(object, 'spec', 'priorityLevelConfiguration', 'name')),
    count(at(object, 'spec', 'matchingPrecedence')),
    text(at(object, 'spec', 'distinguisherMethod', 'type'), '<none>'),
    ageOf(object, nowMs),
    text(at(dangling, 'status'), '?'),
  ]
}

export const priorityLevel: Cells = (object, nowMs) => {
  const limited = at(object, 'spec', 'limited')
  const queuing = at(limited, 'limitResponse', 'queuing')
  return [
    nameOf(object),
    text(at(object, 'spec', 'type')),
    at(limited, 'nominalConcurrencyShares') ?? '<none>',
    at(queuing, 'queues') ?? '<none>',
    at(queuing, 'handSize') ?? '<none>',
    at(queuing, 'queueLengthLimit') ?? '<none>',
    ageOf(object, nowMs),
  ]
}
