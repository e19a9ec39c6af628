/**
 * Keeps the scripts with which sidecars and their pods wait for a mount. Sole writer of: the ConfigMaps
 * `<dataset>-<mount type>-check-mount` and `check-fluid-mount-ready` in the namespace of the claim. They are made for the first
 * pod with a sidecar of the dataset: most datasets never have one. Runs again when such a pod comes, and when the claim, its
 * volume or a ConfigMap changes. Deletion: they belong to the claim's dataset and go with it. A user's is left alone.
 */
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { volumeName } from '../../../kinds/fluid/names.ts'
import { DATASETS } from '../../../kinds/fluid/resources.ts'
import { CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { ConfigMap, PersistentVolume, Pod } from '../../../kinds/kubernetes/types.ts'
import { keyOfRef, type ObjectRef } from '../../../kube/object-reference.ts'
import { type Controller, defineController, indexOf, NOTHING_TO_DO, type Reader, via } from '../../../runtime/controller.ts'
import { liveOwner } from '../../../runtime/live-owner.ts'
import { isOurClaim, isOurVolume } from '../../volume/desired.ts'
import { sidecarsOf } from '../labels.ts'
import { isOwnedBy, type Observed, plan } from './plan.ts'
import { APP_SCRIPT, mountScriptName } from './texts.ts'

const BY_DATASET = 'sidecar-of'
const BY_NAMESPACE = 'sidecars-in'

const datasetsOf = (pod: Pod): ObjectRef[] => sidecarsOf(pod).map(({ namespace, name }) => ({ namespace, name }))

export const sidecarScripts: Controller = defineController<Observed | undefined, Dataset>({
  name: 'data.sidecar.scripts',
  for: DATASETS,
  isRelevantUpdate: (old, dataset) =>
    old.metadata.uid !== dataset.metadata.uid || old.metadata.deletionTimestamp !== dataset.metadata.deletionTimestamp,
  watches: [
    via(PODS, datasetsOf, { isRelevantUpdate: (old, pod) => labelsText(old) !== labelsText(pod) }),
    via(
      PERSISTENT_VOLUME_CLAIMS,
      (claim) => (isOurClaim(claim) ? [{ namespace: claim.metadata.namespace ?? '', name: claim.metadata.name ?? '' }] : []),
      {
        isRelevantUpdate: (old, claim) => old.metadata.uid !== claim.metadata.uid,
      },
    ),
    via(PERSISTENT_VOLUMES, datasetOfVolume, { isRelevantUpdate: (old, volume) => typeOf(old) !== typeOf(volume) }),
    via(CONFIG_MAPS, datasetsOfScript),
  ],
  indexes: [
    indexOf(PODS, BY_DATASET, (pod) => datasetsOf(pod).map(keyOfRef)),
    indexOf(PODS, BY_NAMESPACE, (pod) => (datasetsOf(pod).length === 0 ? [] : [pod.metadata.namespace ?? ''])),
  ],
  writes: [{ resource: CONFIG_MAPS, verbs: ['create', 'patch'] }],
  reads: [{ resource: DATASETS, verbs: ['get'] }],
  async observe({ namespace = '', name }, dataset, read, client) {
    if (dataset === undefined || dataset.metadata.deletionTimestamp !== undefined) return undefined
    const claim = read.get(PERSISTENT_VOLUME_CLAIMS, namespace, name)
    const volume = read.get(PERSISTENT_VOLUMES, '', volumeName({ namespace, name }))
    if (claim === undefined || !isOurClaim(claim) || volume === undefined || !isOurVolume(volume, { namespace, name })) return undefined
    const script = mountScriptName(name, typeOf(volume))
    const mount = read.get(CONFIG_MAPS, namespace, script)
    const app = read.get(CONFIG_MAPS, namespace, APP_SCRIPT.configMap)
    const isUsed = isOwnedBy(mount, dataset) || read.byIndex(PODS, BY_DATASET, keyOfRef({ namespace, name })).length > 0
    const isMaking = isUsed && (mount === undefined || app === undefined)
    // An old cache must not make again what goes with its owner.
    if (isMaking && (await liveOwner(client, DATASETS, dataset)) === undefined) return undefined
    return { dataset, isUsed, name: script, mount, app }
  },
  plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed)),
})

const typeOf = ({ spec }: PersistentVolume): string => spec?.csi?.volumeAttributes?.mount_type ?? ''

function datasetOfVolume({ spec, metadata }: PersistentVolume): ObjectRef[] {
  const { namespace = '', name = '' } = spec?.claimRef ?? {}
  return metadata.name === volumeName({ namespace, name }) ? [{ namespace, name }] : []
}

/** Those that own it, and those that may be waiting for its name. */
function datasetsOfScript({ metadata: { namespace = '', name = '', ownerReferences = [] } }: ConfigMap, read: Reader): ObjectRef[] {
  if (name !== APP_SCRIPT.configMap && !name.endsWith('-check-mount')) return []
  const owners = ownerReferences.filter(({ kind }) => kind === DATASETS.kind).map((owner) => ({ namespace, name: owner.name }))
  return [...owners, ...read.byIndex<Pod>(PODS, BY_NAMESPACE, namespace).flatMap(datasetsOf)]
}

const labelsText = (pod: Pod): string => datasetsOf(pod).map(keyOfRef).join()
