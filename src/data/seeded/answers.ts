/**
 * The commands of the caches of a cluster: they mount what the dataset says at that moment, and report a figure that only grows, and
 * what each worker holds, which is another amount with other workers. How often they fail before they work again is written in a
 * ConfigMap: reporting with each of its versions, mounting with each generation of a dataset, so that what was mounted once can be
 * mounted again; and how long a worker that leaves hands over.
 */
import { createHash } from 'node:crypto'
import type { ConfigMap, Pod } from '../../kinds/kubernetes/types.ts'
import type { CommandAnswer, CommandsInPods, InvariantView } from '../../runtime/seams/seeded.ts'
import { LEAVE, MOUNT, REPORT, STAY } from './generators/classes.ts'
import { ANSWERS } from './generators/drawing.ts'
import { DATASETS, mountPathsOf } from './judge.ts'

export function commandsInPods(view: InvariantView): ReturnType<CommandsInPods> {
  const left = new Map<string, number>()
  /** `of` is what it is counted for. */
  const failsStill = (what: string, of: string): boolean => {
    const answers = view.get('configmaps', ANSWERS) as ConfigMap | undefined
    const times = left.get(`${what} ${of}`) ?? Number(answers?.data?.[what] ?? '0')
    left.set(`${what} ${of}`, times - 1)
    return times > 0
  }
  return ({ namespace, pod, command: [, command] }) => {
    const where = `${namespace}/${pod.replace(/-master-0$/, '')}`
    const dataset = view.get(DATASETS, where)
    if (command === MOUNT) {
      const of = `${dataset?.metadata.uid} ${dataset?.metadata.generation}`
      if (failsStill('mountFails', of)) return { exitCode: 1, stderr: 'the source does not answer' }
      const paths = dataset === undefined ? [] : mountPathsOf(dataset)
      return { stdout: JSON.stringify({ mounted: failsStill('mountDiffers', of) ? [...paths, '/left'] : paths }) }
    }
    const version = versionOfAnswers(view)
    if (command === LEAVE)
      return failsStill('leaveFails', `${where} ${version}`) ? { exitCode: 1, stderr: 'nobody takes it' } : handedOver(view)
    if (command === STAY) return {}
    if (command !== REPORT) return undefined
    if (failsStill('reportFails', `${where} ${version}`)) return { stdout: 'not yet' }
    const pods = workersOf(view, where)
    const workers = pods.map((one) => ({
      pod: one.metadata.name,
      node: one.spec?.nodeName,
      cachedBytes: cachedBytesOf(one, pods, version),
    }))
    return { stdout: JSON.stringify({ cached: `${version}.00B`, fileNum: version, ufsTotal: '1.00GiB', workers }) }
  }
}

/** Grows with every change: the figure of all reports. */
export const versionOfAnswers = (view: InvariantView): string => view.get('configmaps', ANSWERS)?.metadata.resourceVersion ?? '0'

function handedOver(view: InvariantView): CommandAnswer {
  const { data = {} } = (view.get('configmaps', ANSWERS) ?? {}) as ConfigMap
  return { stdout: '{"state":"gone","moved":8,"dropped":2,"left":0}\n', lastsMs: Number(data.leaveMs ?? '0') }
}

/** Of a cache, by `namespace/name`. */
export function workersOf(view: InvariantView, where: string): Pod[] {
  const [namespace, name = ''] = where.split('/')
  return (view.list('pods') as Pod[]).filter(
    ({ metadata }) => metadata.namespace === namespace && new RegExp(`^${name}-worker-\\d+$`).test(metadata.name ?? ''),
  )
}

/** What a worker holds, of all that there are, with a version of the answers. */
export function cachedBytesOf(worker: Pod, all: readonly Pod[], version: string): number {
  const text = [worker, ...all.toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))]
  const uids = text.map(({ metadata }) => metadata.uid)
  return createHash('sha256').update(`${uids.join()} ${version}`).digest().readUInt16BE(0)
}
