/**
 * What carries out an operation on a dataset: the program that the class of its runtime names for it. Runtimes of other engines
 * that the builtin cache serves have those of its class.
 */
import type { CacheRuntime, CacheRuntimeClass, Dataset } from '../../kinds/fluid/index.ts'
import { CACHE_RUNTIME_CLASSES, CACHE_RUNTIMES } from '../../kinds/fluid/resources.ts'
import { RUNTIME_CATEGORY } from '../../kinds/fluid/well-known.ts'
import { BUILTIN_CLASS } from '../engines/builtin/class.ts'
import { CLASS_ANNOTATIONS, CONFIG_FILE, configMapName, keySecretName } from '../engines/cache/pod-template.ts'
import type { OperationProgram } from './build/index.ts'

/** From caches or from the server: both answer in the same way. */
export interface ProgramSource {
  runtimeOf(name: string): Promise<CacheRuntime | undefined>
  classOf(name: string): Promise<CacheRuntimeClass | undefined>
}

/** Of the runtime that the dataset is bound to; empty: it is bound to none. */
export const runtimeTypeOf = ({ status }: Dataset): string =>
  status?.runtimes?.find(({ category }) => category === RUNTIME_CATEGORY)?.type ?? ''

/** Of our own programs: see docs/design/0017-programs.md. */
const PROGRESS_PORT = 19_453

const TRANSLATED: readonly string[] = ['alluxio', 'juicefs', 'jindo']

export interface ProgramOptions {
  /** Whether the builtin cache serves runtimes of other engines. */
  translates: boolean
}

export async function programOf(
  kind: string,
  dataset: Dataset,
  { runtimeOf, classOf, translates }: ProgramSource & ProgramOptions,
): Promise<OperationProgram | undefined> {
  const { name = '' } = dataset.metadata
  const type = runtimeTypeOf(dataset)
  const className =
    type === 'cache' ? (await runtimeOf(name))?.spec?.runtimeClassName : translates && TRANSLATED.includes(type) ? BUILTIN_CLASS : undefined
  const runtimeClass = className === undefined ? undefined : await classOf(className)
  const spec = runtimeClass?.dataOperationSpecs?.find((one) => one.name === kind)
  if (spec === undefined) return undefined
  const worker = runtimeClass?.topology?.worker?.template?.spec
  return {
    image: spec.image ?? worker?.containers?.[0]?.image ?? '',
    command: spec.command,
    args: spec.args,
    imagePullSecrets: worker?.imagePullSecrets,
    config: { configMap: configMapName(name), file: CONFIG_FILE },
    ...(runtimeClass?.metadata.annotations?.[CLASS_ANNOTATIONS.key] === 'true' ? { keySecret: keySecretName(name) } : {}),
    ...(className === BUILTIN_CLASS ? { saysFinal: true, progressPort: PROGRESS_PORT } : {}),
    allowsPrivateAddresses: runtimeClass?.topology?.worker?.options?.allowPrivateAddresses === 'true',
  }
}

/** What is read for it, besides the dataset. */
export const PROGRAM_READS = [CACHE_RUNTIMES, CACHE_RUNTIME_CLASSES]
