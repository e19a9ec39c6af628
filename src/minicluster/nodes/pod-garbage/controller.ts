/**
 * Ends pods that no kubelet will: bound to a node that has been gone for 40 seconds, deleted before they got a node, or
 * deleted on a node that is out of service. Sole writer of the condition DisruptionTarget with reason DeletionByPodGC. Runs
 * again when the pod or its node changes; time matters only for the quarantine.
 */

import type { Client } from '../../../client/client.ts'
import { ifFound } from '../../../client/errors.ts'
import { NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Node, Pod } from '../../../kinds/kubernetes/types.ts'
import { type Controller, defineController, indexOf, NOTHING_TO_DO, type Plan, type Reader, via } from '../../../runtime/controller.ts'
import { isPodTerminal } from '../../../runtime/workloads/pod/state.ts'
import { failAndDelete } from '../disrupted.ts'
import { isNodeReady } from '../lifecycle/health.ts'

const QUARANTINE_MS = 40_000
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service'
const NODE = 'node'

export interface Observed {
  pod: Pod | undefined
  node: Node | undefined
  /** Since when its node is known to be gone. */
  missingSinceMs: number | undefined
  nowMs: number
}

export function podGarbage(): Controller {
  /** By name, nodes that pods are bound to and that do not exist: since when. */
  const missing = new Map<string, number>()
  return defineController<Observed, Pod>({
    name: 'minicluster.nodes.pod-garbage',
    component: 'pod-garbage-collector-controller',
    for: PODS,
    watches: [
      via(NODES, (node, read) => {
        const name = node.metadata.name ?? ''
        const matters = read.get(NODES, '', name) === undefined || isOutOfService(node)
        return matters
          ? read.byIndex(PODS, NODE, name).map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }))
          : []
      }),
    ],
    indexes: [indexOf(PODS, NODE, ({ spec }) => ((spec?.nodeName ?? '') === '' ? [] : [spec?.nodeName ?? '']))],
    writes: [
      { resource: PODS, verbs: ['delete'] },
      { resource: PODS, subresource: 'status', verbs: ['patch'] },
    ],
    reads: [{ resource: NODES, verbs: ['get'] }],
    concurrency: 8,
    isRelevant: ({ metadata, spec }, read) =>
      metadata.deletionTimestamp !== undefined ||
      ((spec?.nodeName ?? '') !== '' && read.get(NODES, '', spec?.nodeName ?? '') === undefined),
    async observe(_ref, pod, read, client) {
      const nowMs = read.nowMs()
      const name = pod?.spec?.nodeName ?? ''
      const node = name === '' ? undefined : await nodeOf(name, { read, client, sinceMs: missing.get(name), nowMs })
      if (name === '' || node !== undefined) missing.delete(name)
      else if (!missing.has(name)) missing.set(name, nowMs)
      return { pod, node, missingSinceMs: missing.get(name), nowMs }
    },
    plan,
  })
}

interface Asking {
  read: Reader
  client: Client
  sinceMs: number | undefined
  nowMs: number
}

/** After the quarantine the server itself is asked: the cache may be behind. */
async function nodeOf(name: string, { read, client, sinceMs, nowMs }: Asking): Promise<Node | undefined> {
  const cached = read.get(NODES, '', name)
  if (cached !== undefined || sinceMs === undefined || nowMs < sinceMs + QUARANTINE_MS) return cached
  return ifFound(client.get<Node>(NODES, { name }))
}

const isOutOfService = (node: Node): boolean => !isNodeReady(node) && (node.spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE)

function plan({ pod, node, missingSinceMs, nowMs }: Observed): Plan {
  if (pod === undefined || isHeldByOthers(pod)) return NOTHING_TO_DO
  const isTerminating = pod.metadata.deletionTimestamp !== undefined
  if ((pod.spec?.nodeName ?? '') === '') return isTerminating ? { actions: failAndDelete(pod) } : NOTHING_TO_DO
  if (node !== undefined) return isTerminating && isOutOfService(node) ? { actions: failAndDelete(pod) } : NOTHING_TO_DO
  const endsMs = (missingSinceMs ?? nowMs) + QUARANTINE_MS
  if (endsMs > nowMs) return { actions: [], requeueAfterMs: endsMs - nowMs }
  return { actions: failAndDelete(pod, { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists', nowMs }) }
}

/** Nothing is left to do here: only finalizers of others keep it. */
const isHeldByOthers = (pod: Pod): boolean =>
  isPodTerminal(pod) && pod.metadata.deletionTimestamp !== undefined && pod.metadata.deletionGracePeriodSeconds === 0
