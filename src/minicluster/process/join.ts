/** Runs a command inside a container: with its files, its host name, its processes, its environment. */
import type { ExecSession, ExecStart } from '../kubelet/container-machine.ts'
import { inContainer } from '../kubelet/entry-point.ts'
import { joiningCommand, type Namespaces } from './namespaces.ts'
import { findProgram, SYSTEM_PATH } from './programs.ts'
import type { KnownRun } from './run-store.ts'
import { startSession } from './sessions.ts'
import { terminalCommand } from './terminal.ts'

export interface Joining {
  start: ExecStart
  namespaces: Namespaces | undefined
  searchPath: string
}

export async function joinRun(run: KnownRun, { start, namespaces, searchPath }: Joining): Promise<ExecSession> {
  const { running } = run
  if (run.state.phase !== 'running' || running === undefined) throw new Error('the container does not run')
  const { launch } = running
  const script = start.tty ? findProgram('script', `${searchPath}:${SYSTEM_PATH}`) : undefined
  if (start.tty && script === undefined)
    throw new Error('a terminal needs the program "script" (of util-linux), which is not installed here; leave out -t')
  const inTerminal = (line: readonly string[]): string[] => (script === undefined ? [...line] : terminalCommand(script, line))
  const asked = inContainer(launch.entryPoint, start.command)
  const command =
    launch.root === undefined || namespaces === undefined
      ? inTerminal(asked)
      : joiningCommand(
          { ...namespaces, processes: launch.ownsProcesses, isUnprivileged: launch.isUnprivileged },
          { outer: running.outer.pid, program: running.program.pid, root: launch.root, workingDir: launch.workingDir },
          { command: asked, inTerminal },
        )
  const isComposed = launch.root !== undefined
  const env = start.tty ? { ...launch.env, SHELL: '/bin/sh', TERM: launch.env.TERM ?? 'xterm' } : launch.env
  return startSession({ command, env, cwd: isComposed ? '/' : launch.workingDir, tty: start.tty }, start)
}
