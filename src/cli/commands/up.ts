/** `sluice up`: the hub and its members in this process, until Ctrl-C; or in the background with --detach. */

import type { FleetOptions } from '../../fleet/controllers.ts'
import type { Stage } from '../../minicluster/nodes/simulated/stages.ts'
import { type DataDir, dataDir, readRun, readSettings } from '../data-dir.ts'
import { type FleetFlags, fleetArguments, fleetOptionsOf, STORY_FLAGS } from '../fleet-flags.ts'
import { CommandError, type Machine } from '../machine.ts'
import { type NodeOptions, type NodeSettings, nodeSettings } from '../member-nodes.ts'
import { MEMBER_TRANSPORTS, type MemberTransport } from '../member-transports.ts'
import { watchMemory } from '../memory-watch.ts'
import { describeStart, startProgress } from '../progress.ts'
import type { Running } from '../serve.ts'

export interface UpOptions extends NodeOptions, FleetFlags {
  dataDir?: string
  port?: string
  members?: string
  bare?: boolean
  detach?: boolean
  image?: string[]
  stages?: string
  memberTransport?: string
  story?: string
  quiet?: boolean
  exit?: boolean
}

const DEFAULT_PORT = 7443
const DEFAULT_MEMBERS = 3
const MAX_MEMBERS = 100
const STORIES = ['fleet']
const STORY_MEMBERS = 3
const MAX_PORT = 65_535

export async function up(machine: Machine, options: UpOptions): Promise<void> {
  const dir = dataDir(machine, options.dataDir)
  const plan = await planStart(machine, dir, options)
  const running = await readRun(machine, dir)
  if (running !== undefined)
    throw new CommandError(
      `Sluice is already running on ${dir.path} (process ${running.pid}).\nUse it:   export KUBECONFIG=${dir.kubeconfig}\nStop it:  sluice down${options.dataDir === undefined ? '' : ` --data-dir ${options.dataDir}`}`,
    )
  if (options.detach) return startInBackground(machine, dir, options)
  const progress = startProgress(machine)
  progress.step('loading')
  const { serve } = await import('../serve.ts')
  let served: Running
  try {
    served = await serve(machine, dir, { ...plan, bare: options.bare === true, onStep: progress.step })
  } finally {
    progress.done()
  }
  const endWatch = watchMemory(machine, (warning) => machine.err(`warning: ${warning}\n`))
  machine.out(describeStart(machine, dir, served, { willTell: plan.story }))
  const failure = served.failed.then((reason) => ({ reason }))
  const stopped = Promise.race([machine.untilStopped(), failure])
  const told = plan.story ? await tellStory(machine, { dir, options, served, stopped }) : undefined
  const end = options.exit ? (told?.end ?? 'the story is over') : await stopped
  endWatch()
  machine.err(`\nStopping (${typeof end === 'string' ? end : end.reason}) …\n`)
  if (typeof end === 'string') await endPods(machine, served)
  await served.stop()
  if (typeof end !== 'string')
    throw new CommandError(
      `stopped because of a ${end.reason}. What was acknowledged is kept; look after the disk of ${dir.path}, then start again`,
    )
  machine.err('Stopped. Everything is kept; the next start finds it as it was.\n')
  if (options.exit && told?.problem !== undefined) throw told.problem
  if (options.exit && told?.end !== undefined) throw new CommandError('the story was ended before its end')
}

type End = string | { reason: string }

interface Listener {
  dir: DataDir
  options: UpOptions
  served: Running
  /** Resolves when the process is to end. */
  stopped: Promise<End>
}

