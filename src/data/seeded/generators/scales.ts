/** Scaling in and out at any moment, and the mode of clients: nothing else of a runtime changes. */
import type { Random } from '../../../base/random.ts'
import { ALLUXIO_RUNTIMES, CACHE_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Resource } from '../../../kube/resource.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { anObject, CLAIMED, DEMO, isFor, NAMESPACES, oneOf } from './drawing.ts'
import { modeOf } from './runtimes.ts'

const CACHES = NAMESPACES.map((namespace) => `${namespace}/${DEMO}`)

/** What comes later decides, so nobody else judges the number of one that exists. */
const changing = (what: { name: string; resource: Resource; names: readonly string[] }): Omit<Generator, 'draw' | 'change'> => ({
  ...what,
  isFor,
  isContested: true,
  isLasting: true,
  isOnlyChanged: true,
  object: (where) => anObject(what.resource.kind, where, {}),
})

const drawReplicas = (random: Random): number => oneOf(random, [1, 1, 1, 2, 3, 3])

const cacheScale: Generator = {
  ...changing({ name: 'scale of a cache', resource: CACHE_RUNTIMES, names: CACHES }),
  draw: drawReplicas,
  change(object: KubeObject, replicas: unknown) {
    const { worker, ...spec } = object.spec as { worker?: object }
    object.spec = { ...spec, worker: { ...worker, replicas } }
  },
}

const alluxioScale: Generator = {
  ...changing({ name: 'scale of an alluxio runtime', resource: ALLUXIO_RUNTIMES, names: [`${CLAIMED}/${DEMO}`] }),
  draw: drawReplicas,
  change(object: KubeObject, replicas: unknown) {
    object.spec = { ...(object.spec as object), replicas }
  },
}

const mode: Generator = {
  ...changing({ name: 'mode of a cache', resource: CACHE_RUNTIMES, names: CACHES }),
  draw: (random: Random) => random.next() < 0.7,
  change(object: KubeObject, isGlobal: unknown) {
    object.metadata.annotations = { ...object.metadata.annotations, ...modeOf(isGlobal === true) }
  },
}

export const scales: readonly Generator[] = [cacheScale, cacheScale, cacheScale, alluxioScale, mode]
