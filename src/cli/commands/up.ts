/** `sluice up`: the hub and its members in this process, until Ctrl-C; or in the background with --detach. */

import { MODULES } from '../../modules.ts'
import type { FlagTexts } from '../../runtime/module/flags.ts'
import type { Module } from '../../runtime/module/module.ts'
import type { Chapter } from '../../runtime/seams/story.ts'
import { type DataDir, dataDir, readRun, readSettings } from '../data-dir.ts'
import { CommandError, type Machine } from '../machine.ts'
import { MEMBER_TRANSPORTS, type MemberTransport } from '../member-transports.ts'
import { watchMemory } from '../memory-watch.ts'
import { asArguments, type CommandOptions, givenFlags, withFlags } from '../module-flags.ts'
import { describeStart, startProgress } from '../progress.ts'
import type { Running } from '../serve.ts'

/** In addition to the flags of the modules. */
export interface UpOptions extends CommandOptions {
  dataDir?: string
  port?: string
  members?: string
  bare?: boolean
  detach?: boolean
  memberTransport?: string
  story?: string
  quiet?: boolean
  exit?: boolean
}

const DEFAULT_PORT = 7443
const DEFAULT_MEMBERS = 3
const MAX_MEMBERS = 100
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
  machine.out(describeStart(machine, dir, served, { hasStory: plan.chapters.length > 0 }))
  const failure = served.failed.then((reason) => ({ reason }))
  const stopped = Promise.race([machine.untilStopped(), failure])
  const outcome = plan.chapters.length > 0 ? await runStory(machine, { dir, options, chapters: plan.chapters, served, stopped }) : undefined
  const end = options.exit ? (outcome?.end ?? 'the story is over') : await stopped
  endWatch()
  machine.err(`\nStopping (${typeof end === 'string' ? end : end.reason}) …\n`)
  if (typeof end === 'string') await endPods(machine, served)
  await served.stop()
  if (typeof end !== 'string')
    throw new CommandError(
      `stopped because of a ${end.reason}. What was acknowledged is kept; look after the disk of ${dir.path}, then start again`,
    )
  machine.err('Stopped. Everything is kept; the next start finds it as it was.\n')
  if (options.exit && outcome?.problem !== undefined) throw outcome.problem
  if (options.exit && outcome?.end !== undefined) throw new CommandError('the story was ended before its end')
}

type End = string | { reason: string }

interface PlayOptions {
  dir: DataDir
  options: UpOptions
  chapters: readonly Chapter[]
  served: Running
  /** Resolves when the process is to end. */
  stopped: Promise<End>
}

/** What went wrong with the story, and what interrupted it. Sluice stays up all the same, unless --exit is given. */
async function runStory(
  machine: Machine,
  { dir, options, chapters, served, stopped }: PlayOptions,
): Promise<{ problem?: CommandError; end?: End }> {
  const { playStories } = await import('../story/index.ts')
  const ending = new AbortController()
  let end: End | undefined
  void stopped.then((reason) => {
    end = reason
    ending.abort()
  })
  try {
    const stays = options.exit !== true
    await playStories(chapters, { machine, dir, dataDir: options.dataDir, running: served, stays, signal: ending.signal })
    return { end }
  } catch (error) {
    // Whatever the error: what is running must be stopped in order, or kept running.
    const problem = error instanceof CommandError ? error : new CommandError(`the story ended early: ${String(error)}`, error)
    if (!options.exit) machine.err(`sluice: ${problem.message}\nSluice stays up.\n`)
    return { problem, end }
  }
}

/** With the grace period, as users expect of Ctrl-C; after a second one the programs keep running, and the next start finds them again. */
async function endPods(machine: Machine, served: Running): Promise<void> {
  const count = served.runningPods()
  if (count > 0)
    machine.err(
      `Ending ${count} pod${count === 1 ? '' : 's'} with grace; Ctrl-C again leaves ${count === 1 ? 'it' : 'them'} running for the next start …\n`,
    )
  // Even if no pod is running yet: one that is just starting must not be left behind.
  await Promise.race([served.endPods(), machine.untilStopped()])
}

export interface StartPlan {
  members: number
  /** Port of the hub; members follow. 0 picks free ones. */
  port: number
  /** Ports of the previous start. */
  keptPorts: Record<string, number>
  memberTransport: MemberTransport
  /** With the options that were stored and given. */
  modules: readonly Module[]
  /** The stories played after the start. */
  chapters: readonly Chapter[]
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
  const kept = MODULES.map((module) => module.kept?.restored(stored?.kept[module.kept.key], machine.random) ?? module)
  const given = givenFlags('up', MODULES, { options, env: machine.env })
  const asked = await withFlags(machine, 'up', kept, given)
  const processes = asked.some(({ runsProcesses }) => runsProcesses)
  const chapters = chaptersToPlay(options, asked, { isNew: stored === undefined, members: count, runsProcesses: processes })
  return {
    members: count,
    port: port ?? DEFAULT_PORT,
    // Unless a port was given, the previous ports are kept.
    keptPorts: port === undefined || port === 0 ? (stored?.ports ?? {}) : {},
    memberTransport: memberTransport(options.memberTransport),
    // A story uses shorter times than a real fleet should; flags that the user gave win.
    modules: chapters.length === 0 ? asked : await withFlags(machine, 'up', kept, { ...flagsOf(chapters), ...given }),
    chapters,
  }
}

const flagsOf = (chapters: readonly Chapter[]): FlagTexts =>
  Object.fromEntries(chapters.flatMap(({ flags = {} }) => Object.entries(flags).map(([flag, text]) => [flag, [text]])))

interface StoryPlace {
  isNew: boolean
  members: number
  runsProcesses: boolean
}

/** In a new directory every story that can be played here, or the requested one; if that cannot be played, it is an error. */
function chaptersToPlay(
  { story, quiet, exit, detach, bare }: UpOptions,
  modules: readonly Module[],
  place: StoryPlace,
): readonly Chapter[] {
  const all = modules.flatMap(({ chapters }) => chapters)
  const asked = all.filter(({ name }) => name === story)
  if (story !== undefined && asked.length === 0)
    throw new CommandError(`there is no story ${JSON.stringify(story)}; there is ${all.map(({ name }) => name).join(', ')}`)
  if (exit && story === undefined) throw new CommandError(`--exit ends after a story: sluice up --story ${all[0]?.name ?? 'NAME'} --exit`)
  if (story !== undefined && quiet) throw new CommandError('--story tells a story and --quiet tells none; leave one of them out')
  const hindranceOf = (chapter: Chapter): string | undefined => {
    if (detach) return '--detach goes to the background, where nobody listens'
    if (bare) return '--bare runs no controllers'
    return chapter.hindrance(place)
  }
  const [hindrance] = asked.flatMap((chapter) => hindranceOf(chapter) ?? [])
  if (hindrance !== undefined) throw new CommandError(`the story cannot be told: ${hindrance}`)
  if (story !== undefined) return asked
  return place.isNew && !quiet ? all.filter((chapter) => hindranceOf(chapter) === undefined) : []
}

function memberTransport(text = 'in-process'): MemberTransport {
  const found = MEMBER_TRANSPORTS.find((transport) => transport === text)
  if (found === undefined) throw new CommandError(`--member-transport takes ${MEMBER_TRANSPORTS.join(' or ')}, not ${JSON.stringify(text)}`)
  return found
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
  if (options.memberTransport !== undefined) args.push('--member-transport', options.memberTransport)
  args.push(...asArguments(givenFlags('up', MODULES, { options, env: machine.env })))
  if (options.bare) args.push('--bare')
  // Nobody would see it.
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
