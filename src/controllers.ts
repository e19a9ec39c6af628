/**
 * The whole system as one list: every kind, every admission, every controller, by role. Whatever runs, in whatever shape,
 * is registered here and nowhere else.
 */

import type { Registry } from 'prom-client'
import { MASTERS } from './apiserver/auth/index.ts'
import { backupHandler, type WriteBackup } from './apiserver/backup-path.ts'
import { type Cluster, type ClusterOptions, createCluster } from './apiserver/cluster.ts'
import { type MemberSwitch, membersHandler } from './apiserver/members-path.ts'
import type { Clock } from './base/clock.ts'
import type { Everything } from './client/cache/everything.ts'
import { ApiError } from './client/errors.ts'
import { inProcessTransport } from './client/in-process.ts'
import type { ConnectMember } from './client/members.ts'
import type { Transport } from './client/transport.ts'
import { type FleetFacts, type FleetOptions, fleetControllers } from './fleet/controllers.ts'
import { workAdmission } from './fleet/execution/index.ts'
import { fleetGround } from './fleet/ground.ts'
import { interpreterScriptAdmission } from './fleet/interpreter/configurable/admission.ts'
import type { WebhookCall } from './fleet/interpreter/webhook/webhook-layer.ts'
import { createFleetMetrics } from './fleet/metrics/index.ts'
import type { FleetMeasures } from './fleet/metrics/measures.ts'
import { isPropagatable } from './fleet/templates.ts'
import type { Admission } from './kinds/admission.ts'
import { crdRules } from './kinds/custom/crd-rules.ts'
import { hubKinds, sharedKinds } from './kinds/index.ts'
import { karmadaAdmission } from './kinds/karmada/admission/index.ts'
import type { KindDefinition } from './kinds/kind.ts'
import { builtinAdmission } from './kinds/kubernetes/admission/index.ts'
import { printerFor } from './kinds/kubernetes/printers/index.ts'
import { builtinKinds } from './kinds/kubernetes/registry.ts'
import { rulesFor } from './kinds/kubernetes/rules/index.ts'
import type { OwnKind } from './kinds/schema/define-kind.ts'
import type { KubeObject } from './kube/meta.ts'
import { type RunPlacementOptions, runPlacement } from './minicluster/admission/run-placement.ts'
import { type MemberOptions, memberControllers } from './minicluster/controllers.ts'
import { eventTtl } from './minicluster/housekeeping/event-ttl/controller.ts'
import { GARBAGE_COLLECTOR, runGarbageCollector } from './minicluster/housekeeping/garbage/run.ts'
import { namespaceLifecycle } from './minicluster/housekeeping/namespace/controller.ts'
import { roleAggregation } from './minicluster/housekeeping/role-aggregation/controller.ts'
import { rootCa } from './minicluster/housekeeping/root-ca/controller.ts'
import { defaultServiceAccount } from './minicluster/housekeeping/service-account/controller.ts'
import { serviceAccountToken } from './minicluster/housekeeping/service-account-token/controller.ts'
import type { Controller } from './runtime/controller.ts'
import { bothMetrics, createControllerMetrics } from './runtime/metrics.ts'
import { type Ground, type RunAllOptions, type RunningControllers, runAll } from './runtime/run-all.ts'
import type { RunningController } from './runtime/run-controller.ts'
import type { ClusterStore } from './store/index.ts'

export type { RunningControllers } from './runtime/run-all.ts'

export type ClusterRole = 'hub' | 'member'

/** Facts of this process that controllers need. */
export interface ControllerFacts {
  /** PEM of the cluster's authority; asked each time, because certificates rotate. */
  authority(): string
  /** Signs the token a Secret keeps for a ServiceAccount; undefined where the key is not ours. */
  signToken?(account: KubeObject, secret: KubeObject): string
  /** Of a member of `up`; undefined where the cluster brings its own workload controllers and nodes. */
  member?: MemberOptions
  /** Of a hub; undefined where it has no way to members. */
  fleet?: FleetFacts
  fleetOptions?: FleetOptions
}

