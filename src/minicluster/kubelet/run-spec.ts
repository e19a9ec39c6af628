/**
 * What exactly is to be run for a container: program, arguments, environment, mounts, root; or why that cannot be
 * determined: a reason, and a message that says what to do. Pure.
 */
import type { VolumeMount } from '../../kinds/kubernetes/types.ts'
import type { Mount, RunSpec } from './container-machine.ts'
import type { ContainerView } from './containers.ts'
import { containerCommand, type EntryPoint, type EntryPoints, entryPointOf } from './entry-point.ts'
import { type EnvironmentContext, environmentOf } from './environment/environment.ts'
import { expand } from './environment/expand.ts'
import { hostnameOf } from './hostname.ts'
import { type OwnLines, ownLines } from './hosts/hosts-text.ts'
import { isClean } from './volumes/payload.ts'

/** A volume of the pod that is ready on this machine. */
export interface ReadyVolume {
  path: string
  readOnly: boolean
  /** Other directories that appear in it, at clean relative paths. */
  mounts?: readonly { path: string; source: string; readOnly: boolean }[]
  /** Why it is not in memory, as the pod asked. */
  refusal?: string
}

export interface StartOrder {
  spec: Omit<RunSpec, 'mounts'>
  /** With `subPath`, the mounted file or directory is at that path below the source. */
  mounts: (Mount & { subPath?: string })[]
  /** Where the container may write its termination message; undefined where nothing can be mounted. */
  terminationMessagePath: string | undefined
  /** What the container's /etc/hosts says about its pod; undefined where nothing can be mounted, or the container mounts its own. */
  hosts?: OwnLines
}

export type Ordered = { order: StartOrder } | { problem: Problem }

export interface Problem {
  reason: 'CreateContainerConfigError' | 'CreateContainerError' | 'RunContainerError'
  message: string
}

export interface RunSpecContext {
  /** Directories used in place of images. */
  images: ReadonlyMap<string, string>
  entryPoints?: EntryPoints
  volumes: ReadonlyMap<string, ReadyVolume>
  environment: EnvironmentContext
  namespacesRefusal: string | undefined
}

export const HOSTS_PATH = '/etc/hosts'

export function orderOf(view: ContainerView, attempt: number, context: RunSpecContext): Ordered {
  const { spec: container } = view
  const { pod } = context.environment
  const imageRoot = context.images.get(container.image ?? '')
  const resolved = environmentOf(container, context.environment)
  if ('problem' in resolved) return { problem: { reason: 'CreateContainerConfigError', message: resolved.problem } }
  const { env } = resolved
  const lookup = (name: string): string | undefined => (Object.hasOwn(env, name) ? env[name] : undefined)
  const entryPoint = imageRoot === undefined ? entryPointOf(container.image, context.entryPoints) : undefined
  const command = commandOf(view, imageRoot, entryPoint)
  if ('problem' in command) return command
  const mounts = mountsOf(view, context.volumes, lookup)
  if ('problem' in mounts) return mounts
  const refusal = context.namespacesRefusal
  if (refusal !== undefined && (mounts.mounts.length > 0 || imageRoot !== undefined))
    return { problem: { reason: 'CreateContainerError', message: cannotMount(refusal, imageRoot !== undefined) } }
  return {
    order: {
      spec: {
        podUid: pod.metadata.uid ?? '',
        container: view.name,
        attempt,
        namespace: pod.metadata.namespace ?? '',
        pod: pod.metadata.name ?? '',
        command: command.command.map((part) => expand(part, lookup)),
        env,
        workingDir: container.workingDir === '' ? undefined : container.workingDir,
        imageRoot,
        ...(entryPoint === undefined ? {} : { entryPoint }),
        hostname: hostnameOf(pod),
        tty: container.tty === true,
        stdin: container.stdin === true,
      },
      mounts: mounts.mounts,
      hosts:
        refusal === undefined && !mounts.mounts.some(({ path }) => path.replace(/\/+$/, '') === HOSTS_PATH)
          ? ownLines(pod, context.environment.podIP ?? '')
          : undefined,
      terminationMessagePath: refusal === undefined ? (container.terminationMessagePath ?? '/dev/termination-log') : undefined,
    },
  }
}

