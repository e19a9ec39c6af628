/**
 * What CSI drivers show on the objects of nodes, simulated ones and process nodes alike: a CSINode that lists them, and the
 * labels of volumes that pods of the node use, so that what serves a volume can run where it is needed.
 * Sole writer of: CSINodes, and the labels that belong to drivers. Runs again when the node, a pod on it, a claim, a volume,
 * or an object that a driver reads changes. A CSINode goes with its node.
 */
import { CSI_NODES, NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Node, Pod } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type ObjectRef, refOf } from '../../../kube/object-reference.ts'
import {
  type Action,
  type Controller,
  defineController,
  indexOf,
  NOTHING_TO_DO,
  type PassReader,
  type Plan,
  type Reader,
  via,
} from '../../../runtime/controller.ts'
import { type CsiDriver, type CsiVolume, csiVolumeOf } from '../../../runtime/seams/csi-driver.ts'
import { claimKeysOf, csiVolumesOf, hasEnded } from '../../kubelet/csi/volumes-of.ts'
import { isSimulated, NODE_LABEL } from '../../shape.ts'

export interface Observed {
  node: Node
  csiNode: KubeObject | undefined
  drivers: readonly string[]
  /** Of the volumes in use. */
  wanted: Readonly<Record<string, string>>
  /** Labels of drivers that the node no longer needs. */
  dropped: readonly string[]
}

export function csiNodes(drivers: readonly CsiDriver[]): Controller {
  const byName = new Map(drivers.map((driver) => [driver.name, driver]))
  const labelsOf = (volume: CsiVolume): Readonly<Record<string, string>> => byName.get(volume.driver)?.labels?.of(volume) ?? {}
  const nodesOfClaim = (namespace: string | undefined, name: string | undefined, read: Reader): ObjectRef[] =>
    read.byIndex(PODS, 'claim', `${namespace}/${name}`).flatMap(nodeOf)
  /** One volume of thousands concerns the nodes that have its label. */
  const nodesWith = (keys: readonly string[], read: Reader): ObjectRef[] =>
    keys.flatMap((key) => read.byIndex(NODES, 'label', key)).map(refOf)
  const labelled = (read: Reader): ObjectRef[] => read.byIndex(NODES, 'labelled', 'yes').map(refOf)
  return defineController<Observed | undefined, Node>({
    name: 'minicluster.nodes.csi',
    component: 'kubelet',
    for: NODES,
    watches: [
      via(PODS, nodeOf, { isRelevantUpdate: (old, pod) => old.spec?.nodeName !== pod.spec?.nodeName || hasEnded(old) !== hasEnded(pod) }),
      via(PERSISTENT_VOLUME_CLAIMS, ({ metadata }, read) => nodesOfClaim(metadata.namespace, metadata.name, read)),
      via(PERSISTENT_VOLUMES, (volume, read) => {
        const { namespace, name } = volume.spec?.claimRef ?? {}
        const csi = csiVolumeOf(volume)
        return csi === undefined ? [] : [...nodesOfClaim(namespace, name, read), ...nodesWith(Object.keys(labelsOf(csi)), read)]
      }),
      via(CSI_NODES, ({ metadata }) => [{ namespace: '', name: metadata.name ?? '' }]),
      ...drivers.flatMap(({ labels }) =>
        (labels?.reads ?? []).map((resource) => via(resource, (_object, read) => labelled(read), { isRelevantUpdate: isOfSpec })),
      ),
    ],
    indexes: [
      indexOf(PODS, 'node', (pod) => nodeOf(pod).map(({ name }) => name)),
      indexOf(PODS, 'claim', claimKeysOf),
      indexOf(NODES, 'labelled', ({ metadata }) => (Object.keys(metadata.labels ?? {}).some(isOwned) ? ['yes'] : [])),
      indexOf(NODES, 'label', ({ metadata }) => Object.keys(metadata.labels ?? {}).filter(isOwned)),
      indexOf(PERSISTENT_VOLUMES, 'label', (volume) => {
        const csi = csiVolumeOf(volume)
        return csi === undefined ? [] : Object.keys(labelsOf(csi))
      }),
    ],
    writes: [
      { resource: CSI_NODES, verbs: ['create', 'patch'] },
      { resource: NODES, verbs: ['patch'] },
    ],
    observe(_ref, node, read) {
      if (node === undefined || node.metadata.deletionTimestamp !== undefined || !isOurs(node)) return undefined
      const pods = read.byIndex(PODS, 'node', node.metadata.name ?? '').filter((pod) => !hasEnded(pod))
      const used = pods.flatMap((pod) => csiVolumesOf(pod, read, (name) => byName.has(name)).map(({ volume }) => volume))
      const wanted = Object.assign({}, ...used.map(labelsOf)) as Record<string, string>
      const idle = Object.keys(node.metadata.labels ?? {}).filter((key) => isOwned(key) && !Object.hasOwn(wanted, key))
      const csiNode = read.get(CSI_NODES, '', node.metadata.name ?? '')
      return { node, csiNode, drivers: [...byName.keys()], wanted, dropped: idle.filter((key) => isDropped(key, read)) }
    },
    plan,
  })

  function isOwned(key: string): boolean {
    return drivers.some(({ labels }) => labels?.owns(key) === true)
  }

  /** A label that no volume accounts for is left over; otherwise every driver whose label it is must agree. */
  function isDropped(key: string, read: PassReader): boolean {
    return read.byIndex(PERSISTENT_VOLUMES, 'label', key).every((object) => {
      const volume = csiVolumeOf(object)
      const labels = volume === undefined ? undefined : byName.get(volume.driver)?.labels
      return (
        volume === undefined || labels?.areDropped?.(volume, (resource, namespace, name) => read.get(resource, namespace, name)) === true
      )
    })
  }
}

