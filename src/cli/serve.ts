/**
 * The running process of `sluice up`: one store, a cluster and a listener for the hub and for each member, controllers on
 * top. Starts so that each step can rely on the ones before it, and stops in reverse order.
 */
import type { Cluster } from '../apiserver/cluster.ts'
import { ListenError, type Listener, listen, openKeyDirectory } from '../apiserver/listener/index.ts'
import { ensurePki, keepPkiFresh, type Pki, PkiError } from '../apiserver/pki/index.ts'
import { withFields } from '../base/log.ts'
import { formatKubeconfig } from '../client/kubeconfig.ts'
import { getText } from '../client/transport/get-text.ts'
import { postJson } from '../client/transport/post-json.ts'
import { type ClusterRole, clusterOf, inThisProcess, runControllers } from '../composition.ts'
import type { HostPlace } from '../runtime/module/host.ts'
import type { LocalMembership } from '../runtime/module/local-clusters.ts'
import type { Hosted, Module } from '../runtime/module/module.ts'
import { backup, type JournalStore, openJournalStore, StoreRefusedError } from '../store/index.ts'
import type { StartPlan } from './commands/up.ts'
import { type DataDir, FORMAT, type Run, writeSettings } from './data-dir.ts'
import { settleLease } from './lease-of-up.ts'
import { CommandError, type Machine } from './machine.ts'
import { type MemberAccess, memberAccess, type OwnMember } from './member-access.ts'

export interface ServeOptions extends StartPlan {
  bare: boolean
  onStep(text: string): void
}

export interface RunningCluster {
  name: string
  url: string
  cluster: Cluster
}

export interface Running {
  clusters: RunningCluster[]
  bare: boolean
  /** Why pods with volumes cannot run for real on this machine; undefined when they can. */
  podsRefusal: string | undefined
  /** How many pods have processes running on this machine. */
  runningPods(): number
  /** Ends those pods, each with its grace period; resolves when nothing runs and the API shows it. */
  endPods(): Promise<void>
  /** Cuts members off, and reconnects them. */
  members: Pick<MemberAccess, 'stop' | 'start'>
  /** Resolves (with a reason) only when the process must exit. */
  failed: Promise<string>
  stop(): Promise<void>
}

const HOST = '127.0.0.1'

export async function serve(machine: Machine, dir: DataDir, options: ServeOptions): Promise<Running> {
  const undo: (() => Promise<void> | void)[] = []
  try {
    return await start(machine, dir, options, undo)
  } catch (error) {
    for (const step of undo.reverse()) await step()
    throw explained(error)
  }
}

async function start(machine: Machine, dir: DataDir, options: ServeOptions, undo: (() => Promise<void> | void)[]): Promise<Running> {
  await machine.files.makeDirectory(dir.path)
  let fail: (reason: string) => void = () => undefined
  const failed = new Promise<string>((resolve) => {
    fail = resolve
  })
  options.onStep('opening the store')
  const store = await openJournalStore({
    dir: dir.store,
    clock: machine.clock,
    onFatal(error) {
      machine.err(`the disk failed while writing, so the process ends rather than lose what it acknowledges: ${error.message}\n`)
      fail('disk failure')
    },
    onWarning: (message) => machine.err(`warning: ${message}\n`),
  })
  undo.push(() => store.close())

  const names = ['hub', ...Array.from({ length: options.members }, (_, i) => `member${i + 1}`)]
  const started: StartedCluster[] = []
  // The hub is created before its members exist; no request arrives before everything runs.
  const access = memberAccess(() => started.filter(({ role }) => role === 'member').map(ownMember), options.memberTransport)
  for (const [i, name] of names.entries()) {
    options.onStep(`starting ${name}`)
    const wanted = portFor(options, name, i)
    const role: ClusterRole = name === 'hub' ? 'hub' : 'member'
    const place = { machine, cluster: name, index: i, members: options.members, directory: dir.member(name) }
    const hosted = options.bare ? [] : hostsOf(role, options.modules, place)
    for (const { host } of hosted) undo.push(() => host.close())
    const { bare, modules } = options
    const what = { name, role, store, wanted, bare, modules, hosted, members: role === 'hub' ? access : undefined }
    started.push(await startCluster(machine, dir, what, undo))
  }
  await Promise.all(started.map((one) => one.cluster.ready))
  for (const { role, cluster } of started)
    await settleLease({ role, isBare: options.bare, transport: inThisProcess(cluster), clock: machine.clock, random: machine.random })
  const memberships = options.bare ? [] : localMemberships(machine, options.modules, started)
  // Before the controllers: with many objects they have much to process first, and requests to the hub would wait behind that.
  for (const membership of memberships) await membership.beforeControllers()
  if (!options.bare)
    for (const one of started) {
      const controllers = runControllers({
        role: one.role,
        modules: one.modulesAt({ host: HOST, port: one.listener().port }),
        transportFor: () => inThisProcess(one.cluster),
        connectMember: one.role === 'hub' ? access.connect : undefined,
        postJson,
        getText,
        clock: machine.clock,
        random: machine.random,
        authority: () => one.pki().authority,
        signToken: one.cluster.access.serviceAccounts.issueLegacy,
        log: withFields(machine.log, { cluster: one.name }),
        registry: one.cluster.server.metrics.registry,
      })
      // Every namespace carries the authority in a ConfigMap, so they are resynced when it is renewed.
      one.renewed.push(() => controllers.resync())
      undo.push(() => controllers.stop())
    }
  for (const membership of memberships) {
    options.onStep('joining the members')
    await membership.afterControllers()
  }
  const clusters = started.map(({ name, listener, cluster }) => ({ name, url: urlOf(listener()), cluster }))
  await writeFiles(machine, dir, options, started)
  undo.push(() => machine.files.remove(dir.run))
  const hosts = started.flatMap(({ hosts: ofCluster }) => ofCluster)
  return {
    clusters,
    bare: options.bare,
    members: access,
    failed,
    podsRefusal: hosts.find(({ refusal }) => refusal !== undefined)?.refusal,
    runningPods: () => hosts.reduce((sum, host) => sum + host.runningPods(), 0),
    async endPods() {
      await Promise.all(hosts.map((host) => host.endPods()))
    },
    async stop() {
      for (const step of undo.reverse()) await step()
    },
  }
}

