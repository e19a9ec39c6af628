/**
 * ThinRuntime: a file system that is mounted by a client of its own, which a profile describes. One without a profile refers to
 * another dataset. Where images of engines do not run, its pods are played: the dataset is bound, and says so.
 */
import type { ThinRuntime, ThinRuntimeProfile } from '../../../kinds/fluid/index.ts'
import { datasetId, fuseLabel } from '../../../kinds/fluid/names.ts'
import { THIN_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import { mountInfo } from '../../volume/desired.ts'
import { BUILTIN_CLASS } from '../builtin/class.ts'
import type { Engine, EngineInput, EngineOptions, Prepared, Served } from '../engine.ts'
import { thinObjects } from './objects.ts'
import { thinSpec } from './spec.ts'
import { fuseName, problemOf, type Thin, workerName } from './thin.ts'

export const thinEngine: Engine = { type: 'thin', resource: THIN_RUNTIMES, serve }

/** Of an object; what is longer is nobody's name. */
const LONGEST_NAME = 253
/** Also said by pods that wait for files of such a dataset. */
const PLAYED = `clients of file systems (ThinRuntime) are not run in clusters of sluice up; to read the data here, use a CacheRuntime of the same name with runtimeClassName ${BUILTIN_CLASS} and a source that it reads`

function serve({ runtime, dataset, profileOf }: EngineInput, { translates }: EngineOptions): Served {
  const own = (runtime as ThinRuntime).spec ?? {}
  const { profileName = '' } = own
  if (profileName === '')
    return refused(
      'NoProfile',
      `a ThinRuntime without profileName serves a dataset that refers to another one, and this one has no mount dataset://<namespace>/<name>: give it one, name a ThinRuntimeProfile in profileName, or use a CacheRuntime of the same name with runtimeClassName ${BUILTIN_CLASS}`,
    )
  const profile = (profileOf(profileName) as ThinRuntimeProfile | undefined)?.spec
  if (profile === undefined)
    return refused(
      'NoSuchProfile',
      `there is no ThinRuntimeProfile ${profileName.slice(0, LONGEST_NAME)}: create it, or name one that kubectl get thinruntimeprofiles shows`,
    )
  const { namespace = '', name = '', uid = '' } = dataset.metadata
  const named = { namespace, name, uid }
  const thin: Thin = {
    dataset,
    runtime,
    spec: thinSpec(own, profile),
    runtimeOptions: own.fuse?.options ?? {},
    fuseLabel: fuseLabel(named),
    datasetId: datasetId(named),
    targetPath: mountInfo('thin', dataset.metadata).path,
    isPlayed: translates,
  }
  const problem = problemOf(thin, { runtime: own, profile, profileName })
  return problem === undefined ? { prepared: preparedOf(thin) } : refused('InvalidRuntime', problem)
}

const refused = (reason: string, message: string): Served => ({ refused: { reason, message } })

function preparedOf(thin: Thin): Prepared {
  const { dataset, spec, isPlayed } = thin
  const { name = '' } = dataset.metadata
  return {
    objects: thinObjects(thin),
    components: {
      ...(spec.worker === undefined ? {} : { worker: { name: workerName(name), replicas: spec.replicas } }),
      client: { name: fuseName(name), replicas: 0 },
    },
    keySecret: undefined,
    // The client reads what to mount from its configuration, and nobody counts what it holds.
    mountUfs: undefined,
    reportSummary: undefined,
    mountPaths: [],
    quotas: { memoryBytes: 0, diskBytes: 0 },
    servedBy: undefined,
    // Fluid's has the values of a chart; there is none.
    valueFile: 'N/A',
    ...(isPlayed ? { simulated: PLAYED } : {}),
  }
}