function cannotMount(refusal: string, hasRoot: boolean): string {
  const what = hasRoot ? 'the image needs a root of its own' : 'the container has volumes to mount'
  return `${what}, and this machine refuses that: ${refusal} (a pod that needs no volumes can say automountServiceAccountToken: false)`
}

function commandOf(
  { spec }: ContainerView,
  imageRoot: string | undefined,
  entryPoint: EntryPoint | undefined,
): { command: string[] } | { problem: Problem } {
  const { command = [], args = [], image = '' } = spec
  if (entryPoint !== undefined) return { command: containerCommand(entryPoint, command, args) }
  // The directory of an image has no entry point, so arguments alone are the command.
  const all = command.length > 0 || imageRoot !== undefined ? [...command, ...args] : []
  if (all.length > 0) return { command: all }
  const message =
    imageRoot === undefined
      ? `nothing says what to run for image "${image}": set command to a program of this machine, or map the image to a directory (up --image ${image}=DIR) and set command`
      : `the directory that image "${image}" is mapped to does not say what to run: set command`
  return { problem: { reason: 'CreateContainerError', message } }
}

type Mounts = { mounts: StartOrder['mounts'] } | { problem: Problem }

function mountsOf({ spec, name }: ContainerView, volumes: RunSpecContext['volumes'], lookup: (name: string) => string | undefined): Mounts {
  const configError = (message: string): Mounts => ({ problem: { reason: 'CreateContainerConfigError', message } })
  if ((spec.volumeDevices ?? []).length > 0) return configError('block devices (volumeDevices) are not supported on process nodes')
  const mounts: StartOrder['mounts'] = []
  for (const mount of spec.volumeMounts ?? []) {
    const volume = volumes.get(mount.name ?? '')
    if (volume === undefined) return configError(`cannot find volume "${mount.name ?? ''}" to mount into container "${name}"`)
    const subPath = subPathOf(mount, lookup)
    if (subPath !== undefined && !isClean(subPath)) return configError(`subPath "${subPath}" must be a relative path without ".."`)
    mounts.push(...mountsOfVolume(volume, { path: mount.mountPath ?? '', isReadOnly: mount.readOnly === true, subPath }))
  }
  return { mounts }
}

/** The volume, or what is at a sub path of it, and then what appears inside of that. */
function mountsOfVolume(
  { path: source, readOnly, mounts = [] }: ReadyVolume,
  { path, isReadOnly, subPath }: { path: string; isReadOnly: boolean; subPath: string | undefined },
): StartOrder['mounts'] {
  const below = (inner: string, outer: string): string | undefined =>
    outer === '' ? inner : inner === outer ? '' : inner.startsWith(`${outer}/`) ? inner.slice(outer.length + 1) : undefined
  const [holder] = mounts
    .flatMap((one) => {
      const rest = subPath === undefined ? undefined : below(subPath, one.path)
      return rest === undefined ? [] : [{ ...one, rest }]
    })
    .sort((a, b) => b.path.length - a.path.length)
  const first =
    holder === undefined
      ? { source, path, readOnly: readOnly || isReadOnly, subPath }
      : { source: holder.source, path, readOnly: holder.readOnly || isReadOnly, subPath: holder.rest === '' ? undefined : holder.rest }
  const inside = mounts.flatMap((one) => {
    const rest = below(one.path, subPath ?? '')
    if (rest === undefined || rest === '') return []
    return [{ source: one.source, path: `${path.replace(/\/+$/, '')}/${rest}`, readOnly: one.readOnly || isReadOnly, subPath: undefined }]
  })
  return [first, ...inside.sort((a, b) => a.path.length - b.path.length)]
}

function subPathOf({ subPath, subPathExpr }: VolumeMount, lookup: (name: string) => string | undefined): string | undefined {
  const path = subPath !== undefined && subPath !== '' ? subPath : subPathExpr === undefined ? '' : expand(subPathExpr, lookup)
  const trimmed = path.replace(/\/+$/, '')
  return trimmed === '' || trimmed === '.' ? undefined : trimmed
}
