/**
 * Who reads a dataset, found through indexes: its volumes, their claims, the pods that mount these. And the same once more from the
 * server, for one node, right before a worker goes.
 */
import type { Client } from '../../client/client.ts'
import { ifFound } from '../../client/errors.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { PersistentVolumeClaim, Pod } from '../../kinds/kubernetes/types.ts'
import { keyOfObject, keyOfRef, type ObjectRef, refOfKey } from '../../kube/object-reference.ts'
import { type Index, indexOf, type Reader } from '../../runtime/controller.ts'
import { claimKeysOf, type DatasetReader, datasetOfVolume, inOrder, isBoundTo, readerOf, readsOn } from '../scaling/readers.ts'

const BY_DATASET = 'dataset'
const BY_VOLUME = 'volume'
const BY_CLAIM = 'claim'

export const READER_INDEXES: readonly Index[] = [
  indexOf(PERSISTENT_VOLUMES, BY_DATASET, (volume) => {
    const dataset = datasetOfVolume(volume)
    return dataset === undefined ? [] : [dataset]
  }),
  indexOf(PERSISTENT_VOLUME_CLAIMS, BY_VOLUME, ({ spec }) => (spec?.volumeName === undefined ? [] : [spec.volumeName])),
  indexOf(PODS, BY_CLAIM, claimKeysOf),
]

/** By their nodes. */
export function readersByNode(read: Pick<Reader, 'byIndex'>, dataset: ObjectRef): ReadonlyMap<string, readonly DatasetReader[]> {
  const claims = read
    .byIndex(PERSISTENT_VOLUMES, BY_DATASET, keyOfRef(dataset))
    .flatMap((volume) =>
      read.byIndex(PERSISTENT_VOLUME_CLAIMS, BY_VOLUME, volume.metadata.name ?? '').filter((claim) => isBoundTo(claim, volume)),
    )
  const readers = claims
    .flatMap((claim) => read.byIndex(PODS, BY_CLAIM, keyOfObject(claim)))
    .flatMap((pod) => {
      const node = readsOn(pod)
      return node === undefined ? [] : [readerOf(pod, node)]
    })
  const byNode = new Map<string, DatasetReader[]>()
  for (const reader of inOrder(readers)) {
    const found = byNode.get(reader.node)
    if (found === undefined) byNode.set(reader.node, [reader])
    else found.push(reader)
  }
  return byNode
}

/** Of one node, as the server has it now. A claim that cannot be found any more leads nowhere. */
export async function readersNow(client: Client, node: string, dataset: ObjectRef): Promise<DatasetReader[]> {
  const { items } = await client.list(PODS, { fieldSelector: `spec.nodeName=${node}` })
  const pods = items.filter((pod) => readsOn(pod) === node)
  const keys = [...new Set(pods.flatMap(claimKeysOf))]
  const leading = await Promise.all(keys.map((key) => leadsTo(client, refOfKey(key), dataset)))
  const read = new Set(keys.filter((_key, i) => leading[i]))
  return inOrder(pods.filter((pod) => claimKeysOf(pod).some((key) => read.has(key))).map((pod) => readerOf(pod, node)))
}

async function leadsTo(client: Client, ref: ObjectRef, dataset: ObjectRef): Promise<boolean> {
  const claim: PersistentVolumeClaim | undefined = await ifFound(client.get(PERSISTENT_VOLUME_CLAIMS, ref))
  const name = claim?.spec?.volumeName ?? ''
  if (claim === undefined || name === '') return false
  const volume = await ifFound(client.get(PERSISTENT_VOLUMES, { name }))
  return volume !== undefined && isBoundTo(claim, volume) && datasetOfVolume(volume) === keyOfRef(dataset)
}

/** The datasets that a pod reads. */
export const datasetsReadBy = (pod: Pod, read: Pick<Reader, 'get'>): ObjectRef[] =>
  claimKeysOf(pod).flatMap((key) => {
    const { namespace, name } = refOfKey(key)
    const claim = read.get(PERSISTENT_VOLUME_CLAIMS, namespace, name)
    return claim === undefined ? [] : datasetsOfClaim(claim, read)
  })

export function datasetsOfClaim(claim: PersistentVolumeClaim, read: Pick<Reader, 'get'>): ObjectRef[] {
  const volume = read.get(PERSISTENT_VOLUMES, '', claim.spec?.volumeName ?? '')
  const dataset = volume === undefined || !isBoundTo(claim, volume) ? undefined : datasetOfVolume(volume)
  return dataset === undefined ? [] : [refOfKey(dataset)]
}
