/** PodSecurity: labels on namespaces set which standard their pods must meet, and which causes warnings. */
import { type FieldError, invalid, keyed } from '../../../kube/field-error.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Admission, type AdmissionContext, type AdmissionRequest, defineAdmission } from '../../admission.ts'
import { object, objects, string } from '../rules/fields.ts'
import { semanticEqual } from '../rules/pod/semantic.ts'
import { forbidden } from './forbid.ts'
import { type PodShape, violatedRules, violations } from './pod-security-checks.ts'

const PREFIX = 'pod-security.kubernetes.io/'
const LEVELS = ['privileged', 'baseline', 'restricted']

interface Standard {
  level: string
  version: string
}

const isVersion = (text: string): boolean => text === 'latest' || /^v1\.(0|[1-9][0-9]*)$/.test(text)

/** An invalid label counts as the strictest level for enforcement, and as none for warnings. */
function standardOf(labels: unknown, mode: string): Standard {
  const level = string(labels, `${PREFIX}${mode}`)
  const version = string(labels, `${PREFIX}${mode}-version`)
  const fallback = level === '' ? 'privileged' : mode === 'enforce' ? 'restricted' : 'privileged'
  return { level: LEVELS.includes(level) ? level : fallback, version: isVersion(version) ? version : 'latest' }
}

const shown = ({ level, version }: Standard): string => `${level}:${version}`

/** A namespace that enforces a level and sets none for warnings warns about the same level. */
function warnStandard(labels: unknown): Standard {
  const enforced = standardOf(labels, 'enforce')
  const isSilent = string(labels, `${PREFIX}warn`) === ''
  if (!isSilent || !LEVELS.includes(string(labels, `${PREFIX}enforce`))) return standardOf(labels, 'warn')
  const version = string(labels, `${PREFIX}warn-version`)
  return { level: enforced.level, version: isVersion(version) ? version : enforced.version }
}

function labelErrors(namespace: KubeObject | undefined): FieldError[] {
  const labels = object(namespace?.metadata, 'labels')
  return ['enforce', 'audit', 'warn'].flatMap((mode) => {
    const [level, version] = [`${PREFIX}${mode}`, `${PREFIX}${mode}-version`]
    const errors: FieldError[] = []
    if (Object.hasOwn(labels, level) && !LEVELS.includes(string(labels, level)))
      errors.push(invalid(keyed('metadata.labels', level), string(labels, level), `must be one of ${LEVELS.join(', ')}`))
    if (Object.hasOwn(labels, version) && !isVersion(string(labels, version)))
      errors.push(invalid(keyed('metadata.labels', version), string(labels, version), 'must be "latest" or "v1.x"'))
    return errors
  })
}

function podOf(request: AdmissionRequest): PodShape | undefined {
  const subject = request.object
  if (subject === undefined) return undefined
  const spec = object(subject, 'spec')
  if (request.kind === 'Pod') return { metadata: subject.metadata, spec }
  const template =
    request.kind === 'PodTemplate'
      ? object(subject, 'template')
      : object(request.kind === 'CronJob' ? object(object(spec, 'jobTemplate'), 'spec') : spec, 'template')
  return { metadata: object(template, 'metadata'), spec: object(template, 'spec') }
}

/** For an existing pod, only changed images and added containers are checked again. */
function isSignificant({ operation, kind, object: pod, oldObject: old }: AdmissionRequest): boolean {
  if (operation === 'CREATE' || kind !== 'Pod') return true
  const [after, before] = [object(pod, 'spec'), object(old, 'spec')]
  return ['containers', 'initContainers', 'ephemeralContainers'].some((key) => {
    const images = (of: typeof after): string[] =>
      objects(of, key).map((container) => `${string(container, 'name')} ${string(container, 'image')}`)
    return !semanticEqual(images(after), images(before))
  })
}

const MAX_PODS_CHECKED = 3000

/** A stricter standard does not stop running pods; a warning names those that would not start again. */
function warnAboutRunning(request: AdmissionRequest, context: AdmissionContext): void {
  const labels = object(request.object?.metadata, 'labels')
  const [after, before] = [standardOf(labels, 'enforce'), standardOf(object(request.oldObject?.metadata, 'labels'), 'enforce')]
  const isRelaxed = after.version === before.version && LEVELS.indexOf(after.level) <= LEVELS.indexOf(before.level)
  if (after.level === 'privileged' || isRelaxed) return
  const pods = context.read.list({ group: '', resource: 'pods' }, request.name)
  const groups = new Map<string, string[]>()
  for (const pod of pods.slice(0, MAX_PODS_CHECKED)) {
    const broken = violatedRules(after.level, { metadata: pod.metadata, spec: object(pod, 'spec') })
    if (broken !== undefined) groups.set(broken, [...(groups.get(broken) ?? []), pod.metadata.name ?? ''])
  }
  if (pods.length > MAX_PODS_CHECKED)
    context.warn(`new PodSecurity enforce level only checked against the first ${MAX_PODS_CHECKED} of ${pods.length} existing pods`)
  if (groups.size > 0)
    context.warn(`existing pods in namespace "${request.name}" violate the new PodSecurity enforce level "${shown(after)}"`)
  const lines = [...groups].map(([broken, names]) => {
    const others = names.length - 1
    const more = others === 0 ? '' : ` (and ${others} other ${others === 1 ? 'pod' : 'pods'})`
    return `${[...names].sort()[0]}${more}: ${broken}`
  })
  for (const line of lines.sort()) context.warn(line)
}

function validate(request: AdmissionRequest, context: AdmissionContext): FieldError[] | undefined {
  if (request.kind === 'Namespace') {
    const errors = labelErrors(request.object)
    const known = labelErrors(request.operation === 'UPDATE' ? request.oldObject : undefined)
    if (!semanticEqual(errors, known)) return errors
    if (request.operation === 'UPDATE') warnAboutRunning(request, context)
    return undefined
  }
  const labels = object(context.read.get({ group: '', resource: 'namespaces' }, '', request.namespace)?.metadata, 'labels')
  const [enforce, warn] = [standardOf(labels, 'enforce'), warnStandard(labels)]
  const pod = podOf(request)
  if ((enforce.level === 'privileged' && warn.level === 'privileged') || pod === undefined || !isSignificant(request)) return undefined
  if (request.kind === 'Pod') {
    const found = violations(enforce.level, pod)
    if (found !== undefined) throw forbidden(request, `violates PodSecurity "${shown(enforce)}": ${found}`)
  }
  const found = violations(warn.level, pod)
  if (found !== undefined) context.warn(`would violate PodSecurity "${shown(warn)}": ${found}`)
  return undefined
}

export const podSecurity: Admission = defineAdmission({
  name: 'PodSecurity',
  about: 'Holds pods to the Pod Security Standard that the labels of their namespace name; warns where they only ask for that.',
  resources: [
    ...['namespaces', 'pods', 'pods/ephemeralcontainers', 'pods/resize', 'podtemplates', 'replicationcontrollers'].map((resource) => ({
      group: '',
      resource,
    })),
    ...['deployments', 'replicasets', 'statefulsets', 'daemonsets'].map((resource) => ({ group: 'apps', resource })),
    ...['jobs', 'cronjobs'].map((resource) => ({ group: 'batch', resource })),
  ],
  operations: ['CREATE', 'UPDATE'],
  validate,
})
