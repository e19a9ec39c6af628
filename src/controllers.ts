/**
 * The whole system as one list: every kind, every admission, every controller, by role. Whatever runs, in whatever shape,
 * is registered here and nowhere else.
 */

import { MASTERS } from './apiserver/auth/index.ts'
import { backupHandler, type WriteBackup } from './apiserver/backup-path.ts'
import { type Cluster, type ClusterOptions, createCluster } from './apiserver/cluster.ts'
import type { Clock } from './base/clock.ts'
import type { Random } from './base/random.ts'
import { createCaches } from './client/cache/caches.ts'
import { type Everything, followEverything } from './client/cache/everything.ts'
import { type Client, createClient } from './client/client.ts'
import { inProcessTransport } from './client/in-process.ts'
import type { Transport } from './client/transport.ts'
import type { Admission } from './kinds/admission.ts'
import { crdRules } from './kinds/custom/crd-rules.ts'
import { ownKinds } from './kinds/index.ts'
import type { KindDefinition } from './kinds/kind.ts'
import { builtinAdmission } from './kinds/kubernetes/admission/index.ts'
import { printerFor } from './kinds/kubernetes/printers/index.ts'
import { builtinKinds } from './kinds/kubernetes/registry.ts'
import { rulesFor } from './kinds/kubernetes/rules/index.ts'
import { type RunPlacementOptions, runPlacement } from './minicluster/admission/run-placement.ts'
import { type MemberOptions, memberControllers } from './minicluster/controllers.ts'
import { eventTtl } from './minicluster/housekeeping/event-ttl/controller.ts'
import { GARBAGE_COLLECTOR, runGarbageCollector } from './minicluster/housekeeping/garbage/run.ts'
import { namespaceLifecycle } from './minicluster/housekeeping/namespace/controller.ts'
import { roleAggregation } from './minicluster/housekeeping/role-aggregation/controller.ts'
import { rootCa } from './minicluster/housekeeping/root-ca/controller.ts'
import { defaultServiceAccount } from './minicluster/housekeeping/service-account/controller.ts'
import type { Controller } from './runtime/controller.ts'
import { runController } from './runtime/run-controller.ts'
import type { Pass } from './runtime/workers.ts'
import type { ClusterStore } from './store/index.ts'

export type ClusterRole = 'hub' | 'member'

/** Facts of this process that controllers need. */
export interface ControllerFacts {
  /** PEM of the cluster's authority; asked each time, because certificates rotate. */
  authority(): string
  /** Of a member of `up`; undefined where the cluster brings its own workload controllers and nodes. */
  member?: MemberOptions
}

export function controllersOf(role: ClusterRole, facts: ControllerFacts & { everything: Everything }): Controller[] {
  return [
    // Housekeeping: the hub and every member.
    namespaceLifecycle(facts.everything),
    defaultServiceAccount,
    rootCa(facts.authority),
    roleAggregation,
    eventTtl(),
    ...(role === 'member' && facts.member !== undefined ? memberControllers(facts.member) : []),
  ]
}

/** A bare server has the kinds of a bare kube-apiserver and nothing of ours. */
export function kindsOf(_role: ClusterRole, isBare: boolean): KindDefinition[] {
  const rules: typeof rulesFor = (group, kind) =>
    group === 'apiextensions.k8s.io' && kind === 'CustomResourceDefinition' ? crdRules : rulesFor(group, kind)
  return [...builtinKinds({ rulesFor: rules, printerFor }), ...(isBare ? [] : ownKinds.map((kind) => kind.definition))]
}

/** The hub keeps templates clean: nothing about pods and volumes is added to objects that travel on to members. */
export function admissionOf(role: ClusterRole, isBare: boolean, run?: RunPlacementOptions): readonly Admission[] {
  const builtin = builtinAdmission({ serviceAccount: !isBare && role === 'member', storageProtection: isBare || role === 'member' })
  return run === undefined ? builtin : [...builtin, runPlacement(run)]
}

export interface ComposeOptions
  extends Pick<ClusterOptions, 'clock' | 'random' | 'port' | 'clientAuthority' | 'limits' | 'onInternalError'> {
  role: ClusterRole
  bare: boolean
  store: ClusterStore
  adminToken: string
  serviceAccountKey: string
  /** How a member of `up` decides where a pod runs. */
  run?: RunPlacementOptions
  /** Streams a backup of the whole store, where this cluster offers one. */
  backup?: WriteBackup
}

export function clusterOf(options: ComposeOptions): Cluster {
  const { role, bare, adminToken, serviceAccountKey, run, backup, ...rest } = options
  return createCluster({
    ...rest,
    kinds: kindsOf(role, bare),
    admission: () => admissionOf(role, bare, run),
    access: { staticTokens: [{ token: adminToken, user: { name: 'admin', groups: [MASTERS] } }], serviceAccountKey },
    extraPath: backup === undefined ? undefined : backupHandler(backup),
  })
}

export interface RunControllersOptions extends ControllerFacts {
  role: ClusterRole
  cluster: Pick<Cluster, 'handle'>
  clock: Clock
  random: Random
  log(text: string): void
  /** Told of every pass of every controller: for metrics. */
  onPass?(pass: Pass): void
  /** How each part of the process reaches the server: a controller by its name, `caches`, `everything` (default: in process). */
  transportFor?(part: string): Transport
}

export interface RunningControllers {
  /** What is not settled, in words; empty when nothing can run before something happens. */
  busy(): string[]
  /** Every controller looks at everything again: for when something beyond the API changed, such as the authority. */
  lookAgain(): void
  stop(): Promise<void>
}

/** Who controllers in this process are to the server. */
export const SYSTEM = { name: 'system:sluice', groups: [MASTERS] }

/** Runs the role's controllers in this process, over the in-process transport. */
export function runControllers(options: RunControllersOptions): RunningControllers {
  const { clock, random, log, onPass } = options
  const direct = inProcessTransport(options.cluster, SYSTEM)
  const clients: Client[] = []
  const clientOf = (part: string): Client => {
    const transport = options.transportFor?.(part) ?? direct
    const client = createClient({ transport, clock, random, userAgent: `sluice/${part}` })
    clients.push(client)
    return client
  }
  const caches = createCaches({
    client: clientOf('caches'),
    clock,
    random,
    keepsManager,
    onError: (error, resource) => log(`cannot follow ${resource.plural}: ${messageOf(error)}`),
  })
  const everything = followEverything({
    client: clientOf('everything'),
    clock,
    random,
    onError: (error) => log(`cannot follow everything: ${messageOf(error)}`),
  })
  const onError = (error: unknown, controller: string, key: string): void => log(`${controller} ${key}: ${messageOf(error)}`)
  const controllers = controllersOf(options.role, { authority: options.authority, member: options.member, everything })
  const names = new Set(controllers.map((controller) => controller.name))
  function keepsManager(name: string): boolean {
    return names.has(name)
  }
  const running = [
    ...controllers.map((controller) =>
      runController(controller, { client: clientOf(controller.name), caches, clock, random, onError, onPass }),
    ),
    runGarbageCollector({ client: clientOf(GARBAGE_COLLECTOR), everything, clock, random, onError, onPass }),
  ]
  return {
    busy: () => [...caches.behind(), ...everything.behind(), ...running.flatMap((one) => one.busy())],
    lookAgain() {
      for (const one of running) one.lookAgain()
    },
    async stop() {
      await Promise.all(running.map((one) => one.stop()))
      caches.stop()
      everything.stop()
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
