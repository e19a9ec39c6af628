/**
 * Tells the master of a cache which other namespaces may read. Sole writer of: the ConfigMap `<dataset>-cache-access`. Runs again
 * when the references that a dataset's status names change, when one of these changes its mount, and when the ConfigMap does.
 * Deletion: the ConfigMap belongs to the dataset and goes with it, or with the last reference. One of a user is left alone.
 */
import type { Dataset } from '../../kinds/fluid/index.ts'
import { referenceOf } from '../../kinds/fluid/reference.ts'
import { DATASETS } from '../../kinds/fluid/resources.ts'
import { CONFIG_MAPS } from '../../kinds/kubernetes/resources.ts'
import type { ConfigMap } from '../../kinds/kubernetes/types.ts'
import { keyOfObject, type ObjectRef, refOf } from '../../kube/object-reference.ts'
import { type Controller, defineController, NOTHING_TO_DO, type Reader, via } from '../../runtime/controller.ts'
import { liveOwner } from '../../runtime/live-owner.ts'
import { accessConfigMapName, grantsOf } from './grants.ts'
import { type Observed, plan } from './plan.ts'

const SUFFIX = accessConfigMapName('')

export const accessController: Controller = defineController<Observed | undefined, Dataset>({
  name: 'data.access',
  for: DATASETS,
  isRelevantUpdate: (old, dataset) =>
    refsText(old) !== refsText(dataset) ||
    (old.metadata.deletionTimestamp === undefined) !== (dataset.metadata.deletionTimestamp === undefined),
  watches: [
    via(DATASETS, originalListing, { isRelevantUpdate: (old, dataset) => mountText(old) !== mountText(dataset) }),
    via(CONFIG_MAPS, datasetOf),
  ],
  writes: [{ resource: CONFIG_MAPS, verbs: ['create', 'patch', 'delete'] }],
  reads: [{ resource: DATASETS, verbs: ['get'] }],
  async observe({ namespace = '', name }, dataset, read, client) {
    if (dataset === undefined || dataset.metadata.deletionTimestamp !== undefined) return undefined
    const grants = grantsOf(dataset, (reference) => referenceIn(read, reference))
    const live = read.get(CONFIG_MAPS, namespace, accessConfigMapName(name))
    // An old cache must not make again what goes with its owner.
    if (live === undefined && grants.granted.length > 0 && (await liveOwner(client, DATASETS, dataset)) === undefined) return undefined
    return { dataset, grants, live }
  },
  plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed)),
})

/** A slash separates: neither part has one. */
function referenceIn(read: Reader, text: string): Dataset | undefined {
  const [namespace = '', name = '', ...more] = text.split('/')
  return more.length > 0 ? undefined : read.get<Dataset>(DATASETS, namespace, name)
}

/** Who is not in the list yet is granted nothing, and the list changes when it comes into it. */
function originalListing(dataset: Dataset, read: Reader): ObjectRef[] {
  const referred = referenceOf(dataset)
  const original = referred === undefined ? undefined : read.get(DATASETS, referred.namespace, referred.name)
  return original?.status?.datasetRef?.includes(keyOfObject(dataset)) === true ? [refOf(original)] : []
}

/** By its name: a user may have come first. */
function datasetOf({ metadata: { namespace = '', name = '' } }: ConfigMap): ObjectRef[] {
  return name.endsWith(SUFFIX) && name.length > SUFFIX.length ? [{ namespace, name: name.slice(0, -SUFFIX.length) }] : []
}

const refsText = ({ status }: Dataset): string => (status?.datasetRef ?? []).join()
const mountText = ({ spec }: Dataset): string => (spec?.mounts ?? []).map(({ mountPoint }) => mountPoint).join('\n')
