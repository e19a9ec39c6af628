/**
 * What workers have stored in directories of nodes is removed before their runtime goes, because nobody else knows of it: by a
 * command in the pod of the master, which is tried again a few times and then given up. Nothing is waited for where no pod runs that
 * could do it, nor where pods are only simulated.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import { execInPod } from '../../client/exec-in-pod.ts'
import type { AdvancedStatefulSet } from '../../kinds/fluid/index.ts'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIME_CLASSES } from '../../kinds/fluid/resources.ts'
import type { RuntimeType } from '../../kinds/fluid/well-known.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { refOf } from '../../kube/object-reference.ts'
import { type Effect, type EffectRequest, EXEC_IN_PODS, type Outcome, type PassReader, request } from '../../runtime/controller.ts'
import { entryPod, runOf, simulatedBecause } from '../dataset/pods.ts'
import { shown } from '../dataset/text.ts'
import { isTier } from '../engines/cache/volume-names.ts'
import type { Clearing, Engine, PodEntry } from '../engines/engine.ts'
import { isOf } from './parts.ts'
import { podNamesOf } from './pods.ts'

interface ClearInput {
  namespace: string
  entry: PodEntry
  attempts: number
}

/** What was wrong at last, where something is left. */
export interface Cleared {
  problem: string | undefined
}

export type ClearEffect = Effect<ClearInput, Cleared>

const PAUSE_MS = 2000
/** Beyond what the attempts of any runtime may take. */
const TIMEOUT_MS = 660_000
const OUTPUT_BYTES = 64 * 1024
const LONGEST_COMPLAINT = 200
const MOST_NAMED = 5

export const clearEffect = (type: RuntimeType, clock: Clock): ClearEffect => ({
  name: `data.runtime.${type}.clear`,
  about: 'Runs the command in a master that removes what its workers have stored on their nodes, a few times if it fails.',
  timeoutMs: TIMEOUT_MS,
  access: [EXEC_IN_PODS],
  // Never fails: the runtime goes all the same.
  async run({ namespace, entry, attempts }, { client, signal }) {
    const { pod, container, command, timeoutMs } = entry
    let problem: string | undefined = 'no attempt is allowed'
    for (let tried = 0; tried < attempts && problem !== undefined && !signal.aborted; tried++) {
      if (tried > 0) await sleep(clock, PAUSE_MS, signal)
      const bounds = { clock, timeoutMs, maxBytes: OUTPUT_BYTES, signal }
      problem = await execInPod(client, { namespace, pod, container, command }, bounds).then(
        ({ exitCode, stderr }) => (exitCode === 0 ? undefined : `exit code ${exitCode}: ${shown(stderr, LONGEST_COMPLAINT)}`),
        (error: unknown) => shown(messageOf(error), LONGEST_COMPLAINT),
      )
    }
    return { problem }
  },
})

/** Undefined: nothing of the runtime is left on nodes. */
export type ToClear =
  | {
      /** Where it is, as a sentence begins. */
      where: string
      /** Undefined: nobody is there who could. */
      by: { request: EffectRequest; outcome: Outcome<Cleared> | undefined } | undefined
    }
  | undefined

interface ClearPass {
  engine: Engine
  runtime: KubeObject
  read: PassReader
  effect: ClearEffect
}

export function toClearOf({ engine, runtime, read, effect }: ClearPass): ToClear {
  const clearing = engine.clearing?.({ runtime, classOf: (name) => read.get(CACHE_RUNTIME_CLASSES, '', name) })
  if (clearing === undefined) return undefined
  const { namespace } = refOf(runtime)
  const setOf = (name: string): AdvancedStatefulSet | undefined => {
    const set = read.get(ADVANCED_STATEFUL_SETS, namespace, name)
    return set !== undefined && isOf(set, runtime) ? set : undefined
  }
  const [masters, workers] = [setOf(clearing.master), setOf(clearing.worker)]
  const directories = workers === undefined ? [] : directoriesIn(workers)
  const pods = workers === undefined ? [] : podNamesOf(workers).flatMap((name) => read.get(PODS, namespace, name) ?? [])
  const nodes = nodesOf(pods)
  if (directories.length === 0 || nodes.length === 0) return undefined
  const where = whereOf(runtime, directories, nodes)
  const run = masters === undefined ? undefined : runIn(masters, clearing, read)
  if (run === undefined) return { where, by: undefined }
  const key = `${runtime.metadata.uid ?? ''} ${run.key}`
  const input: ClearInput = { namespace, entry: run.entry, attempts: clearing.attempts }
  return { where, by: { request: request(effect, key, input), outcome: read.outcome(effect, key) } }
}

function runIn(
  { metadata, spec }: AdvancedStatefulSet,
  { command, attemptMs }: Clearing,
  read: PassReader,
): { key: string; entry: PodEntry } | undefined {
  const pod = `${metadata.name ?? ''}-0`
  const container = spec.template.spec?.containers?.[0]?.name
  const found = entryPod(read.get(PODS, metadata.namespace ?? '', pod), pod)
  if (container === undefined || found === undefined || simulatedBecause(found) !== undefined) return undefined
  const key = runOf(found, container)
  return key === undefined ? undefined : { key, entry: { pod, container, command, timeoutMs: attemptMs } }
}

/** Of tiers: other volumes are not the cache's own. */
const directoriesIn = ({ spec }: AdvancedStatefulSet): string[] =>
  (spec.template.spec?.volumes ?? []).flatMap(({ name = '', hostPath }) => (isTier(name) ? (hostPath?.path ?? []) : []))

/** On which workers have run; simulated ones have stored nothing. */
const nodesOf = (pods: readonly Pod[]): string[] => {
  const real = pods.filter((pod) => simulatedBecause(pod) === undefined)
  return [...new Set(real.flatMap(({ spec }) => spec?.nodeName ?? []))].filter((node) => node !== '').sort()
}

function whereOf(
  { metadata: { namespace = '', name = '' } }: KubeObject,
  directories: readonly string[],
  nodes: readonly string[],
): string {
  const below = directories.map((directory) => `${directory.replace(/\/+$/, '')}/${namespace}/${name}`)
  return `blocks may be left in ${listed(below)} of ${nodes.length === 1 ? 'node' : 'nodes'} ${listed(nodes)}`
}

function listed(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`
}
