/**
 * What the runtimes that are older than CacheRuntime have in common: the tiered store with lower-case names, management,
 * status, columns and scale.
 */
import { type Static, s } from '../schema/builder.ts'
import { AGE_COLUMN } from './groups.ts'
import { count, flag, mount, nodeAffinity, probedCondition, text, textMap, time } from './parts.ts'

const { optional } = s

const NUMBER = '(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))'
const SUFFIX = `(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))`
/** Two quantities or more, separated by commas. */
const QUANTITIES = `^(${NUMBER}${SUFFIX},)+(${NUMBER}${SUFFIX}?)$`

const level = s.object({
  mediumtype: s.literals(['MEM', 'SSD', 'HDD'], { description: 'What the level is made of.' }),
  volumeType: s.withDefault(s.literals(['hostPath', 'emptyDir'], { description: 'What kind of volume the paths are.' }), 'hostPath'),
  volumeSource: optional(s.kubernetes('VolumeSource', { description: 'The volume, where the kind alone does not say it.' })),
  path: optional(s.string({ minLength: 1, description: 'Directories, separated by commas.' })),
  quota: optional(s.quantity({ description: 'How much all paths together may hold; each gets the same share.' })),
  quotaList: optional(s.string({ pattern: QUANTITIES, description: 'How much each path may hold, separated by commas.' })),
  high: text('The ratio of use above which room is made.'),
  low: text('The ratio of use down to which room is made.'),
})

export const tieredstore = optional(
  s.object({ levels: optional(s.array(level, { description: 'Fastest first.' })) }, { description: 'Where the cache is stored.' }),
)

export const cleanCachePolicy = optional(
  s.object(
    {
      gracePeriodSeconds: s.withDefault(s.int32({ description: 'How long one attempt may take.' }), 60),
      maxRetryAttempts: s.withDefault(s.int32({ description: 'How many attempts there are.' }), 3),
    },
    { description: 'How the cache is removed when the runtime goes.' },
  ),
)

export const management = optional(
  s.object(
    {
      cleanCachePolicy,
      metadataSyncPolicy: optional(s.object({ autoSync: flag('Whether the size of the data is found out by itself.') })),
    },
    { description: 'What is done by itself.' },
  ),
)

/** Fluid took the field away in 2024; it has had no effect there since. */
export const fuseGlobal = flag(
  'Whether mounts may be on nodes without workers (default). If not, pods that read come only to nodes with workers, which then stay.',
)
/** Of kinds whose workers label no nodes. */
export const fuseGlobalWithoutEffect = flag('Without effect: mounts may be on nodes without workers.')

export const runtimeReplicas = count('How many workers there are.')
export const componentReplicas = optional(s.int32({ minimum: 1, description: 'How many pods there are.' }))

export const runtimeStatus = s.object(
  {
    valueFile: s.string({ description: 'The ConfigMap with the values of the runtime.' }),
    setupDuration: text('How long it took until the dataset was bound.'),
    masterPhase: s.string({ description: 'NotReady, PartialReady or Ready; empty before it exists.' }),
    masterReason: text('Why the masters are not ready.'),
    desiredMasterNumberScheduled: s.int32({ description: 'Masters that are wanted.' }),
    currentMasterNumberScheduled: s.int32({ description: 'Masters that exist.' }),
    masterNumberReady: s.int32({ description: 'Masters that are ready.' }),
    workerPhase: s.string({ description: 'NotReady, PartialReady or Ready; empty before it exists.' }),
    workerReason: text('Why the workers are not ready.'),
    desiredWorkerNumberScheduled: s.int32({ description: 'Workers that are wanted.' }),
    currentWorkerNumberScheduled: s.int32({ description: 'Workers that exist.' }),
    workerNumberReady: s.int32({ description: 'Workers that are ready.' }),
    workerNumberAvailable: count('Workers that are available.'),
    workerNumberUnavailable: count('Workers that are wanted and not available.'),
    fusePhase: s.string({ description: 'NotReady, PartialReady or Ready; empty before it exists.' }),
    fuseReason: text('Why the mounts are not ready.'),
    desiredFuseNumberScheduled: s.int32({ description: 'Nodes that need a mount.' }),
    currentFuseNumberScheduled: s.int32({ description: 'Nodes that have a pod for the mount.' }),
    fuseNumberReady: s.int32({ description: 'Nodes whose mount is ready.' }),
    fuseNumberAvailable: count('Nodes whose mount is available.'),
    fuseNumberUnavailable: count('Nodes that need a mount which is not available.'),
    conditions: optional(s.array(probedCondition, { description: 'What is known about it.' })),
    cacheStates: textMap('How much is cached, and how well that serves.'),
    selector: text('The selector of the workers, as text.'),
    apiGateway: optional(s.object({ endpoint: text('Its address.') }, { description: 'The interface over HTTP.' })),
    mountTime: time('When the sources were last mounted.'),
    mounts: optional(s.array(mount, { description: 'The sources that are mounted now.' })),
    cacheAffinity: nodeAffinity('The nodes that hold the cache.'),
  },
  { description: 'What runs.' },
)

export const SCALE = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.currentWorkerNumberScheduled' } as const
export const SCALE_WITH_SELECTOR = { ...SCALE, labelSelectorPath: '.status.selector' } as const

const component = (plural: string, singular: string, field: string) =>
  [
    { name: `Ready ${plural}`, type: 'integer', jsonPath: `.status.${field}NumberReady`, priority: 10 },
    { name: `Desired ${plural}`, type: 'integer', jsonPath: `.status.desired${singular}NumberScheduled`, priority: 10 },
    { name: `${singular} Phase`, type: 'string', jsonPath: `.status.${field}Phase` },
  ] as const

export const MASTER_COLUMNS = component('Masters', 'Master', 'master')
export const WORKER_COLUMNS = component('Workers', 'Worker', 'worker')
export const FUSE_COLUMNS = component('Fuses', 'Fuse', 'fuse')
export const API_GATEWAY_COLUMN = { name: 'API Gateway', type: 'string', jsonPath: '.status.apiGateway.endpoint', priority: 10 } as const
export const ALL_COLUMNS = [...MASTER_COLUMNS, ...WORKER_COLUMNS, ...FUSE_COLUMNS, AGE_COLUMN]

export type RuntimeStatus = Static<typeof runtimeStatus>
export type TierLevel = Static<typeof level>
