/**
 * A module is one value: what it serves, what it runs, which options it takes, and what it puts into the seams. Everything
 * that is declared can be listed without creating a service, so access rules, references, flags and fault points are derived
 * from the list of modules. Adding a module is one folder and one line in `src/modules.ts`.
 */
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { ConnectMember } from '../../client/members.ts'
import type { Admission } from '../../kinds/admission.ts'
import type { OwnKind } from '../../kinds/schema/define-kind.ts'
import type { HttpPath, Subresource } from '../../kinds/subresource.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Controller } from '../controller.ts'
import type { ControllerMetrics } from '../metrics.ts'
import type { RunningController } from '../run-controller.ts'
import type { CsiDriver } from '../seams/csi-driver.ts'
import type { Explainer } from '../seams/explainer.ts'
import type { Narrowing } from '../seams/narrowing.ts'
import type { NodeData } from '../seams/node-data.ts'
import type { Overview } from '../seams/overview.ts'
import { asAdmission, type PodAdmission } from '../seams/pod-admission.ts'
import { joinSeams, NO_SEAMS, type Seams } from '../seams/seams.ts'
import type { SeededPart } from '../seams/seeded.ts'
import type { Chapter } from '../seams/story.ts'
import type { VolumeDriver } from '../seams/volume-driver.ts'
import type { ClusterRole, ModuleEnv } from './env.ts'
import { type Flag, type FlagCommand, type FlagFiles, type FlagTexts, isFlagOf, nameOfFlag } from './flags.ts'
import type { HostPart, HostPlace } from './host.ts'
import type { LocalClusters, LocalMembership } from './local-clusters.ts'
import { unconnected } from './unconnected.ts'

export interface LeaseReference {
  namespace: string
  name: string
}

/** What the API server offers to modules that serve subresources and paths. */
export interface Serving {
  clock: Clock
  /** How members are reached; absent where this cluster has none. */
  connectMember?: ConnectMember
  /** Cuts members of this process off and reconnects them, where this cluster is their hub. */
  members?: MemberSwitch
}

/** Each resolves to false when there is no such member in this process. */
export interface MemberSwitch {
  stop(name: string): Promise<boolean>
  start(name: string): Promise<boolean>
}

export interface KeptOptions<Options> {
  /** Its key in the settings of the data directory. */
  key: string
  /** `kept` is what was found there, undefined in a new directory; anything unreadable counts as absent. */
  restore(options: Options, kept: unknown, random: Random): Options
  value(options: Options): unknown
}

/** Metrics that a module registers in addition to those every controller has, for the reference. */
export interface DeclaredMetrics {
  heading: string
  intro: string
  declared: Readonly<Record<string, { type: string; labels: readonly string[]; help: string }>>
  outro?: string
}

