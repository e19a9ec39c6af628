/** Labels of nodes that say which datasets have workers there: they come with a worker, and go after it. */
import type { KubeObject } from '../../kube/meta.ts'
import type { Change, Invariant, InvariantView } from '../../runtime/seams/seeded.ts'
import { commonLabelOf, labelNameOf, type Worker, workerOf, workersIn } from './judge.ts'

const PREFIX = 'fluid.io/s-'

const labelsOf = (node: KubeObject | undefined): string[] =>
  Object.keys(node?.metadata.labels ?? {}).filter((key) => key.startsWith(PREFIX))

function changedLabels({ object, previous }: Change): { added: string[]; removed: string[] } {
  const [now, before] = [labelsOf(object), labelsOf(previous)]
  return { added: now.filter((key) => !before.includes(key)), removed: before.filter((key) => !now.includes(key)) }
}

const workersOn = (view: InvariantView, node: string): Worker[] => workersIn(view).filter((worker) => worker.node === node)

export const neverLabelledAgain: Invariant<Set<string>> = {
  says: 'a label of a node that was released comes back only with a worker',
  about: ['nodes', 'pods'],
  memory: () => new Set(),
  broken(view, change, released) {
    if (change.resource === 'pods') {
      const worker = workerOf(change.object)
      if (worker === undefined || change.isDeletion) return undefined
      for (const key of released) if (key.startsWith(`${worker.node} `) && key.endsWith(labelNameOf(worker.dataset))) released.delete(key)
      return undefined
    }
    const { name = '' } = change.object.metadata
    const { added, removed } = changedLabels(change)
    const names = added.length + removed.length === 0 ? [] : workersOn(view, name).map(({ dataset }) => labelNameOf(dataset))
    const isAccounted = (key: string): boolean => names.some((dataset) => key.endsWith(dataset))
    for (const key of removed) if (!isAccounted(key)) released.add(`${name} ${key}`)
    const again = added.find((key) => released.has(`${name} ${key}`) && !isAccounted(key))
    return again === undefined ? undefined : `${name} has ${again} again`
  },
}

/** The workers that each label was there with, by their uids: those that came later may not have been seen yet. */
type Known = Map<string, Set<string>>

export const labelsStay: Invariant<{ known: Known | undefined }> = {
  says: 'a node keeps the label of a dataset until the worker is gone',
  about: ['nodes', 'pods'],
  memory: () => ({ known: undefined }),
  broken(view, change, memory) {
    memory.known ??= knownBefore(view, change)
    if (change.resource !== 'nodes') return undefined
    const { known } = memory
    const { name = '' } = change.object.metadata
    const { added, removed } = changedLabels(change)
    if (added.length + removed.length === 0 || change.isDeletion) return undefined
    const workers = workersOn(view, name)
    const gone = workers.find(({ dataset, pod }) => {
      const key = commonLabelOf(dataset)
      return removed.includes(key) && known.get(`${name} ${key}`)?.has(pod.metadata.uid ?? '') === true
    })
    for (const key of removed) known.delete(`${name} ${key}`)
    note(known, name, added, workers)
    return gone === undefined ? undefined : `${name} has lost that of ${gone.dataset}, and ${gone.pod.metadata.name} is there`
  },
}

/** Before the first change of all. */
function knownBefore(view: InvariantView, { object, previous }: Change): Known {
  const known: Known = new Map()
  const { name: changed, uid } = object.metadata
  for (const node of view.list('nodes')) {
    const { name = '' } = node.metadata
    const workers = workersOn(view, name).filter(({ pod }) => pod.metadata.uid !== uid)
    const before = previous === undefined ? undefined : workerOf(previous)
    const labels = labelsOf(object.kind === 'Node' && name === changed ? previous : node)
    note(known, name, labels, before?.node === name ? [...workers, before] : workers)
  }
  return known
}

function note(known: Known, node: string, keys: readonly string[], workers: readonly Worker[]): void {
  for (const key of keys) {
    const here = workers.filter(({ dataset }) => commonLabelOf(dataset) === key)
    known.set(`${node} ${key}`, new Set(here.map(({ pod }) => pod.metadata.uid ?? '')))
  }
}
