import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import { CONTROLLER_REVISIONS, DAEMON_SETS, NAMESPACES, NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { ControllerRevision, DaemonSetSpec } from '../../../kinds/kubernetes/types.ts'
import { allReady, eventsOf, podNames, podsIn } from '../../../runtime/workloads/pod/testing.ts'
import { daemonSet } from './controller.ts'
import { aDaemonSet, addNodes, aNode, change, fail, podOn, ready, statusIn, summary, taint, templateAt } from './testing.ts'

const member = { members: 1 }
const rolling = (rollingUpdate: Record<string, unknown>): DaemonSetSpec => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })
const NO_SCHEDULE = { key: 'example.com/full', effect: 'NoSchedule' }
const NO_EXECUTE = { key: 'example.com/broken', effect: 'NoExecute' }

describe('a DaemonSet', () => {
  story(
    'has one pod on every node, bound to it and prepared for its troubles',
    async (world) => {
      const { member: cluster } = world
      await addNodes(cluster, 'a', 'b')
      await cluster.create(aDaemonSet())
      await world.settle()
      assert.equal(await summary(cluster), 'a:one b:one')
      const pod = await podOn(cluster, 'a')
      assert.match(pod.metadata.name ?? '', /^agent-[a-z0-9]{5}$/)
      assert.equal(pod.metadata.generateName, 'agent-')
      const [revision] = (await cluster.list(CONTROLLER_REVISIONS)) as ControllerRevision[]
      const hash = revision?.metadata.labels?.['controller-revision-hash']
      assert.equal(revision?.metadata.name, `agent-${hash}`)
      assert.deepEqual(pod.metadata.labels, { app: 'agent', 'controller-revision-hash': hash, 'pod-template-generation': '1' })
      assert.deepEqual(pod.spec?.affinity, {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }],
          },
        },
      })
      const tolerated = (pod.spec?.tolerations ?? []).map(({ key, operator, effect }) => `${key?.split('/')[1]}:${effect}:${operator}`)
      assert.deepEqual(tolerated.slice(0, 6), [
        'not-ready:NoExecute:Exists',
        'unreachable:NoExecute:Exists',
        'disk-pressure:NoSchedule:Exists',
        'memory-pressure:NoSchedule:Exists',
        'pid-pressure:NoSchedule:Exists',
        'unschedulable:NoSchedule:Exists',
      ])
      await ready(world, 'a')
      const { collisionCount, ...status } = await statusIn(cluster)
      assert.equal(collisionCount, undefined)
      assert.deepEqual(status, {
        observedGeneration: 1,
        desiredNumberScheduled: 2,
        currentNumberScheduled: 2,
        numberMisscheduled: 0,
        numberReady: 1,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
        numberUnavailable: 1,
      })
      const names = await podNames(cluster)
      assert.deepEqual(
        (await eventsOf(cluster, 'DaemonSet', 'agent')).sort(),
        names.map((name) => `SuccessfulCreate: Created pod: ${name}`),
      )
    },
    member,
  )

  story(
    'follows nodes that come, change and go',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aDaemonSet({ template: templateAt('one', { nodeSelector: { disk: 'ssd' } }) }))
      await addNodes(cluster, aNode('a', { disk: 'ssd' }), aNode('b', { disk: 'hdd' }))
      await world.settle()
      assert.equal(await summary(cluster), 'a:one')
      await cluster.patch(NODES, 'b', { metadata: { labels: { disk: 'ssd' } } })
      await world.settle()
      assert.equal(await summary(cluster), 'a:one b:one')
      await taint(cluster, 'a', NO_SCHEDULE)
      await world.settle()
      assert.equal(await summary(cluster), 'a:one b:one')
      const { desiredNumberScheduled, currentNumberScheduled, numberMisscheduled } = await statusIn(cluster)
      assert.deepEqual([desiredNumberScheduled, currentNumberScheduled, numberMisscheduled], [1, 1, 1])
      await taint(cluster, 'a', NO_EXECUTE)
      await world.settle()
      assert.equal(await summary(cluster), 'b:one')
      await taint(cluster, 'a')
      await world.settle()
      assert.equal(await summary(cluster), 'a:one b:one')
      await cluster.delete(NODES, 'b')
      await world.settle()
      assert.equal(await summary(cluster), 'a:one')
      assert.equal((await statusIn(cluster)).desiredNumberScheduled, 1)
      await cluster.patch(NODES, 'a', { metadata: { labels: { disk: null } } })
      await world.settle()
      assert.equal(await summary(cluster), '')
    },
    member,
  )

  story(
    'is let onto simulated nodes, unless it or its namespace asks to run as processes',
    async (world) => {
      const { member: cluster } = world
      await addNodes(cluster, aNode('played', {}, [{ key: 'sluice.dev/simulated', effect: 'NoSchedule' }]), 'real')
      await cluster.create(aDaemonSet())
      await world.settle()
      assert.equal(await summary(cluster), 'played:one real:one')
      await change(cluster, { template: templateAt('two', {}, { annotations: { 'sluice.dev/run': 'process' } }) })
      await world.settle()
      await allReady(world)
      assert.equal(await summary(cluster), 'real:two+')
      const { desiredNumberScheduled, numberMisscheduled } = await statusIn(cluster)
      assert.deepEqual([desiredNumberScheduled, numberMisscheduled], [1, 0])
      await cluster.patch(NAMESPACES, 'default', { metadata: { annotations: { 'sluice.dev/run': 'process' } } })
      await cluster.patch(DAEMON_SETS, 'default/agent', { spec: { template: { ...templateAt('three'), metadata: { annotations: null } } } })
      await world.settle()
      assert.equal(await summary(cluster), 'real:three')
      await cluster.patch(NAMESPACES, 'default', { metadata: { annotations: { 'sluice.dev/run': null } } })
      await world.settle()
      assert.equal(await summary(cluster), 'played:three real:three')
    },
    member,
  )

  story(
    'replaces failed pods, later and later, and finished ones at once',
    async (world) => {
      const { member: cluster } = world
      await addNodes(cluster, 'a')
      await cluster.create(aDaemonSet())
      await world.settle()
      const first = await podOn(cluster, 'a')
      await fail(world, 'a')
      const second = await podOn(cluster, 'a')
      assert.notEqual(second.metadata.uid, first.metadata.uid)
      await fail(world, 'a')
      assert.equal((await podOn(cluster, 'a')).metadata.uid, second.metadata.uid, 'the second waits')
      await world.advance(1000)
      await world.settle()
      assert.notEqual((await podOn(cluster, 'a')).metadata.uid, second.metadata.uid)
      await cluster.patch(PODS, `default/${(await podOn(cluster, 'a')).metadata.name}`, { status: { phase: 'Succeeded' } }, 'status')
      await world.settle()
      assert.equal((await podOn(cluster, 'a')).status?.phase, 'Pending')
      const events = await eventsOf(cluster, 'DaemonSet', 'agent')
      const found = `daemon pod default/${first.metadata.name} on node a`
      assert.ok(events.includes(`FailedDaemonPod: Found failed ${found}, will try to kill it`), events.join('\n'))
      assert.ok(events.some((one) => one.startsWith('SucceededDaemonPod: Found succeeded daemon pod default/')))
      assert.ok(events.includes(`SuccessfulDelete: Deleted pod: ${first.metadata.name}`))
    },
    member,
  )

  story(
    'takes its pods and revisions along',
    async (world) => {
      const { member: cluster } = world
      await addNodes(cluster, 'a')
      await cluster.create(aDaemonSet())
      await world.settle()
      await cluster.delete(DAEMON_SETS, 'default/agent', { propagationPolicy: 'Foreground' })
      await world.settle()
      assert.deepEqual([await podNames(cluster), await cluster.list(CONTROLLER_REVISIONS), await cluster.list(DAEMON_SETS)], [[], [], []])
    },
    member,
  )
})

