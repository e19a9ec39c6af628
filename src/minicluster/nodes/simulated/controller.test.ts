import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import { EVENTS, NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { plan, simulatedNodes } from './controller.ts'
import { nextStage } from './next-stage.ts'
import { DEFAULT_STAGES, parseStages, type Stage } from './stages.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const NODE = 'member1-simulated-1'

function aPod(over: Partial<Pod> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    spec: { nodeName: NODE, restartPolicy: 'Always', containers: [{ name: 'main', image: 'nginx' }] },
    ...over,
    metadata: { name: 'web', namespace: 'default', uid: 'u1', creationTimestamp: '2026-01-01T00:00:00Z', ...over.metadata },
  }
}

const place = { hostIP: '10.16.0.1', podIP: '10.16.0.2', advice: 'played' }
const fixed: Stage[] = [
  { name: 'ready', from: 'bound', to: 'running', delayMs: 2000 },
  { name: 'complete', from: 'running', to: 'succeeded', ends: true, delayMs: 3000 },
  { name: 'crash', from: 'running', to: 'crashed', ends: false, delayMs: 60_000, weight: 0 },
  { name: 'gone', from: 'terminating', to: 'gone', delayMs: 0 },
]

function statusOf(of: ReturnType<typeof plan>): Record<string, unknown> {
  const [action] = of.actions
  assert.ok(action !== undefined && action.do === 'patch')
  return action.patch.status as Record<string, unknown>
}

describe('the plan for a simulated pod', () => {
  it('waits for the delay of the stage', () => {
    assert.deepEqual(plan({ pod: aPod(), place, stages: fixed, nowMs: NOW_MS + 500 }), { actions: [], requeueAfterMs: 1500 })
  })
  it('then says what a kubelet would have said, and that nothing really runs', () => {
    const status = statusOf(plan({ pod: aPod(), place, stages: fixed, nowMs: NOW_MS + 2000 }))
    assert.equal(status.phase, 'Running')
    assert.equal(status.podIP, '10.16.0.2')
    const conditions = status.conditions as { type: string; status: string }[]
    assert.deepEqual(
      conditions.map(({ type, status: is }) => `${type}=${is}`),
      ['PodReadyToStartContainers=True', 'Initialized=True', 'Ready=True', 'ContainersReady=True', 'sluice.dev/Simulated=True'],
    )
  })
  it('leaves pods of other nodes alone', () => {
    assert.deepEqual(plan({ pod: aPod(), place: undefined, stages: fixed, nowMs: NOW_MS + 9000 }).actions, [])
  })
  it('deletes for good what is being deleted, once nobody else holds it', () => {
    const going = { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 }
    const free = plan({ pod: aPod({ metadata: going }), place, stages: fixed, nowMs: NOW_MS })
    assert.deepEqual(free.actions[0]?.do, 'delete')
    const held = aPod({ metadata: { ...going, finalizers: ['batch.kubernetes.io/job-tracking'] } })
    assert.equal(statusOf(plan({ pod: held, place, stages: fixed, nowMs: NOW_MS })).phase, 'Failed')
  })
  it('starts a container again whose image was changed, and leaves the others alone', () => {
    const before = aPod()
    before.spec = { ...before.spec, containers: [...(before.spec?.containers ?? []), { name: 'log', image: 'log' }] }
    const running = { ...before, status: statusOf(plan({ pod: before, place, stages: fixed, nowMs: NOW_MS + 2000 })) } as Pod
    const changed: Pod = {
      ...running,
      spec: {
        ...running.spec,
        containers: [
          { name: 'main', image: 'nginx:2' },
          { name: 'log', image: 'log' },
        ],
      },
    }
    const status = statusOf(plan({ pod: changed, place, stages: fixed, nowMs: NOW_MS + 9000 })) as Pod['status']
    const [main, log] = status?.containerStatuses ?? []
    assert.deepEqual([main?.image, main?.restartCount, main?.ready], ['nginx:2', 1, true])
    assert.deepEqual([main?.state?.running?.startedAt, log?.state?.running?.startedAt], ['2026-01-01T00:00:09Z', '2026-01-01T00:00:02Z'])
    assert.deepEqual(
      plan({ pod: { ...changed, status: { ...running.status, ...status } }, place, stages: fixed, nowMs: NOW_MS + 9000 }).actions,
      [],
    )
  })
  it('keeps Ready in step with readiness gates', () => {
    const gated = aPod()
    gated.spec = { ...gated.spec, readinessGates: [{ conditionType: 'example.com/go' }] }
    const started = { ...gated, status: statusOf(plan({ pod: gated, place, stages: fixed, nowMs: NOW_MS + 2000 })) } as Pod
    const ready = (pod: Pod): string | undefined => pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status
    assert.equal(ready(started), 'False')
    started.status?.conditions?.push({ type: 'example.com/go', status: 'True' })
    const after = plan({ pod: started, place, stages: fixed, nowMs: NOW_MS + 2500 })
    assert.equal(ready({ ...started, status: statusOf(after) } as Pod), 'True')
  })
})