interface HostedModule {
  name: string
  host: Hosted
}

/** What modules need of this machine under a cluster, by module. */
const hostsOf = (role: ClusterRole, modules: readonly Module[], place: HostPlace): HostedModule[] =>
  modules.flatMap(({ name, roles, hosted }) => (roles.includes(role) && hosted !== undefined ? [{ name, host: hosted(place) }] : []))

/** The modules of a cluster; those with a host as they run on it. */
const withHosts = (modules: readonly Module[], hosted: readonly HostedModule[], as: (host: Hosted) => Module): readonly Module[] =>
  modules.map((module) => {
    const own = hosted.find(({ name }) => name === module.name)
    return own === undefined ? module : as(own.host)
  })

function localMemberships({ clock, random }: Machine, modules: readonly Module[], started: readonly StartedCluster[]): LocalMembership[] {
  const hub = started.find(({ role }) => role === 'hub')
  if (hub === undefined) return []
  const members = started
    .filter(({ role }) => role === 'member')
    .map(({ name, cluster, listener, hosts }) => {
      const { region = '', zones = [] } = hosts.find(({ location }) => location !== undefined)?.location ?? {}
      return { name, url: urlOf(listener()), region, zones, transport: () => inThisProcess(cluster) }
    })
  const clusters = { hub: () => inThisProcess(hub.cluster), members, clock, random }
  return modules.flatMap((module) => module.localMembership?.(clusters) ?? [])
}

interface StartedCluster {
  name: string
  role: ClusterRole
  hosts: readonly Hosted[]
  /** Its modules, once it is known where it listens. */
  modulesAt(apiServer: { host: string; port: number }): readonly Module[]
  cluster: Cluster
  listener(): Listener
  /** Closes it to the outside; open connections are cut. */
  closeListener(): Promise<void>
  /** On the previous port. */
  openListener(): Promise<void>
  pki(): Pki
  /** Called after the certificates were renewed. */
  renewed: (() => void)[]
}

const ownMember = ({ name, cluster, listener, closeListener, openListener }: StartedCluster): OwnMember => ({
  name,
  url: urlOf(listener()),
  inProcess: () => inThisProcess(cluster),
  close: closeListener,
  open: openListener,
})

interface ClusterStart {
  name: string
  role: ClusterRole
  store: JournalStore
  wanted: WantedPort
  modules: readonly Module[]
  hosted: readonly HostedModule[]
  members: MemberAccess | undefined
  bare: boolean
}

