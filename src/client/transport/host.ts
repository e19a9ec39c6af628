/**
 * What a kubeconfig may ask of this machine: files, environment and credential plug-ins. A plug-in is started with its
 * arguments as a list, never through a shell, gets no input, and has a bounded time and output.
 */

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { messageOf } from '../../base/error-text.ts'
import { KubeconfigError, type KubeconfigHost } from '../credentials.ts'

const PLUGIN_TIMEOUT_MS = 60_000
const PLUGIN_OUTPUT_BYTES = 1024 * 1024

export function hostOfThisMachine(): KubeconfigHost {
  return {
    readFile(file) {
      try {
        return readFileSync(file, 'utf8')
      } catch (cause) {
        throw new KubeconfigError(`${file} cannot be read: ${messageOf(cause)}`)
      }
    },
    resolvePath: (file, to) => path.resolve(path.dirname(file), to),
    env: (name) => process.env[name],
    runPlugin: (command, args, env) =>
      new Promise((resolve, reject) => {
        const options = { env: { ...process.env, ...env }, timeout: PLUGIN_TIMEOUT_MS, maxBuffer: PLUGIN_OUTPUT_BYTES, shell: false }
        const child = execFile(command, [...args], options, (error, stdout, stderr) => {
          if (error === null) resolve(stdout)
          else reject(new KubeconfigError(`the credential plug-in ${command} failed: ${stderr.trim().slice(0, 500) || error.message}`))
        })
        child.stdin?.end()
      }),
    nowMs: () => Date.now(),
  }
}
