/** Every pod runs as an existing service account, and finds that account's token where programs look for it. */
import { goQuote } from '../../../kube/go-print.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Admission, type AdmissionContext, type AdmissionRequest, defineAdmission } from '../../admission.ts'
import { annotation, ensureObject, type Fields, field, maybeBoolean, object, objects, string, writableObjects } from '../rules/fields.ts'
import { forbidden } from './forbid.ts'

const MIRROR = 'kubernetes.io/config.mirror'
const ENFORCE_MOUNTABLE = 'kubernetes.io/enforce-mountable-secrets'
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
const VOLUME_PREFIX = 'kube-api-access-'
/** An hour, and seven seconds that mark tokens added by the server itself. */
const TOKEN_SECONDS = 3607

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

/** Names of token volumes need not be secret, only unlikely to collide with another volume of the same pod. */
function suffixFor(text: string): string {
  let hash = 2166136261
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619) >>> 0
  let out = ''
  for (let i = 0; i < 5; i++) {
    out += SUFFIX_ALPHABET[hash % SUFFIX_ALPHABET.length]
    hash = (Math.imul(hash, 2654435761) + i) >>> 0
  }
  return out
}

const tokenVolume = (name: string): Fields => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ],
    defaultMode: 420,
  },
})

function accountOf(request: AdmissionRequest, { read }: AdmissionContext, name: string): KubeObject {
  const account = read.get({ group: '', resource: 'serviceaccounts' }, request.namespace, name)
  if (account !== undefined) return account
  throw forbidden(request, `error looking up service account ${request.namespace}/${name}: serviceaccount ${goQuote(name)} not found`)
}

function mountToken(pod: KubeObject, seed: string): void {
  const spec = ensureObject(pod, 'spec')
  const existing = objects(spec, 'volumes').find((volume) => string(volume, 'name').startsWith(VOLUME_PREFIX))
  const name = existing === undefined ? `${VOLUME_PREFIX}${suffixFor(seed)}` : string(existing, 'name')
  let isNeeded = false
  for (const container of [...writableObjects(spec, 'initContainers'), ...writableObjects(spec, 'containers')]) {
    const mounts = objects(container, 'volumeMounts')
    if (mounts.some((mount) => string(mount, 'mountPath') === TOKEN_PATH)) continue
    container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: TOKEN_PATH }]
    isNeeded = true
  }
  if (existing === undefined && isNeeded) spec.volumes = [...objects(spec, 'volumes'), tokenVolume(name)]
}

const isMirror = (pod: KubeObject): boolean => annotation(pod, MIRROR) !== undefined

function mutate(request: AdmissionRequest, context: AdmissionContext): void {
  const pod = request.object
  if (pod === undefined || request.operation !== 'CREATE' || request.subresource !== '' || isMirror(pod)) return
  const spec = ensureObject(pod, 'spec')
  if (string(spec, 'serviceAccountName') === '') spec.serviceAccountName = 'default'
  // The deprecated field mirrors the new one in every answer.
  spec.serviceAccount = spec.serviceAccountName
  const account = accountOf(request, context, string(spec, 'serviceAccountName'))
  const mounts = maybeBoolean(spec, 'automountServiceAccountToken') ?? maybeBoolean(account, 'automountServiceAccountToken') ?? true
  const { name = '', generateName = '', uid = '' } = pod.metadata
  if (mounts) mountToken(pod, [request.namespace, name, generateName, uid, context.nowMs].join('/'))
  const pullSecrets = objects(account, 'imagePullSecrets')
  if (objects(spec, 'imagePullSecrets').length === 0 && pullSecrets.length > 0)
    spec.imagePullSecrets = pullSecrets.map((secret) => ({ name: string(secret, 'name') }))
}

