/** Waits for a background start: until every cluster answers, or the process is gone and its log says why. */
import { sleep } from '../base/clock.ts'
import { createClient } from '../client/client.ts'
import { connectionOf, parseKubeconfig } from '../client/kubeconfig.ts'
import { undiciTransport } from '../client/transport/undici.ts'
import { readAll } from '../client/transport.ts'
import type { DataDir } from './data-dir.ts'
import { readRun } from './data-dir.ts'
import { kubeconfigHost } from './kubeconfig-host.ts'
import { CommandError, type Machine } from './machine.ts'

const PATIENCE_MS = 120_000
const LOOK_EVERY_MS = 50
const LOG_LINES = 15

export async function waitUntilUp(machine: Machine, dir: DataDir, pid: number): Promise<void> {
  const deadline = machine.clock.now() + PATIENCE_MS
  for (;;) {
    const run = await readRun(machine, dir)
    if (run?.pid === pid && (await everyoneAnswers(machine, dir))) return
    if (!machine.processes.isAlive(pid)) throw new CommandError(`it did not start:\n\n${await lastLines(machine, dir)}`)
    if (machine.clock.now() > deadline) throw new CommandError(`it does not answer after ${PATIENCE_MS / 1000} s; look at ${dir.log}`)
    await sleep(machine.clock, LOOK_EVERY_MS)
  }
}

async function everyoneAnswers(machine: Machine, dir: DataDir): Promise<boolean> {
  const text = await machine.files.read(dir.kubeconfig)
  if (text === undefined) return false
  const config = parseKubeconfig(text, dir.kubeconfig)
  const host = kubeconfigHost(machine, new Map([[dir.kubeconfig, text]]))
  const answers = await Promise.all(
    config.contexts.map(async ({ name }) => {
      const transport = undiciTransport(connectionOf(config, name, host))
      const client = createClient({ transport, clock: machine.clock, random: machine.random, userAgent: 'sluice' })
      try {
        const response = await client.raw({ method: 'GET', path: '/readyz' })
        await readAll(response.body)
        return response.status === 200
      } catch {
        // Not being up yet is expected while starting; the deadline above ends the wait.
        return false
      } finally {
        await client.close()
      }
    }),
  )
  return answers.every((isUp) => isUp)
}

async function lastLines(machine: Machine, dir: DataDir): Promise<string> {
  const lines = ((await machine.files.read(dir.log)) ?? '').trimEnd().split('\n')
  return lines.slice(-LOG_LINES).join('\n')
}
