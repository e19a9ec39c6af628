/**
 * What a ThinRuntime and its profile say together: of each field the runtime's where it has one, otherwise the profile's. Options,
 * amounts, labels and annotations are joined by name, and so are variables, ports and mounts. Pure.
 */
import type { ThinRuntime, ThinRuntimeProfile } from '../../../kinds/fluid/index.ts'
import type { Container, Volume } from '../../../kinds/kubernetes/types.ts'

export type RuntimeSpec = NonNullable<ThinRuntime['spec']>
export type ProfileSpec = NonNullable<ThinRuntimeProfile['spec']>
export type ThinFuse = NonNullable<RuntimeSpec['fuse']>
export type ThinWorker = NonNullable<RuntimeSpec['worker']>

/** Both have these. */
type Component = Omit<ThinWorker, 'replicas' | 'enabled'>

export interface ThinSpec {
  fuse: ThinFuse
  /** Undefined: there are none. */
  worker: ThinWorker | undefined
  replicas: number
  /** By name; of two of one name, the runtime's. */
  volumes: readonly Volume[]
  imagePullSecrets: RuntimeSpec['imagePullSecrets']
  tieredstore: RuntimeSpec['tieredstore']
}

export function thinSpec(runtime: RuntimeSpec, profile: ProfileSpec): ThinSpec {
  const hasWorkers = runtime.worker?.enabled === true || profile.worker?.enabled === true
  return {
    fuse: joinedFuse(runtime.fuse ?? {}, profile.fuse ?? {}),
    worker: hasWorkers ? joinedComponent(runtime.worker ?? {}, profile.worker ?? {}) : undefined,
    replicas: runtime.replicas ?? runtime.worker?.replicas ?? profile.worker?.replicas ?? 1,
    volumes: joinedBy(({ name = '' }) => name, profile.volumes, runtime.volumes),
    imagePullSecrets: said(runtime.imagePullSecrets, profile.imagePullSecrets),
    tieredstore: runtime.tieredstore,
  }
}

function joinedFuse(own: ThinFuse, base: ThinFuse): ThinFuse {
  const preStop = own.lifecycle?.preStop ?? base.lifecycle?.preStop
  const postStart = own.lifecycle?.postStart ?? base.lifecycle?.postStart
  return {
    ...joinedComponent(own, base),
    ...defined({
      command: said(own.command, base.command),
      args: said(own.args, base.args),
      cleanPolicy: said(own.cleanPolicy, base.cleanPolicy),
      options: { ...base.options, ...own.options },
      lifecycle: defined({ preStop, postStart }),
      podMetadata: {
        labels: { ...base.podMetadata?.labels, ...own.podMetadata?.labels },
        annotations: { ...base.podMetadata?.annotations, ...own.podMetadata?.annotations },
      },
    }),
  }
}

function joinedComponent(own: Component, base: Component): Component {
  return defined({
    image: said(own.image, base.image),
    imageTag: said(own.imageTag, base.imageTag),
    imagePullPolicy: said(own.imagePullPolicy, base.imagePullPolicy),
    imagePullSecrets: said(own.imagePullSecrets, base.imagePullSecrets),
    nodeSelector: said(own.nodeSelector, base.nodeSelector),
    networkMode: said(own.networkMode, base.networkMode),
    livenessProbe: own.livenessProbe ?? base.livenessProbe,
    readinessProbe: own.readinessProbe ?? base.readinessProbe,
    resources: joinedResources(own.resources, base.resources),
    env: joinedBy(({ name = '' }) => name, base.env, own.env),
    ports: joinedBy(({ containerPort, protocol = 'TCP' }) => `${containerPort}/${protocol}`, base.ports, own.ports),
    volumeMounts: joinedBy(({ mountPath = '' }) => mountPath, base.volumeMounts, own.volumeMounts),
  })
}

function joinedResources(own: Container['resources'], base: Container['resources']): Container['resources'] {
  const [limits, requests] = [
    { ...base?.limits, ...own?.limits },
    { ...base?.requests, ...own?.requests },
  ]
  return {
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(Object.keys(requests).length === 0 ? {} : { requests }),
  }
}

/** The first that says something: an empty text, list or map says nothing. */
function said<T>(...all: (T | undefined)[]): T | undefined {
  return all.find((one) => one !== undefined && one !== '' && !(typeof one === 'object' && Object.keys(one as object).length === 0))
}

/** Of two with one key, the later: lists of pods may name a thing once. */
export const joinedBy = <T>(keyOf: (one: T) => string, ...lists: (readonly T[] | undefined)[]): T[] => [
  ...new Map(lists.flatMap((list) => list ?? []).map((one) => [keyOf(one), one])).values(),
]

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

const defined = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