export interface ModuleSpec<Options, Services> {
  name: string
  /** Where its controllers run. */
  roles: readonly ClusterRole[]
  /** Uses `env.members`, and runs only where the process can reach them. */
  needsMembers?: boolean
  /** Leases of programs that do the same work: while one of them is live, the module does not run. */
  upstreamLeases: readonly LeaseReference[]
  /** The kinds it defines, and where they are served: possibly in more clusters than its controllers run in. */
  kinds?: Readonly<Partial<Record<ClusterRole, readonly OwnKind[]>>>
  /** ClusterRoles for users of its kinds: created by our own server, generated into deploy/rbac for others. */
  userRoles?: Readonly<Partial<Record<ClusterRole, readonly KubeObject[]>>>
  /** API groups whose objects are never propagated to members. */
  neverTravel?: readonly string[]
  /** Resources of which the cluster cache keeps whole objects for this module, not only metadata. */
  keepsWhole?(resource: Resource, env: Pick<ModuleEnv, 'propagatable'>): boolean
  /** Follows the metadata of all objects, and may patch and delete them: its access rules cannot name resources. */
  followsCluster?: boolean
  defaults: Options
  /** Defaults that differ by command: for options that neither `defaults`, nor a data directory, nor a caller has set. */
  commandDefaults?: Readonly<Partial<Record<FlagCommand, Readonly<Partial<Options>>>>>
  /** Options that declare everything it can run, where the defaults leave something out. */
  declaredWith?: Options
  /** The part of the options that `up` stores in the data directory for the next start. */
  kept?: KeptOptions<Options>
  /** Whether pods of its cluster run as processes on this machine. */
  runsProcesses?(options: Options): boolean
  /** The flags of `up` and `controllers` that change its options. */
  flags?: readonly Flag<Options>[]
  /** Runs after pod admission, in the clusters where its kinds are served. */
  admission?(options: Options, role: ClusterRole): readonly Admission[]
  subresources?(serving: Serving): readonly Subresource[]
  httpPaths?(serving: Serving): readonly HttpPath[]
  metrics?: DeclaredMetrics
  /** Once per cluster and process. May follow caches; must not write. */
  services(env: ModuleEnv, options: Options): Services
  /** May refer to services but must not use them: see `unconnected`. */
  controllers(services: Services, options: Options, seams: Seams): readonly Controller[]
  /** Loops that run next to the controllers. */
  loops?(services: Services, env: ModuleEnv): readonly RunningController[]
  /** Names of the loops, for documentation and proofs. */
  loopNames?: readonly string[]
  /** Resolves when its controllers may begin their first pass. */
  ready?(services: Services): Promise<unknown> | undefined
  /** Observer of passes, writes and events. */
  observes?(services: Services): Partial<ControllerMetrics> | undefined
  /** What it needs of the machine under a cluster of `up`. */
  host?(place: HostPlace, options: Options): HostPart<Options>
  /** What `up` does at its hub for its own members. */
  localMembership?(clusters: LocalClusters): LocalMembership
  seams?: {
    narrowings?(services: Services, options: Options): readonly Narrowing[]
    volumeDrivers?(services: Services, options: Options): readonly VolumeDriver[]
    csiDrivers?(services: Services, options: Options): readonly CsiDriver[]
    nodeData?: readonly NodeData[]
    podAdmissions?(options: Options): readonly PodAdmission[]
    explainers?: readonly Explainer[]
    overviews?: readonly Overview[]
    chapters?: readonly Chapter[]
    seeded?: SeededPart
  }
}

/** A module that runs in one cluster. */
export interface RunningModule {
  seams: Partial<Seams>
  controllers(seams: Seams): readonly Controller[]
  loops: readonly RunningController[]
  ready: Promise<unknown> | undefined
  observes: Partial<ControllerMetrics> | undefined
}

/** A module as seen by code that composes clusters. The types of its options and services stay private. */
export interface Module
  extends Pick<
    ModuleSpec<never, never>,
    | 'name'
    | 'roles'
    | 'needsMembers'
    | 'upstreamLeases'
    | 'kinds'
    | 'userRoles'
    | 'neverTravel'
    | 'keepsWhole'
    | 'followsCluster'
    | 'subresources'
    | 'httpPaths'
    | 'metrics'
    | 'loopNames'
    | 'localMembership'
  > {
  readonly flags: readonly Pick<Flag<never>, 'flag' | 'about' | 'on' | 'isRepeatable' | 'variable'>[]
  readonly explainers: readonly Explainer[]
  readonly overviews: readonly Overview[]
  readonly chapters: readonly Chapter[]
  readonly seeded: SeededPart | undefined
  admission(role: ClusterRole): readonly Admission[]
  start(env: ModuleEnv): RunningModule
  /** What it puts into the seams, as declarations. */
  declaredSeams(): Partial<Seams>
  /** Its controllers as declarations: nothing is created, and nothing runs. `seams` are those that all modules declare (default: none). */
  declaredControllers(seams?: Seams): readonly Controller[]
  /** The same module with the options that the flags of a command set. Rejects with a FlagError. */
  withFlags(command: FlagCommand, texts: FlagTexts, files: FlagFiles): Promise<Module>
  /** The same module with the options stored in a data directory; undefined where it stores none. */
  readonly kept?: { key: string; value(): unknown; restored(kept: unknown, random: Random): Module }
  readonly runsProcesses: boolean
  /** The same module as it runs in a cluster of `up`. */
  hosted?(place: HostPlace): Hosted
}

export interface Hosted extends Omit<HostPart<never>, 'options'> {
  /** For the API server, before it listens. */
  module: Module
  /** For the controllers, once it is known where the API server listens. */
  moduleAt(apiServer: { host: string; port: number }): Module
}

export interface ConfigurableModule<Options> extends Module {
  readonly options: Options
  with(options: Partial<Options>): ConfigurableModule<Options>
}

