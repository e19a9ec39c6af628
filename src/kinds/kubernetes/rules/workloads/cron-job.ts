/** CronJobs: Jobs on a schedule. */
import { type FieldError, invalid, required } from '../../../../kube/field-error.ts'
import type { KindRules } from '../../../kind.ts'
import { boolean, type Fields, fieldsOf, maybeNumber, maybeObject, maybeString, raw, string } from '../fields.ts'
import { ensureFields, setDefault } from '../pod/defaults.ts'
import { nonNegative, unsupported } from '../pod/errors.ts'
import { selectorValue } from '../pod/internal-json.ts'
import { type PodOptions, podOptions } from '../pod/options.ts'
import { templateOf } from '../pod/template.ts'
import { scheduleProblem, timeZoneProblem } from './cron-schedule.ts'
import { defaultJobTemplate, jobSpecErrors, jobSpecWarnings } from './job-spec.ts'
import {
  beginGenerations,
  countGeneration,
  dropDisabledTemplateFields,
  hasNewGeneration,
  keepOld,
  metadataOf,
  podNameWarnings,
  specOf,
} from './template-kind.ts'

const POLICIES = ['Allow', 'Forbid', 'Replace']
const JOB_PATH = 'spec.jobTemplate.spec'
/** Names of its Jobs are eleven characters longer, and must fit a label. */
const MAX_NAME = 52

const jobSpecOf = (object: Fields): Fields => fieldsOf(raw(fieldsOf(raw(specOf(object), 'jobTemplate')), 'spec'))

export const cronJobRules: KindRules = {
  applyDefaults(object) {
    const spec = ensureFields(object, 'spec')
    if (string(spec, 'concurrencyPolicy') === '') spec.concurrencyPolicy = 'Allow'
    setDefault(spec, 'suspend', false)
    setDefault(spec, 'successfulJobsHistoryLimit', 3)
    setDefault(spec, 'failedJobsHistoryLimit', 1)
    const template = ensureFields(spec, 'jobTemplate')
    ensureFields(template, 'metadata')
    defaultJobTemplate(ensureFields(template, 'spec'))
  },
  prepareForCreate(object) {
    object.status = {}
    beginGenerations(object)
    dropDisabledTemplateFields(jobSpecOf(object), undefined)
  },
  prepareForUpdate(object, old, { subresource }) {
    if (subresource === 'status') return keepOld(object, old, 'spec')
    keepOld(object, old, 'status')
    dropDisabledTemplateFields(jobSpecOf(object), jobSpecOf(old))
    countGeneration(object, old)
  },
  validateCreate(object) {
    const name = string(metadataOf(object), 'name')
    const errors = cronJobErrors(specOf(object), undefined, podOptions(false, undefined))
    return Buffer.byteLength(name) > MAX_NAME
      ? [...errors, invalid('metadata.name', name, `must be no more than ${MAX_NAME} characters`)]
      : errors
  },
  validateUpdate(object, old, { subresource }) {
    if (subresource === 'status') return []
    return cronJobErrors(specOf(object), specOf(old), podOptions(false, templateOf(jobSpecOf(old))))
  },
  warnings(object, old, { subresource }) {
    if (subresource === 'status') return []
    const advice = jobSpecWarnings(JOB_PATH, jobSpecOf(object))
    if (old === undefined) return [...podNameWarnings(object), ...advice]
    const zone =
      'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'
    return [...(hasNewGeneration(object, old) ? advice : []), ...(string(specOf(object), 'schedule').includes('TZ') ? [zone] : [])]
  },
}

function cronJobErrors(spec: Fields, old: Fields | undefined, options: PodOptions): FieldError[] {
  const policy = string(spec, 'concurrencyPolicy')
  const zone = maybeString(spec, 'timeZone')
  const isNewZone = old === undefined || maybeString(old, 'timeZone') !== zone
  return [
    ...scheduleErrors('spec.schedule', spec, old),
    ...nonNegative('spec.startingDeadlineSeconds', maybeNumber(spec, 'startingDeadlineSeconds')),
    ...(zone !== undefined && isNewZone ? timeZoneErrors('spec.timeZone', zone) : []),
    ...(policy === ''
      ? [required('spec.concurrencyPolicy')]
      : POLICIES.includes(policy)
        ? []
        : [unsupported('spec.concurrencyPolicy', policy, POLICIES)]),
    ...jobTemplateErrors(fieldsOf(raw(fieldsOf(raw(spec, 'jobTemplate')), 'spec')), options),
    ...nonNegative('spec.successfulJobsHistoryLimit', maybeNumber(spec, 'successfulJobsHistoryLimit')),
    ...nonNegative('spec.failedJobsHistoryLimit', maybeNumber(spec, 'failedJobsHistoryLimit')),
  ]
}

function jobTemplateErrors(spec: Fields, options: PodOptions): FieldError[] {
  const errors = jobSpecErrors(JOB_PATH, spec, options)
  const selector = maybeObject(spec, 'selector')
  if (selector !== undefined) errors.push(invalid(`${JOB_PATH}.selector`, selectorValue(selector), '`selector` will be auto-generated'))
  if (boolean(spec, 'manualSelector')) errors.push(unsupported(`${JOB_PATH}.manualSelector`, true, ['nil', 'false']))
  return errors
}

function scheduleErrors(path: string, spec: Fields, old: Fields | undefined): FieldError[] {
  const schedule = string(spec, 'schedule')
  if (schedule === '') return [required(path)]
  const allowsZone = string(old, 'schedule').includes('TZ')
  const problem = scheduleProblem(schedule)
  const errors = problem === undefined ? [] : [invalid(path, schedule, problem)]
  if (!schedule.includes('TZ')) return errors
  if (!allowsZone) errors.push(invalid(path, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
  else if (maybeString(spec, 'timeZone') !== undefined) {
    errors.push(invalid(path, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'))
  }
  return errors
}

function timeZoneErrors(path: string, zone: string): FieldError[] {
  if (zone === '') return [invalid(path, zone, 'timeZone must be nil or non-empty string')]
  const isPart = (part: string): boolean => part !== '.' && part !== '..' && !part.startsWith('-') && /^[A-Za-z.\-_0-9+]{1,14}$/.test(part)
  if (!zone.split('/').every(isPart)) return [invalid(path, zone, `unknown time zone ${zone}`)]
  const errors: FieldError[] = []
  if (zone.toLowerCase() === 'local') {
    errors.push(invalid(path, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'))
  }
  const problem = timeZoneProblem(zone)
  return problem === undefined ? errors : [...errors, invalid(path, zone, problem)]
}