async function startCluster(
  machine: Machine,
  dir: DataDir,
  what: ClusterStart,
  undo: (() => Promise<void> | void)[],
): Promise<StartedCluster> {
  const { clock, random } = machine
  const pkiOptions = { directory: await openKeyDirectory(dir.pki(what.name)), clock, random }
  let pki = await ensurePki(pkiOptions)
  let listensOn: (port: number) => void = () => undefined
  const cluster = clusterOf({
    role: what.role,
    bare: what.bare,
    store: what.store.cluster(what.name),
    clock,
    random,
    adminToken: pki.adminToken,
    serviceAccountKey: pki.serviceAccountKey,
    modules: withHosts(what.modules, what.hosted, ({ module }) => module),
    nodes: what.hosted.find(({ host }) => host.nodes !== undefined)?.host.nodes,
    clientAuthority: pki.authority,
    port: new Promise((resolve) => {
      listensOn = resolve
    }),
    members: what.members,
    connectMember: what.members?.connect,
    backup: what.role === 'hub' ? (sink) => backup(what.store, sink, clock) : undefined,
    onInternalError: (error, info) =>
      machine.err(`${what.name}: ${info.method} ${info.path} failed: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`),
  })
  undo.push(() => cluster.stop())
  const tlsOf = (keys: Pki) => ({ certificate: keys.serving.certificate, key: keys.serving.key, clientAuthority: keys.authority })
  const open = (port: number): Promise<Listener> =>
    listen({
      handle: cluster.handle,
      tls: tlsOf(pki),
      clock,
      port,
      host: HOST,
      onError: (error) => machine.err(`${what.name}: ${error}\n`),
    })
  let listener = await listenOn(what.wanted, open)
  listensOn(listener.port)
  const onRenewed: (() => void)[] = []
  const stopRotation = keepPkiFresh({
    ...pkiOptions,
    current: pki,
    onRenewed(renewed) {
      pki = renewed
      listener.renewTls(tlsOf(renewed))
      for (const notify of onRenewed) notify()
    },
    onError: (error) => machine.err(`${what.name}: certificates could not be renewed: ${error}\n`),
  })
  undo.push(async () => {
    stopRotation()
    await listener.stop()
  })
  return {
    name: what.name,
    role: what.role,
    hosts: what.hosted.map(({ host }) => host),
    modulesAt: (apiServer) => withHosts(what.modules, what.hosted, ({ moduleAt }) => moduleAt(apiServer)),
    cluster,
    listener: () => listener,
    closeListener: () => listener.stop(0),
    async openListener() {
      listener = await open(listener.port)
    },
    pki: () => pki,
    renewed: onRenewed,
  }
}

interface WantedPort {
  port: number
  /** Another free port is acceptable. */
  isFlexible: boolean
}

/** A previous port is kept if it is free; a port from the command line is mandatory. */
function portFor(options: ServeOptions, name: string, index: number): WantedPort {
  const kept = options.keptPorts[name]
  if (kept !== undefined) return { port: kept, isFlexible: true }
  return { port: options.port === 0 ? 0 : options.port + index, isFlexible: options.port === 0 }
}

async function listenOn(wanted: WantedPort, open: (port: number) => Promise<Listener>): Promise<Listener> {
  try {
    return await open(wanted.port)
  } catch (error) {
    if (!wanted.isFlexible || wanted.port === 0 || !(error instanceof ListenError) || error.code !== 'E_LISTEN_IN_USE') throw error
    return open(0)
  }
}

const urlOf = (listener: Listener): string => `https://${listener.host}:${listener.port}`

async function writeFiles(machine: Machine, dir: DataDir, options: ServeOptions, started: readonly StartedCluster[]): Promise<void> {
  const entries = started.map((one) => {
    const { authority, admin } = one.pki()
    return { context: one.name, server: urlOf(one.listener()), caPem: authority, certPem: admin.certificate, keyPem: admin.key }
  })
  await machine.files.write(dir.kubeconfig, formatKubeconfig(entries, 'hub'), 0o600)
  const ports = Object.fromEntries(started.map((one) => [one.name, one.listener().port]))
  await writeSettings(machine, dir, { format: FORMAT, members: options.members, ports, kept: keptBy(options.modules) })
  const hub = started[0] === undefined ? '' : urlOf(started[0].listener())
  const { pid } = machine.processes
  const run: Run = { pid, hub, bare: options.bare, mark: machine.processes.mark(pid) }
  await machine.files.write(dir.run, `${JSON.stringify(run)}\n`, 0o600)
}

const keptBy = (modules: readonly Module[]): Record<string, unknown> =>
  Object.fromEntries(modules.flatMap(({ kept }) => (kept === undefined ? [] : [[kept.key, kept.value()]])))

function explained(error: unknown): unknown {
  if (error instanceof StoreRefusedError || error instanceof PkiError) return new CommandError(error.message, error)
  if (error instanceof ListenError)
    return new CommandError(
      `${error.message}\nChoose another port with --port N (members take the ports after it), or let Sluice pick: --port 0`,
      error,
    )
  return error
}
