import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aProcessPod, machineOf, processNodes } from '../../faultsim/builders/process-nodes.ts'
import { conditionsOf, expectGone, expectThere } from '../../faultsim/expect/index.ts'
import { containerOf, eventsOf, podOf } from '../../faultsim/expect/pods.ts'
import { story } from '../../faultsim/story.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
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
      assert.deepEqual(machineOf(w.member).pods(), [])
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
      const { state, ready, started } = await containerOf(w)
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
      const waiting = await containerOf(w)
      assert.equal(waiting.restartCount, 1)
      assert.equal(waiting.state?.waiting?.reason, 'CrashLoopBackOff')
      assert.match(waiting.state?.waiting?.message ?? '', /^back-off 10s restarting failed container=main pod=p_default\(/)
      assert.equal(waiting.lastState?.terminated?.exitCode, 1)
      await w.advance(35_000)
      const later = await containerOf(w)
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

  story(
    'with restartPolicy Never fails once, with OnFailure is tried until it ends well',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'fail', { restartPolicy: 'Never' }))
      await w.member.create(aProcessPod('default/q', 'once', { restartPolicy: 'OnFailure' }))
      await w.settle()
      const never = await podOf(w)
      assert.deepEqual([never.status?.phase, never.status?.reason], ['Failed', undefined])
      assert.deepEqual((await containerOf(w)).state?.terminated?.exitCode, 3)
      assert.equal(conditionsOf(never).get('Ready')?.reason, 'PodFailed')
      const again = await podOf(w, 'default/q')
      assert.equal(again.status?.phase, 'Succeeded')
      const { restartCount, lastState } = await containerOf(w, 'main', 'default/q')
      assert.deepEqual([restartCount, lastState?.terminated?.exitCode], [1, 1])
      assert.notEqual(again.status?.podIP, never.status?.podIP)
    },
    world,
  )

  story(
    'that is active too long fails, when its programs have ended',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'slow', { activeDeadlineSeconds: 10 }))
      await w.settle()
      await w.advance(11_000)
      assert.equal((await podOf(w)).status?.phase, 'Running')
      await w.settle()
      const { status } = await podOf(w)
      assert.deepEqual(
        [status?.phase, status?.reason, status?.message],
        ['Failed', 'DeadlineExceeded', 'Pod was active on the node longer than the specified deadline'],
      )
      assert.equal((await containerOf(w)).state?.terminated?.exitCode, 143)
    },
    world,
  )

  story(
    'goes through its init containers one by one, and ends its sidecars last, in reverse',
    async (w) => {
      const init = (name: string, program: string, more = {}) => ({ name, image: 'busybox', command: [program], ...more })
      const initContainers = [
        init('first', 'work'),
        init('side1', 'serve', { restartPolicy: 'Always' }),
        init('side2', 'slow', { restartPolicy: 'Always' }),
        init('second', 'work'),
      ]
      await w.member.create(aProcessPod('default/p', 'work', { initContainers, restartPolicy: 'Never' }))
      await w.advance(1000)
      const early = await podOf(w)
      assert.equal(early.status?.phase, 'Pending')
      assert.equal(conditionsOf(early).get('Initialized')?.message, 'containers with incomplete status: [first side1 side2 second]')
      assert.equal((await containerOf(w)).state?.waiting?.reason, 'PodInitializing')
      await w.advance(6000)
      const running = await podOf(w)
      assert.equal(running.status?.phase, 'Running')
      assert.equal(conditionsOf(running).get('Ready')?.status, 'True')
      await w.settle()
      const done = await podOf(w)
      assert.equal(done.status?.phase, 'Succeeded')
      const { specs, signals } = machineOf(w.member)
      assert.deepEqual(
        specs.map(({ container }) => container),
        ['first', 'side1', 'side2', 'second', 'main'],
      )
      assert.deepEqual(signals, ['SIGTERM side2/0', 'SIGTERM side1/0'])
      assert.equal((await containerOf(w, 'first')).ready, true)
    },
    world,
  )

  story(
    'whose init container fails for good has failed; its main container never ran',
    async (w) => {
      const initContainers = [{ name: 'first', image: 'busybox', command: ['fail'] }]
      await w.member.create(aProcessPod('default/p', 'work', { initContainers, restartPolicy: 'Never' }))
      await w.settle()
      assert.equal((await podOf(w)).status?.phase, 'Failed')
      assert.equal((await containerOf(w)).state?.waiting?.reason, 'PodInitializing')
      assert.equal(machineOf(w.member).specs.length, 1)
    },
    world,
  )

  story(
    'whose program is not there says so, and is tried again later and later',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'nowhere'))
      await w.settle()
      const { state, lastState, restartCount } = await containerOf(w)
      assert.equal(state?.waiting?.reason, 'CrashLoopBackOff')
      assert.equal(lastState?.terminated?.reason, 'StartError')
      assert.equal(lastState?.terminated?.exitCode, 128)
      assert.match(lastState?.terminated?.message ?? '', /executable file not found/)
      assert.equal(restartCount, 1)
      assert.ok((await eventsOf(w)).some((event) => event.startsWith('Failed: Error: exec: "nowhere"')))
    },
    world,
  )

  story(
    'without a command and without a mapped image says what to do',
    async (w) => {
      await w.member.create(aProcessPod('default/p', '', {}, { command: undefined, image: 'nginx' }))
      await w.settle()
      const { state } = await containerOf(w)
      assert.equal(state?.waiting?.reason, 'CreateContainerError')
      assert.match(state?.waiting?.message ?? '', /up --image nginx=DIR/)
      assert.equal((await podOf(w)).status?.phase, 'Pending')
      assert.deepEqual((await eventsOf(w)).length, 1)
    },
    world,
  )
})
