/** What to do about a runtime that is not served, by the reason of its condition Served. Pure. */
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Commands } from './commands.ts'

export interface Refusal {
  runtime: KubeObject
  dataset: Dataset
  /** Of the condition. */
  reason: string | undefined
  message: string | undefined
  commands: Commands
}

/** A command about the runtime or its dataset. */
type Command = (verb: string) => string

interface Asked {
  runtime: Command
  dataset: Command
  refusal: Refusal
}

const FIXES: ReadonlyMap<string, (asked: Asked) => string> = new Map([
  ['UnsupportedMount', mountFix],
  ['InvalidMount', mountFix],
  // Its kind cannot be changed.
  [
    'NoEngine',
    ({ runtime }) => `delete it (${runtime('delete')}), and create a CacheRuntime of the same name with runtimeClassName: builtin`,
  ],
  ['NoSuchClass', ({ refusal }) => classFix(refusal.runtime, refusal.commands)],
  [
    'NoSuchProfile',
    ({ runtime, refusal: { commands } }) =>
      `name a profile that exists in profileName (${runtime('edit')}; see ${commands.inCluster('kubectl get thinruntimeprofiles')}), or ask an administrator to create it`,
  ],
  [
    'NotBound',
    ({ refusal: { dataset, commands } }) =>
      `see what its Dataset waits for: ${commands.here(`sluice why dataset/${dataset.metadata.name}`)}`,
  ],
  ['NoDataset', () => 'wait a moment: its Dataset is there by now'],
  ['TooManyReplicas', ({ runtime }) => `scale it in: ${runtime('scale')} --replicas=1`],
  ['NameTaken', ({ refusal: { commands } }) => `do what it says; what there is: ${commands.here('kubectl get asts,ds,svc,cm')}`],
  [
    'NameTooLong',
    ({ runtime, dataset }) => `make both again under a shorter name: ${runtime('delete')}; ${dataset('delete')}; then create them anew`,
  ],
  [
    'DirectoryNotAllowed',
    ({ runtime, dataset, refusal }) =>
      `name another directory: ${refusal.message?.startsWith('Dataset ') ? dataset('edit') : runtime('edit')}`,
  ],
])

export function fixOfRefusal(refusal: Refusal): string {
  const { runtime, dataset, reason = '', commands } = refusal
  const on =
    ({ kind, metadata }: KubeObject): Command =>
    (verb) =>
      commands.here(`kubectl ${verb} ${kind.toLowerCase()}/${metadata.name}`)
  const asked = { runtime: on(runtime), dataset: on(dataset), refusal }
  return FIXES.get(reason)?.(asked) ?? `change it: ${asked.runtime('edit')}`
}

function mountFix({ runtime, dataset, refusal }: Asked): string {
  const refers = (refusal.dataset.spec?.mounts ?? []).some(({ mountPoint }) => /^dataset:\/\//i.test(mountPoint))
  return refers ? `delete the runtime, which is not needed: ${runtime('delete')}` : `change the mounts: ${dataset('edit')}`
}

export function classFix({ metadata }: KubeObject, commands: Commands): string {
  const edit = commands.here(`kubectl edit cacheruntime/${metadata.name}`)
  const classes = commands.inCluster('kubectl get cacheruntimeclasses')
  return `name a class that exists as runtimeClassName (${edit}; see ${classes}), or ask an administrator to create it`
}
