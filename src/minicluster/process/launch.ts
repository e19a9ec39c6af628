/** From a container's spec to the command line that the shim starts, with its files on disk prepared. */
import { mkdirSync } from 'node:fs'
import type { RunSpec } from '../kubelet/container-machine.ts'
import { compose } from './compose.ts'
import { CompositionError } from './composition.ts'
import { type Namespaces, placedCommand } from './namespaces.ts'
import { SYSTEM_PATH } from './programs.ts'
import type { Launch, Place } from './run-files.ts'
import { terminalCommand } from './terminal.ts'

export interface LaunchOptions extends Place {
  spec: RunSpec
  /** Of the run. */
  directory: string
}

/** Why a container cannot be started; `reason` as in a container's state. */
export class LaunchError extends Error {
  readonly reason: 'CreateContainerError' | 'StartError'
  constructor(reason: 'CreateContainerError' | 'StartError', message: string) {
    super(message)
    this.reason = reason
  }
}

export function prepareLaunch(options: LaunchOptions): Launch {
  const { spec, namespaces } = options
  if (spec.command.length === 0 || spec.command[0] === '') throw new LaunchError('StartError', 'no command specified')
  if (spec.tty && options.script === undefined)
    throw new LaunchError('CreateContainerError', 'a terminal needs the program "script" (of util-linux), which is not installed here')
  const workingDir = spec.workingDir ?? (spec.imageRoot === undefined ? options.podDirectory : '/')
  const mark = `SLUICE_RUN=${spec.podUid}/${spec.container}/${spec.attempt}`
  const env = environmentOf(spec, { workingDir, searchPath: options.searchPath })
  if (typeof namespaces === 'string') return withoutNamespaces(options, { workingDir, env, mark })
  const place = composed(options, namespaces, workingDir)
  const command = placedCommand(namespaces, { ...place, hostname: spec.hostname, command: spec.command })
  const markedEnv = namespaces.processes ? env : { ...env, ...markVariable(mark) }
  return {
    command: spec.tty ? terminalCommand(options.script ?? '', command) : command,
    env: spec.tty ? { ...markedEnv, SHELL: namespaces.tools.sh } : markedEnv,
    cwd: options.directory,
    reportsReady: true,
    depth: spec.tty ? 2 : 1,
    ownsProcesses: namespaces.processes,
    mark,
    root: place.root,
    workingDir: place.workingDir,
    entryPoint: spec.entryPoint,
    isUnprivileged: namespaces.isUnprivileged,
  }
}

function composed(options: LaunchOptions, namespaces: Namespaces, workingDir: string): ReturnType<typeof compose> {
  try {
    return compose({ ...options, namespaces, workingDir })
  } catch (error) {
    if (error instanceof CompositionError) throw new LaunchError('CreateContainerError', error.message)
    throw error
  }
}

/** Good enough for a program that needs only this machine's files. */
function withoutNamespaces(
  options: LaunchOptions,
  { workingDir, env, mark }: { workingDir: string; env: Record<string, string>; mark: string },
): Launch {
  const { spec } = options
  if (spec.mounts.length > 0 || spec.imageRoot !== undefined)
    throw new LaunchError('CreateContainerError', `volumes cannot be mounted: ${options.namespaces}`)
  mkdirSync(options.podDirectory, { recursive: true })
  return {
    command: spec.tty ? terminalCommand(options.script ?? '', spec.command) : spec.command,
    env: { ...env, ...markVariable(mark), ...(spec.tty ? { SHELL: '/bin/sh' } : {}) },
    cwd: workingDir,
    reportsReady: false,
    depth: spec.tty ? 1 : 0,
    ownsProcesses: false,
    mark,
    workingDir,
    entryPoint: spec.entryPoint,
    isUnprivileged: false,
  }
}

/** Identifies processes of the run, also when a program leaves its session. */
function markVariable(mark: string): Record<string, string> {
  const [name = '', value = ''] = mark.split('=')
  return { [name]: value }
}

function environmentOf(spec: RunSpec, by: { workingDir: string; searchPath: string }): Record<string, string> {
  const { workingDir, searchPath } = by
  return {
    PATH: spec.imageRoot === undefined ? searchPath : SYSTEM_PATH,
    HOME: workingDir,
    ...(spec.tty ? { TERM: 'xterm' } : {}),
    ...spec.env,
  }
}
