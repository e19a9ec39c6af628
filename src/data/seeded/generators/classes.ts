/** Classes: with and without masters, changed while runtimes of them are served, and deleted. */
import { deepClone } from '../../../base/json.ts'
import type { CacheRuntimeClass } from '../../../kinds/fluid/index.ts'
import { CACHE_RUNTIME_CLASSES } from '../../../kinds/fluid/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { API_VERSION, isFor, oneOf, PLAIN, REPORTING } from './drawing.ts'

interface Changed {
  image: string
  hasClients: boolean
}

export const MOUNT = 'mount-ufs'
export const REPORT = 'report-summary'
export const LEAVE = 'leave'
export const STAY = 'stay'

const OF_REPORTING = {
  'sluice.dev/key': 'true',
  'sluice.dev/native-mounts': 'true',
  'sluice.dev/decommission': JSON.stringify(['cache', LEAVE]),
  'sluice.dev/recommission': JSON.stringify(['cache', STAY]),
}

const entry = (command: string) => ({ command: ['cache', command], timeout: 30 })

/** Pods that count as running, so that commands are run in them, although no node of a world runs anything. */
const podsOf = (name: string, image: string) => ({
  template: {
    metadata: { annotations: { 'sluice.dev/run': 'process' } },
    spec: {
      containers: [{ name, image, resources: { requests: { cpu: '50m', memory: '16Mi' } } }],
      tolerations: [{ key: 'sluice.dev/simulated', operator: 'Exists' }],
    },
  },
})

export function classOf(name: string, desired: unknown): KubeObject {
  const { image, hasClients } = desired as Changed
  const client = hasClients ? { client: podsOf('client', image) } : {}
  const worker = podsOf('worker', image)
  const master = {
    ...podsOf('master', image),
    service: { headless: {} },
    executionEntries: { mountUFS: entry(MOUNT), reportSummary: entry(REPORT) },
  }
  const made: CacheRuntimeClass = {
    apiVersion: API_VERSION,
    kind: 'CacheRuntimeClass',
    metadata: { name, annotations: name === REPORTING ? OF_REPORTING : {} },
    fileSystemType: 'cachefs',
    topology: name === REPORTING ? { master, worker, ...client } : { worker, ...client },
  }
  return made
}

export const classes: Generator = {
  name: 'class of caches',
  resource: CACHE_RUNTIME_CLASSES,
  names: [PLAIN, REPORTING],
  isFor,
  draw: (random): Changed => ({ image: oneOf(random, ['cache:1', 'cache:2']), hasClients: random.next() < 0.5 }),
  object: classOf,
  change(object, desired) {
    object.topology = deepClone((classOf(object.metadata.name ?? '', desired) as CacheRuntimeClass).topology)
  },
}
