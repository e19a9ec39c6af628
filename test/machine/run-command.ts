/** Runs a command to completion and returns its output; for commands whose exit code is a result, not an error. */
import { spawn } from 'node:child_process'

export interface CommandResult {
  exitCode: number | null
  stdout: string
  stderr: string
}

export interface CommandOptions {
  cwd?: string
  env?: NodeJS.ProcessEnv
  input?: string
  timeoutMs?: number
}

/** exitCode is null when it was killed after the timeout. */
export function runCommand(file: string, args: string[], options: CommandOptions = {}): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: options.cwd, env: options.env, timeout: options.timeoutMs ?? 90_000, killSignal: 'SIGKILL' })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, stdout, stderr }))
    // A command may end without reading its input, which closes the pipe.
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.input ?? '')
  })
}
