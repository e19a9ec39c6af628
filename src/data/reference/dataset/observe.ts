/** Everything that a decision about a reference needs, from caches. */
import type { Client } from '../../../client/client.ts'
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { type Referred, referenceOf } from '../../../kinds/fluid/reference.ts'
import { DATASETS, THIN_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import { NAMESPACES, PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../kinds/kubernetes/resources.ts'
import { keyOfObject, type ObjectRef } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import type { PassReader } from '../../../runtime/controller.ts'
import { isUnchanged } from '../../../runtime/live-owner.ts'
import type { ReferenceConsent } from '../../../runtime/reference-consent.ts'
import { podsReading, takenIn } from '../../dataset/observe.ts'
import { boundType, type Runtime, runtimesNamed } from '../../dataset/runtimes.ts'
import { mayRefer } from '../consent.ts'
import { isGoing } from '../indexes.ts'
import { mirrorOf, nameTakenIn, type Sharing } from '../mirror/mirror.ts'

export interface ReferenceDeps extends Sharing {
  /** What holds where an owner has stated nothing. */
  referenceConsent: ReferenceConsent
}

export interface Observed {
  dataset: Dataset
  referred: Referred
  nowMs: number
  /** Of its name, of any kind. */
  runtimes: readonly Runtime[]
  original: Original
  /** Whether what is missing is certainly missing, as far as something follows from it. */
  isCertain: boolean
  /** Names of pods that keep one that is to be deleted. */
  pods: readonly string[]
  taken: string | undefined
  lastFailure: string | undefined
}

/** `isEnding`: its namespace is being deleted, or gone. Nothing of an original is observed without consent. */
export type Original =
  | { isPermitted: false; isEnding: boolean; dataset?: undefined }
  | { isPermitted: true; isEnding: boolean; dataset: Dataset | undefined; isListed: boolean; mirrorProblem: string | undefined }

/** Undefined: it is no reference. */
export async function observe(
  { referenceConsent: mode, ...sharing }: ReferenceDeps,
  ref: ObjectRef,
  dataset: Dataset | undefined,
  { read, client }: { read: PassReader; client: Client },
): Promise<Observed | undefined> {
  const referred = dataset === undefined ? undefined : referenceOf(dataset)
  if (dataset === undefined || referred === undefined) return undefined
  const runtimes = runtimesNamed(ref, read)
  return {
    dataset,
    referred,
    nowMs: read.nowMs(),
    runtimes,
    original: originalOf(dataset, referred, { read, mode, sharing }),
    isCertain: isCertain(dataset, runtimes, { ref, read }) && (runtimes.length > 0 || (await isUnchanged(client, DATASETS, dataset))),
    pods: isGoing(dataset) ? podsReading(ref, read) : [],
    taken: isGoing(dataset) ? undefined : takenIn(ref, read),
    lastFailure: read.lastFailure()?.message,
  }
}

function originalOf(
  dataset: Dataset,
  referred: Referred,
  source: { read: PassReader; mode: ReferenceConsent; sharing: Sharing },
): Original {
  const { read, sharing } = source
  const home = read.get(NAMESPACES, '', referred.namespace)
  const isEnding = home === undefined || isGoing(home)
  if (!mayRefer(dataset.metadata.namespace ?? '', referred, source)) return { isPermitted: false, isEnding }
  const original = read.get(DATASETS, referred.namespace, referred.name)
  const isListed = original?.status?.datasetRef?.includes(keyOfObject(dataset)) === true
  const mirror = mirrorOf(referred, read, sharing)
  const mirrorProblem = mirror.problem ?? nameTakenIn(dataset.metadata.namespace ?? '', referred, mirror, read)
  return { isPermitted: true, isEnding, dataset: original, isListed, mirrorProblem }
}

/** A cache that is behind may not show yet what the reference was bound to, or who uses it. */
function isCertain(dataset: Dataset, runtimes: readonly Runtime[], { ref, read }: { ref: ObjectRef; read: PassReader }): boolean {
  const revision = Number(dataset.metadata.resourceVersion)
  const reflects = (resource: Resource, namespace = ref.namespace): boolean => read.reflects(resource, namespace, revision)
  const known = [reflects(NAMESPACES, '')]
  if (boundType(dataset.status) === 'thin' && !runtimes.some(({ type }) => type === 'thin')) known.push(reflects(THIN_RUNTIMES))
  if (isGoing(dataset)) known.push(reflects(PODS), reflects(PERSISTENT_VOLUME_CLAIMS))
  return known.every(Boolean)
}