describe('a DaemonSet that is updated', () => {
  story(
    'replaces as many pods at a time as may be unavailable',
    async (world) => {
      const { member: cluster } = world
      await addNodes(cluster, 'a', 'b', 'c', 'd')
      await cluster.create(aDaemonSet(rolling({ maxUnavailable: '50%' })))
      await world.settle()
      await allReady(world)
      await change(cluster, { template: templateAt('two') })
      await world.settle()
      assert.equal(await summary(cluster), 'a:two b:two c:one+ d:one+')
      assert.equal((await statusIn(cluster)).updatedNumberScheduled, 2)
      await ready(world, 'b')
      assert.equal(await summary(cluster), 'a:two b:two+ c:two d:one+')
      await allReady(world)
      assert.equal(await summary(cluster), 'a:two+ b:two+ c:two+ d:two+')
      const { updatedNumberScheduled, numberAvailable, observedGeneration } = await statusIn(cluster)
      assert.deepEqual([updatedNumberScheduled, numberAvailable, observedGeneration], [4, 4, 2])
    },
    member,
  )

  story(
    'replaces pods that are unwell whatever the bound, and no others then',
    async (world) => {
      const { member: cluster } = world
      await addNodes(cluster, 'a', 'b', 'c')
      await cluster.create(aDaemonSet())
      await world.settle()
      await ready(world, 'a')
      await change(cluster, { template: templateAt('two') })
      await world.settle()
      assert.equal(await summary(cluster), 'a:one+ b:two c:two')
    },
    member,
  )

  story(
    'with surge puts the new pod beside the old one, which goes when the new one is available',
    async (world) => {
      const { member: cluster } = world
      await addNodes(cluster, 'a', 'b')
      await cluster.create(aDaemonSet({ ...rolling({ maxSurge: 1, maxUnavailable: 0 }), minReadySeconds: 10 }))
      await world.settle()
      await allReady(world)
      await world.advance(10_000)
      await change(cluster, { template: templateAt('two') })
      await world.settle()
      assert.equal(await summary(cluster), 'a:one+ a:two b:one+')
      await ready(world, 'a', { image: 'two' })
      assert.equal(await summary(cluster), 'a:one+ a:two+ b:one+')
      await world.advance(10_000)
      await world.settle()
      assert.equal(await summary(cluster), 'a:two+ b:one+ b:two')
      assert.equal((await statusIn(cluster)).numberAvailable, 2)
      await ready(world, 'b', { image: 'two' })
      await world.advance(10_000)
      await world.settle()
      assert.equal(await summary(cluster), 'a:two+ b:two+')
    },
    member,
  )

  story(
    'with OnDelete waits for people',
    async (world) => {
      const { member: cluster } = world
      await addNodes(cluster, 'a', 'b')
      await cluster.create(aDaemonSet({ updateStrategy: { type: 'OnDelete' } }))
      await world.settle()
      await allReady(world)
      await change(cluster, { template: templateAt('two') })
      await world.settle()
      assert.equal(await summary(cluster), 'a:one+ b:one+')
      await cluster.delete(PODS, `default/${(await podOn(cluster, 'b')).metadata.name}`)
      await world.settle()
      assert.equal(await summary(cluster), 'a:one+ b:two')
      assert.equal((await statusIn(cluster)).updatedNumberScheduled, 1)
    },
    member,
  )

  story(
    'goes back to a revision it had, and keeps as much history as asked',
    async (world) => {
      const { member: cluster } = world
      await addNodes(cluster, 'a')
      await cluster.create(aDaemonSet({ revisionHistoryLimit: 1 }))
      await world.settle()
      await allReady(world)
      const hash = (await podOn(cluster, 'a')).metadata.labels?.['controller-revision-hash']
      for (const image of ['two', 'one', 'three', 'one']) {
        await change(cluster, { template: templateAt(image) })
        await world.settle()
        await allReady(world)
      }
      assert.equal((await podOn(cluster, 'a')).metadata.labels?.['controller-revision-hash'], hash)
      const revisions = (await cluster.list(CONTROLLER_REVISIONS)) as ControllerRevision[]
      assert.deepEqual(revisions.map(({ revision }) => revision).sort(), [4, 5])
    },
    member,
  )

  story(
    'does not begin again because two revisions hold the same template',
    async (world) => {
      const { member: cluster } = world
      await addNodes(cluster, 'a')
      await cluster.create(aDaemonSet())
      await world.settle()
      await allReady(world)
      const [before] = await podsIn(cluster)
      const [revision] = (await cluster.list(CONTROLLER_REVISIONS)) as ControllerRevision[]
      assert.ok(revision !== undefined)
      const labels = { app: 'agent', 'controller-revision-hash': 'twin' }
      const { ownerReferences } = revision.metadata
      await cluster.create({ ...revision, metadata: { name: 'agent-twin', namespace: 'default', labels, ownerReferences }, revision: 2 })
      await world.settle()
      const revisions = (await cluster.list(CONTROLLER_REVISIONS)) as ControllerRevision[]
      assert.deepEqual(
        revisions.map(({ metadata }) => metadata.name),
        ['agent-twin'],
      )
      const [after] = await podsIn(cluster)
      assert.equal(after?.metadata.uid, before?.metadata.uid)
      assert.equal(after?.metadata.labels?.['controller-revision-hash'], 'twin')
    },
    member,
  )
})

