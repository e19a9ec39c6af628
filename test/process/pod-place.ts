/**
 * A place for tests of what reaches into pods: a real server core on TLS, a real machine with real processes, and pods that
 * are bound to its node by hand, because no kubelet is needed to read a log.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Listener, listen, openKeyDirectory } from '../../src/apiserver/listener/index.ts'
import { ensurePki, type Pki } from '../../src/apiserver/pki/index.ts'
import { startTestServer, type TestServer } from '../../src/apiserver/testing.ts'
import { seededRandom } from '../../src/base/random.ts'
import { formatKubeconfig } from '../../src/client/kubeconfig.ts'
import { createProcessMachine, memberConnections, type ProcessMachine } from '../../src/minicluster/process/index.ts'
import { aRun, aTestbed, isRunning, realClock, type Testbed, until } from '../../src/minicluster/process/testing.ts'

export interface PodPlace {
  testbed: Testbed
  machine: ProcessMachine
  server: TestServer
  listener: Listener
  pki: Pki
  kubeconfig: string
  /** Unhandled errors of the listener. */
  errors: unknown[]
  /** Created, bound, and its containers started as runs of the machine. Returns its uid. */
  runPod(name: string, containers: Record<string, readonly string[]>, more?: Partial<Parameters<typeof aRun>[1]>): Promise<string>
  close(): Promise<void>
}

export async function aPodPlace(): Promise<PodPlace> {
  const testbed = aTestbed()
  const machine = createProcessMachine({
    directory: path.join(testbed.directory, 'data'),
    clock: realClock,
    random: seededRandom(1),
    shim: testbed.shim,
  })
  const server = await startTestServer({ nodes: memberConnections((node) => (node === 'real' ? machine : undefined)) })
  server.clock.advance(Date.now() - server.clock.now())
  const pki = await ensurePki({
    directory: await openKeyDirectory(path.join(testbed.directory, 'pki')),
    clock: realClock,
    random: seededRandom(2),
  })
  const errors: unknown[] = []
  const listener = await listen({
    handle: server.cluster.handle,
    tls: { ...pki.serving, clientAuthority: pki.authority },
    clock: realClock,
    port: 0,
    onError: (error) => errors.push(error),
  })
  const kubeconfig = path.join(testbed.directory, 'kubeconfig')
  const url = `https://127.0.0.1:${listener.port}`
  const admin = { context: 'admin', server: url, caPem: pki.authority, certPem: pki.admin.certificate, keyPem: pki.admin.key }
  writeFileSync(kubeconfig, formatKubeconfig([admin], 'admin'))
  await addNode(server, 'real', {})
  await addNode(server, 'played', { 'sluice.dev/node': 'simulated' })
  await addNode(server, 'bare', {})
  return {
    testbed,
    machine,
    server,
    listener,
    pki,
    kubeconfig,
    errors,
    async runPod(name, containers, more = {}) {
      const uid = await addPod(server, { name, node: 'real', containers: Object.keys(containers) })
      for (const [container, command] of Object.entries(containers)) {
        const run = aRun(command, { podUid: uid, container, pod: name, ...more })
        await machine.start(run)
        await until(machine, run, (state) => state.phase === 'exited' || isRunning(state))
      }
      return uid
    },
    async close() {
      for (const podUid of machine.pods())
        for (const run of machine.runsOf(podUid)) {
          if (run.state.phase !== 'running') continue
          await machine.signal(run, 'SIGKILL')
          await until(machine, run, (state) => state.phase === 'exited')
        }
      machine.close()
      await listener.stop(0)
      server.stop()
      testbed.clear()
    },
  }
}

async function addNode(server: TestServer, name: string, labels: Record<string, string>): Promise<void> {
  const answer = await server.send('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } })
  if (answer.status !== 201) throw new Error(answer.text)
}

export async function addPod(server: TestServer, pod: { name: string; node: string; containers: readonly string[] }): Promise<string> {
  const spec = { nodeName: pod.node, containers: pod.containers.map((name) => ({ name, image: 'local' })) }
  const sent = { apiVersion: 'v1', kind: 'Pod', metadata: { name: pod.name }, spec }
  const answer = await server.send('POST', '/api/v1/namespaces/default/pods', sent)
  if (answer.status !== 201) throw new Error(answer.text)
  const at = `/api/v1/namespaces/default/pods/${pod.name}/status`
  await server.send('PATCH', at, { status: { phase: 'Running' } }, { headers: { 'content-type': 'application/merge-patch+json' } })
  return answer.body.metadata.uid ?? ''
}