/** What is wrong with a flag. */
export class FlagError extends Error {}

export function defineModule<Options, Services extends object>(spec: ModuleSpec<Options, Services>): ConfigurableModule<Options> {
  return configured(spec, spec.defaults)
}

function configured<Options, Services extends object>(spec: ModuleSpec<Options, Services>, options: Options): ConfigurableModule<Options> {
  const { name, roles, needsMembers, upstreamLeases, kinds, userRoles, neverTravel, keepsWhole, followsCluster } = spec
  const { subresources, httpPaths, metrics, loopNames, localMembership, seams = {}, flags = [], host, kept } = spec
  return Object.freeze({
    name,
    roles,
    needsMembers,
    upstreamLeases,
    kinds,
    userRoles,
    neverTravel,
    keepsWhole,
    followsCluster,
    subresources,
    httpPaths,
    metrics,
    loopNames,
    localMembership,
    flags,
    options,
    explainers: seams.explainers ?? [],
    overviews: seams.overviews ?? [],
    chapters: seams.chapters ?? [],
    seeded: seams.seeded,
    admission: (role: ClusterRole) => [
      ...(role === 'member' ? (seams.podAdmissions?.(options) ?? []).map(asAdmission) : []),
      ...(spec.admission?.(options, role) ?? []),
    ],
    start: (env: ModuleEnv) => started(spec, env, options),
    declaredSeams: () => seamsOf(spec, unconnected<Services>(`the services of ${name}`), spec.declaredWith ?? options),
    declaredControllers(declared: Seams = NO_SEAMS) {
      const services = unconnected<Services>(`the services of ${name}`)
      return spec.controllers(services, spec.declaredWith ?? options, declared)
    },
    with: (more: Partial<Options>) => configured(spec, { ...options, ...more }),
    runsProcesses: spec.runsProcesses?.(options) ?? false,
    kept:
      kept === undefined
        ? undefined
        : {
            key: kept.key,
            value: () => kept.value(options),
            restored: (found: unknown, random: Random) => configured(spec, kept.restore(options, found, random)),
          },
    async withFlags(command: FlagCommand, texts: FlagTexts, files: FlagFiles) {
      let next = completed(options, spec.commandDefaults?.[command])
      for (const flag of flags.filter((one) => isFlagOf(command, one)))
        for (const text of texts[nameOfFlag(flag)] ?? []) {
          const read = await flag.read(text, next, files)
          if (read.error !== undefined) throw new FlagError(read.error)
          next = read.value
        }
      return configured(spec, next)
    },
    hosted:
      host === undefined
        ? undefined
        : (place: HostPlace): Hosted => {
            const { options: withHost, ...part } = host(place, options)
            return { ...part, module: configured(spec, withHost()), moduleAt: (apiServer) => configured(spec, withHost(apiServer)) }
          },
  })
}

/** What has been set wins: also what was restored from a data directory. */
function completed<Options>(options: Options, defaults: Readonly<Partial<Options>> | undefined): Options {
  if (defaults === undefined) return options
  const set = Object.entries(options as object).filter(([, value]) => value !== undefined)
  return { ...options, ...defaults, ...Object.fromEntries(set) }
}

function started<Options, Services extends object>(spec: ModuleSpec<Options, Services>, env: ModuleEnv, options: Options): RunningModule {
  const services = spec.services(env, options)
  return {
    seams: seamsOf(spec, services, options),
    controllers: (seams) => spec.controllers(services, options, seams),
    loops: spec.loops?.(services, env) ?? [],
    ready: spec.ready?.(services),
    observes: spec.observes?.(services),
  }
}

const seamsOf = <Options, Services>({ seams }: ModuleSpec<Options, Services>, services: Services, options: Options): Partial<Seams> => ({
  narrowings: seams?.narrowings?.(services, options),
  volumeDrivers: seams?.volumeDrivers?.(services, options),
  csiDrivers: seams?.csiDrivers?.(services, options),
  nodeData: seams?.nodeData,
})

/** The controllers of modules as declarations, with what other modules add to them through the seams. */
export function declaredControllers(modules: readonly Module[]): Map<Module, readonly Controller[]> {
  const seams = joinSeams(modules.map((module) => module.declaredSeams()))
  return new Map(modules.map((module) => [module, module.declaredControllers(seams)]))
}
