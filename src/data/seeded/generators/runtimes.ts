/** Runtimes of all classes, of one that does not exist, and of a kind that another engine serves; scaled, and deleted before their dataset. */
import type { Random } from '../../../base/random.ts'
import type { CacheRuntimeSpec } from '../../../kinds/fluid/index.ts'
import { ALLUXIO_RUNTIMES, CACHE_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { anObject, CLAIMED, DEMO, hiddenIn, isFor, metadataOf, NAMESPACES, oneOf, PLAIN, REPORTING, readerOf } from './drawing.ts'

const CLASSES = [PLAIN, PLAIN, REPORTING, REPORTING, REPORTING, 'builtin', 'missing']

type Drawn = CacheRuntimeSpec & { isGlobal?: boolean }

const drawRuntime = (random: Random): Drawn => ({
  isGlobal: random.next() < 0.5,
  runtimeClassName: oneOf(random, CLASSES),
  worker: { replicas: oneOf(random, [1, 1, 2, 2, 3]), tieredStore: { levels: [{ emptyDir: { quota: oneOf(random, ['1Gi', '2Gi']) } }] } },
})

/** With an option that is nobody else's business, and little time for those that leave. */
export function cacheOf(where: string, desired: unknown): KubeObject {
  const { isGlobal = true, ...spec } = desired as Drawn
  const made = anObject('CacheRuntime', where, { ...spec, options: { password: hiddenIn(metadataOf(where).namespace) } })
  return { ...made, metadata: { ...made.metadata, annotations: modeOf(isGlobal) } }
}

export const modeOf = (isGlobal: boolean): Record<string, string> => ({
  'sluice.dev/handover-seconds': '20',
  'sluice.dev/fuse-global': String(isGlobal),
})

const caches = (namespace: string): Generator => ({
  name: `cache runtime in ${namespace}`,
  resource: CACHE_RUNTIMES,
  names: [`${namespace}/${DEMO}`],
  usedBy: readerOf(`${namespace}/${DEMO}`),
  isFor,
  // Two kinds of runtimes may be wanted there, and a server takes one of them.
  isContested: namespace === CLAIMED,
  draw: drawRuntime,
  object: cacheOf,
  change: (object, desired) => {
    const { metadata, spec } = cacheOf(`${namespace}/${DEMO}`, desired)
    object.spec = spec
    object.metadata.annotations = { ...object.metadata.annotations, ...metadata.annotations }
  },
})

/** Served by the builtin cache, and of the same name as the others. */
const alluxio: Generator = {
  name: 'alluxio runtime',
  resource: ALLUXIO_RUNTIMES,
  names: [`${CLAIMED}/${DEMO}`],
  isFor,
  isContested: true,
  draw: (random) => ({
    replicas: oneOf(random, [1, 2]),
    ...(random.next() < 0.5 ? { fuse: { global: false } } : {}),
    tieredstore: { levels: [{ mediumtype: 'MEM', path: '/dev/shm', quota: '1Gi' }] },
  }),
  object: (where, desired) => anObject('AlluxioRuntime', where, desired),
}

export const runtimes: readonly Generator[] = [...NAMESPACES.map(caches), alluxio]
