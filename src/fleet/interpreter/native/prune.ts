/**
 * Removes what must never reach a member: fields written by the hub's server, the status, and what belongs to one cluster
 * alone. The kind is matched by name, whatever its group. Idempotent.
 */
import { isJsonObject } from '../../../base/json.ts'
import { fieldAt, textAt, withField, withoutField } from '../../../kube/fields.ts'
import type { KubeObject, ObjectMeta } from '../../../kube/meta.ts'

const SERVER_METADATA = [
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
  'ownerReferences',
  'finalizers',
] as const satisfies (keyof ObjectMeta)[]

/** A copy in the form that a member may get. What remains is shared with the original. */
export function pruneForMember(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object
  const metadata: ObjectMeta = { ...object.metadata }
  for (const field of SERVER_METADATA) delete metadata[field]
  const pruned: KubeObject = { ...rest, apiVersion: object.apiVersion, kind: object.kind, metadata }
  return OF_KIND.get(object.kind)?.(pruned) ?? pruned
}

const OF_KIND: ReadonlyMap<string, (object: KubeObject) => KubeObject> = new Map([
  ['Deployment', withoutRevisions],
  ['Job', withoutGeneratedSelector],
  ['Secret', withoutToken],
  ['ServiceAccount', withoutTokenReferences],
  ['Service', withoutClusterIPs],
  ['PersistentVolumeClaim', (claim) => withoutField(claim, 'metadata', 'annotations', 'volume.kubernetes.io/selected-node')],
])

function withoutRevisions(deployment: KubeObject): KubeObject {
  const without = withoutField(deployment, 'metadata', 'annotations', 'deployment.kubernetes.io/revision')
  return withoutField(without, 'metadata', 'annotations', 'deployment.kubernetes.io/revision-history')
}

const UID_LABELS = ['controller-uid', 'batch.kubernetes.io/controller-uid'] as const
const NAME_LABELS = ['job-name', 'batch.kubernetes.io/job-name'] as const

/** A member generates its own selector; and a Job that a member deletes by its TTL would be created again and again. */
function withoutGeneratedSelector(job: KubeObject): KubeObject {
  let pruned = withoutField(job, 'spec', 'ttlSecondsAfterFinished')
  if (fieldAt(job, 'spec', 'manualSelector') === true) return pruned
  for (const label of UID_LABELS) pruned = withoutField(pruned, 'spec', 'selector', 'matchLabels', label)
  for (const label of [...UID_LABELS, ...NAME_LABELS]) pruned = withoutField(pruned, 'spec', 'template', 'metadata', 'labels', label)
  return pruned
}

export const SERVICE_ACCOUNT_TOKEN = 'kubernetes.io/service-account-token'

/** The token is signed by the hub and means nothing elsewhere; the member fills in its own. */
function withoutToken(secret: KubeObject): KubeObject {
  if (secret.type !== SERVICE_ACCOUNT_TOKEN) return secret
  return withField(withoutField(secret, 'metadata', 'annotations', 'kubernetes.io/service-account.uid'), ['data'], null)
}

function withoutTokenReferences(account: KubeObject): KubeObject {
  if (!Array.isArray(account.secrets)) return account
  const prefix = `${account.metadata.name ?? ''}-token-`
  const isGenerated = (entry: unknown) => isJsonObject(entry) && (textAt(entry, 'name') ?? '').startsWith(prefix)
  return { ...account, secrets: account.secrets.filter((entry) => !isGenerated(entry)) }
}

function withoutClusterIPs(service: KubeObject): KubeObject {
  const address = fieldAt(service, 'spec', 'clusterIP')
  if (typeof address !== 'string' || address === 'None') return service
  return withoutField(withoutField(service, 'spec', 'clusterIP'), 'spec', 'clusterIPs')
}
