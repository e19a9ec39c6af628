/** A ThinRuntime with all that its objects are made from, or what is wrong with it. Pure. */
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { parseMountPoint } from '../../../kinds/fluid/mount-point.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { BUILTIN_CLASS } from '../builtin/class.ts'
import type { ProfileSpec, RuntimeSpec, ThinSpec } from './spec.ts'
import { hostVolumesOf } from './volumes.ts'

export interface Thin {
  dataset: Dataset
  /** The owner of the objects. */
  runtime: KubeObject
  spec: ThinSpec
  /** Options that the runtime alone gives: the profile's are known to its image. */
  runtimeOptions: Readonly<Record<string, string>>
  /** Label that lets the fuse run on a node. */
  fuseLabel: string
  datasetId: string
  /** Where the fuse of a node mounts the file system. */
  targetPath: string
  /** Nothing runs in fuses: no image of another engine runs here. */
  isPlayed: boolean
}

export const fuseName = (name: string): string => `${name}-fuse`
export const workerName = (name: string): string => `${name}-worker`
export const configMapName = (name: string): string => `${name}-fuse-conf`

interface Sources {
  runtime: RuntimeSpec
  profile: ProfileSpec
  profileName: string
}

/** What is wrong, and what to do; undefined: nothing. */
export function problemOf({ spec, dataset }: Thin, { runtime, profile, profileName }: Sources): string | undefined {
  const { fuse, worker } = spec
  for (const [lifecycle, where] of [
    [runtime.fuse?.lifecycle, 'the ThinRuntime'],
    [profile.fuse?.lifecycle, `ThinRuntimeProfile ${profileName}`],
  ] as const)
    if (lifecycle?.postStart !== undefined)
      return `custom fuse.lifecycle.postStart configuration in ${where} is not supported: remove it, and do its work in the command of the fuse`
  if ((fuse.image ?? '') === '') return missingImage('fuse', profileName)
  if (worker !== undefined && (worker.image ?? '') === '') return missingImage('worker', profileName)
  const volumes = new Set(spec.volumes.map(({ name }) => name))
  const homeless = [...(fuse.volumeMounts ?? []), ...(worker?.volumeMounts ?? [])].find(({ name }) => !volumes.has(name))
  if (homeless !== undefined)
    return `failed to find the volume for volumeMount ${homeless.name ?? ''}: add it to volumes of the ThinRuntime or of ThinRuntimeProfile ${profileName}`
  return mountProblem(dataset) ?? hostVolumesOf(dataset, fuse.volumeMounts).problem
}

const missingImage = (component: string, profileName: string): string =>
  `the image of the ${component} is missing: set ${component}.image in the ThinRuntime or in ThinRuntimeProfile ${profileName}`

function mountProblem({ spec }: Dataset): string | undefined {
  for (const { mountPoint } of spec?.mounts ?? []) {
    const { value, error } = parseMountPoint(mountPoint)
    if (error !== undefined) return error
    if (value.kind === 'dataset') return 'a ThinRuntime with a profile cannot mount dataset://: mount the sources of that dataset instead'
    // The client of a claim's volume would need its attributes and Secrets, which its namespace may not know.
    if (value.kind === 'pvc')
      return `a ThinRuntime does not mount claims (pvc://${value.claim}) yet: use a CacheRuntime of the same name with runtimeClassName ${BUILTIN_CLASS}, or mount the claim by volumes and fuse.volumeMounts of the ThinRuntime`
  }
  return undefined
}
