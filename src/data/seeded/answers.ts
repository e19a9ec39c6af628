/**
 * The commands of the caches of a cluster: they mount what the dataset says at that moment, and report a figure that only grows.
 * How often they fail before they work again is written in a ConfigMap: reporting with each of its versions, mounting with each
 * generation of a dataset, so that what was mounted once can be mounted again.
 */
import type { ConfigMap } from '../../kinds/kubernetes/types.ts'
import type { CommandsInPods, InvariantView } from '../../runtime/seams/seeded.ts'
import { MOUNT, REPORT } from './generators/classes.ts'
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
    if (command !== REPORT) return undefined
    const version = versionOfAnswers(view)
    if (failsStill('reportFails', `${where} ${version}`)) return { stdout: 'not yet' }
    return { stdout: JSON.stringify({ cached: `${version}.00B`, fileNum: version, ufsTotal: '1.00GiB' }) }
  }
}

/** Grows with every change: the figure of all reports. */
export const versionOfAnswers = (view: InvariantView): string => view.get('configmaps', ANSWERS)?.metadata.resourceVersion ?? '0'
