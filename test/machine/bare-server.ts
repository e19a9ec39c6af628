/**
 * `sluice up --bare` for a test: a fresh data directory, a free port, the program as a user starts it. `stop` ends the
 * process and removes the directory; SIGINT and SIGTERM of the test do so too.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Child, startChild } from './child.ts'

export interface BareServer {
  /** The data directory of the server; tests may keep their own files beside it in `folder`. */
  dataDir: string
  folder: string
  kubeconfig: string
  child: Child
  stop(): Promise<void>
}

export async function startBareServer(): Promise<BareServer> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-test-'))
  const dataDir = path.join(folder, 'data')
  const child = startChild({
    name: 'sluice',
    command: process.execPath,
    args: ['sluice', 'up', '--bare', '--members', '0', '--port', '0', '--data-dir', dataDir],
    log: path.join(folder, 'sluice.log'),
  })
  const stop = async (): Promise<void> => {
    await child.stop()
    if (process.env.SLUICE_TEST_KEEP === undefined) rmSync(folder, { recursive: true, force: true })
  }
  try {
    await child.waitUntil('run.json', () => existsSync(path.join(dataDir, 'run.json')))
  } catch (error) {
    await stop()
    throw error
  }
  return { dataDir, folder, kubeconfig: path.join(dataDir, 'kubeconfig'), child, stop }
}