function mirrorProblem(pod: KubeObject): string | undefined {
  const spec = object(pod, 'spec')
  if (string(spec, 'serviceAccountName') !== '') return 'a mirror pod may not reference service accounts'
  const usesSecrets =
    objects(spec, 'imagePullSecrets').length > 0 ||
    objects(spec, 'volumes').some((volume) => field(volume, 'secret') !== undefined) ||
    containersOf(spec).some(({ container }) => secretsOf(container).length > 0)
  if (usesSecrets) return 'a mirror pod may not reference secrets'
  const usesTokens = objects(spec, 'volumes').some((volume) =>
    objects(object(volume, 'projected'), 'sources').some((source) => field(source, 'serviceAccountToken') !== undefined),
  )
  return usesTokens ? 'a mirror pod may not use ServiceAccountToken volume projections' : undefined
}

const containersOf = (spec: Fields): { kind: string; container: Fields }[] => [
  ...objects(spec, 'initContainers').map((container) => ({ kind: 'init container', container })),
  ...objects(spec, 'containers').map((container) => ({ kind: 'container', container })),
]

/** Secrets used in a container's environment, with how it refers to them. */
function secretsOf(container: Fields): { how: string; name: string }[] {
  return [
    ...objects(container, 'env').flatMap((env) => {
      const key = field(object(env, 'valueFrom'), 'secretKeyRef')
      return key === undefined ? [] : [{ how: `envVar ${string(env, 'name')}`, name: string(key, 'name') }]
    }),
    ...objects(container, 'envFrom').flatMap((from) => {
      const reference = field(from, 'secretRef')
      return reference === undefined ? [] : [{ how: 'envFrom', name: string(reference, 'name') }]
    }),
  ]
}

function referenceProblem(account: KubeObject, spec: Fields): string | undefined {
  const name = account.metadata.name ?? ''
  const mountable = objects(account, 'secrets').map((secret) => string(secret, 'name'))
  const not = `is not allowed because service account ${name} does not reference that`
  for (const volume of objects(spec, 'volumes')) {
    const secret = string(object(volume, 'secret'), 'secretName')
    if (field(volume, 'secret') !== undefined && !mountable.includes(secret))
      return `volume with secret.secretName="${secret}" ${not} secret`
  }
  for (const { kind, container } of containersOf(spec)) {
    const bad = secretsOf(container).find((secret) => !mountable.includes(secret.name))
    if (bad !== undefined)
      return `${kind} ${string(container, 'name')} with ${bad.how} referencing secret.secretName="${bad.name}" ${not} secret`
  }
  const pull = objects(account, 'imagePullSecrets').map((secret) => string(secret, 'name'))
  const index = objects(spec, 'imagePullSecrets').findIndex((secret) => !pull.includes(string(secret, 'name')))
  if (index < 0) return undefined
  return `imagePullSecrets[${index}].name="${string(objects(spec, 'imagePullSecrets')[index], 'name')}" ${not} imagePullSecret`
}

function validate(request: AdmissionRequest, context: AdmissionContext): undefined {
  const pod = request.object
  if (pod === undefined || request.operation !== 'CREATE' || request.subresource !== '') return
  if (isMirror(pod)) {
    const problem = mirrorProblem(pod)
    if (problem !== undefined) throw forbidden(request, problem)
    return
  }
  const spec = object(pod, 'spec')
  const name = string(spec, 'serviceAccountName')
  if (name === '') throw forbidden(request, `no service account specified for pod ${request.namespace}/${pod.metadata.name ?? ''}`)
  const account = accountOf(request, context, name)
  if (annotation(account, ENFORCE_MOUNTABLE) !== 'true') return
  const problem = referenceProblem(account, spec)
  if (problem !== undefined) throw forbidden(request, problem)
}

export const serviceAccount: Admission = defineAdmission({
  name: 'ServiceAccount',
  about: 'Gives a Pod its service account, image pull secrets and a token.',
  resources: [{ group: '', resource: 'pods' }],
  operations: ['CREATE'],
  mutate,
  validate,
})
