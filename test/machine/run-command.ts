/** Runs a command to its end and gives back what it said; for commands whose exit code is a result, not an error. */
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

/** exitCode is null when it had to be ended because the time was over. */
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
    // A command that ends without reading its input closes the pipe: that is its right.
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.input ?? '')
  })
}
