/** Look-ups of references, and what makes those who read them look again. */
import { deepEqual } from '../../base/json.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { type Original, referenceOf } from '../../kinds/fluid/reference.ts'
import { DATASETS } from '../../kinds/fluid/resources.ts'
import { ReferenceGrant } from '../../kinds/gateway/reference-grant.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfRef, type ObjectRef, refOf } from '../../kube/object-reference.ts'
import { type Index, indexOf, type Reader, via, type Watch } from '../../runtime/controller.ts'
import { GRANT_INDEXES, isAbout } from '../../runtime/reference-consent.ts'
import { DATASET_KIND } from './consent.ts'

const TO = 'reference-to'
const INTO = 'reference-into'

/** For `referencesOf` and `referencesInto`, and for asking whether there is consent. */
export const REFERENCE_INDEXES: readonly Index[] = [
  indexOf(DATASETS, TO, (dataset: Dataset) => keysOf(referenceOf(dataset))),
  indexOf(DATASETS, INTO, (dataset: Dataset) => {
    const referred = referenceOf(dataset)
    return referred === undefined ? [] : [referred.namespace]
  }),
  ...GRANT_INDEXES,
]

const keysOf = (original: Original | undefined): string[] => (original === undefined ? [] : [keyOfRef(original)])

/** Those that refer to a dataset, whether they may or not. */
export const referencesOf = (original: Original, read: Pick<Reader, 'byIndex'>): Dataset[] => read.byIndex(DATASETS, TO, keyOfRef(original))

/** Those that refer to a dataset of a namespace. */
const referencesInto = (namespace: string, read: Pick<Reader, 'byIndex'>): Dataset[] => read.byIndex(DATASETS, INTO, namespace)

export const isGoing = ({ metadata }: Pick<KubeObject, 'metadata'>): boolean => metadata.deletionTimestamp !== undefined

/** Grants about datasets: who depends on them is found by the namespace that they are in. */
export const watchGrants = (keysFor: (namespace: string, read: Reader) => readonly ObjectRef[]): Watch =>
  via(ReferenceGrant.resource, (grant, read) => (isAbout(grant, DATASET_KIND) ? keysFor(grant.metadata.namespace ?? '', read) : []), {
    isRelevantUpdate: (old, grant) => isGoing(old) !== isGoing(grant) || !deepEqual(old.spec, grant.spec),
  })

/** The dataset that a reference refers to. */
export const originalOf = (dataset: Dataset): ObjectRef[] => {
  const referred = referenceOf(dataset)
  return referred === undefined ? [] : [{ namespace: referred.namespace, name: referred.name }]
}

export const WITHDRAWN = 'ConsentWithdrawn'

/** What an original reads of its references. */
export const isOtherReference = (old: Dataset, dataset: Dataset): boolean =>
  old.metadata.uid !== dataset.metadata.uid ||
  isGoing(old) !== isGoing(dataset) ||
  !deepEqual(referenceOf(old), referenceOf(dataset)) ||
  findCondition(old.status?.conditions, WITHDRAWN)?.status !== findCondition(dataset.status?.conditions, WITHDRAWN)?.status

/** The originals of references into a namespace, each once. */
export const originalsIn = (namespace: string, read: Reader): ObjectRef[] => [
  ...new Map(referencesInto(namespace, read).flatMap((one) => originalOf(one).map((ref) => [keyOfRef(ref), ref] as const))).values(),
]

export const referencesIn = (namespace: string, read: Reader): ObjectRef[] => referencesInto(namespace, read).map(refOf)
