/** What a kubelet does outside the API, as effects: volumes, starts, signals, hooks, and autopsies. */
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import type { Client } from '../../client/client.ts'
import type { Container } from '../../kinds/kubernetes/types.ts'
import type { Effect } from '../../runtime/controller.ts'
import type { CsiVolume } from '../../runtime/seams/csi-driver.ts'
import type { ContainerMachine, RunId } from './container-machine.ts'
import type { Autopsy } from './containers.ts'
import type { NodeVolumes } from './csi/node-volumes.ts'
import type { UseRecord } from './csi/records.ts'
import type { HostsFiles } from './hosts/hosts-files.ts'
import type { KeptRecords } from './node-data/records.ts'
import type { HookOrder } from './plan.ts'
import { type Answer, askCommand, askHttp } from './probes/check.ts'
import { HOSTS_PATH, type ReadyVolume, type StartOrder } from './run-spec.ts'
import type { NodeShutdown } from './shutdown.ts'
import type { HookProgress } from './stopping.ts'
import { type SetUp, setUpVolume } from './volumes/set-up.ts'
import { createSharedDirectories, type SharedDirectories } from './volumes/shared-directories.ts'

export interface HookInput extends HookOrder {
  container: Container
  podIP: string
}

export interface AutopsyInput {
  run: RunId
  container: Container
  podIP: string
  exitCode: number
}

export interface PublishInput {
  node: string
  volume: CsiVolume
  use: UseRecord
  client: Client
}

export interface KubeletEffects {
  volume: Effect<SetUp, ReadyVolume>
  publish: Effect<PublishInput, void>
  start: Effect<StartOrder, void>
  signal: Effect<{ run: RunId; signal: string }, { atMs: number }>
  hook: Effect<HookInput, HookProgress>
  autopsy: Effect<AutopsyInput, Autopsy>
  release: Effect<{ podUid: string }, void>
  clear: Effect<{ podUid: string; node: string; emptied: readonly string[] }, void>
}

const MINUTE = 60_000
/** Hooks end with the grace period of their pod; this is only so that nothing waits forever. */
const LONGEST_HOOK_MS = 24 * 60 * MINUTE
/** Runs whose logs are kept: this one and the one before. */
const KEPT_RUNS = 2

export interface KubeletEffectsOptions {
  machine: ContainerMachine
  clock: Clock
  csi: Pick<NodeVolumes, 'publish'>
  shutdown?: Pick<NodeShutdown, 'whileUp'>
  /** Without them, containers see the hosts file of this machine. */
  hosts?: HostsFiles
  shared?: SharedDirectories
  records?: KeptRecords
}

export function kubeletEffects(options: KubeletEffectsOptions): KubeletEffects {
  const { machine, clock, csi, shutdown, hosts, shared = createSharedDirectories(), records } = options
  const name = (what: string): string => `minicluster.kubelet.${what}`
  return {
    volume: {
      name: name('volume'),
      about: 'Makes the directory of a volume, with its files.',
      timeoutMs: MINUTE,
      run(setUp) {
        const { podUid, plan, kept = [] } = setUp
        async function work(): Promise<ReadyVolume> {
          for (const directory of kept) await records?.keep({ ...directory, podUid })
          return setUpVolume(machine, setUp)
        }
        return plan.kind === 'path' && plan.within !== undefined ? shared.use(podUid, plan.path, work) : work()
      },
    },
    publish: {
      name: name('publish'),
      about: 'Lets a CSI driver publish a volume for a pod.',
      timeoutMs: 2 * MINUTE,
      run: ({ node, volume, use, client }, { signal }) => csi.publish(node, volume, { use, client, signal }),
    },
    start: {
      name: name('start'),
      about: 'Begins one run of a container; harmless when it is known already.',
      timeoutMs: MINUTE,
      run(order, { signal }) {
        const begin = (): Promise<void> => start({ machine, hosts }, order, signal)
        return shutdown === undefined ? begin() : shutdown.whileUp(begin)
      },
    },
    signal: {
      name: name('signal'),
      about: 'Sends a signal to a run.',
      timeoutMs: MINUTE,
      async run({ run, signal }) {
        await machine.signal(run, signal)
        return { atMs: clock.now() }
      },
    },
    hook: {
      name: name('hook'),
      about: 'Runs a postStart or preStop hook of a container.',
      timeoutMs: LONGEST_HOOK_MS,
      run: (input, { signal }) => runHook({ machine, clock }, input, signal),
    },
    autopsy: {
      name: name('autopsy'),
      about: 'Reads the last words of a container that ended, and sees whether its port is taken.',
      timeoutMs: MINUTE,
      run: (input) => autopsy(machine, input),
    },
    release: {
      name: name('release'),
      about: 'Takes back the memory of the volumes of a pod that has ended.',
      timeoutMs: MINUTE,
      run: ({ podUid }) => machine.releaseMemory(podUid),
    },
    clear: {
      name: name('clear'),
      about: 'Takes away everything of a pod on this machine.',
      timeoutMs: MINUTE,
      async run({ podUid, node, emptied }) {
        const directory = machine.nodeDirectory(node)
        const below = machine.filesBelow(directory)
        const at = (path: string): string => `${directory}${path}`
        // What cannot be looked at stays: it must not keep the pod.
        const remove = (path: string): Promise<void> => below.removeEmpty(path.slice(directory.length)).catch(() => undefined)
        await shared.leave(podUid, emptied.map(at), remove)
        await machine.remove(podUid)
      },
    },
  }
}

