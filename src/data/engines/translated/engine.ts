/**
 * AlluxioRuntime, JuiceFSRuntime and JindoRuntime, served by the builtin cache: in clusters of `up` the images of these engines do
 * not run. Names of objects and the form of the status stay those of the kind; the condition Served says who serves.
 */
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { datasetId, fuseLabel } from '../../../kinds/fluid/names.ts'
import { ALLUXIO_RUNTIMES, JINDO_RUNTIMES, JUICEFS_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import { unreadMount } from '../../../kinds/fluid/unread-mounts.ts'
import { mountInfo } from '../../volume/desired.ts'
import { BUILTIN_CLASS } from '../builtin/class.ts'
import { clearingOf } from '../cache/clearing.ts'
import { servedAs } from '../cache/engine.ts'
import type { Cache } from '../cache/topology.ts'
import type { Engine, EngineInput, EngineOptions, Served } from '../engine.ts'
import { type TranslatedSpec, translatedSpec } from './spec.ts'

const SERVED_BY = 'served by the builtin cache of Sluice: images, ports and options of the engine itself have no effect'

type Names = (name: string) => Cache['names']

const plainNames: Names = (name) => ({ master: `${name}-master`, worker: `${name}-worker`, client: `${name}-fuse` })
const jindoNames: Names = (name) => ({ master: `${name}-jindofs-master`, worker: `${name}-jindofs-worker`, client: `${name}-jindofs-fuse` })

const engineOf = (type: Engine['type'], resource: Engine['resource'], names: Names): Engine => ({
  type,
  resource,
  serve: (input, options) => serve({ type, kind: resource.kind, names }, input, options),
  clearing: ({ runtime, classOf }) => clearingOf(classOf(BUILTIN_CLASS), names(runtime.metadata.name ?? ''), runtime.spec),
})

export const alluxioEngine = engineOf('alluxio', ALLUXIO_RUNTIMES, plainNames)
export const juicefsEngine = engineOf('juicefs', JUICEFS_RUNTIMES, plainNames)
export const jindoEngine = engineOf('jindo', JINDO_RUNTIMES, jindoNames)

interface Kind {
  type: Engine['type']
  kind: string
  names: Names
}

function serve({ type, kind, names }: Kind, { runtime, dataset, classOf }: EngineInput, { translates }: EngineOptions): Served {
  if (!translates)
    return refused(
      'NoEngine',
      `no engine serves runtimes of kind ${kind} here yet: delete it, and create a CacheRuntime of the same name with runtimeClassName ${BUILTIN_CLASS}`,
    )
  const unread = unreadMount(dataset.spec)
  if (unread !== undefined) return { refused: unread }
  const runtimeClass = classOf(BUILTIN_CLASS)
  if (runtimeClass === undefined) return refused('NoSuchClass', `CacheRuntimeClass ${BUILTIN_CLASS} is missing; it is made again by itself`)
  const given = (runtime.spec ?? {}) as TranslatedSpec
  const { spec, problem } = translatedSpec(given)
  if (spec === undefined) return refused('InvalidRuntime', problem)
  const { namespace = '', name = '', uid = '' } = dataset.metadata
  const named = { namespace, name, uid }
  return servedAs(
    {
      dataset: withProperties(dataset, given.properties),
      runtime,
      spec,
      runtimeClass,
      names: names(name),
      fuseLabel: fuseLabel(named),
      datasetId: datasetId(named),
      targetPath: mountInfo(type, dataset.metadata).path,
    },
    SERVED_BY,
  )
}

const refused = (reason: string, message: string): Served => ({ refused: { reason, message } })

const SOURCE_OPTION = /^(alluxio\.underfs\.|aws\.|fs\.s3)/

/** Manifests for Alluxio also write options of sources as properties of the runtime; those of the dataset win. */
function withProperties(dataset: Dataset, properties: Record<string, string> = {}): Dataset {
  const options = Object.fromEntries(Object.entries(properties).filter(([name]) => SOURCE_OPTION.test(name)))
  if (Object.keys(options).length === 0) return dataset
  return { ...dataset, spec: { ...dataset.spec, sharedOptions: { ...options, ...dataset.spec?.sharedOptions } } }
}