/** Controllers that stand or fall together: where their Kubernetes original is at work, they stay away. */
export interface Room {
  name: string
  /** Leases of the programs that do the same work; a live one means: do not run. */
  upstream: readonly { namespace: string; name: string }[]
  controllers: Controller[]
}

const CONTROLLER_MANAGER = { namespace: 'kube-system', name: 'kube-controller-manager' }
const SCHEDULER = { namespace: 'kube-system', name: 'kube-scheduler' }
const KARMADA = ['karmada-controller-manager', 'karmada-scheduler'].map((name) => ({ namespace: 'karmada-system', name }))

export function roomsOf(role: ClusterRole, facts: ControllerFacts & { everything: Everything }): Room[] {
  const { authority, signToken, everything } = facts
  const housekeeping = [
    namespaceLifecycle(everything),
    defaultServiceAccount,
    ...(signToken === undefined ? [] : [serviceAccountToken({ authority, signToken })]),
    rootCa(authority),
    roleAggregation,
    eventTtl(),
  ]
  return [
    // The hub and every member.
    { name: 'housekeeping', upstream: [CONTROLLER_MANAGER], controllers: housekeeping },
    ...(role === 'hub' && facts.fleet !== undefined
      ? [{ name: 'fleet', upstream: KARMADA, controllers: fleetControllers(facts.fleet, facts.fleetOptions) }]
      : []),
    ...(role === 'member' && facts.member !== undefined
      ? [{ name: 'minicluster', upstream: [CONTROLLER_MANAGER, SCHEDULER], controllers: memberControllers(facts.member, everything) }]
      : []),
  ]
}

export const controllersOf = (role: ClusterRole, facts: ControllerFacts & { everything: Everything }): Controller[] =>
  roomsOf(role, facts).flatMap((room) => room.controllers)

/** The kinds that Kubernetes does not bring: on a real server they are definitions. */
export const ownKindsOf = (role: ClusterRole): readonly OwnKind[] => (role === 'hub' ? [...sharedKinds, ...hubKinds] : sharedKinds)

/** A bare server has the kinds of a bare kube-apiserver and nothing of ours. */
export function kindsOf(role: ClusterRole, isBare: boolean): KindDefinition[] {
  const rules: typeof rulesFor = (group, kind) =>
    group === 'apiextensions.k8s.io' && kind === 'CustomResourceDefinition' ? crdRules : rulesFor(group, kind)
  return [...builtinKinds({ rulesFor: rules, printerFor }), ...(isBare ? [] : ownKindsOf(role).map((kind) => kind.definition))]
}

/** The hub keeps templates clean: nothing about pods and volumes is added to objects that travel on to members. */
export function admissionOf(role: ClusterRole, isBare: boolean, run?: RunPlacementOptions): readonly Admission[] {
  const builtin = builtinAdmission({ serviceAccount: !isBare && role === 'member', storageProtection: isBare || role === 'member' })
  return isBare ? builtin : [...builtin, ...ownAdmissionOf(role, run)]
}

/** What Kubernetes does not bring: on a real server it is served as webhooks. */
export function ownAdmissionOf(role: ClusterRole, run?: RunPlacementOptions): readonly Admission[] {
  if (role === 'hub') return [...karmadaAdmission(), workAdmission, interpreterScriptAdmission]
  return run === undefined ? [] : [runPlacement(run)]
}

export interface ComposeOptions
  extends Pick<ClusterOptions, 'clock' | 'random' | 'port' | 'clientAuthority' | 'limits' | 'nodes' | 'onInternalError'> {
  role: ClusterRole
  bare: boolean
  store: ClusterStore
  adminToken: string
  serviceAccountKey: string
  /** How a member of `up` decides where a pod runs. */
  run?: RunPlacementOptions
  /** Streams a backup of the whole store, where this cluster offers one. */
  backup?: WriteBackup
  /** How a hub's `clusters/proxy` reaches members. */
  connectMember?: ConnectMember
  /** Cuts members of this process off and brings them back, where this cluster is their hub. */
  members?: MemberSwitch
}

