import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aProcessPod, machineOf, processNodes } from '../../faultsim/builders/process-nodes.ts'
import { conditionsOf } from '../../faultsim/expect/index.ts'
import { containerOf, eventsOf, podOf } from '../../faultsim/expect/pods.ts'
import { story } from '../../faultsim/story.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'

const programs = {
  serve: { port: 8080, exec: { check: { exitCode: 0 }, sick: { exitCode: 1, output: 'not well' } } },
  clash: { runMs: 500, exitCode: 1, terminationMessage: 'cannot listen' },
  noisy: { runMs: 500, exitCode: 1, log: 'the end\n' },
  stopping: {
    exitCode: 0,
    exec: { bye: { afterMs: 3000 }, hello: { afterMs: 1000 }, sick: { exitCode: 1 }, forever: { afterMs: 1_000_000 } },
  },
}
const world = { members: 1, hub: false, controllers: processNodes(programs) }
const httpGet = { port: 8080, path: '/ready' }
const spec = { terminationGracePeriodSeconds: 10 }

describe('probes', () => {
  story(
    'make a container ready and unready, and write nothing while nothing changes',
    async (w) => {
      const readinessProbe = { httpGet, failureThreshold: 2, periodSeconds: 10, initialDelaySeconds: 7 }
      await w.member.create(aProcessPod('default/p', 'serve', spec, { readinessProbe }))
      await w.settle()
      assert.equal((await containerOf(w)).ready, false)
      assert.equal(conditionsOf(await podOf(w)).get('Ready')?.message, 'containers with unready status: [main]')
      await w.advance(8000)
      assert.equal((await containerOf(w)).ready, true)
      const { resourceVersion } = (await podOf(w)).metadata
      await w.advance(60_000)
      assert.equal((await podOf(w)).metadata.resourceVersion, resourceVersion)
      machineOf(w.member).change('main', { http: { '/ready': 503 } })
      await w.advance(11_000)
      assert.equal((await containerOf(w)).ready, true)
      await w.advance(10_000)
      assert.equal((await containerOf(w)).ready, false)
      assert.equal((await podOf(w)).status?.phase, 'Running')
      assert.ok((await eventsOf(w)).includes('Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503'))
      machineOf(w.member).change('main', { http: {} })
      await w.advance(11_000)
      assert.equal((await containerOf(w)).ready, true)
    },
    world,
  )

  story(
    'restart a container that is not alive, and not before it has started',
    async (w) => {
      const startupProbe = { exec: { command: ['check'] }, periodSeconds: 10, initialDelaySeconds: 6 }
      const livenessProbe = { exec: { command: ['sick'] }, periodSeconds: 10, failureThreshold: 2, initialDelaySeconds: 6 }
      await w.member.create(aProcessPod('default/p', 'serve', spec, { startupProbe, livenessProbe }))
      await w.settle()
      assert.deepEqual([(await containerOf(w)).started, (await containerOf(w)).ready], [false, false])
      await w.advance(7000)
      assert.deepEqual([(await containerOf(w)).started, (await containerOf(w)).ready], [true, true])
      await w.advance(10_000)
      const { restartCount, lastState } = await containerOf(w)
      assert.deepEqual([restartCount, lastState?.terminated?.exitCode], [1, 143])
      const events = await eventsOf(w)
      assert.ok(events.includes('Unhealthy: Liveness probe failed: not well'), events.join('\n'))
      assert.ok(events.includes('Killing: Container main failed liveness probe, will be restarted'))
      await w.member.delete(PODS, 'default/p')
      await w.settle()
    },
    world,
  )

  story(
    'by gRPC fail and say that they are not supported',
    async (w) => {
      const readinessProbe = { grpc: { port: 9000 }, periodSeconds: 60 }
      await w.member.create(aProcessPod('default/p', 'serve', spec, { readinessProbe }))
      await w.settle()
      assert.ok((await eventsOf(w)).some((event) => event.startsWith('Unhealthy: Readiness probe failed: gRPC probes are not supported')))
      await w.member.delete(PODS, 'default/p')
      await w.settle()
    },
    world,
  )
})

describe('hooks', () => {
  story(
    'run before a container counts as running, and before it is told to stop',
    async (w) => {
      const lifecycle = { postStart: { exec: { command: ['hello'] } }, preStop: { exec: { command: ['bye'] } } }
      await w.member.create(aProcessPod('default/p', 'stopping', spec, { lifecycle }))
      await w.advance(500)
      assert.equal((await containerOf(w)).state?.waiting?.reason, 'ContainerCreating')
      await w.settle()
      assert.ok((await containerOf(w)).state?.running !== undefined)
      await w.member.delete(PODS, 'default/p')
      await w.advance(2000)
      assert.deepEqual(machineOf(w.member).signals, [])
      await w.advance(1500)
      assert.deepEqual(machineOf(w.member).signals, ['SIGTERM main/0'])
    },
    world,
  )

  story(
    'that do not end are cut off with the grace; those that sleep just take their time',
    async (w) => {
      const hook = (preStop: object) => ({ lifecycle: { preStop } })
      await w.member.create(aProcessPod('default/p', 'stopping', spec, hook({ exec: { command: ['forever'] } })))
      await w.member.create(aProcessPod('default/q', 'stopping', spec, hook({ sleep: { seconds: 4 } })))
      await w.settle()
      await w.member.delete(PODS, 'default/p')
      await w.member.delete(PODS, 'default/q')
      await w.advance(4500)
      assert.deepEqual(machineOf(w.member).signals, ['SIGTERM main/0'])
      assert.equal(await w.member.get(PODS, 'default/q'), undefined)
      await w.advance(7000)
      assert.equal(await w.member.get(PODS, 'default/p'), undefined)
      assert.ok((await eventsOf(w)).includes('FailedPreStopHook: PreStopHook failed'))
    },
    world,
  )

  story(
    'after the start that fail end the container',
    async (w) => {
      const lifecycle = { postStart: { exec: { command: ['sick'] } } }
      await w.member.create(aProcessPod('default/p', 'stopping', { ...spec, restartPolicy: 'Never' }, { lifecycle }))
      await w.settle()
      const events = await eventsOf(w)
      assert.ok(events.includes('FailedPostStartHook: PostStartHook failed'), events.join('\n'))
      assert.ok(events.includes('Killing: FailedPostStartHook'))
      assert.equal((await podOf(w)).status?.phase, 'Succeeded')
    },
    world,
  )
})

describe('the last words of a container', () => {
  story(
    'are in its status, with the port that was taken',
    async (w) => {
      machineOf(w.member).occupy('127.64.64.2', 8080)
      const never = { restartPolicy: 'Never' }
      await w.member.create(aProcessPod('default/p', 'clash', never, { ports: [{ containerPort: 8080 }] }))
      await w.settle()
      await w.member.create(aProcessPod('default/q', 'noisy', never, { terminationMessagePolicy: 'FallbackToLogsOnError' }))
      await w.settle()
      assert.equal(
        (await containerOf(w)).state?.terminated?.message,
        'cannot listen\nport 8080 of 127.64.64.2 is taken by another process of this machine',
      )
      assert.equal((await containerOf(w, 'main', 'default/q')).state?.terminated?.message, 'the end\n')
    },
    world,
  )
})
