/**
 * Shows on each node which datasets have workers there, how much these can hold, and which are about to leave. Sole writer of: labels
 * `fluid.io/s-…`, `fluid.io/dataset-num`, `fluid_exclusive` and `sluice.dev/l-…` of Nodes. Runs again when these labels change, when a worker comes to the node
 * or is gone, and when its set, its runtime or its dataset changes. Labels go when the worker is gone, not when it is
 * being deleted: until then its cache is there.
 */
import type { AdvancedStatefulSet } from '../../kinds/fluid/index.ts'
import { ADVANCED_STATEFUL_SETS, DATASETS } from '../../kinds/fluid/resources.ts'
import { LABELS } from '../../kinds/fluid/well-known.ts'
import { NODES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Node, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfObject, keyOfRef, type ObjectRef } from '../../kube/object-reference.ts'
import { type LabelSelector, matchesLabels, parseLabelSelector } from '../../kube/selector.ts'
import { type Controller, defineController, indexOf, NOTHING_TO_DO, type Plan, type Reader, via } from '../../runtime/controller.ts'
import { controllerOf } from '../../runtime/workloads/pod/ownership.ts'
import { LEAVING_WORKER } from '../scaling/handover.ts'
import { isOwnLabel, labelChanges } from './labels.ts'
import { type CachedDataset, cachedDatasets, datasetOf, RUNTIMES } from './workers.ts'

export interface NodeDeps {
  /** Nodes that are never labelled: a label selector, as text (default: none). */
  excludeNodeSelector?: string
}

interface Observed {
  node: Node
  datasets: readonly CachedDataset[]
}

export function nodeController({ excludeNodeSelector = '' }: NodeDeps = {}): Controller {
  const excluded = selectorOf(excludeNodeSelector)
  const isExcluded = ({ metadata }: Node): boolean => excluded !== undefined && matchesLabels(excluded, metadata.labels)
  return defineController<Observed | undefined, Node>({
    name: 'data.node',
    for: NODES,
    isRelevantUpdate: (old, node) => isExcluded(old) !== isExcluded(node) || ownLabelsText(old) !== ownLabelsText(node),
    watches: [
      via(PODS, nodeOf, { isRelevantUpdate: (old, pod) => workerText(old) !== workerText(pod) }),
      via(ADVANCED_STATEFUL_SETS, (set, read) => nodesOf(read, 'set', keyOfObject(set)), {
        isRelevantUpdate: (old, set) => setText(old) !== setText(set),
      }),
      via(DATASETS, nodesOfDataset, { isRelevantUpdate: isAnother }),
      ...RUNTIMES.map((resource) =>
        via(resource, nodesOfDataset, {
          isRelevantUpdate: (old, runtime) => isAnother(old, runtime) || old.metadata.generation !== runtime.metadata.generation,
        }),
      ),
    ],
    indexes: [
      indexOf(PODS, 'node', (pod) => nodeOf(pod).map(({ name }) => name)),
      indexOf(PODS, 'dataset', (pod) => (nodeOf(pod).length === 0 ? [] : [keyOfRef(datasetOf(pod) ?? { name: '' })])),
      indexOf(PODS, 'set', (pod) => (nodeOf(pod).length === 0 ? [] : [setKeyOf(pod)])),
    ],
    writes: [{ resource: NODES, verbs: ['patch'] }],
    observe(_key, node, read) {
      if (node === undefined || node.metadata.deletionTimestamp !== undefined) return undefined
      const workers = isExcluded(node) ? [] : read.byIndex(PODS, 'node', node.metadata.name ?? '')
      return { node, datasets: workers.length === 0 ? [] : cachedDatasets(workers, read) }
    },
    plan,
  })
}

function selectorOf(text: string): LabelSelector | undefined {
  if (text.trim() === '') return undefined
  const { value, error } = parseLabelSelector(text)
  if (value === undefined) throw new Error(`the selector of nodes that get no labels, ${JSON.stringify(text)}, is none: ${error}`)
  return value
}

function plan(observed: Observed | undefined): Plan {
  if (observed === undefined) return NOTHING_TO_DO
  const { node, datasets } = observed
  const labels = labelChanges(node.metadata.labels ?? {}, datasets)
  return labels === undefined ? NOTHING_TO_DO : { actions: [{ do: 'patch', resource: NODES, of: node, patch: { metadata: { labels } } }] }
}

/** Where a worker is; other pods concern no node. */
function nodeOf(pod: Pod): ObjectRef[] {
  const name = pod.spec?.nodeName ?? ''
  return name === '' || datasetOf(pod) === undefined ? [] : [{ namespace: '', name }]
}

const setKeyOf = (pod: Pod): string => keyOfRef({ namespace: pod.metadata.namespace, name: controllerOf(pod)?.name ?? '' })

/** What passes read of a set: whose it is, and which of its pods are to leave. */
const setText = (set: AdvancedStatefulSet): string =>
  JSON.stringify([controllerOf(set)?.uid, set.metadata.annotations?.[LEAVING_WORKER], set.spec.replicas, set.spec.reserveOrdinals])

/** What passes read of a worker. */
function workerText(pod: Pod): string {
  const dataset = datasetOf(pod)
  if (dataset === undefined) return ''
  return [pod.spec?.nodeName, keyOfRef(dataset), setKeyOf(pod), pod.metadata.labels?.[LABELS.datasetPlacement]].join()
}

const isAnother = (old: KubeObject, object: KubeObject): boolean => old.metadata.uid !== object.metadata.uid

const nodesOf = (read: Reader, index: 'dataset' | 'set', key: string): ObjectRef[] => read.byIndex(PODS, index, key).flatMap(nodeOf)

/** A runtime and its dataset have the same name. */
const nodesOfDataset = (object: KubeObject, read: Reader): ObjectRef[] => nodesOf(read, 'dataset', keyOfObject(object))

const ownLabelsText = ({ metadata }: Node): string =>
  Object.entries(metadata.labels ?? {})
    .filter(([key]) => isOwnLabel(key))
    .map((pair) => pair.join('='))
    .sort()
    .join()
