/**
 * What the namespace of an original itself has chosen for its client: which program runs, with which environment and which volumes. A
 * class or a profile is written by administrators, for everybody's pods; what one tenant writes is not for the pods of another, and
 * can be a credential. Pure.
 */
import { isJsonObject } from '../../../base/json.ts'
import type { CacheRuntime, CacheRuntimeSpec, Dataset, ThinRuntime } from '../../../kinds/fluid/index.ts'
import { optionsOfMount } from '../../../kinds/fluid/mount-options.ts'
import { HOST_VOLUME_OPTION } from '../../../kinds/fluid/well-known.ts'
import type { Runtime } from '../../dataset/runtimes.ts'

/** Of a ThinRuntime's fuse: how often it is cleaned, where it runs and how much it takes is nobody else's business. */
const HARMLESS: ReadonlySet<string> = new Set(['cleanPolicy', 'global', 'nodeSelector', 'resources', 'podMetadata', 'imagePullSecrets'])
const OF_CLIENT = ['runtimeVersion', 'args', 'env', 'volumeMounts'] as const

/** Fields, sorted: `client.env`. Runtimes that are translated choose nothing: the client is the builtin one. */
export function chosenFor({ kind, object }: Runtime, dataset: Dataset): string[] {
  if (kind === 'CacheRuntime') return ofCache((object as CacheRuntime).spec)
  return kind === 'ThinRuntime' ? [...ofThin((object as ThinRuntime).spec), ...directoriesOf(dataset)].sort() : []
}

function ofCache(spec: CacheRuntime['spec']): string[] {
  const client: NonNullable<CacheRuntimeSpec['client']> | undefined = spec?.client
  if (client === undefined) return []
  const isOnNode = (client.tieredStore?.levels ?? []).some(({ hostPath }) => hostPath !== undefined)
  const fields = OF_CLIENT.filter((field) => isSaid(client[field])).map((field) => `client.${field}`)
  return [...fields, ...(isOnNode ? ['client.tieredStore'] : [])].sort()
}

function ofThin(spec: ThinRuntime['spec']): string[] {
  const fields = Object.entries(spec?.fuse ?? {}).filter(([field, value]) => !HARMLESS.has(field) && isSaid(value))
  return [...fields.map(([field]) => `fuse.${field}`), ...(isSaid(spec?.tieredstore) ? ['tieredstore'] : [])]
}

/** Directories of nodes that options of mounts name. */
const directoriesOf = ({ spec = {} }: Dataset): string[] =>
  (spec.mounts ?? []).some((mount) => Object.hasOwn(optionsOfMount(mount, spec).options, HOST_VOLUME_OPTION))
    ? [`option ${HOST_VOLUME_OPTION}`]
    : []

/** An empty text, list or map says nothing. */
function isSaid(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  if (Array.isArray(value)) return value.length > 0
  return !isJsonObject(value) || Object.values(value).some(isSaid)
}
