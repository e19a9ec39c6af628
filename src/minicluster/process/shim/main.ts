/**
 * Accompanies one run of one container, outside Sluice's session: starts the program, writes its log and how it ended into the
 * run's directory, and exits. It works whether or not Sluice is running. Node is the only runtime certain to be on
 * a machine that runs Sluice; a shim takes 8 MB of its own memory (Node's code is shared) and a tenth of a second to start.
 *
 *   node shim.mjs <directory of the run> <directory for notices> <name of the notice>
 */

import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { messageOf } from '../../../base/error-text.ts'
import { LaunchError, prepareLaunch } from '../launch.ts'
import { bootId, markOf } from '../process-table.ts'
import {
  CLAIM_FILE,
  claimRecord,
  ENDED_FILE,
  type Ended,
  INPUT_SOCKET,
  RUNNING_FILE,
  type Running,
  readEnded,
  readRun,
  writeRecord,
} from '../run-files.ts'
import { endProcesses } from '../run-store.ts'
import { runProgram } from './program.ts'

const [directory = '', notices = '', notice = ''] = process.argv.slice(2)

/** Sluice watches one directory for all of its shims. */
function notify(): void {
  try {
    mkdirSync(notices, { recursive: true })
    writeFileSync(path.join(notices, notice), '')
  } catch {
    // Sluice also looks periodically, and when it starts.
  }
}

/** If the data directory is removed under a running pod, the pod is meant to be gone too: nothing would ever find it again. */
const ABANDONED_MS = 30_000

function isAbandoned(): boolean {
  try {
    statSync(path.join(directory, CLAIM_FILE))
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT'
  }
}

async function main(): Promise<void> {
  process.chdir(directory)
  // Signals that end a session or a terminal are not meant for us; those for the program are sent to the program.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGPIPE'] as const) process.on(signal, () => undefined)
  const record = readRun('.')
  const self = markOf(process.pid)
  if (record === undefined || self === undefined || readEnded('.') !== undefined) return
  if (!claimRecord('.', CLAIM_FILE, { ...self, bootId: bootId() })) return
  const finish = (ended: Ended): void => {
    rmSync(INPUT_SOCKET, { force: true })
    writeRecord('.', ENDED_FILE, ended)
    notify()
  }
  try {
    const launch = prepareLaunch({ ...record.place, spec: record.spec, directory })
    const ended = await runProgram({ spec: record.spec, launch }, (running: Running) => {
      writeRecord('.', RUNNING_FILE, running)
      notify()
      setInterval(() => {
        if (!isAbandoned()) return
        endProcesses(running)
        process.exit()
      }, ABANDONED_MS)
    })
    finish(ended)
  } catch (error) {
    const message = messageOf(error)
    const reason = error instanceof LaunchError ? error.reason : 'RunContainerError'
    finish({ phase: 'failed', reason, message, atMs: Date.now() })
  }
}

await main()
process.exit()
