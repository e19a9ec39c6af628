import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aProcessPod, machineOf, processNodes } from '../../../test/builders/process-nodes.ts'
import { conditionsOf, expectGone, expectThere } from '../../../test/expect/index.ts'
import { story } from '../../../test/stories/story.ts'
import { EVENTS, PODS } from '../../client/builtin-resources.ts'
import type { World } from '../../faultsim/world/index.ts'
import type { ContainerStatus, Pod } from '../../kinds/kubernetes/types.ts'
import type { Programs } from './fake-machine.ts'

const PROGRAMS: Programs = {
  serve: { port: 8080 },
  work: { runMs: 3000 },
  fail: { runMs: 1000, exitCode: 3 },
  crash: { runMs: 1000, exitCode: 1 },
  stubborn: { ignoresStop: true },
  slow: { stopMs: 4000 },
  once: [{ runMs: 1000, exitCode: 1 }, { runMs: 1000 }],
}

const world = { members: 1, hub: false, controllers: processNodes(PROGRAMS) }

async function podOf(of: World, where = 'default/p'): Promise<Pod> {
  return (await expectThere(of.member, PODS, where)) as Pod
}

async function mainOf(of: World): Promise<ContainerStatus> {
  const status = (await podOf(of)).status?.containerStatuses?.[0]
  assert.ok(status !== undefined)
  return status
}

async function eventsOf(of: World): Promise<string[]> {
  const events = await of.member.list(EVENTS, { namespace: 'default' })
  return events
    .filter(({ involvedObject }) => (involvedObject as { kind?: string }).kind === 'Pod')
    .map((event) => `${event.reason}: ${event.message}`)
}

describe('a pod on a process node', () => {
  story(
    'runs, is ready, and goes with grace',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'serve'))
      await w.settle()
      const pod = await podOf(w)
      assert.equal(pod.status?.phase, 'Running')
      assert.match(pod.status?.podIP ?? '', /^127\.64\.64\.2$/)
      assert.equal(pod.status?.hostIP, '127.0.0.1')
      assert.equal(pod.status?.qosClass, 'BestEffort')
      assert.equal(pod.status?.observedGeneration, 1)
      const conditions = conditionsOf(pod)
      for (const type of ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'])
        assert.equal(conditions.get(type)?.status, 'True', type)
      assert.deepEqual(await eventsOf(w), [
        'Pulled: Container image "busybox" already present on machine',
        'Created: Container created',
        'Started: Container started',
      ])
      await w.member.delete(PODS, 'default/p')
      await w.settle()
      await expectGone(w.member, PODS, 'default/p')
      assert.deepEqual(machineOf(w.member).signals, ['SIGTERM main/0'])
      assert.deepEqual(machineOf(w.member).machine.pods(), [])
      assert.ok((await eventsOf(w)).includes('Killing: Stopping container main'))
    },
    world,
  )

  story(
    'that ends well has succeeded',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'work', { restartPolicy: 'Never' }))
      await w.settle()
      const pod = await podOf(w)
      assert.equal(pod.status?.phase, 'Succeeded')
      const { state, ready, started } = await mainOf(w)
      assert.equal(state?.terminated?.reason, 'Completed')
      assert.equal(state?.terminated?.exitCode, 0)
      assert.deepEqual([ready, started], [false, false])
      assert.equal(conditionsOf(pod).get('Ready')?.reason, 'PodCompleted')
    },
    world,
  )

  story(
    'that crashes is restarted at once, then after 10, 20 and 40 seconds',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'crash'))
      await w.settle()
      const waiting = await mainOf(w)
      assert.equal(waiting.restartCount, 1)
      assert.equal(waiting.state?.waiting?.reason, 'CrashLoopBackOff')
      assert.match(waiting.state?.waiting?.message ?? '', /^back-off 10s restarting failed container=main pod=p_default\(/)
      assert.equal(waiting.lastState?.terminated?.exitCode, 1)
      await w.advance(35_000)
      const later = await mainOf(w)
      assert.equal(later.restartCount, 3)
      assert.match(later.state?.waiting?.message ?? '', /^back-off 40s/)
      assert.equal((await podOf(w)).status?.phase, 'Running')
      const starts = machineOf(w.member).specs.map((spec) => spec.attempt)
      assert.deepEqual(starts, [0, 1, 2, 3])
      await w.member.delete(PODS, 'default/p')
      await w.settle()
      await expectGone(w.member, PODS, 'default/p')
    },
    world,
  )

  story(
    'that ignores its stop signal is killed when its grace is over',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'stubborn', { terminationGracePeriodSeconds: 20 }))
      await w.settle()
      await w.member.delete(PODS, 'default/p')
      await w.advance(19_000)
      await expectThere(w.member, PODS, 'default/p')
      await w.advance(2100)
      await expectGone(w.member, PODS, 'default/p')
      assert.deepEqual(machineOf(w.member).signals, ['SIGTERM main/0', 'SIGKILL main/0'])
    },
    world,
  )
})
