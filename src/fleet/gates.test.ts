import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seededRandom } from '../base/random.ts'
import type { World, WorldCluster } from '../faultsim/world/index.ts'
import type { Binding, Placement } from '../kinds/karmada/index.ts'
import { CLUSTERS, WORKS } from '../kinds/karmada/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { NO_SEAMS } from '../runtime/seams/seams.ts'
import { manualClock } from '../runtime/testing.ts'
import { fleetControllers } from './controllers.ts'
import { aDeployment, aPolicy, bindingAt, placedIn, selecting, theBinding } from './detector/testing.ts'
import { ALL_GATES_ON, type FleetGate, parseGates } from './gates.ts'
import type { Interpreter } from './interpreter/interpreter.ts'
import { nativeInterpreter } from './interpreter/testing.ts'
import { aBindingOf, DYNAMIC } from './scheduler/testing.ts'
import { fleetWorld } from './testing.ts'

describe('gates by name', () => {
  it('are on unless they are switched off', () => {
    assert.deepEqual(parseGates('').value, ALL_GATES_ON)
    assert.deepEqual(parseGates('Failover=false, PropagateDeps=true').value, { ...ALL_GATES_ON, Failover: false })
  })

  it('are refused with the list when there is no such gate, and with what they can be', () => {
    assert.match(parseGates('Fallover=true').error ?? '', /no gate "Fallover"; there are Failover, GracefulEviction, PropagateDeps, /)
    for (const text of ['Failover', 'Failover=yes', 'Failover=true=false'])
      assert.match(parseGates(text).error ?? '', /^Failover is true or false, not "/)
  })
})

const WEB = 'default/web-deployment'
const propagated = (more: Record<string, unknown> = {}): KubeObject =>
  aPolicy('default/web', { resourceSelectors: selecting('web'), placement: placedIn('member1', 'member2'), ...more })
const NO_EXECUTE = [{ key: 'down', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' }]

/** As a user sends it: without what the server fills in. */
function bound(options: Parameters<typeof aBindingOf>[0], spec: Partial<Binding['spec']> = {}): KubeObject {
  const { metadata, status: _, ...rest } = aBindingOf(options)
  const { name, namespace, labels } = metadata
  return { ...rest, metadata: { name, namespace, labels }, spec: { ...rest.spec, ...spec } } as KubeObject
}

async function placedOf(hub: WorldCluster, name: string): Promise<string> {
  const { spec } = await theBinding(hub, `default/${name}`)
  return (spec.clusters ?? []).map((one) => `${one.name}:${one.replicas}`).join()
}

/** What is observed with the gate on, and with it off. */
interface GateStory {
  gate: FleetGate
  /** Controllers that take part. */
  modules: readonly string[]
  interpreter?: Interpreter
  /** Acts, and returns what is observed. */
  see(world: World, hub: WorldCluster): Promise<unknown>
  on: unknown
  off: unknown
}

async function webAndTaint({ hub }: World): Promise<void> {
  await hub.create(propagated())
  await hub.create(aDeployment('default/web'))
  await hub.patch(CLUSTERS, 'member1', { spec: { taints: NO_EXECUTE } })
}

const withComponents: Interpreter = {
  ...nativeInterpreter(),
  has: () => true,
  components: async () => [{ name: 'head', replicas: 1 }],
}

async function twoBindings({ hub }: World, placement: Placement): Promise<void> {
  for (const [name, priority] of [
    ['low', 1],
    ['high', 9],
  ] as const)
    await hub.create(bound({ name, replicas: 4, schedulePriority: { priority }, placement }))
}

const capacity = (pods: number) => ({
  resourceSummary: { allocatable: { cpu: '1000', memory: '1000Gi', pods: String(pods) }, allocated: { pods: '0' } },
})
const onMember1: Placement = { ...placedIn('member1'), replicaScheduling: DYNAMIC }

const STATE_TASK = {
  fromCluster: 'member1',
  purgeMode: 'Directly' as const,
  reason: 'TaintUntolerated',
  producer: 'TaintManager',
  preservedLabelState: { kept: '7' },
  clustersBeforeFailover: ['member1'],
  suppressDeletion: true,
}

const STORIES: GateStory[] = [
  {
    gate: 'Failover',
    modules: ['detector', 'scheduler', 'failover'],
    async see(world) {
      await webAndTaint(world)
      await world.settle()
      return (await theBinding(world.hub, WEB)).spec.clusters?.map(({ name }) => name)
    },
    on: ['member2'],
    off: ['member1', 'member2'],
  },
  {
    gate: 'GracefulEviction',
    modules: ['detector', 'scheduler', 'failover'],
    async see(world) {
      await world.hub.create(propagated())
      await world.hub.create(aDeployment('default/web'))
      await world.settle()
      await world.hub.patch(CLUSTERS, 'member1', { spec: { taints: NO_EXECUTE } })
      await world.settle()
      const { clusters, gracefulEvictionTasks = [] } = (await theBinding(world.hub, WEB)).spec
      return [clusters?.map(({ name }) => name), gracefulEvictionTasks.map(({ fromCluster }) => fromCluster)]
    },
    on: [['member2'], ['member1']],
    off: [['member2'], []],
  },
  {
    gate: 'PropagateDeps',
    modules: ['detector', 'scheduler', 'dependencies'],
    async see(world, hub) {
      await hub.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'settings' }, data: {} })
      await hub.create(propagated({ propagateDeps: true }))
      const volumes = [{ name: 'settings', configMap: { name: 'settings' } }]
      await hub.create(aDeployment('default/web', { pod: { volumes } }))
      await world.settle()
      return (await bindingAt(hub, 'default/settings-configmap'))?.spec.requiredBy?.map(({ name }) => name)
    },
    on: ['web-deployment'],
    off: undefined,
  },
  {
    gate: 'PropagationPolicyPreemption',
    modules: ['detector'],
    async see(world, hub) {
      await hub.create(propagated())
      await hub.create(aDeployment('default/web'))
      await world.settle()
      const stronger = { resourceSelectors: selecting('web'), placement: placedIn('member2'), preemption: 'Always' as const, priority: 9 }
      await hub.create(aPolicy('default/stronger', stronger))
      await world.settle()
      return (await theBinding(hub, WEB)).metadata.annotations?.['propagationpolicy.karmada.io/name']
    },
    on: 'stronger',
    off: 'web',
  },
  {
    gate: 'MultiplePodTemplatesScheduling',
    modules: ['detector'],
    interpreter: withComponents,
    async see(world, hub) {
      await hub.create(propagated())
      await hub.create(aDeployment('default/web'))
      await world.settle()
      const { components, replicas } = (await theBinding(hub, WEB)).spec
      return [components?.map(({ name }) => name), replicas]
    },
    on: [['head'], undefined],
    off: [undefined, 2],
  },
  {
    gate: 'ResourceQuotaEstimate',
    modules: ['detector'],
    async see(world, hub) {
      await hub.create(propagated())
      await hub.create(aDeployment('default/web'))
      await world.settle()
      return (await theBinding(hub, WEB)).spec.replicaRequirements?.namespace
    },
    on: 'default',
    off: undefined,
  },
  {
    gate: 'PriorityBasedScheduling',
    modules: ['scheduler'],
    async see(world) {
      await world.hub.patch(CLUSTERS, 'member1', { status: capacity(0) }, 'status')
      await twoBindings(world, onMember1)
      await world.settle()
      await world.hub.patch(CLUSTERS, 'member1', { status: capacity(4) }, 'status')
      await world.settle()
      return [await placedOf(world.hub, 'low'), await placedOf(world.hub, 'high')]
    },
    on: ['', 'member1:4'],
    off: ['member1:4', ''],
  },
  {
    gate: 'SchedulingOvercommitProtection',
    modules: ['scheduler'],
    async see(world) {
      await world.hub.patch(CLUSTERS, 'member1', { status: capacity(4) }, 'status')
      await twoBindings(world, onMember1)
      await world.settle()
      const where = [await placedOf(world.hub, 'low'), await placedOf(world.hub, 'high')]
      return where.filter((one) => one !== '').length
    },
    on: 1,
    off: 2,
  },
  {
    gate: 'StatefulFailoverInjection',
    modules: ['works'],
    async see(world, hub) {
      await hub.create(aDeployment('default/web'))
      const targets = [{ name: 'member2', replicas: 2 }]
      await hub.create(bound({ name: 'web-deployment' }, { clusters: targets, gracefulEvictionTasks: [STATE_TASK] }))
      await world.settle()
      const [work] = await hub.list(WORKS, { namespace: 'karmada-es-member2' })
      const [manifest] = (work as unknown as { spec: { workload: { manifests: KubeObject[] } } }).spec.workload.manifests
      return manifest?.metadata.labels?.kept
    },
    on: '7',
    off: undefined,
  },
  {
    gate: 'WorkloadAffinity',
    modules: ['detector'],
    async see(world, hub) {
      const workloadAffinity = { affinity: { groupByLabelKey: 'app' } }
      await hub.create(propagated({ placement: { ...placedIn('member1'), workloadAffinity } }))
      await hub.create(aDeployment('default/web'))
      await world.settle()
      return (await theBinding(hub, WEB)).spec.workloadAffinityGroups
    },
    on: { affinityGroup: 'app=web' },
    off: undefined,
  },
]

async function seen({ gate, modules, interpreter, see }: GateStory, isOn: boolean): Promise<unknown> {
  const world = await fleetWorld({
    cast: (deps) =>
      fleetControllers(
        { clock: manualClock(), random: seededRandom(1), ...deps, ...(interpreter === undefined ? {} : { interpreter }) },
        { gates: { [gate]: isOn } },
        NO_SEAMS,
      ).filter(({ name }) => modules.some((part) => name.split('.').includes(part))),
  })
  try {
    return await see(world, world.hub)
  } finally {
    await world.stop()
  }
}

describe('a gate', () => {
  it('has a story each', () => {
    assert.deepEqual(STORIES.map(({ gate }) => gate).sort(), Object.keys(ALL_GATES_ON).sort())
  })

  for (const story of STORIES)
    it(`${story.gate} switches what it is about`, async () => {
      assert.deepEqual(await seen(story, true), story.on, 'on')
      assert.deepEqual(await seen(story, false), story.off, 'off')
    })
})
