/**
 * A runtime that annotations of its dataset have made goes on following them, as long as nobody else has changed what it asks for:
 * a mark on it says what it was made from, and in which generation. A runtime that somebody wrote or has changed is theirs, and the
 * dataset says that its annotations have no effect. Pure.
 */
import { deepEqual, isJsonObject, type JsonObject } from '../../base/json.ts'
import { CacheRuntime, type Dataset } from '../../kinds/fluid/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Action } from '../../runtime/controller.ts'
import { isOwnedBy } from '../dataset-owner.ts'
import { mergePatchTo } from '../runtime/merge-patch.ts'
import { CLASS, requestedRuntime } from './requested-runtime.ts'
import type { Choice, Runtime } from './runtimes.ts'

/** On a runtime: `{"generation":1,"spec":{…}}`. */
const MARK = 'sluice.dev/requested'

export interface Following {
  /** The runtime becomes what is asked for now. */
  change?: Action
  /** Why what is asked for has no effect. */
  ignored?: string
}

const NOTHING: Following = Object.freeze({})

/** As it is created, in the first generation. */
export const marked = (runtime: KubeObject): KubeObject => ({
  ...runtime,
  metadata: { ...runtime.metadata, annotations: { [MARK]: markText(1, runtime.spec) } },
})

const markText = (generation: number, spec: unknown): string => JSON.stringify({ generation, spec })

/** Of the runtime that is used. */
export const followingIn = ({ dataset, choice: { runtime } }: { dataset: Dataset; choice: Choice }): Following =>
  runtime === undefined ? NOTHING : followingOf(dataset, runtime)

function followingOf(dataset: Dataset, { kind, resource, object }: Runtime): Following {
  if (dataset.metadata.deletionTimestamp !== undefined) return NOTHING
  const asked = requestedRuntime(dataset)
  if (asked === undefined) return NOTHING
  const { name = '', generation = 0 } = object.metadata
  const mark = kind === CacheRuntime.kind && isOwnedBy(object, dataset) ? markIn(object) : undefined
  if (mark === undefined)
    return {
      ignored: `annotation ${CLASS} has no effect, because ${kind} ${name} was not made by it: remove the annotation, or delete the ${kind}`,
    }
  if (asked.problem !== undefined) return { ignored: `${asked.problem}; until then ${kind} ${name} stays as it is` }
  const wanted = asked.runtime.spec
  if (deepEqual(mark.spec, wanted)) return NOTHING
  if (mark.generation !== generation)
    return {
      ignored: `the annotations do not change ${kind} ${name} any more, because somebody else has changed it: change it itself, or delete it, so that it is made again as they say`,
    }
  const spec = mergePatchTo(object.spec as JsonObject, wanted as JsonObject)
  const annotations = { [MARK]: markText(spec === undefined ? generation : generation + 1, wanted) }
  return { change: { do: 'patch', resource, of: object, patch: { metadata: { annotations }, ...(spec === undefined ? {} : { spec }) } } }
}

function markIn({ metadata, spec }: KubeObject): { generation: unknown; spec: unknown } | undefined {
  const text = metadata.annotations?.[MARK]
  if (text === undefined || !isJsonObject(spec)) return undefined
  try {
    const mark: unknown = JSON.parse(text)
    return isJsonObject(mark) ? { generation: mark.generation, spec: mark.spec } : undefined
  } catch {
    // Somebody has written it: the runtime is theirs.
    return undefined
  }
}