async function start(
  { machine, hosts }: { machine: ContainerMachine; hosts: HostsFiles | undefined },
  { spec, mounts, terminationMessagePath, hosts: own }: StartOrder,
  signal: AbortSignal,
): Promise<void> {
  const prepared = []
  for (const { subPath, source, ...mount } of mounts) prepared.push({ ...mount, source: await sourceOf(machine, source, subPath) })
  if (terminationMessagePath !== undefined) {
    const source = await terminationMessagePathOf(machine, spec)
    await machine.makeFile(source)
    prepared.push({ source, path: terminationMessagePath, readOnly: false })
  }
  if (hosts !== undefined && own !== undefined)
    prepared.push({ source: await hosts.begin(machine, spec.podUid, own), path: HOSTS_PATH, readOnly: true })
  // The pod was force-deleted in the meantime: nothing would ever stop what is started now.
  if (signal.aborted) return
  await machine.start({ ...spec, mounts: prepared })
  if (signal.aborted) await machine.signal(spec, 'SIGKILL')
  await machine.prune(spec.podUid, KEPT_RUNS)
}

async function sourceOf(machine: ContainerMachine, source: string, subPath: string | undefined): Promise<string> {
  if (subPath === undefined) return source
  try {
    return await machine.inside(source, subPath)
  } catch (error) {
    throw new Error(`CreateContainerConfigError: failed to prepare subPath "${subPath}" for volumeMount: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

const terminationMessagePathOf = async (machine: ContainerMachine, run: RunId): Promise<string> =>
  `${await machine.directory(run.podUid, 'containers', run.container)}/termination-${run.attempt}`

async function runHook(at: { machine: ContainerMachine; clock: Clock }, input: HookInput, signal: AbortSignal): Promise<HookProgress> {
  const beganAtMs = at.clock.now()
  const done = (failure?: string): HookProgress => ({ state: 'done', beganAtMs, endedAtMs: at.clock.now(), failure })
  const { handler, timeoutMs = LONGEST_HOOK_MS } = input
  if (handler.sleep !== undefined) {
    await sleep(at.clock, Math.min((handler.sleep.seconds ?? 0) * 1000, timeoutMs), signal)
    return done()
  }
  try {
    const answer = await ask({ ...at, ...input, timeoutMs })
    if (answer === undefined) return done('invalid handler')
    return done('error' in answer ? answer.error : answer.ok ? undefined : answer.output)
  } catch (error) {
    return done(messageOf(error))
  }
}

async function ask(input: HookInput & { machine: ContainerMachine; clock: Clock; timeoutMs: number }): Promise<Answer | undefined> {
  const { exec, httpGet } = input.handler
  if (exec !== undefined) return askCommand(exec, input)
  if (httpGet === undefined) return undefined
  const answer = await askHttp(httpGet, input)
  // A hook that got a response has run, whatever the response.
  return 'ok' in answer && answer.output.startsWith('HTTP probe failed with statuscode') ? { ok: true, output: '' } : answer
}

const MAX_MESSAGE_BYTES = 4096
const LOG_LINES = 80
const LOG_BYTES = 2048
const PORT_DIAL_MS = 200

async function autopsy(machine: ContainerMachine, { run, container, podIP, exitCode }: AutopsyInput): Promise<Autopsy> {
  const bytes = await machine.readFile(await terminationMessagePathOf(machine, run), MAX_MESSAGE_BYTES)
  let message = bytes === undefined ? '' : Buffer.from(bytes).toString()
  if (exitCode === 0) return message === '' ? {} : { message }
  if (message === '' && container.terminationMessagePolicy === 'FallbackToLogsOnError') message = await endOfLog(machine, run)
  const taken = await takenPort(machine, container, podIP)
  if (taken !== undefined) message = `${message}${message === '' || message.endsWith('\n') ? '' : '\n'}${taken}`
  return message === '' ? {} : { message }
}

function endOfLog(machine: ContainerMachine, run: RunId): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    const write = (chunk: Uint8Array): boolean => {
      chunks.push(chunk)
      return true
    }
    const end = (): void => resolve(Buffer.concat(chunks).subarray(-LOG_BYTES).toString())
    machine.readLog(run, { follow: false, tailLines: LOG_LINES, timestamps: false }, { write, onDrain: () => undefined, end })
  })
}

/** The container is gone: whatever answers on its port now is something else. */
async function takenPort(machine: ContainerMachine, container: Container, podIP: string): Promise<string | undefined> {
  for (const { containerPort, protocol = 'TCP' } of container.ports ?? []) {
    if (containerPort === undefined || protocol !== 'TCP' || podIP === '') continue
    try {
      await machine.dial(podIP, containerPort, PORT_DIAL_MS)
    } catch {
      // Nothing answers: the port is free, and was not the reason.
      continue
    }
    return `port ${containerPort} of ${podIP} is taken by another process of this machine`
  }
  return undefined
}