/** What went wrong with the story, and what ended it from outside. Sluice stays up all the same, unless --exit says otherwise. */
async function tellStory(machine: Machine, { dir, options, served, stopped }: Listener): Promise<{ problem?: CommandError; end?: End }> {
  const { tellFleetStory } = await import('../story/index.ts')
  const ending = new AbortController()
  let end: End | undefined
  void stopped.then((reason) => {
    end = reason
    ending.abort()
  })
  try {
    const stays = options.exit !== true
    await tellFleetStory({ machine, dir, dataDir: options.dataDir, running: served, stays, signal: ending.signal })
    return { end }
  } catch (error) {
    // Whatever it was: what runs must be stopped in order, or go on.
    const problem = error instanceof CommandError ? error : new CommandError(`the story ended early: ${String(error)}`, error)
    if (!options.exit) machine.err(`sluice: ${problem.message}\nSluice stays up.\n`)
    return { problem, end }
  }
}

/** With grace, as people expect of Ctrl-C; a second one leaves the programs to the next start, which finds them again. */
async function endPods(machine: Machine, served: Running): Promise<void> {
  const count = served.runningPods()
  if (count > 0)
    machine.err(
      `Ending ${count} pod${count === 1 ? '' : 's'} with grace; Ctrl-C again leaves ${count === 1 ? 'it' : 'them'} running for the next start …\n`,
    )
  // Where nothing runs yet, too: what is just being started must not be left behind.
  await Promise.race([served.endPods(), machine.untilStopped()])
}

export interface StartPlan {
  members: number
  /** Port of the hub; members follow. 0 picks free ones. */
  port: number
  /** Ports remembered from before. */
  keptPorts: Record<string, number>
  nodes: NodeSettings
  /** Local roots by image. */
  images: ReadonlyMap<string, string>
  stages?: readonly Stage[]
  memberTransport: MemberTransport
  fleet: FleetOptions
  /** Whether the story is told after the start. */
  story: boolean
}

async function planStart(machine: Machine, dir: DataDir, options: UpOptions): Promise<StartPlan> {
  const members = wholeNumber('--members', options.members, 0, MAX_MEMBERS)
  const port = wholeNumber('--port', options.port, 0, MAX_PORT)
  const stored = await readSettings(machine, dir)
  if (stored !== undefined && members !== undefined && members !== stored.members)
    throw new CommandError(
      `${dir.path} holds ${stored.members} members, and --members says ${members}.\nStart it as it is:      sluice up --data-dir ${dir.path}\nOr start another one:   sluice up --members ${members} --data-dir OTHER`,
    )
  const count = stored?.members ?? members ?? DEFAULT_MEMBERS
  if (port !== undefined && port + count > MAX_PORT)
    throw new CommandError(
      `--port ${port} leaves no room for ${count} members, which take the ports after it; choose a port up to ${MAX_PORT - count}`,
    )
  const nodes = nodeSettings(options, stored?.nodes, machine.random)
  const story = isStoryTold(options, { isNew: stored === undefined, members: count, nodes })
  return {
    members: count,
    port: port ?? DEFAULT_PORT,
    // Who leaves the choice to us gets what he got before.
    keptPorts: port === undefined || port === 0 ? (stored?.ports ?? {}) : {},
    nodes,
    images: await imageRoots(machine, options.image ?? []),
    stages: options.stages === undefined ? undefined : await readStages(machine, options.stages),
    memberTransport: memberTransport(options.memberTransport),
    fleet: fleetOptionsOf(story ? { ...STORY_FLAGS, ...fleetFlagsOf(options) } : options),
    story,
  }
}

/** Only what was given, so that it wins over other defaults. */
const fleetFlagsOf = (options: UpOptions): FleetFlags =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as FleetFlags

/** On a new directory, or when it is asked for; where it cannot be told, asking for it is an error and nothing else. */
function isStoryTold(options: UpOptions, { isNew, members, nodes }: { isNew: boolean; members: number; nodes: NodeSettings }): boolean {
  const { story, quiet, exit, detach, bare } = options
  if (story !== undefined && !STORIES.includes(story))
    throw new CommandError(`there is no story ${JSON.stringify(story)}; there is ${STORIES.join(', ')}`)
  if (exit && story === undefined) throw new CommandError('--exit ends after a story: sluice up --story fleet --exit')
  if (story !== undefined && quiet) throw new CommandError('--story tells a story and --quiet tells none; leave one of them out')
  const hindrance = storyHindrance({ detach, bare, members, processNodes: nodes.process.count })
  if (story !== undefined && hindrance !== undefined) throw new CommandError(`the story cannot be told: ${hindrance}`)
  return story !== undefined || (isNew && !quiet && hindrance === undefined)
}

