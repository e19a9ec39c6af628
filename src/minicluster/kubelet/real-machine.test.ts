/** The kubelet over the real machine: a pod's containers are processes, with files, variables, probes and an end. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Cluster } from '../../apiserver/cluster.ts'
import { seededRandom } from '../../base/random.ts'
import { type Client, createClient } from '../../client/client.ts'
import { ifFound } from '../../client/errors.ts'
import { inProcessTransport } from '../../client/in-process.ts'
import { clusterOf, type RunningControllers, runControllers, SYSTEM } from '../../composition.ts'
import { AUTHORITY, SERVICE_ACCOUNT_KEY } from '../../faultsim/world/fixed-keys.ts'
import { CONFIG_MAPS, PODS, SERVICES } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { MODULES } from '../../modules.ts'
import { configure } from '../../runtime/module/configure.ts'
import { createMemoryStore } from '../../store/index.ts'
import { minicluster } from '../module.ts'
import type { ProcessMachine } from '../process/index.ts'
import { aTestbed, realClock, type Testbed } from '../process/testing.ts'

const PATIENCE_MS = 60_000
const random = seededRandom(7)
const size = { cpu: '4', memory: '8Gi', pods: 110 }
const shape = {
  index: 1,
  name: 'm',
  region: 'east',
  zones: ['east-a'],
  simulated: { count: 0, size },
  process: { count: 2, size },
}

describe('a pod as processes', { timeout: 4 * PATIENCE_MS }, () => {
  let testbed: Testbed
  let machine: ProcessMachine
  let cluster: Cluster
  let client: Client
  let controllers: RunningControllers
  const complaints: string[] = []

  const start = (): void => {
    machine = testbed.open()
    controllers = runControllers({
      role: 'member',
      clock: realClock,
      random,
      log: { write: (_level, message, fields) => void complaints.push(`${message} ${JSON.stringify(fields)}`) },
      authority: () => AUTHORITY,
      signToken: () => '',
      modules: configure(MODULES, minicluster, { shape, kubelet: { machine, clock: realClock } }),
      transportFor: () => inProcessTransport(cluster, SYSTEM),
    })
  }
  const stop = async (): Promise<void> => {
    await controllers.stop()
    machine.close()
  }
  const create = (name: string, spec: Record<string, unknown>, finalizers: string[] = []) =>
    client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', finalizers },
      spec: { nodeName: 'm-process-1', ...spec },
    })
  const getPod = async (name: string): Promise<Pod | undefined> => {
    return ifFound(client.get<Pod>(PODS, { namespace: 'default', name }))
  }
  async function until(name: string, is: (pod: Pod | undefined) => boolean): Promise<Pod | undefined> {
    const deadline = Date.now() + PATIENCE_MS
    for (;;) {
      const pod = await getPod(name)
      if (is(pod)) return pod
      if (Date.now() > deadline) throw new Error(`${JSON.stringify(pod?.status, undefined, 1)}\n${complaints.join('\n')}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  before(async () => {
    testbed = aTestbed()
    const store = createMemoryStore({ clock: realClock }).cluster('m')
    const secrets = { adminToken: 'x', serviceAccountKey: SERVICE_ACCOUNT_KEY, clientAuthority: AUTHORITY }
    cluster = clusterOf({ role: 'member', bare: false, store, clock: realClock, random, port: 1, ...secrets })
    await cluster.ready
    client = createClient({ transport: inProcessTransport(cluster, SYSTEM), clock: realClock, random, userAgent: 'test' })
    start()
    await client.create(CONFIG_MAPS, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace: 'default' },
      data: { word: 'hello' },
    })
  })

  after(async () => {
    await stop()
    cluster.stop()
    testbed.clear()
  })

  it('sees its variables and ends with its exit code', async () => {
    const env = [
      { name: 'WORD', valueFrom: { configMapKeyRef: { name: 'settings', key: 'word' } } },
      { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    ]
    const script = 'test "$WORD $HOSTNAME" = "hello job" && test -n "$POD_IP" && exit 7'
    const containers = [{ name: 'main', image: 'none', command: ['sh', '-c', script], env }]
    await create('job', { restartPolicy: 'Never', automountServiceAccountToken: false, containers })
    const pod = await until('job', (one) => ['Succeeded', 'Failed'].includes(one?.status?.phase ?? ''))
    const [status] = pod?.status?.containerStatuses ?? []
    assert.deepEqual([pod?.status?.phase, status?.state?.terminated?.exitCode, status?.state?.terminated?.reason], ['Failed', 7, 'Error'])
  })

  it('finds a Service by its name, also one that is made while it runs', async (t) => {
    if (machine.namespacesRefusal !== undefined) return t.skip(machine.namespacesRefusal)
    const script = 'until grep -q "web.default.svc " /etc/hosts; do sleep 0.05; done; grep -w web /etc/hosts > /dev/termination-log'
    const reader = { name: 'main', image: 'none', command: ['sh', '-c', script] }
    await create('reader', { restartPolicy: 'Never', automountServiceAccountToken: false, containers: [reader] })
    await until('reader', (one) => one?.status?.phase === 'Running')
    const selector = { app: 'web' }
    const web = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'default' } }
    await client.create(SERVICES, { ...web, spec: { selector, ports: [{ port: 80 }] } })
    await create('web', { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'none', command: ['sleep', '600'] }] })
    await client.patch(PODS, { namespace: 'default', name: 'web' }, { type: 'merge', body: { metadata: { labels: selector } } })
    const ended = await until('reader', (one) => one?.status?.phase === 'Succeeded')
    const address = (await getPod('web'))?.status?.podIP
    assert.equal(
      ended?.status?.containerStatuses?.[0]?.state?.terminated?.message,
      `${address}\tweb web.default web.default.svc web.default.svc.cluster.local\n`,
    )
    await client.delete(PODS, { namespace: 'default', name: 'web' })
    await until('web', (one) => one === undefined)
  })

  it('has hostPaths of its node that no other node sees, and that stay when it goes', async (t) => {
    if (machine.namespacesRefusal !== undefined) return t.skip(machine.namespacesRefusal)
    const volumes = [{ name: 'cache', hostPath: { path: '/runtime-mnt/cache/x', type: 'DirectoryOrCreate' } }]
    const run = async (name: string, nodeName: string): Promise<number | undefined> => {
      const script = `ls /cache | grep -q . && exit 5; echo ${name} > /cache/${name}`
      const containers = [
        { name: 'main', image: 'none', command: ['sh', '-c', script], volumeMounts: [{ name: 'cache', mountPath: '/cache' }] },
      ]
      await create(name, { nodeName, restartPolicy: 'Never', automountServiceAccountToken: false, volumes, containers })
      const pod = await until(name, (one) => ['Succeeded', 'Failed'].includes(one?.status?.phase ?? ''))
      await client.delete(PODS, { namespace: 'default', name })
      await until(name, (one) => one === undefined)
      return pod?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode
    }
    assert.deepEqual([await run('one', 'm-process-1'), await run('two', 'm-process-2'), await run('three', 'm-process-1')], [0, 0, 5])
    const here = path.join(machine.nodeDirectory('m-process-1'), 'runtime-mnt/cache/x')
    assert.deepEqual(readdirSync(here), ['one'])
    assert.equal(existsSync('/runtime-mnt/cache/x'), false)
  })

  it('sees its volumes, leaves last words, and is the same process after a restart of the kubelet', async (t) => {
    if (machine.namespacesRefusal !== undefined) return t.skip(machine.namespacesRefusal)
    const volumes = [
      { name: 'config', configMap: { name: 'settings' } },
      { name: 'scratch', emptyDir: {} },
    ]
    const volumeMounts = [
      { name: 'config', mountPath: '/config' },
      { name: 'scratch', mountPath: '/scratch', subPath: 'inner' },
    ]
    const script =
      'cat /config/word /var/run/secrets/kubernetes.io/serviceaccount/namespace > /scratch/result; trap "echo bye > /dev/termination-log; exit 3" TERM; while :; do sleep 0.1; done'
    const readinessProbe = { exec: { command: ['test', '-s', '/scratch/result'] }, periodSeconds: 1 }
    const containers = [{ name: 'main', image: 'none', command: ['sh', '-c', script], volumeMounts, readinessProbe }]
    const spec = { restartPolicy: 'Never', terminationGracePeriodSeconds: 20, volumes, containers }
    await create('server', spec, ['example.com/to-see-the-end'])
    const isReady = (one: Pod | undefined): boolean => one?.status?.containerStatuses?.[0]?.ready === true
    const pod = await until('server', isReady)
    const uid = pod?.metadata.uid ?? ''
    const scratch = await machine.directory(uid, 'volumes', 'scratch')
    assert.equal(readFileSync(path.join(scratch, 'inner', 'result'), 'utf8'), 'hellodefault')
    const pidOf = () => machine.runsOf(uid).map(({ state }) => (state.phase === 'running' ? state.pid : undefined))
    const before = pidOf()
    await stop()
    start()
    assert.deepEqual(pidOf(), before)
    await until('server', isReady)
    await client.delete(PODS, { namespace: 'default', name: 'server' })
    const ended = await until('server', (one) => one?.metadata.deletionGracePeriodSeconds === 0)
    const { terminated } = ended?.status?.containerStatuses?.[0]?.state ?? {}
    assert.deepEqual([ended?.status?.phase, terminated?.exitCode, terminated?.message], ['Failed', 3, 'bye\n'])
    assert.ok(!existsSync(scratch), 'the directories of the pod are gone')
    await client.patch(PODS, { namespace: 'default', name: 'server' }, { type: 'merge', body: { metadata: { finalizers: null } } })
    await until('server', (one) => one === undefined)
    assert.deepEqual(complaints, [])
  })
})
