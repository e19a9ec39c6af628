import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectQuiet } from '../../../faultsim/expect/index.ts'
import { aWorld, type WorldCluster } from '../../../faultsim/world/index.ts'
import type { Binding, PropagationSpec } from '../../../kinds/karmada/index.ts'
import { OVERRIDE_POLICIES, PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../../../kinds/karmada/resources.ts'
import { DEPLOYMENTS, PRIORITY_CLASSES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import type { Hold, NarrowingAnswer } from '../../../runtime/seams/narrowing.ts'
import type { ChangeHandler, Interpreter } from '../../interpreter/interpreter.ts'
import { nativeInterpreter } from '../../interpreter/testing.ts'
import { hubCast } from '../../testing.ts'
import { type DetectorDeps, detectorControllers } from '../index.ts'
import {
  aDeployment,
  aPolicy,
  bindingAt,
  claimText,
  claimTextOf,
  clustersOf,
  eventsOf,
  hubStory,
  placedIn,
  selecting,
  theBinding,
} from '../testing.ts'

const WEB = 'default/web-deployment'
const WAITING = 'sluice.dev/waiting-because'
const HELD = 'sluice.dev/held-because'
const web = (spec: Partial<PropagationSpec> = {}, name = 'web'): KubeObject =>
  aPolicy(`default/${name}`, { resourceSelectors: selecting('web'), ...spec })
const templateOf = async (hub: WorldCluster): Promise<KubeObject> => (await hub.get(DEPLOYMENTS, 'default/web')) as KubeObject

describe('a policy with dependent overrides', () => {
  const override = (name: string): KubeObject => ({
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'OverridePolicy',
    metadata: { namespace: 'default', name },
    spec: { overrideRules: [] },
  })

  hubStory('takes nothing before they are there, and says what it waits for', async (hub, world) => {
    await hub.create(web({ dependentOverrides: ['one', 'two'] }))
    await hub.create(aDeployment('default/web'))
    await hub.create(override('two'))
    await world.settle()
    assert.equal(await bindingAt(hub, WEB), undefined)
    assert.equal(claimText(await templateOf(hub)), undefined)
    assert.equal((await templateOf(hub)).metadata.annotations?.[WAITING], 'waiting for dependent overrides: one')
    await world.advance(3_600_000)
    assert.deepEqual(
      (await eventsOf(hub, 'Deployment', 'web')).at(-1),
      'ApplyPolicyFailed: Apply policy(default/web) failed: waiting for dependent overrides: one',
    )
    hub.takeControllerWrites()
    await hub.create(override('one'))
    await world.settle()
    assert.equal((await theBinding(hub, WEB)).spec?.replicas, 2)
    assert.equal((await templateOf(hub)).metadata.annotations?.[WAITING], undefined)
  })

  hubStory('that get lost later leaves the binding as it is', async (hub, world) => {
    await hub.create(override('one'))
    await hub.create(web({ dependentOverrides: ['one'] }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    await hub.delete(OVERRIDE_POLICIES, 'default/one')
    await hub.patch(PROPAGATION_POLICIES, 'default/web', { spec: { placement: placedIn('member2') } })
    await world.settle()
    const binding = await theBinding(hub, WEB)
    assert.deepEqual([clustersOf(binding), binding.metadata.annotations?.[WAITING]], [['member1'], 'waiting for dependent overrides: one'])
    await hub.create(override('one'))
    await world.settle()
    const after = await theBinding(hub, WEB)
    assert.deepEqual([clustersOf(after), after.metadata.annotations?.[WAITING]], [['member2'], undefined])
  })
})

describe('a policy with a schedule priority', () => {
  const schedulePriority = { priorityClassSource: 'KubePriorityClass' as const, priorityClassName: 'urgent' }
  const urgent = (value: number): KubeObject => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'urgent' },
    value,
  })

  hubStory('waits for its class, and follows it', async (hub, world) => {
    const policy = await hub.create(web({ schedulePriority }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    assert.equal(await bindingAt(hub, WEB), undefined)
    const template = await templateOf(hub)
    assert.equal(claimText(template), claimTextOf(policy))
    assert.equal(template.metadata.annotations?.[WAITING], 'waiting for PriorityClass urgent, which does not exist')
    await hub.create(urgent(1000))
    await world.settle()
    assert.deepEqual((await theBinding(hub, WEB)).spec?.schedulePriority, { priority: 1000 })
    await hub.delete(PRIORITY_CLASSES, 'urgent')
    await world.settle()
    assert.match((await theBinding(hub, WEB)).metadata.annotations?.[WAITING] ?? '', /PriorityClass urgent/)
    await hub.create(urgent(7))
    await world.settle()
    assert.deepEqual((await theBinding(hub, WEB)).spec?.schedulePriority, { priority: 7 })
    await hub.patch(PROPAGATION_POLICIES, 'default/web', { spec: { schedulePriority: null } })
    await world.settle()
    assert.equal((await theBinding(hub, WEB)).spec?.schedulePriority, undefined)
  })
})

describe('a lazy policy', () => {
  const lazy = (name: string, ...clusters: string[]): KubeObject =>
    web({ activationPreference: 'Lazy', placement: placedIn(...clusters) }, name)

  hubStory('acts at once on what comes after it, and later only when people change the template', async (hub, world) => {
    await hub.create(lazy('web', 'member1'))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    assert.deepEqual(clustersOf(await theBinding(hub, WEB)), ['member1'])
    await hub.patch(PROPAGATION_POLICIES, 'default/web', { spec: { placement: placedIn('member2') } })
    await hub.patch(DEPLOYMENTS, 'default/web', { status: { replicas: 2 } }, 'status')
    await world.settle()
    await world.restartControllers()
    await world.settle()
    assert.deepEqual(clustersOf(await theBinding(hub, WEB)), ['member1'])
    await hub.patch(DEPLOYMENTS, 'default/web', { metadata: { labels: { 'refresh-time': '1' } } })
    await world.settle()
    assert.deepEqual(clustersOf(await theBinding(hub, WEB)), ['member2'])
  })

  hubStory('only claims what was there before it, until people change it', async (hub, world) => {
    await hub.create(aDeployment('default/web'))
    const policy = await hub.create(lazy('web', 'member1'))
    await world.settle()
    assert.equal(await bindingAt(hub, WEB), undefined)
    assert.equal(claimText(await templateOf(hub)), claimTextOf(policy))
    await world.restartControllers()
    await world.settle()
    assert.equal(await bindingAt(hub, WEB), undefined)
    await hub.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 4 } })
    await world.settle()
    assert.equal((await theBinding(hub, WEB)).spec?.replicas, 4)
    assert.equal((await templateOf(hub)).metadata.annotations?.['sluice.dev/deferred'], undefined)
  })

  hubStory('that takes over from one that went leaves what runs until people change it', async (hub, world) => {
    await hub.create(lazy('one', 'member1'))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    const two = await hub.create(lazy('two', 'member2'))
    await hub.delete(PROPAGATION_POLICIES, 'default/one')
    await world.settle()
    const between = await theBinding(hub, WEB)
    assert.equal(claimText(await templateOf(hub)), claimTextOf(two))
    assert.deepEqual([claimText(between), clustersOf(between)], [undefined, ['member1']])
    assert.equal(await hub.get(PROPAGATION_POLICIES, 'default/one'), undefined)
    await hub.patch(DEPLOYMENTS, 'default/web', { metadata: { labels: { 'refresh-time': '1' } } })
    await world.settle()
    const after = await theBinding(hub, WEB)
    assert.deepEqual([claimText(after), clustersOf(after)], [claimTextOf(two), ['member2']])
  })

  hubStory('that stops being lazy acts', async (hub, world) => {
    await hub.create(aDeployment('default/web'))
    await hub.create(lazy('web', 'member1'))
    await world.settle()
    await hub.patch(PROPAGATION_POLICIES, 'default/web', { spec: { activationPreference: null } })
    await world.settle()
    assert.deepEqual(clustersOf(await theBinding(hub, WEB)), ['member1'])
  })
})

