/** What a volume of a dataset says about itself: where on the node driver and client meet, and for which part of the dataset. Pure. */
import { clientName } from '../../kinds/fluid/names.ts'
import { cleanPath, pathProblem } from '../../kinds/fluid/paths.ts'
import type { RuntimeType } from '../../kinds/fluid/well-known.ts'
import { requestIdOf, type VolumePlaces, volumePlaces } from '../../kube/materialised-volume.ts'
import { isAbsoluteClean, isNodePath } from '../../kube/node-path.ts'
import type { CsiVolume } from '../../runtime/seams/csi-driver.ts'

export interface Place extends VolumePlaces {
  /** Of the sub path. */
  id: string
  /** Absolute and clean; `/` is the whole dataset. */
  subPath: string
  /** Of the runtime, and of its dataset. */
  namespace: string
  name: string
  /** What the client's pod is called, for messages. */
  client: string
  /** A file for each volume of this node that wants the sub path: several datasets can lead to one. */
  holders: string
  holder: string
  /** Its files are those of a file system that the image of a ThinRuntime mounts. */
  isThin: boolean
  /** The claim is in another namespace: what the runtime's tenant alone may know is not said there. */
  isForeign: boolean
  /** A directory that has nothing but mount points. */
  mountPoints: string
  /** What the client notes for itself about the files. */
  records: string
}

/** Those whose clients are not called like most. */
const TYPES: ReadonlyMap<string, RuntimeType> = new Map<string, RuntimeType>([
  ['cache', 'cache'],
  ['fuse.jindofs-fuse', 'jindo'],
])
const THIN_ROOT = '/runtime-mnt/thin/'
/** As the file systems of clients have it. */
const LONGEST_SEGMENT = 255
/** An uid, as the name of a file. */
const UID = /^[A-Za-z0-9-]{1,128}$/

/** Throws what is wrong with the volume. */
export function placeOf({ attributes, uid, name: volume, claim }: CsiVolume): Place {
  const attribute = (key: string): string => (Object.hasOwn(attributes, key) ? (attributes[key] ?? '') : '')
  const root = attribute('fluid_path').replace(/\/+$/, '')
  if (root === '') throw new Error(`fluid_path is not set in the attributes of PersistentVolume ${volume}`)
  if (!isAbsoluteClean(root) || !isNodePath(root))
    throw new Error(`fluid_path ${JSON.stringify(root)} of PersistentVolume ${volume} is not a path below /runtime-mnt`)
  const [namespace, name] = [attribute('runtime_namespace'), attribute('runtime_name')]
  if (namespace === '' || name === '')
    throw new Error(`runtime_namespace and runtime_name are not set in the attributes of PersistentVolume ${volume}`)
  const subPath = subPathOf(attribute('fluid_sub_path'))
  const id = requestIdOf(subPath)
  const holders = `${root}/holders/${id}`
  return {
    ...volumePlaces(root),
    ...{
      id,
      subPath,
      namespace,
      name,
      isThin: root.startsWith(THIN_ROOT),
      isForeign: claim !== undefined && claim.namespace !== namespace,
    },
    client: clientName(TYPES.get(attribute('mount_type')) ?? 'thin', name),
    holders,
    holder: `${holders}/${fileOf(uid)}`,
    mountPoints: `${root}/mount-points/${id}`,
    records: `${root}/records/${id}`,
  }
}

function subPathOf(text: string): string {
  const problem = pathProblem(text)
  if (problem !== undefined) throw new Error(`fluid_sub_path: ${problem}`)
  const path = cleanPath(`/${text}`)
  if (path.split('/').some((segment) => Buffer.byteLength(segment) > LONGEST_SEGMENT))
    throw new Error(`fluid_sub_path: a name in it has more than ${LONGEST_SEGMENT} bytes, so no file can have it`)
  return path
}

/** The name of a file for an uid. */
export function fileOf(uid: string): string {
  if (!UID.test(uid)) throw new Error(`${JSON.stringify(uid.slice(0, 100))} is no uid`)
  return uid
}
