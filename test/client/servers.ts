/** Servers for the client suite: in process under virtual time, and on a loopback port with TLS. */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { listen, openKeyDirectory } from '../../src/apiserver/listener/index.ts'
import { ensurePki } from '../../src/apiserver/pki/index.ts'
import type { Clock } from '../../src/base/clock.ts'
import { seededRandom } from '../../src/base/random.ts'
import { inProcessTransport } from '../../src/client/in-process.ts'
import { connectionOf, parseKubeconfig } from '../../src/client/kubeconfig.ts'
import type { ServerUnderTest } from '../../src/client/suite-harness.ts'
import { hostOfThisMachine } from '../../src/client/transport/host.ts'
import { undiciTransport } from '../../src/client/transport/undici.ts'
import { clusterOf } from '../../src/composition.ts'
import { AUTHORITY, SERVICE_ACCOUNT_KEY } from '../../src/faultsim/world/fixed-keys.ts'
import { createPump } from '../../src/faultsim/world/pump.ts'
import { createVirtualClock } from '../../src/faultsim/world/virtual-clock.ts'
import { createMemoryStore } from '../../src/store/index.ts'

const TESTER = { name: 'tester', groups: ['system:masters'] }

export async function inProcessServer(seed = 1): Promise<ServerUnderTest> {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1))
  const random = seededRandom(seed)
  const pump = createPump(clock)
  const store = createMemoryStore({ clock }).cluster('hub')
  const secrets = { adminToken: 'admin', serviceAccountKey: SERVICE_ACCOUNT_KEY, clientAuthority: AUTHORITY }
  const cluster = await pump.run(async () => {
    const made = clusterOf({ role: 'hub', bare: true, store, clock, random, port: 0, ...secrets })
    await made.ready
    return made
  })
  return {
    transport: inProcessTransport(cluster, TESTER),
    clock,
    random,
    isVirtual: true,
    run: (work) => pump.run(work, 4 * 60 * 60_000),
    forget: async () => store.compact(store.revision),
    close: async () => cluster.stop(),
  }
}

const realClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

export async function tlsServer(): Promise<ServerUnderTest> {
  const directory = await mkdtemp(path.join(tmpdir(), 'sluice-client-'))
  const random = seededRandom(5)
  const pki = await ensurePki({ directory: await openKeyDirectory(directory), clock: realClock, random })
  const store = createMemoryStore({ clock: realClock }).cluster('hub')
  const { adminToken, serviceAccountKey, authority } = pki
  const secrets = { adminToken, serviceAccountKey, clientAuthority: authority }
  const cluster = clusterOf({ role: 'hub', bare: true, store, clock: realClock, random, port: 0, ...secrets })
  await cluster.ready
  const tls = { ...pki.serving, clientAuthority: authority }
  const listener = await listen({ handle: cluster.handle, tls, clock: realClock, port: 0 })
  const server = `https://127.0.0.1:${listener.port}`
  const transport = undiciTransport({ server, ca: authority, cert: pki.admin.certificate, key: pki.admin.key })
  return {
    transport,
    clock: realClock,
    random,
    isVirtual: false,
    run: (work) => work(),
    forget: async () => store.compact(store.revision),
    async close() {
      await transport.close()
      cluster.stop()
      await listener.stop(0)
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Any API server that a kubeconfig names; a real kube-apiserver in the wider tests. */
export async function serverOfKubeconfig(file: string): Promise<ServerUnderTest> {
  const config = parseKubeconfig(await readFile(file, 'utf8'), file)
  const connection = connectionOf(config, undefined, hostOfThisMachine())
  const transport = undiciTransport(connection)
  return {
    transport,
    clock: realClock,
    random: seededRandom(Date.now()),
    isVirtual: false,
    run: (work) => work(),
    close: () => transport.close(),
  }
}