describe('suspension', () => {
  hubStory('of dispatching is the policy’s, of scheduling that of whoever set it', async (hub, world) => {
    await hub.create(web({ suspension: { dispatching: true } }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    assert.deepEqual((await theBinding(hub, WEB)).spec?.suspension, { dispatching: true })
    await hub.patch(RESOURCE_BINDINGS, WEB, { spec: { suspension: { scheduling: true } } })
    await hub.patch(PROPAGATION_POLICIES, 'default/web', {
      spec: { suspension: { dispatching: null, dispatchingOnClusters: { clusterNames: ['member1'] } } },
    })
    await world.settle()
    const suspension = { scheduling: true, dispatchingOnClusters: { clusterNames: ['member1'] } }
    assert.deepEqual((await theBinding(hub, WEB)).spec?.suspension, suspension)
    await hub.patch(PROPAGATION_POLICIES, 'default/web', { spec: { suspension: null } })
    await world.settle()
    assert.deepEqual((await theBinding(hub, WEB)).spec?.suspension, { scheduling: true })
  })
})

const heldFor = (message: string): Hold => ({ reason: 'Sample', message, by: [] })

/** A detector with additional dependencies of the test's own. */
async function aHub(more: Partial<DetectorDeps>) {
  const world = await aWorld({ controllers: hubCast((deps) => detectorControllers({ ...deps, ...more })) }).settle()
  return { world, hub: world.hub }
}

describe('a narrowing', () => {
  it('limits where a binding may go and holds it back, until it says otherwise', async () => {
    let answer: NarrowingAnswer = { allow: ['member2', 'member3'], hold: heldFor('the data is not there yet') }
    const queues = new Set<(ref: ObjectRef) => void>()
    const seen: (Binding | undefined)[] = []
    const sample = {
      name: 'sample',
      watches: [],
      of: ({ template, binding }: { template: KubeObject; binding: Binding | undefined }) => {
        seen.push(binding)
        return template.metadata.labels?.data === undefined ? undefined : answer
      },
      changes: {
        subscribe: (waker: (ref: ObjectRef) => void) => {
          queues.add(waker)
          return () => queues.delete(waker)
        },
      },
    }
    const { world, hub } = await aHub({ narrowings: [sample] })
    const say = async (next: NarrowingAnswer): Promise<Binding> => {
      answer = next
      await hub.inside(() => {
        for (const enqueue of queues) enqueue({ namespace: 'default', name: 'web-deployment' })
      })
      await world.settle()
      return theBinding(hub, WEB)
    }
    await hub.create(web({ placement: placedIn('member1', 'member2'), suspension: { dispatching: false } }))
    await hub.create(aDeployment('default/web', { labels: { data: 'sales' } }))
    await world.settle()
    const first = await theBinding(hub, WEB)
    assert.equal(first.metadata.generation, 1, 'held from its first moment')
    assert.deepEqual([clustersOf(first), first.spec?.suspension], [['member2'], { dispatching: false, scheduling: true }])
    assert.equal(first.metadata.annotations?.[HELD], 'the data is not there yet')
    const free = await say({ allow: ['member1'] })
    assert.deepEqual(
      [clustersOf(free), free.spec?.suspension, free.metadata.annotations?.[HELD]],
      [['member1'], { dispatching: false }, undefined],
    )
    const nowhere = await say({ allow: [] })
    assert.deepEqual(clustersOf(nowhere), ['(no cluster is allowed)'])
    assert.deepEqual(clustersOf(await say({})), ['member1', 'member2'])
    await hub.patch(RESOURCE_BINDINGS, WEB, { spec: { suspension: { scheduling: true } } })
    const both = await say({ hold: heldFor('again') })
    assert.equal(both.metadata.annotations?.[HELD], undefined, 'what others have suspended stays theirs')
    assert.deepEqual((await say({})).spec?.suspension, { dispatching: false, scheduling: true })
    assert.ok(seen.some((binding) => binding === undefined) && seen.some((binding) => binding !== undefined))
    await world.settle()
    await world.stop()
  })

  it('limits also what a lazy policy has not touched yet', async () => {
    let answer: NarrowingAnswer = {}
    const { world, hub } = await aHub({ narrowings: [{ name: 'sample', watches: [], of: () => answer }] })
    await hub.create(web({ activationPreference: 'Lazy', placement: placedIn('member1', 'member2') }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    answer = { allow: ['member2', 'member3'], hold: heldFor('a moment') }
    await hub.patch(PROPAGATION_POLICIES, 'default/web', { spec: { placement: placedIn('member3') } })
    await world.settle()
    const binding = await theBinding(hub, WEB)
    assert.deepEqual([clustersOf(binding), binding.spec?.suspension], [['member2'], { scheduling: true }])
    await world.stop()
  })
})

describe('the interpreter', () => {
  it('may fail, which is reported once, and is asked again', async () => {
    let isBroken = true
    const handlers = new Set<ChangeHandler>()
    const native = nativeInterpreter()
    const interpreter: Interpreter = {
      ...native,
      replicas: async (object) => {
        if (isBroken) throw new Error('line 3: attempt to index a nil value')
        return native.replicas(object)
      },
      onChange(handler) {
        handlers.add(handler)
        return () => handlers.delete(handler)
      },
    }
    const { world, hub } = await aHub({ interpreter })
    await hub.create(web())
    await hub.create(aDeployment('default/web'))
    await world.advance(60_000)
    assert.equal((await templateOf(hub)).metadata.annotations?.[WAITING], 'line 3: attempt to index a nil value')
    assert.deepEqual(await eventsOf(hub, 'Deployment', 'web'), [
      'GetReplicasFailed: line 3: attempt to index a nil value',
      'ApplyPolicyFailed: Apply policy(default/web) failed: line 3: attempt to index a nil value',
    ])
    isBroken = false
    await hub.inside(() => {
      for (const handler of handlers) handler([{ apiVersion: 'apps/v1', kind: 'Deployment' }])
    })
    await world.settle()
    assert.equal((await theBinding(hub, WEB)).spec?.replicas, 2)
    await expectQuiet(world)
    await world.stop()
  })

  it('may find several components, which go in place of replicas', async () => {
    const native = nativeInterpreter()
    const components = [
      { name: 'head', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '2' } } },
      { name: 'worker', replicas: 4 },
    ]
    const interpreter: Interpreter = {
      ...native,
      has: (kind, operation) => operation === 'InterpretComponent' || native.has(kind, operation),
      components: async () => components,
    }
    const on = await aHub({ interpreter })
    await on.hub.create(web())
    await on.hub.create(aDeployment('default/web'))
    await on.world.settle()
    const { spec } = await theBinding(on.hub, WEB)
    assert.deepEqual([spec?.components, spec?.replicas, spec?.replicaRequirements], [components, undefined, undefined])
    assert.match(
      (await eventsOf(on.hub, 'Deployment', 'web')).join(),
      /GetComponentsSucceed: Get components of resource template successfully\./,
    )
    await on.world.stop()
    const off = await aHub({ interpreter, gates: { multiplePodTemplates: false, quotaEstimate: false } })
    await off.hub.create(web())
    await off.hub.create(aDeployment('default/web'))
    await off.world.settle()
    const without = (await theBinding(off.hub, WEB)).spec
    assert.deepEqual(
      [without?.components, without?.replicas, without?.replicaRequirements],
      [undefined, 2, { resourceRequest: { cpu: '100m' } }],
    )
    await off.world.stop()
  })
})

describe('groups of workloads', () => {
  hubStory('come from labels of the template', async (hub, world) => {
    const workloadAffinity = { affinity: { groupByLabelKey: 'app' }, antiAffinity: { groupByLabelKey: 'tenant' } }
    await hub.create(web({ placement: { ...placedIn('member1'), workloadAffinity } }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    assert.deepEqual((await theBinding(hub, WEB)).spec?.workloadAffinityGroups, { affinityGroup: 'app=web' })
  })
})