describe('a DaemonSet on simulated nodes', () => {
  story(
    'runs everywhere, is updated and goes',
    async (world) => {
      const { member: cluster } = world
      const template = (image: string) => templateAt(image, { schedulerName: 'default-scheduler' })
      await cluster.create(aDaemonSet({ template: template('one') }))
      await world.settle()
      const nodes = ['member1-simulated-1', 'member1-simulated-2', 'member1-simulated-3']
      assert.equal(await summary(cluster), nodes.map((node) => `${node}:one+`).join(' '))
      await change(cluster, { template: template('two') })
      await world.settle()
      assert.equal(await summary(cluster), nodes.map((node) => `${node}:two+`).join(' '))
      const { numberAvailable, updatedNumberScheduled, numberUnavailable = 0 } = await statusIn(cluster)
      assert.deepEqual([numberAvailable, updatedNumberScheduled, numberUnavailable], [3, 3, 0])
      await cluster.delete(DAEMON_SETS, 'default/agent')
      await world.settle()
      assert.deepEqual(await podNames(cluster), [])
    },
    { members: 1, nodes: 3 },
  )
})

describe('minicluster.workloads.daemon-set', () => {
  survives(daemonSet(), {
    steps: [
      (cluster) => addNodes(cluster, 'a', 'b'),
      (cluster) => cluster.create(aDaemonSet()),
      (cluster) => change(cluster, { template: templateAt('two') }),
      (cluster) => taint(cluster, 'a', NO_EXECUTE),
    ],
    invariants: [
      {
        says: 'no node has two pods',
        broken: (view) => {
          const nodes = view.list('pods').map((pod) => JSON.stringify((pod.spec as { affinity?: unknown }).affinity))
          return nodes.find((node, i) => nodes.indexOf(node) !== i)
        },
      },
    ],
    async atRest(cluster) {
      assert.equal(await summary(cluster), 'b:two')
      const { desiredNumberScheduled, updatedNumberScheduled, observedGeneration } = await statusIn(cluster)
      assert.deepEqual([desiredNumberScheduled, updatedNumberScheduled, observedGeneration], [1, 1, 2])
    },
  })
})