export function clusterOf(options: ComposeOptions): Cluster {
  const { role, bare, adminToken, serviceAccountKey, run, backup, members, connectMember, ...rest } = options
  const paths = [...(backup === undefined ? [] : [backupHandler(backup)]), ...(members === undefined ? [] : [membersHandler(members)])]
  return createCluster({
    ...rest,
    members: connectMember === undefined || bare ? undefined : waysTo(connectMember),
    kinds: kindsOf(role, bare),
    admission: () => admissionOf(role, bare, run),
    access: { staticTokens: [{ token: adminToken, user: { name: 'admin', groups: [MASTERS] } }], serviceAccountKey },
    extraPath(info) {
      for (const path of paths) {
        const answer = path(info)
        if (answer !== undefined) return answer
      }
      return undefined
    },
  })
}

const waysTo = (connect: ConnectMember): ClusterOptions['members'] => ({
  connect: (cluster, credentials) => connect(cluster, credentials, 'proxy'),
  refusalOf: (error) => (error instanceof ApiError ? { ...error.status, code: error.code } : undefined),
})

export interface RunControllersOptions extends Omit<ControllerFacts, 'fleet'>, Omit<RunAllOptions, 'whole'> {
  role: ClusterRole
  /** How a hub reaches its members (default: not at all, and nothing of the fleet runs). */
  connectMember?: ConnectMember
  /** How webhooks that interpret resources are asked (default: not at all). */
  webhooks?: WebhookCall
  /** Where the fleet counts what it does (default: nowhere). */
  measures?: FleetMeasures
  /** Rooms that stay away, by name (default: none). */
  without?: readonly string[]
}

/** What the controllers of a role tell Prometheus: of each of them the same, and of the fleet what Karmada tells. */
export function metricsOf(role: ClusterRole, registry: Registry, clock: Clock): Pick<RunControllersOptions, 'metrics' | 'measures'> {
  const own = createControllerMetrics(registry)
  if (role === 'member') return { metrics: own }
  const fleet = createFleetMetrics(registry, clock)
  return { metrics: bothMetrics(own, fleet.heard), measures: fleet.measures }
}

/** Who controllers in this process are to the server. */
export const SYSTEM = { name: 'system:sluice', groups: [MASTERS] }

/** The way to a server in this process. */
export const inThisProcess = (cluster: Pick<Cluster, 'handle'>): Transport => inProcessTransport(cluster, SYSTEM)

/** Runs the role's controllers in this process, against any API server. */
export function runControllers(options: RunControllersOptions): RunningControllers {
  const { role, without = [], connectMember } = options
  const connect = role === 'hub' && !without.includes('fleet') ? connectMember : undefined
  return runAll({ ...options, whole: connect === undefined ? undefined : (resource) => isPropagatable(resource) }, (ground) => {
    const fleet =
      connect === undefined
        ? undefined
        : {
            ...fleetGround(ground, { connect, webhooks: options.webhooks, gates: options.fleetOptions?.gates }),
            measures: options.measures,
          }
    const facts = { ...options, everything: ground.everything, fleet }
    const rooms = roomsOf(role, facts).filter((room) => !without.includes(room.name))
    const isHousekeeping = rooms.some((room) => room.name === 'housekeeping')
    return {
      controllers: rooms.flatMap((room) => room.controllers),
      members: fleet?.members,
      ready: fleet?.ready,
      loops: isHousekeeping ? [garbageCollector(ground)] : [],
    }
  })
}

export const garbageCollector = ({ clientOf, everything, told }: Ground): RunningController =>
  runGarbageCollector({ client: clientOf(GARBAGE_COLLECTOR), everything, ...told })