/** Statuses change all the time, and no driver asks about them. */
const isOfSpec = (old: KubeObject, object: KubeObject): boolean =>
  object.metadata.generation === undefined || old.metadata.generation !== object.metadata.generation

const isOurs = (node: Node): boolean => isSimulated(node) || node.metadata.labels?.[NODE_LABEL] === 'process'

const nodeOf = (pod: Pod): ObjectRef[] =>
  pod.spec?.nodeName === undefined || claimKeysOf(pod).length === 0 ? [] : [{ namespace: '', name: pod.spec.nodeName }]

function plan(observed: Observed | undefined): Plan {
  if (observed === undefined) return NOTHING_TO_DO
  return { actions: [...listed(observed), ...labelling(observed)] }
}

interface CsiNodeDriver {
  name: string
  nodeID: string
}

function listed({ node, csiNode, drivers }: Observed): Action[] {
  const { name = '', uid = '' } = node.metadata
  const entries = drivers.map((driver): CsiNodeDriver => ({ name: driver, nodeID: name }))
  if (csiNode === undefined) {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }]
    const metadata = { name, ownerReferences }
    const object = { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata, spec: { drivers: entries } }
    return [{ do: 'create', resource: CSI_NODES, object }]
  }
  const there = ((csiNode.spec as { drivers?: CsiNodeDriver[] } | undefined)?.drivers ?? []) as CsiNodeDriver[]
  const missing = entries.filter((entry) => !there.some((one) => one.name === entry.name))
  if (missing.length === 0) return []
  return [{ do: 'patch', resource: CSI_NODES, of: csiNode, patch: { spec: { drivers: [...there, ...missing] } } }]
}

function labelling({ node, wanted, dropped }: Observed): Action[] {
  const labels = node.metadata.labels ?? {}
  const changes = Object.fromEntries([
    ...Object.entries(wanted).filter(([key, value]) => !Object.hasOwn(labels, key) || labels[key] !== value),
    ...dropped.map((key) => [key, null]),
  ])
  if (Object.keys(changes).length === 0) return []
  return [{ do: 'patch', resource: NODES, of: node, patch: { metadata: { labels: changes } } }]
}