describe('the table of stages', () => {
  it('gives a pod the same life whenever it is asked', () => {
    fc.assert(
      fc.property(fc.uuid(), (uid) => {
        const pod = aPod({ metadata: { uid } })
        assert.deepEqual(nextStage(pod, DEFAULT_STAGES), nextStage(pod, DEFAULT_STAGES))
      }),
    )
  })
  it('draws by weight', () => {
    const stages: Stage[] = [
      { name: 'good', from: 'bound', to: 'running', delayMs: 0, weight: 3 },
      { name: 'bad', from: 'bound', to: 'failed', delayMs: 0, weight: 1 },
      { name: 'never', from: 'bound', to: 'gone', delayMs: 0, weight: 0 },
    ]
    const drawn = Array.from({ length: 1000 }, (_, i) => nextStage(aPod({ metadata: { uid: `u${i}` } }), stages)?.stage.name)
    const bad = drawn.filter((name) => name === 'bad').length
    assert.ok(bad > 180 && bad < 320, `${bad} of 1000`)
    assert.ok(!drawn.includes('never'))
  })
  it('comes from a file only when every entry makes sense', () => {
    assert.throws(() => parseStages([{ name: 'x', from: 'nowhere', to: 'running', delayMs: 1 }]), /stages\[0\]\.from must be one of bound/)
    assert.throws(() => parseStages([{ name: 'x', from: 'bound', to: 'running', delayMs: -1 }]), /delayMs must be a number/)
    assert.throws(() => parseStages([{ name: 'x', from: 'bound', to: 'running', delayMs: 1, colour: 'red' }]), /colour is unknown/)
    assert.throws(() => parseStages({}), /a list/)
    assert.equal(parseStages([{ name: 'x', from: 'bound', to: 'running', delayMs: 1 }]).length, 1)
    fc.assert(
      fc.property(fc.anything(), (value) => {
        try {
          assert.ok(Array.isArray(parseStages(value)))
        } catch (error) {
          assert.ok(error instanceof Error && error.message !== '')
        }
      }),
    )
  })
})

const bound = (name: string, spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', ...metadata },
  spec: { nodeName: NODE, containers: [{ name: 'main', image: 'nginx' }], ...spec },
})

async function phaseOf(cluster: WorldCluster, name: string): Promise<string | undefined> {
  return ((await cluster.get(PODS, `default/${name}`)) as Pod | undefined)?.status?.phase
}

describe('simulated nodes', () => {
  story(
    'register, and play the pods they get',
    async (world) => {
      const { member } = world
      const nodes = await member.list(NODES)
      assert.deepEqual(
        nodes.map((node) => node.metadata.name),
        ['member1-simulated-1', 'member1-simulated-2'],
      )
      await member.create(bound('web'))
      await world.settle()
      const pod = (await member.get(PODS, 'default/web')) as Pod
      assert.equal(pod.status?.phase, 'Running')
      const events = (await member.list(EVENTS, { namespace: 'default' })).map((event) => `${event.reason}: ${event.message}`)
      assert.match(events.join('\n'), /Simulated: nothing of this pod runs, its life is played: this cluster has no process node/)
      await member.create(bound('second'))
      await world.settle()
      const second = (await member.get(PODS, 'default/second')) as Pod
      assert.notEqual(second.status?.podIP, pod.status?.podIP)
      await member.delete(PODS, 'default/web')
      await world.settle()
      assert.equal(await phaseOf(member, 'web'), undefined)
    },
    { members: 1, nodes: 2 },
  )
  story(
    'let pods end as their annotations ask',
    async (world) => {
      const { member } = world
      await member.create(bound('ends', { restartPolicy: 'Never' }))
      await member.create(bound('fails', { restartPolicy: 'Never' }, { annotations: { 'sluice.dev/simulated-exit-code': '3' } }))
      await member.create(
        bound('crashes', {}, { annotations: { 'sluice.dev/simulated-run-for': '30s', 'sluice.dev/simulated-exit-code': '1' } }),
      )
      await world.advance(20_000)
      assert.equal(await phaseOf(member, 'ends'), 'Succeeded')
      assert.equal(await phaseOf(member, 'fails'), 'Failed')
      await world.advance(100_000)
      const crashes = (await member.get(PODS, 'default/crashes')) as Pod
      assert.ok((crashes.status?.containerStatuses?.[0]?.restartCount ?? 0) >= 2)
      await member.delete(PODS, 'default/crashes')
    },
    { members: 1, nodes: 1 },
  )
  survives(simulatedNodes(), {
    nodes: 1,
    steps: [
      (cluster) => cluster.create(bound('web')),
      (cluster) => cluster.create(bound('once', { restartPolicy: 'Never', initContainers: [{ name: 'first', image: 'busybox' }] })),
      (cluster) => cluster.delete(PODS, 'default/web'),
    ],
    async atRest(cluster) {
      assert.equal(await phaseOf(cluster, 'web'), undefined)
      assert.equal(await phaseOf(cluster, 'once'), 'Succeeded')
    },
  })
})
