/**
 * A runtime of another engine as a cache of the class builtin: workers, tiers, places and resources mean the same; images, virtual
 * machines, ports and users are that engine's own and have no effect. Pure.
 */
import type { CacheRuntimeSpec, CacheTierLevel, TierLevel } from '../../../kinds/fluid/index.ts'
import { type Tier, tiersOf } from '../../../kinds/fluid/tiered-store.ts'
import type { Container, Toleration } from '../../../kinds/kubernetes/types.ts'
import { isAbsoluteClean } from '../../../kube/node-path.ts'
import { BUILTIN_CLASS, DEFAULT_LEVELS } from '../builtin/class.ts'

interface PodMetadata {
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

/** What AlluxioRuntime, JuiceFSRuntime and JindoRuntime say of a component, as far as it means something here. */
interface TranslatedComponent {
  replicas?: number
  resources?: Container['resources']
  nodeSelector?: Record<string, string>
  /** JindoRuntime has them. */
  tolerations?: Toleration[]
  podMetadata?: PodMetadata
  cleanPolicy?: string
}

export interface TranslatedSpec {
  replicas?: number
  tieredstore?: { levels?: TierLevel[] }
  master?: TranslatedComponent
  worker?: TranslatedComponent
  fuse?: TranslatedComponent
  podMetadata?: PodMetadata
  properties?: Record<string, string>
  /** How often each block is held, and whether anything is ever evicted. */
  data?: { replicas?: number; pin?: boolean }
  management?: { metadataSyncPolicy?: { autoSync?: boolean } }
}

/** Each node of this machine has these directories for itself, whatever its neighbours are told. */
const NODE_STORE = '/var/lib/sluice/cache'
/** The most that the builtin cache takes. */
const MOST_COPIES = 16

type Translated = { spec: CacheRuntimeSpec; problem?: undefined } | { spec?: undefined; problem: string }

export function translatedSpec(given: TranslatedSpec): Translated {
  const { replicas, tieredstore, master, worker, fuse, podMetadata } = given
  const { tiers, problems } = tiersOf(tieredstore?.levels ?? [])
  const [problem] = problems
  if (problem !== undefined) return { problem: `tieredstore.levels${problem.field}: ${problem.detail}` }
  const bad = tiers.flatMap(({ volume, stores }) => (volume === 'hostPath' ? stores : [])).find(({ path }) => !isAbsoluteClean(path))
  if (bad !== undefined)
    return { problem: `tieredstore: ${JSON.stringify(bad.path)} is no absolute path without ..: write for example /cache` }
  const levels = tiers.map((tier, i) =>
    levelOf(
      tier,
      tiers.slice(0, i).some(({ medium }) => medium === 'MEM'),
    ),
  )
  return {
    spec: {
      runtimeClassName: BUILTIN_CLASS,
      // The builtin cache has one master.
      master: { ...componentOf(master), replicas: 1, ...masterOptions(given) },
      worker: {
        ...componentOf(worker),
        ...workerOptions(given),
        replicas: replicas ?? 1,
        tieredStore: { levels: levels.length === 0 ? [...DEFAULT_LEVELS] : levels },
      },
      client: { ...componentOf(fuse), cleanPolicy: fuse?.cleanPolicy === 'OnDemand' ? 'OnDemand' : 'OnRuntimeDeleted' },
      ...(podMetadata === undefined ? {} : { podMetadata }),
    },
  }
}

/** Without syncing by itself, sources are listed once. */
const masterOptions = ({ management }: TranslatedSpec) =>
  management?.metadataSyncPolicy?.autoSync === false ? { options: { metadataSyncInterval: '0' } } : {}

function workerOptions({ data = {} }: TranslatedSpec) {
  const options = {
    ...(data.replicas !== undefined && data.replicas > 1 ? { replicas: String(Math.min(data.replicas, MOST_COPIES)) } : {}),
    ...(data.pin === true ? { pin: 'true' } : {}),
  }
  return Object.keys(options).length === 0 ? {} : { options }
}

function componentOf({ resources, nodeSelector, tolerations, podMetadata }: TranslatedComponent = {}) {
  return {
    ...(resources === undefined ? {} : { resources }),
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(podMetadata === undefined ? {} : { podMetadata }),
  }
}

/** Memory is memory, wherever the manifest keeps it; there can be one such level of the process itself. */
function levelOf({ medium, volume, stores, high, low }: Tier, hasMemory: boolean): CacheTierLevel {
  const marks = { ...(high === undefined ? {} : { high }), ...(low === undefined ? {} : { low }) }
  const quota = String(stores.reduce((sum, { quotaBytes }) => sum + quotaBytes, 0))
  if (medium === 'MEM') return hasMemory ? { emptyDir: { medium: 'Memory', quota }, ...marks } : { processMemory: { quota }, ...marks }
  if (volume === 'emptyDir') return { emptyDir: { quota }, ...marks }
  return {
    hostPath: { paths: stores.map(({ path }) => `${NODE_STORE}${path}`), quotas: stores.map(({ quotaBytes }) => String(quotaBytes)) },
    ...marks,
  }
}
