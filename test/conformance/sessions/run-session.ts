/**
 * Runs one recorded session: a fresh namespace, a folder with its files as HOME, the commands in order. Reports for each
 * command where exit code and output differ from the recording.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { type CommandResult, runCommand } from '../../machine/run-command.ts'
import { normaliseOutput, type Place } from './normalise-output.ts'
import { type Session, type SessionStep, words } from './session.ts'

export interface SessionOptions {
  kubectl: string
  kubeconfig: string
  /** Part of the namespace name: no two sessions on one server may share it. */
  id: string
  /** The service account controller runs: commands wait for its work. */
  hasControllers: boolean
  /** Another kubectl may word its output differently; its exit codes must agree. */
  comparesOutput: boolean
  /** API groups that this server serves in addition to those of a kube-apiserver. */
  ownGroups: readonly string[]
}

export interface CommandOutcome {
  scenario: string
  cmd: string
  /** Empty: as recorded. */
  differences: string[]
}

const MOST_REPEATS = 20

export async function runSession(session: Session, options: SessionOptions): Promise<CommandOutcome[]> {
  const place: Place = {
    namespace: `kg-${options.id}x`,
    folder: mkdtempSync(path.join(os.tmpdir(), 'kg-')),
    server: serverOf(options.kubeconfig),
    short: options.id.replaceAll('-', ''),
    ownGroups: options.ownGroups,
  }
  const fill = (text: string): string => text.replaceAll('<ns>', place.namespace).replaceAll('<short>', place.short)
  for (const [name, content] of Object.entries(session.files)) {
    mkdirSync(path.dirname(path.join(place.folder, name)), { recursive: true })
    writeFileSync(path.join(place.folder, name), fill(content))
  }
  const kubectl = (args: string[], step?: SessionStep): Promise<CommandResult> =>
    runCommand(options.kubectl, ['--kubeconfig', options.kubeconfig, ...args], {
      cwd: place.folder,
      input: fill(step?.stdin ?? ''),
      env: { PATH: process.env.PATH, HOME: place.folder, TERM: 'dumb', ...step?.env },
    })
  try {
    await kubectl(['create', 'ns', place.namespace])
    if (options.hasControllers) await defaultAccount(() => kubectl(['-n', place.namespace, 'get', 'sa', 'default']))
    const outcomes: CommandOutcome[] = []
    for (const step of session.steps) {
      const result = await repeated(step, () => kubectl(['-n', place.namespace, ...words(fill(step.cmd))], step))
      outcomes.push({ scenario: session.scenario, cmd: step.cmd, differences: compare(step, result, place, options.comparesOutput) })
    }
    await kubectl(['delete', 'ns', place.namespace, '--wait=false'])
    return outcomes
  } finally {
    rmSync(place.folder, { recursive: true, force: true })
  }
}

/** A step with `until` shows an eventually consistent fact. */
async function repeated(step: SessionStep, run: () => Promise<CommandResult>): Promise<CommandResult> {
  for (let tries = 0; ; tries++) {
    const result = await run()
    if (step.until === undefined || new RegExp(step.until, 'm').test(result.stdout + result.stderr) || tries >= MOST_REPEATS) return result
    await sleep(500)
  }
}

async function defaultAccount(get: () => Promise<CommandResult>): Promise<void> {
  for (let tries = 0; tries < 100 && (await get()).exitCode !== 0; tries++) await sleep(100)
}

function compare(step: SessionStep, result: CommandResult, place: Place, comparesOutput: boolean): string[] {
  const differences: string[] = []
  if (result.exitCode !== step.exitCode) {
    const said = comparesOutput ? '' : `: ${result.stderr.trim().slice(0, 300)}`
    differences.push(`exit code: expected ${step.exitCode}, got ${result.exitCode ?? 'none within 90 s'}${said}`)
  }
  if (!comparesOutput) return differences
  for (const stream of ['stdout', 'stderr'] as const) {
    const got = normaliseOutput(result[stream], place, step)
    if (got !== step[stream])
      differences.push(`${stream}: expected ${shown(step[stream])}\n${' '.repeat(stream.length + 9)}got ${shown(got)}`)
  }
  return differences
}

const shown = (text: string): string => JSON.stringify(text).slice(0, 800)

function serverOf(kubeconfig: string): string {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as { clusters: { cluster: { server: string } }[] }
  const server = config.clusters[0]?.cluster.server
  if (server === undefined) throw new Error(`${kubeconfig}: no server`)
  return server
}
