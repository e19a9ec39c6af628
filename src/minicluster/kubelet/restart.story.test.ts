import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aProcessPod, machineOf, processNodes, shutdownOf } from '../../faultsim/builders/process-nodes.ts'
import { conditionsOf, expectGone } from '../../faultsim/expect/index.ts'
import { containerOf, podOf } from '../../faultsim/expect/pods.ts'
import { story } from '../../faultsim/story.ts'
import { LEASES, NODES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Lease, Node } from '../../kinds/kubernetes/types.ts'

const programs = { serve: { port: 80 }, work: { runMs: 3000 }, tidy: { exitCode: 0 }, crash: { runMs: 20_000, exitCode: 2 } }
const world = { members: 1, hub: false, controllers: processNodes(programs) }

describe('when the kubelet restarts', () => {
  story(
    'what runs goes on as it was, and exit codes of the time between are seen',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'serve'))
      await w.member.create(aProcessPod('default/q', 'work', { restartPolicy: 'Never' }))
      await w.advance(1000)
      const before = await podOf(w)
      w.member.killControllers()
      await w.advance(5000)
      assert.equal((await podOf(w, 'default/q')).status?.phase, 'Running')
      w.member.takeControllerWrites()
      await w.inside(() => w.member.startControllers())
      await w.settle()
      assert.deepEqual(await podOf(w), before)
      assert.equal((await podOf(w, 'default/q')).status?.phase, 'Succeeded')
      assert.equal(machineOf(w.member).specs.length, 2)
    },
    world,
  )

  story(
    'pods that went in the meantime are ended, and nothing of them stays',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'serve'))
      await w.settle()
      w.member.killControllers()
      await w.member.delete(PODS, 'default/p', { gracePeriodSeconds: 0 })
      await w.inside(() => w.member.startControllers())
      await w.settle()
      await expectGone(w.member, PODS, 'default/p')
      assert.deepEqual(machineOf(w.member).signals, ['SIGKILL main/0'])
      assert.deepEqual(machineOf(w.member).pods(), [])
    },
    world,
  )

  story(
    'a pod deleted by force is ended while the kubelet runs, too',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'serve'))
      await w.settle()
      await w.member.delete(PODS, 'default/p', { gracePeriodSeconds: 0 })
      await w.settle()
      assert.notDeepEqual(machineOf(w.member).signals, [])
      assert.deepEqual(machineOf(w.member).pods(), [])
    },
    world,
  )

  story(
    'a container that the machine knows nothing of any more is told as lost, and runs again',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'serve'))
      await w.settle()
      w.member.killControllers()
      machineOf(w.member).wipe()
      await w.inside(() => w.member.startControllers())
      await w.settle()
      const { state, lastState, restartCount } = await containerOf(w)
      assert.ok(state?.running !== undefined)
      assert.deepEqual([lastState?.terminated?.reason, lastState?.terminated?.exitCode, restartCount], ['ContainerStatusUnknown', 137, 1])
    },
    world,
  )
})

describe('when the node goes down with grace', () => {
  story(
    'everything ends, the pods stay, and the restart policy decides at the next start',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'serve'))
      await w.member.create(aProcessPod('default/q', 'tidy', { restartPolicy: 'OnFailure' }))
      await w.member.create(aProcessPod('default/r', 'serve', { restartPolicy: 'Never' }))
      await w.settle()
      await w.inside(() => shutdownOf(w.member).begin())
      for (const where of ['default/p', 'default/q', 'default/r']) {
        const { state } = await containerOf(w, 'main', where)
        assert.equal(state?.terminated?.reason, 'NodeShutdown', where)
        assert.match(state?.terminated?.message ?? '', /^ended with Sluice/)
        assert.equal((await podOf(w, where)).status?.phase, 'Running')
      }
      await w.member.stopControllers()
      await w.advance(3_600_000)
      await w.inside(() => w.member.startControllers())
      await w.settle()
      for (const where of ['default/p', 'default/q']) {
        const { state, lastState, restartCount } = await containerOf(w, 'main', where)
        assert.ok(state?.running !== undefined, where)
        assert.deepEqual([lastState?.terminated?.reason, restartCount], ['NodeShutdown', 1])
      }
      const { status } = await podOf(w, 'default/r')
      assert.deepEqual([status?.phase, status?.reason], ['Failed', 'NodeShutdown'])
    },
    world,
  )
})

describe('a process node', () => {
  story(
    'registers itself and renews one lease each ten seconds, and nothing else',
    async (w) => {
      const node = (await w.member.get(NODES, 'member1-process-1')) as Node
      assert.equal(conditionsOf(node).get('Ready')?.reason, 'KubeletReady')
      assert.equal(node.spec?.podCIDR, '127.64.64.0/24')
      assert.equal(node.metadata.labels?.['topology.kubernetes.io/region'], 'east')
      assert.equal(node.status?.allocatable?.cpu, '4')
      w.member.takeControllerWrites()
      const revision = w.member.store.revision
      await w.advance(60_000)
      assert.equal(w.member.store.revision - revision, 6)
      const lease = (await w.member.get(LEASES, 'kube-node-lease/member1-process-1')) as Lease
      assert.equal(lease.spec?.holderIdentity, 'member1-process-1')
      assert.equal(lease.metadata.ownerReferences?.[0]?.uid, node.metadata.uid)
    },
    world,
  )

  story(
    'is ready again after it was given up',
    async (w) => {
      w.member.killControllers()
      await w.member.patch(NODES, 'member1-process-1', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }, 'status')
      await w.inside(() => w.member.startControllers())
      await w.settle()
      assert.equal(conditionsOf((await w.member.get(NODES, 'member1-process-1')) as Node).get('Ready')?.status, 'True')
    },
    world,
  )
})
