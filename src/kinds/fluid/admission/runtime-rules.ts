/** Validation of runtimes: where they store what they cache, and which directories of the node they see. */
import { child, type FieldError, forbidden, index, invalid, omittedValue } from '../../../kube/field-error.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Lifecycle, Volume } from '../../kubernetes/types.ts'
import { quoted } from '../../volcano/annotations.ts'
import { CacheRuntime, type CacheRuntimeSpec, type CacheTierLevel, type TierLevel } from '../index.ts'
import { pathProblem } from '../paths.ts'
import { cacheTiersOf, type Tiers, tiersOf } from '../tiered-store.ts'
import { type HostPathPrefixes, hostPathErrors } from './host-paths.ts'
import { runtimeReplicaErrors } from './replica-rules.ts'

/** Of a runtime of any kind. */
export const runtimeErrorsOf = ({ kind, spec }: KubeObject, prefixes: HostPathPrefixes): FieldError[] => [
  ...runtimeReplicaErrors(spec),
  ...(kind === CacheRuntime.kind
    ? cacheRuntimeErrors(spec as CacheRuntimeSpec | undefined, prefixes)
    : runtimeErrors(spec as OldRuntimeSpec | undefined, prefixes)),
]

/** What the runtimes with lower-case names share. */
interface OldRuntimeSpec {
  tieredstore?: { levels?: TierLevel[] }
  volumes?: Volume[]
  /** Only a ThinRuntime says how it starts and ends. */
  fuse?: { lifecycle?: Lifecycle }
}

function runtimeErrors(spec: OldRuntimeSpec | undefined, prefixes: HostPathPrefixes): FieldError[] {
  const levels = spec?.tieredstore?.levels ?? []
  return [
    ...tierErrors({ path: 'spec.tieredstore.levels', field: () => 'path' }, tiersOf(levels), prefixes),
    ...levels.flatMap(({ volumeSource }, i) =>
      hostVolumeErrors(`spec.tieredstore.levels[${i}].volumeSource.hostPath.path`, volumeSource?.hostPath?.path, prefixes),
    ),
    ...volumeErrors(spec?.volumes, prefixes),
    ...(spec?.fuse?.lifecycle?.postStart === undefined ? [] : [forbidden('spec.fuse.lifecycle.postStart', NO_POST_START)]),
  ]
}

/** The mount is what has to happen after the start, and whoever waits for it knows no other. */
const NO_POST_START =
  'custom fuse.lifecycle.postStart configuration in a ThinRuntime is not supported: do its work in the command of the fuse'

function cacheRuntimeErrors(spec: CacheRuntimeSpec | undefined, prefixes: HostPathPrefixes): FieldError[] {
  const component = (name: string, levels: CacheTierLevel[] | undefined): FieldError[] =>
    tierErrors({ path: `spec.${name}.tieredStore.levels`, field: (i) => index('hostPath.paths', i) }, cacheTiersOf(levels), prefixes)
  return [
    ...component('worker', spec?.worker?.tieredStore?.levels),
    ...component('client', spec?.client?.tieredStore?.levels),
    ...volumeErrors(spec?.volumes, prefixes),
  ]
}

interface Levels {
  path: string
  /** The field of a level that has the path of its i-th store. */
  field(i: number): string
}

function tierErrors({ path, field }: Levels, { tiers, problems }: Tiers, prefixes: HostPathPrefixes): FieldError[] {
  const stores = tiers
    .filter(({ volume }) => volume === 'hostPath')
    .flatMap(({ level, stores: all }) => all.map((store, i) => ({ at: child(index(path, level), field(i)), path: store.path })))
  return [
    ...problems.map(({ field: below, detail }) => invalid(`${path}${below}`, omittedValue, detail)),
    ...stores.flatMap((store) => (store.path === '' ? [] : directoryErrors(store.at, store.path, prefixes))),
  ]
}

function directoryErrors(field: string, path: string, prefixes: HostPathPrefixes): FieldError[] {
  const problem = path.startsWith('/') ? pathProblem(path) : `${quoted(path)} is not absolute: write the whole path of the directory`
  return problem === undefined ? hostPathErrors(field, path, prefixes) : [invalid(field, omittedValue, problem)]
}

const volumeErrors = (volumes: readonly Volume[] = [], prefixes: HostPathPrefixes): FieldError[] =>
  volumes.flatMap(({ hostPath }, i) => hostVolumeErrors(`spec.volumes[${i}].hostPath.path`, hostPath?.path, prefixes))

const hostVolumeErrors = (field: string, path: string | undefined, prefixes: HostPathPrefixes): FieldError[] =>
  path === undefined ? [] : directoryErrors(field, path, prefixes)
