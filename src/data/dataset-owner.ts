/** What ties a runtime to its dataset, so that it goes with it: an owner reference, as Fluid writes it. Pure. */
import { Dataset } from '../kinds/fluid/index.ts'
import type { KubeObject, OwnerReference } from '../kube/meta.ts'

/** Without a flag: a dataset is no controller of its runtime. */
export function datasetReference({ metadata: { name = '', uid = '' } }: Dataset): OwnerReference {
  const { group, storageVersion, kind } = Dataset
  return { apiVersion: `${group}/${storageVersion}`, kind, name, uid }
}

export const isOwnedBy = ({ metadata }: KubeObject, dataset: Dataset): boolean =>
  metadata.ownerReferences?.some(({ uid }) => uid === dataset.metadata.uid) === true

/** By the dataset of its name, or an earlier one. */
export const hasDatasetOwner = ({ metadata: { name, ownerReferences = [] } }: KubeObject): boolean =>
  ownerReferences.some((owner) => owner.kind === Dataset.kind && owner.name === name && owner.apiVersion.startsWith(`${Dataset.group}/`))
