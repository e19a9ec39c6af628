/** `sluice up` as a setup for the fleet's benchmark: hub and members in one process. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { seededRandom } from '../src/base/random.ts'
import type { MemberTransport } from '../src/cli/member-transports.ts'
import { type Client, createClient } from '../src/client/client.ts'
import { connectionOf, parseKubeconfig } from '../src/client/kubeconfig.ts'
import { hostOfThisMachine } from '../src/client/transport/host.ts'
import { undiciTransport } from '../src/client/transport/undici.ts'
import { startChild } from '../test/machine/child.ts'
import { CLOCK } from './clock.ts'
import type { FleetSetup } from './propagation.ts'

export interface EmbeddedFleet {
  setup: FleetSetup
  dataDir: string
  stop(): Promise<void>
}

export interface EmbeddedShape {
  members: number
  transport: MemberTransport
  /** Simulated nodes of each member (default 1). */
  nodes?: number
  /** Nodes of each member whose pods are processes (default none). */
  processNodes?: number
  /** A directory for profiles of the process. */
  profile?: string
}

export async function startEmbeddedFleet(program: string, shape: EmbeddedShape): Promise<EmbeddedFleet> {
  const { members, transport, nodes = 1, processNodes = 0, profile } = shape
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-bench-'))
  const dataDir = path.join(folder, 'data')
  const ofNodes = ['--nodes', String(nodes), '--process-nodes', String(processNodes)]
  const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const args = [
    ...flags,
    program,
    'up',
    '--members',
    String(members),
    ...ofNodes,
    '--member-transport',
    transport,
    '--quiet',
    '--port',
    '0',
    '--data-dir',
    dataDir,
  ]
  const start = () => startChild({ name: 'sluice', command: process.execPath, args, log: path.join(folder, 'log') })
  const isUp = (): boolean => existsSync(path.join(dataDir, 'run.json'))
  let child = start()
  await child.waitUntil('the start', isUp, 120)
  const clients: Client[] = []
  const clientOf = (context: string): Client => {
    const file = path.join(dataDir, 'kubeconfig')
    const config = parseKubeconfig(readFileSync(file, 'utf8'), file)
    const client = createClient({
      transport: undiciTransport(connectionOf(config, context, hostOfThisMachine())),
      clock: CLOCK,
      random: seededRandom(1),
      userAgent: 'bench',
    })
    clients.push(client)
    return client
  }
  const pids = { sluice: [child.pid] }
  return {
    dataDir,
    setup: {
      hub: clientOf('hub'),
      members: Array.from({ length: members }, (_, i) => clientOf(`member${i + 1}`)),
      pids,
      async restart() {
        await child.stop()
        child = start()
        await child.waitUntil('the next start', isUp, 600)
        pids.sluice[0] = child.pid
      },
    },
    async stop() {
      await Promise.all(clients.map((client) => client.close()))
      await child.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
