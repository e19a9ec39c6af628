/**
 * The faults that can happen to one controller in a story, one by one: a crash after each of its writes, an error before
 * and after the effect of each, every event of its caches hidden once, and a restart from every earlier state of its caches.
 */
import { collectionPath, type Resource } from '../../kube/resource.ts'
import type { WorldCluster } from '../world/index.ts'
import { asksForChange, type Delivery, type Interference, type ProcessFault } from '../world/process.ts'
import { isEventOrLease } from './compare.ts'
import type { StoryRun, Trouble } from './run-story.ts'

export interface Point {
  /** What is done, as a text that is the same in every run, so that the fault can be selected by it. */
  says: string
  kind: 'crash' | 'error before' | 'error after' | 'old restart' | 'hidden event' | 'old cache'
  trouble: Trouble
}

export interface Target {
  name: string
  /** What it reads through shared caches; undefined when it reads everything. */
  resources?: readonly Resource[]
  /** Whether it also reads the cluster cache. */
  followsCluster: boolean
  /** Whether it follows resources in members. */
  followsMembers?: boolean
}

export function pointsOf(target: Target, free: StoryRun): Point[] {
  const count = free.writes.filter((write) => write.part === target.name && !isEventOrLease(write.method, write.path)).length
  const numbers = Array.from({ length: count }, (_, i) => i + 1)
  return [
    ...numbers.map((n) => atWrite(target, n, { kind: 'crash', says: `crash after write ${n}`, fault: () => ({ do: 'crash-after' }) })),
    ...numbers.map((n) =>
      atWrite(target, n, { kind: 'error before', says: `error before write ${n}`, fault: () => ({ do: 'fail-before' }) }),
    ),
    ...numbers.map((n) => atWrite(target, n, { kind: 'error after', says: `error after write ${n}`, fault: () => ({ do: 'fail-after' }) })),
    ...numbers.map((n) =>
      atWrite(target, n, {
        kind: 'old restart',
        says: `crash after write ${n}, restart with caches from before it`,
        fault: (cluster) => ({ do: 'crash-after', cachesAt: cluster.store.revision }),
      }),
    ),
    ...hiddenEvents(target, free),
    ...oldCaches(target, free),
  ]
}

interface AtWrite {
  kind: Point['kind']
  says: string
  fault(cluster: WorldCluster): ProcessFault
}

function atWrite(target: Target, n: number, { kind, says, fault }: AtWrite): Point {
  const interfere = (cluster: WorldCluster): Interference => {
    let left = n
    return {
      onRequest({ part, request }) {
        if (part !== target.name || !asksForChange(request) || isEventOrLease(request.method, request.path)) return undefined
        return --left === 0 ? fault(cluster) : undefined
      },
    }
  }
  return { says, kind, trouble: { interfere } }
}

function hiddenEvents(target: Target, free: StoryRun): Point[] {
  const isSeen = seenBy(target)
  return free.deliveries.filter(isSeen).map(({ part, cluster, path, type, namespace, name }, i): Point => {
    const interfere = (): Interference => {
      let left = i + 1
      return { onDelivery: (delivery) => (isSeen(delivery) && --left === 0 ? 'hide' : undefined) }
    }
    const of = `${type} of ${path.split('/').pop()} ${namespace}/${name}${cluster === undefined ? '' : ` in ${cluster}`}`
    return { says: `hide event ${i + 1} (${of}) from ${part}`, kind: 'hidden event', trouble: { interfere } }
  })
}

/** The controllers restart at the end, with caches that start from each revision of what they read. */
function oldCaches(target: Target, free: StoryRun): Point[] {
  const isSeen = seenBy(target)
  const revisions = new Set(free.deliveries.filter((one) => one.cluster === undefined && isSeen(one)).map(({ revision }) => revision - 1))
  return [...revisions]
    .filter((revision) => revision >= free.revisions.from && revision < free.revisions.to)
    .sort((a, b) => a - b)
    .map((revision): Point => {
      const back = free.revisions.to - revision
      return {
        says: `restart at the end with caches of ${back} revisions ago`,
        kind: 'old cache',
        trouble: {
          async afterwards(cluster, settle) {
            cluster.killControllers()
            await cluster.inside(() => cluster.startControllers(cluster.store.revision - back))
            await settle()
          },
        },
      }
    })
}

function seenBy(target: Target): (delivery: Delivery) => boolean {
  const paths =
    target.resources === undefined ? undefined : new Set(target.resources.map((resource) => collectionPath(resource, undefined)))
  return ({ part, cluster, path }) =>
    cluster !== undefined
      ? target.followsMembers === true
      : part === 'caches'
        ? paths === undefined || paths.has(path)
        : part === 'everything' && target.followsCluster
}

/** At most `most` of them, spread evenly over each kind: the same ones in every run. */
export function sample(points: readonly Point[], most: number): Point[] {
  if (points.length <= most) return [...points]
  const kinds = [...new Set(points.map((point) => point.kind))]
  let left = most
  return kinds
    .map((kind) => points.filter((point) => point.kind === kind))
    .sort((a, b) => a.length - b.length)
    .flatMap((ofKind, i) => {
      const share = Math.min(ofKind.length, Math.floor(left / (kinds.length - i)))
      left -= share
      return Array.from({ length: share }, (_, j) => ofKind[Math.floor((j * ofKind.length) / share)] as Point)
    })
}
