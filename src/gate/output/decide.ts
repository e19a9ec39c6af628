/**
 * What becomes of one thing that a workload made: pure, from its success and the sources that stand for the same data. A
 * source is changed only if it is the one that this namespace makes; whatever else stands there is left alone.
 */
import { type DataName, dataKey } from '../../kinds/volcano/annotations.ts'
import type { DataSource } from '../../kinds/volcano/index.ts'
import { PROVISIONED_BY, SOURCE_VERSION } from '../../kinds/volcano/well-known.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { clusterNamesOf, dataNameOf, isGoing, makerOf, recordedRun } from './produced.ts'
import { isLater, type Run, uidOf } from './run.ts'

/** Something that a workload declares to make, and what stands for it. */
export interface Output {
  name: DataName
  /** The name of its DataSource. */
  objectName: string
  /** The object of that name, whoever wrote it. */
  own: DataSource | undefined
  /** Sources of the same data that no workload made, in any order. */
  written: readonly DataSource[]
  /** Another namespace makes data of this name as well, and this one may know. */
  isElsewhere: boolean
}

export interface Success {
  namespace: string
  /** The workload, as in `sluice.dev/provisioned-by`. */
  by: string
  run: Run
  /** Where it succeeded, sorted. */
  clusters: readonly string[]
  /** Where it is to run. */
  targets: readonly string[]
}

export type Decision =
  | { do: 'nothing' }
  | { do: 'create' }
  /** `isMoved`: concluded from clusters that the workload has left, so it must be sure that what was seen is not old. */
  | { do: 'update'; of: DataSource; version: string; clusters: readonly string[]; isMoved?: true }
  /** `stands`: a source that no workload made stands for this data; `taken`: an object that is not ours has the name. */
  | { do: 'refuse'; because: 'stands' | 'taken'; source: string }

const NOTHING: Decision = Object.freeze({ do: 'nothing' })
export const FIRST_VERSION = 'v1'

export function decide({ name, objectName, own, written }: Output, success: Success): Decision {
  if (own !== undefined) {
    // Once it is gone, it is made again.
    if (isGoing(own)) return NOTHING
    return isMadeBy(own, name, success.namespace) ? brought(own, success) : { do: 'refuse', because: 'taken', source: objectName }
  }
  const [stays] = written
    .filter((source) => !isGoing(source))
    .map(({ metadata }) => metadata.name ?? '')
    .sort(compareStrings)
  if (stays !== undefined) return { do: 'refuse', because: 'stands', source: stays }
  return written.length > 0 ? NOTHING : { do: 'create' }
}

/**
 * Brings our source up to date. A workload that has left a cluster and then succeeds in another one has run once more, as
 * after a failover: that makes a new version, which is only there.
 */
function brought(own: DataSource, { by, run, clusters, targets }: Success): Decision {
  const recorded = recordedRun(own)
  const version = own.metadata.annotations?.[SOURCE_VERSION]
  if (recorded?.id === run.id) {
    const before = clusterNamesOf(own)
    const missing = clusters.filter((cluster) => !before.includes(cluster))
    if (missing.length === 0) return NOTHING
    const hasLeft = before.some((cluster) => !targets.includes(cluster))
    if (hasLeft) return { do: 'update', of: own, version: nextVersion(version), clusters, isMoved: true }
    return { do: 'update', of: own, version: version ?? FIRST_VERSION, clusters: [...before, ...missing].sort(compareStrings) }
  }
  if (recorded !== undefined && !isLater(run, recorded) && !isSuccessor(own, recorded, { by, run })) return NOTHING
  return { do: 'update', of: own, version: nextVersion(version), clusters }
}

/** Within one second, times do not tell. Of two workloads of one name the former must be gone, or the latter could not exist. */
const isSuccessor = ({ metadata }: DataSource, recorded: Run, { by, run }: Pick<Success, 'by' | 'run'>): boolean =>
  run.at === recorded.at && metadata.annotations?.[PROVISIONED_BY] === by && uidOf(run) !== uidOf(recorded)

/** Somebody who makes it stand for something else has taken it over. */
const isMadeBy = (source: DataSource, name: DataName, namespace: string): boolean =>
  makerOf(source) === namespace && dataKey(dataNameOf(source)) === dataKey(name)

/** Begins anew where somebody has made it unreadable. */
function nextVersion(version: string | undefined): string {
  const number = /^v([0-9]{1,15})$/.exec(version ?? '')?.[1]
  return number === undefined ? FIRST_VERSION : `v${Number(number) + 1}`
}