interface Ground {
  detach: boolean | undefined
  bare: boolean | undefined
  members: number
  processNodes: number
}

function storyHindrance({ detach, bare, members, processNodes }: Ground): string | undefined {
  if (detach) return '--detach goes to the background, where nobody listens'
  if (bare) return '--bare runs no controllers'
  if (members < STORY_MEMBERS) return `it needs ${STORY_MEMBERS} members, and there ${members === 1 ? 'is' : 'are'} ${members}`
  if (processNodes === 0) return 'its pods run for real, and there are no process nodes'
  return undefined
}

function memberTransport(text = 'in-process'): MemberTransport {
  const found = MEMBER_TRANSPORTS.find((way) => way === text)
  if (found === undefined) throw new CommandError(`--member-transport takes ${MEMBER_TRANSPORTS.join(' or ')}, not ${JSON.stringify(text)}`)
  return found
}

async function imageRoots(machine: Machine, given: readonly string[]): Promise<Map<string, string>> {
  const roots = new Map<string, string>()
  for (const text of given) {
    const at = text.lastIndexOf('=')
    const [image, directory] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)]
    if (image === '' || directory === '') throw new CommandError(`--image takes NAME=DIRECTORY, not ${JSON.stringify(text)}`)
    const root = machine.files.resolve(machine.cwd, directory)
    if (!(await machine.files.exists(root))) throw new CommandError(`--image ${image}: there is no directory ${root}`)
    roots.set(image, root)
  }
  return roots
}

async function readStages(machine: Machine, file: string): Promise<Stage[]> {
  const path = machine.files.resolve(machine.cwd, file)
  const text = await machine.files.read(path)
  if (text === undefined) throw new CommandError(`--stages: there is no file ${path}`)
  const { stagesOf } = await import('../stages-file.ts')
  try {
    return stagesOf(text)
  } catch (error) {
    throw new CommandError(`--stages ${file}: ${error instanceof Error ? error.message : String(error)}`, error)
  }
}

function wholeNumber(flag: string, text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new CommandError(`${flag} takes a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`)
  return value
}

async function startInBackground(machine: Machine, dir: DataDir, options: UpOptions): Promise<void> {
  await machine.files.makeDirectory(dir.path)
  const args = ['up', '--data-dir', dir.path]
  if (options.port !== undefined) args.push('--port', options.port)
  if (options.members !== undefined) args.push('--members', options.members)
  for (const [flag, value] of [
    ['--nodes', options.nodes],
    ['--node-size', options.nodeSize],
    ['--process-nodes', options.processNodes],
    ['--process-node-size', options.processNodeSize],
    ['--stages', options.stages],
    ['--member-transport', options.memberTransport],
  ] as const)
    if (value !== undefined) args.push(flag, value)
  for (const image of options.image ?? []) args.push('--image', image)
  args.push(...fleetArguments(options))
  if (options.bare) args.push('--bare')
  // Nobody would hear it.
  args.push('--quiet')
  const progress = startProgress(machine)
  progress.step('starting in the background')
  try {
    const pid = await machine.processes.startDetached(args, dir.log)
    const { waitUntilUp } = await import('../wait-until-up.ts')
    await waitUntilUp(machine, dir, pid)
    progress.done()
    machine.out(
      `Sluice runs in the background (process ${pid}, output in ${dir.log}).\n\n  export KUBECONFIG=${dir.kubeconfig}\n  kubectl get ns\n\nStop it with: sluice down${options.dataDir === undefined ? '' : ` --data-dir ${options.dataDir}`}\n`,
    )
  } finally {
    progress.done()
  }
}
