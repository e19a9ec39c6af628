import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aConfigMap } from '../../faultsim/builders/index.ts'
import { aProcessPod, machineOf, processNodes } from '../../faultsim/builders/process-nodes.ts'
import { conditionsOf } from '../../faultsim/expect/index.ts'
import { type Invariant, survives } from '../../faultsim/survives.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { LEASES, NODES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Lease, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { kubelet } from './controller.ts'
import { FakeMachine } from './fake-machine.ts'
import { kubeletGarbage } from './garbage/controller.ts'
import { kubeletHosts } from './hosts/controller.ts'
import { createHostsFiles } from './hosts/hosts-files.ts'
import { processNodeRegistration } from './node/controller.ts'

const controllers = processNodes({ serve: {}, work: { runMs: 2000 }, crash: [{ runMs: 500, exitCode: 1 }, {}] })
/** The names of token volumes are random, and would differ from run to run. */
const BARE = { automountServiceAccountToken: false }
const shape = {
  index: 1,
  name: 'member1',
  region: 'east',
  zones: ['east-a'],
  simulated: { count: 0, size: { cpu: '1', memory: '1Gi', pods: 1 } },
  process: { count: 1, size: { cpu: '1', memory: '1Gi', pods: 1 } },
}
const NODE = 'member1-process-1'
const clock = { now: () => 0, after: () => () => undefined }
const machine = new FakeMachine({ clock, programs: {} })

const aService = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec: { selector: { app: name }, ports: [{ port: 80 }] },
})

const neverTwice = (cluster: WorldCluster): void => {
  for (const [run, times] of machineOf(cluster).begun) assert.equal(times, 1, `${run} was begun ${times} times`)
}

const addressesDiffer: Invariant = {
  says: 'no two pods that live on process nodes have the same address',
  broken(objects) {
    const pods = (objects.list('pods') as Pod[]).filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
    const addresses = pods.flatMap(({ status }) => status?.podIP ?? [])
    return new Set(addresses).size === addresses.length ? undefined : addresses.join(', ')
  },
}

describe('process nodes under faults', () => {
  survives(kubelet(shape, { machine, clock }), {
    controllers,
    steps: [
      (cluster) => cluster.create(aProcessPod('default/p', 'crash', BARE, { envFrom: [{ configMapRef: { name: 'settings' } }] })),
      (cluster) => cluster.create(aConfigMap('default/settings')),
      (cluster) => cluster.create(aProcessPod('default/q', 'work', { ...BARE, restartPolicy: 'Never' })),
      (cluster) => cluster.delete(PODS, 'default/p'),
    ],
    invariants: [addressesDiffer],
    async atRest(cluster) {
      neverTwice(cluster)
      const pods = (await cluster.list(PODS)) as Pod[]
      assert.deepEqual(
        pods.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`),
        ['q Succeeded'],
      )
      assert.deepEqual(
        machineOf(cluster).pods(),
        pods.map(({ metadata }) => metadata.uid),
      )
    },
  })

  survives(kubeletHosts(shape, machine, createHostsFiles()), {
    controllers,
    steps: [
      (cluster) => cluster.create(aProcessPod('default/p', 'serve', BARE)),
      (cluster) => cluster.create(aService('web')),
      (cluster) => cluster.patch(PODS, 'default/p', { metadata: { labels: { app: 'web' } } }),
      (cluster) => cluster.create(aProcessPod('default/q', 'serve', BARE)),
    ],
    async atRest(cluster) {
      const pods = (await cluster.list(PODS)) as Pod[]
      const [web] = pods
      for (const { metadata } of pods) {
        const text = machineOf(cluster).files.get(`/data/pods/${metadata.uid}/etc/hosts`) ?? ''
        assert.ok(text.includes(`\n${web?.status?.podIP}\tweb web.default web.default.svc web.default.svc.cluster.local\n`), text)
      }
    },
  })

  survives(kubeletGarbage(shape, machine), {
    controllers,
    steps: [
      (cluster) => cluster.create(aProcessPod('default/p', 'serve', BARE)),
      (cluster) => cluster.delete(PODS, 'default/p', { gracePeriodSeconds: 0 }),
      (cluster) => cluster.create(aProcessPod('default/p', 'serve', BARE)),
    ],
    async atRest(cluster) {
      neverTwice(cluster)
      const [pod] = (await cluster.list(PODS)) as Pod[]
      assert.equal(pod?.status?.phase, 'Running')
      assert.deepEqual(machineOf(cluster).pods(), [pod?.metadata.uid])
    },
  })

  survives(processNodeRegistration(shape), {
    controllers,
    steps: [
      (cluster) => cluster.patch(NODES, NODE, { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }, 'status'),
      (cluster) => cluster.patch(NODES, NODE, { metadata: { labels: { mine: 'yes' } } }),
    ],
    async atRest(cluster) {
      const node = await cluster.get(NODES, NODE)
      assert.equal(node === undefined ? '' : conditionsOf(node).get('Ready')?.status, 'True')
      assert.equal(node?.metadata.labels?.mine, 'yes')
      const lease = (await cluster.get(LEASES, `kube-node-lease/${NODE}`)) as Lease
      assert.equal(lease.metadata.ownerReferences?.[0]?.uid, node?.metadata.uid)
    },
  })
})
