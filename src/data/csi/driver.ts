/**
 * The CSI driver of datasets. A volume that is read is a directory of files that the client of the node has completed: each pod
 * keeps the generation that it was started with, and the next pod gets the newest. A volume that may be written is made of its
 * sources, where these are directories. Remembers nothing: everything is in files of the node, so all can be done again.
 */
import type { HostPathPrefixes } from '../../kinds/fluid/admission/index.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { DATASETS } from '../../kinds/fluid/resources.ts'
import { CSI_DRIVER } from '../../kinds/fluid/well-known.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { CsiContext, CsiDriver, CsiPodContext, Published } from '../../runtime/seams/csi-driver.ts'
import { whyNotAllowed } from '../engines/host-paths.ts'
import { withheldText } from '../reference/consent.ts'
import { ask, hold, leave, release, removeLeft, take, untilRemoved } from './files.ts'
import { fuseLabels } from './labels.ts'
import { type Place, placeOf } from './place.ts'
import { simulatedText } from './progress-text.ts'
import { type Directory, writableOf } from './writable.ts'

export interface DriverOptions {
  /** Directories of nodes that datasets may name. */
  hostPathPrefixes: HostPathPrefixes
}

export function fluidCsiDriver({ hostPathPrefixes }: DriverOptions): CsiDriver {
  const alone = createTurns()
  const keyOf = ({ node }: CsiContext, { root, id }: Place): string => `${node} ${root} ${id}`
  return {
    name: CSI_DRIVER,
    spec: { attachRequired: false, podInfoOnMount: true },
    reads: [DATASETS],
    labels: fuseLabels,
    async stage(context) {
      const place = placeOf(context.volume)
      const { claim } = context.volume
      if (claim !== undefined) await refuseUnlisted(context, place, claim.namespace)
      await alone(keyOf(context, place), async () => {
        await take(context, place)
        // What may be written is not copied, until a pod wants only to read it.
        if (isReadOnly(context)) await ask(context, place)
      })
    },
    async publish(context) {
      const place = placeOf(context.volume)
      await refuseUnlisted(context, place, context.pod.namespace)
      await refuseSimulated(context, place)
      const written = context.readOnly ? undefined : await publishWritable(context, place, hostPathPrefixes)
      if (written !== undefined) return written
      await ask(context, place)
      return { path: await heldByRight(context, place), readOnly: true }
    },
    async unpublish(context) {
      const place = placeIfAny(context)
      if (place !== undefined) await release(context, place)
    },
    async unstage(context) {
      const place = placeIfAny(context)
      if (place === undefined || !(await alone(keyOf(context, place), () => leave(context, place)))) return
      await untilRemoved(context, place)
      await alone(keyOf(context, place), () => removeLeft(context, place))
    },
  }
}

/** Undefined: for such a volume nothing was ever done. */
function placeIfAny({ volume }: CsiContext): Place | undefined {
  try {
    return placeOf(volume)
  } catch {
    return undefined
  }
}

const isReadOnly = ({ volume: { accessModes } }: CsiContext): boolean => accessModes.every((mode) => mode === 'ReadOnlyMany')

/**
 * Files of another namespace are given only while its dataset lists the reference: a volume may be older than the withdrawal of its
 * consent. The text is the same whether the dataset exists or not.
 */
async function refuseUnlisted({ get, volume }: CsiContext, { namespace, name }: Place, from: string): Promise<void> {
  if (from === namespace) return
  const dataset = await get<Dataset>(DATASETS, namespace, name)
  const { claim } = volume
  if (claim?.namespace === from && dataset?.status?.datasetRef?.includes(`${from}/${claim.name}`) === true) return
  throw new Error(withheldText(from, { namespace, name }))
}

/** Completing files takes long: whoever lost consent meanwhile is given nothing, and nothing is held for it. */
async function heldByRight(context: CsiPodContext, place: Place): Promise<string> {
  const path = await hold(context, place)
  try {
    await refuseUnlisted(context, place, context.pod.namespace)
    return path
  } catch (error) {
    await release(context, place)
    throw error
  }
}

/** Files of a dataset whose pods run nothing never come: better to say so than to wait. Sources that are written are there. */
async function refuseSimulated({ get, node, readOnly }: CsiPodContext, { namespace, name, isThin, isForeign }: Place): Promise<void> {
  if (!readOnly && !isThin) return
  const dataset = await get<Dataset>(DATASETS, namespace, name)
  const simulated = findCondition(dataset?.status?.conditions, 'Simulated')
  if (simulated?.status === 'True') throw new Error(simulatedText({ namespace, name, node, isForeign }, simulated.message ?? ''))
}

/** Undefined: the dataset says that nothing of it is written. */
async function publishWritable(context: CsiPodContext, place: Place, prefixes: HostPathPrefixes): Promise<Published | undefined> {
  const { namespace, name, subPath } = place
  const dataset = await context.get<Dataset>(DATASETS, namespace, name)
  if (dataset === undefined) throw new Error(`dataset ${namespace}/${name} is not there, so nobody knows where writes would go`)
  const writable = writableOf(dataset, subPath)
  if (writable === undefined) return undefined
  const at = ({ source, subPath: inner }: Directory): Promise<string> => {
    // The dataset may have changed since somebody looked at it.
    const problem = 'hostPath' in source ? whyNotAllowed(source.hostPath, prefixes) : undefined
    if (problem !== undefined) throw new Error(`dataset ${namespace}/${name} is not given to pods: ${problem}`)
    return context.directoryOf(source, inner)
  }
  const mounts: { path: string; source: string }[] = []
  for (const mount of writable.mounts) mounts.push({ path: mount.path, source: await at(mount) })
  const inside = mounts.length === 0 ? {} : { mounts }
  if (writable.root !== undefined) return { path: await at(writable.root), ...inside }
  for (const mount of mounts) await context.files.makeDirectory(`${place.mountPoints}/${mount.path}`)
  return { path: place.mountPoints, readOnly: true, ...inside }
}

/** One after another for each key: volumes of several datasets can share their files. */
function createTurns() {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    last.set(key, mine)
    try {
      return await mine
    } finally {
      if (last.get(key) === mine) last.delete(key)
    }
  }
}
