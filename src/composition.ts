/**
 * A cluster composed of modules: its API server, and the controllers that run on it or on any other server. Depends on
 * modules in general, but on none by name.
 */
import { MASTERS } from './apiserver/auth/index.ts'
import { backupHandler, type WriteBackup } from './apiserver/backup-path.ts'
import { type Cluster, type ClusterOptions, createCluster } from './apiserver/cluster.ts'
import { inProcessTransport } from './client/in-process.ts'
import type { ConnectMember } from './client/members.ts'
import type { Transport } from './client/transport.ts'
import type { Admission } from './kinds/admission.ts'
import { crdRules } from './kinds/custom/crd-rules.ts'
import type { KindDefinition } from './kinds/kind.ts'
import { builtinAdmission } from './kinds/kubernetes/admission/index.ts'
import { printerFor } from './kinds/kubernetes/printers/index.ts'
import { builtinKinds } from './kinds/kubernetes/registry.ts'
import { rulesFor } from './kinds/kubernetes/rules/index.ts'
import type { OwnKind } from './kinds/schema/define-kind.ts'
import { MODULES } from './modules.ts'
import type { ClusterRole } from './runtime/module/env.ts'
import type { MemberSwitch, Module } from './runtime/module/module.ts'
import { type RunModulesOptions, runModules } from './runtime/module/run-modules.ts'
import type { RunningControllers } from './runtime/run-all.ts'
import type { ClusterStore } from './store/index.ts'

export type { ClusterRole } from './runtime/module/env.ts'
export type { RunningControllers } from './runtime/run-all.ts'

/** The kinds that are not part of Kubernetes: on a real server they are CustomResourceDefinitions. */
export const ownKindsOf = (role: ClusterRole, modules: readonly Module[] = MODULES): readonly OwnKind[] => [
  ...new Set(modules.flatMap(({ kinds }) => kinds?.[role] ?? [])),
]

/** A bare server has the kinds of a bare kube-apiserver and nothing of ours. */
export function kindsOf(role: ClusterRole, isBare: boolean, modules: readonly Module[] = MODULES): KindDefinition[] {
  const rules: typeof rulesFor = (group, kind) =>
    group === 'apiextensions.k8s.io' && kind === 'CustomResourceDefinition' ? crdRules : rulesFor(group, kind)
  return [...builtinKinds({ rulesFor: rules, printerFor }), ...(isBare ? [] : ownKindsOf(role, modules).map((kind) => kind.definition))]
}

/** Admission that is not part of Kubernetes: on a real server it is served as webhooks. */
export function ownAdmissionOf(role: ClusterRole, modules: readonly Module[] = MODULES): readonly Admission[] {
  const concerned = modules.filter(({ roles, kinds }) => roles.includes(role) || kinds?.[role] !== undefined)
  const all = concerned.flatMap((module) => module.admission(role))
  return [...all.filter(({ runsLast }) => runsLast !== true), ...all.filter(({ runsLast }) => runsLast === true)]
}

/** The hub keeps templates clean: nothing about pods and volumes is added to objects that are propagated to members. */
export function admissionOf(role: ClusterRole, isBare: boolean, modules: readonly Module[] = MODULES): readonly Admission[] {
  const builtin = builtinAdmission({ serviceAccount: !isBare && role === 'member', storageProtection: isBare || role === 'member' })
  return isBare ? builtin : [...builtin, ...ownAdmissionOf(role, modules)]
}

export interface ComposeOptions
  extends Pick<ClusterOptions, 'clock' | 'random' | 'port' | 'clientAuthority' | 'limits' | 'nodes' | 'onInternalError'> {
  role: ClusterRole
  bare: boolean
  store: ClusterStore
  adminToken: string
  serviceAccountKey: string
  modules?: readonly Module[]
  /** Streams a backup of the whole store, where this cluster offers one. */
  backup?: WriteBackup
  /** How members are reached, where this cluster has any. */
  connectMember?: ConnectMember
  /** Cuts members of this process off and reconnects them, where this cluster is their hub. */
  members?: MemberSwitch
}

export function clusterOf(options: ComposeOptions): Cluster {
  const { role, bare, adminToken, serviceAccountKey, modules = MODULES, backup, members, connectMember, ...rest } = options
  const serving = { clock: options.clock, connectMember, members }
  const own = modules.filter(({ roles }) => roles.includes(role))
  return createCluster({
    ...rest,
    kinds: kindsOf(role, bare, modules),
    admission: () => admissionOf(role, bare, modules),
    objects: bare ? [] : own.flatMap(({ userRoles }) => userRoles?.[role] ?? []),
    access: { staticTokens: [{ token: adminToken, user: { name: 'admin', groups: [MASTERS] } }], serviceAccountKey },
    subresources: bare ? [] : own.flatMap((module) => module.subresources?.(serving) ?? []),
    httpPaths: [...(backup === undefined ? [] : [backupHandler(backup)]), ...own.flatMap((module) => module.httpPaths?.(serving) ?? [])],
  })
}

export interface RunControllersOptions extends Omit<RunModulesOptions, 'modules'> {
  modules?: readonly Module[]
}

/** Runs the controllers of a role in this process, against any API server. */
export const runControllers = (options: RunControllersOptions): RunningControllers =>
  runModules({ ...options, modules: options.modules ?? MODULES })

/** The identity of in-process controllers at the server. */
export const SYSTEM = { name: 'system:sluice', groups: [MASTERS] }

/** The transport to a server in this process. */
export const inThisProcess = (cluster: Pick<Cluster, 'handle'>): Transport => inProcessTransport(cluster, SYSTEM)
