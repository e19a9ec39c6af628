/**
 * Events, served as `v1` and as `events.k8s.io/v1` and stored as `v1`. Both forms are checked under the field names of the
 * old one, which is what the real server stores and reports.
 */
import { deepEqual } from '../../../../base/json.ts'
import { type FieldError, invalid, required } from '../../../../kube/field-error.ts'
import { byteLength } from '../../../../kube/go-print.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkDns1123Subdomain, nameIsPathSegment } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import { convertEvent } from '../../event-conversion.ts'
import { field, maybeObject, number, object, string } from '../fields.ts'
import { immutableErrors, qualifiedNameErrors } from '../formats.ts'
import { invalidEach } from '../pod/errors.ts'

const CORE = 'v1'
const inOldForm = (event: KubeObject): KubeObject => convertEvent(event, CORE)

function legacyErrors(event: KubeObject, isNew: boolean): FieldError[] {
  const namespace = event.metadata.namespace ?? ''
  const involved = string(object(event, 'involvedObject'), 'namespace')
  const mismatch = invalid('involvedObject.namespace', involved, 'does not match event.namespace')
  const errors: FieldError[] = []
  if (field(event, 'eventTime') === undefined) {
    if (involved === '' ? namespace !== '' && namespace !== 'default' : involved !== namespace) errors.push(mismatch)
  } else {
    if (involved === '' && namespace !== 'default' && namespace !== 'kube-system') errors.push(mismatch)
    errors.push(...seriesFieldErrors(event, isNew ? 'reportingController' : 'reportingComponent'))
  }
  return [...errors, ...invalidEach('namespace', namespace, checkDns1123Subdomain(namespace))]
}

function seriesFieldErrors(event: KubeObject, controllerField: string): FieldError[] {
  const controller = string(event, 'reportingComponent')
  const errors = controller === '' ? [required(controllerField)] : []
  errors.push(...qualifiedNameErrors(controllerField, controller))
  for (const key of ['reportingInstance', 'action', 'reason']) {
    if (string(event, key) === '') errors.push(required(key))
    if (byteLength(string(event, key)) > 128) errors.push(invalid(key, '', 'can have at most 128 characters'))
  }
  if (byteLength(string(event, 'message')) > 1024) errors.push(invalid('message', '', 'can have at most 1024 characters'))
  return errors
}

function seriesErrors(event: KubeObject): FieldError[] {
  const series = maybeObject(event, 'series')
  if (series === undefined) return []
  const errors = number(series, 'count') < 2 ? [invalid('series.count', '', 'should be at least 2')] : []
  if (field(series, 'lastObservedTime') === undefined) errors.push(required('series.lastObservedTime'))
  return errors
}

function validateCreate(sent: KubeObject, isNew: boolean): FieldError[] {
  const event = inOldForm(sent)
  const errors = legacyErrors(event, isNew)
  if (!isNew) return errors
  errors.push(...seriesErrors(event))
  if (field(event, 'eventTime') === undefined) errors.push(required('eventTime'))
  const type = string(event, 'type')
  if (type !== 'Normal' && type !== 'Warning') errors.push(invalid('type', '', `has invalid value: ${type}`))
  const unset = (path: string, isSet: boolean): void => {
    if (isSet) errors.push(invalid(path, '', 'needs to be unset'))
  }
  unset('firstTimestamp', field(event, 'firstTimestamp') !== undefined)
  unset('lastTimestamp', field(event, 'lastTimestamp') !== undefined)
  unset('count', number(event, 'count') !== 0)
  const source = object(event, 'source')
  unset('source', string(source, 'component') !== '' || string(source, 'host') !== '')
  return errors
}

const FROZEN = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
]

function newFormUpdateErrors(sent: KubeObject, oldSent: KubeObject): FieldError[] {
  const event = inOldForm(sent)
  const old = inOldForm(oldSent)
  const errors = legacyErrors(event, true)
  if (!deepEqual(field(event, 'series'), field(old, 'series'))) errors.push(...seriesErrors(event))
  for (const key of FROZEN)
    if (!deepEqual(field(event, key), field(old, key))) errors.push(invalid(key, internalField(event, key), 'field is immutable'))
  errors.push(...immutableErrors('reportingController', string(event, 'reportingComponent'), string(old, 'reportingComponent')))
  return [...errors, ...immutableErrors('reportingInstance', string(event, 'reportingInstance'), string(old, 'reportingInstance'))]
}

/** References and sources print as the structs the real server keeps. */
function internalField(event: KubeObject, key: string): unknown {
  const value = object(event, key)
  if (key === 'source') return { Component: string(value, 'component'), Host: string(value, 'host') }
  if (key !== 'involvedObject' && (key !== 'related' || field(event, key) === undefined)) return field(event, key) ?? null
  return {
    Kind: string(value, 'kind'),
    Namespace: string(value, 'namespace'),
    Name: string(value, 'name'),
    UID: string(value, 'uid'),
    APIVersion: string(value, 'apiVersion'),
    ResourceVersion: string(value, 'resourceVersion'),
    FieldPath: string(value, 'fieldPath'),
  }
}

const REFERENCE_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']

function selectable(sent: KubeObject, names: { reference: string; controller: string; source: boolean }): Record<string, string> {
  const event = inOldForm(sent)
  const reference = object(event, 'involvedObject')
  const controller = string(event, 'reportingComponent')
  const out: Record<string, string> = { reason: string(event, 'reason'), type: string(event, 'type') }
  for (const key of REFERENCE_FIELDS) out[`${names.reference}.${key}`] = string(reference, key)
  out[names.controller] = controller
  if (names.source) out.source = string(object(event, 'source'), 'component') || controller
  return out
}

const shared: KindRules = { allowCreateOnUpdate: true, defaultPropagation: 'none' }

export const eventRules: KindRules = {
  ...shared,
  validateName: nameIsPathSegment,
  validateCreate: (event) => validateCreate(event, false),
  validateUpdate: (event) => legacyErrors(inOldForm(event), false),
  selectableFieldNames: [...REFERENCE_FIELDS.map((key) => `involvedObject.${key}`), 'reason', 'reportingComponent', 'source', 'type'],
  selectableFields: (event) => selectable(event, { reference: 'involvedObject', controller: 'reportingComponent', source: true }),
}

/** The newer group's endpoint for the same events. */
export const newEventRules: KindRules = {
  ...shared,
  validateCreate: (event) => validateCreate(event, true),
  validateUpdate: newFormUpdateErrors,
  selectableFieldNames: [...REFERENCE_FIELDS.map((key) => `regarding.${key}`), 'reason', 'reportingController', 'type'],
  selectableFields: (event) => selectable(event, { reference: 'regarding', controller: 'reportingController', source: false }),
}
