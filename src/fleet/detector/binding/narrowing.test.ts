/**
 * A narrowing never opens by mistake: a ConfigMap stands for a claim, and everything that can make it unknown is tried, with
 * the real detector and the real scheduler.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectQuiet } from '../../../faultsim/expect/index.ts'
import { aWorld, type World, type WorldCluster } from '../../../faultsim/world/index.ts'
import type { Binding } from '../../../kinds/karmada/index.ts'
import { PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../../../kinds/karmada/resources.ts'
import { CONFIG_MAPS, DEPLOYMENTS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { via } from '../../../runtime/controller.ts'
import { HELD_BECAUSE, HELD_BY, HELD_REASON, NARROWED_BY, type Narrowing, RELEASED } from '../../../runtime/seams/narrowing.ts'
import { nativeInterpreter } from '../../interpreter/testing.ts'
import { scheduler } from '../../scheduler/index.ts'
import { hubCast, joinMembers } from '../../testing.ts'
import { type DetectorDeps, detectorControllers } from '../index.ts'
import { aDeployment, aPolicy, bindingAt, eventsOf, selecting, theBinding } from '../testing.ts'

const WEB = 'default/web-deployment'
const claim = (data: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'claim-of-web' },
  data,
})

/** On a Deployment: the ConfigMap that stands for its claim, instead of `claim-of-<name>`. No part of the template's content. */
const NAMED = 'sluice.dev/claims'

/** A ConfigMap holds (`hold`) or narrows (`allow`) the Deployment that names it, or that it is named after. */
const byConfigMap: Narrowing = {
  name: 'sample',
  watches: [
    via(CONFIG_MAPS, ({ metadata: { namespace = '', name = '' } }) =>
      name.startsWith('claim-of-') ? [{ namespace, name: `${name.slice('claim-of-'.length)}-deployment` }] : [],
    ),
  ],
  olderThanTemplate: [CONFIG_MAPS],
  of({ template, binding }, read) {
    const { namespace = '', name = '', annotations = {} } = template.metadata
    const claimed = annotations[NAMED] ?? `claim-of-${name}`
    const data = read.get(CONFIG_MAPS, namespace, claimed)?.data as Record<string, string> | undefined
    if (data === undefined)
      return binding?.metadata.annotations?.[RELEASED] === undefined ? undefined : { annotations: { [RELEASED]: null } }
    const { hold, allow } = data
    const by = [{ apiVersion: 'v1', kind: 'ConfigMap', name: claimed }]
    if (hold !== undefined) return { hold: { reason: 'NotYet', message: hold, by } }
    return { allow: allow?.split(',') ?? [], annotations: { [RELEASED]: JSON.stringify({ allow: allow?.split(',') ?? [] }) } }
  },
}

interface Cast extends Partial<DetectorDeps> {
  /** Whether the narrowing runs in the next process that starts. */
  runs?: { isOn: boolean }
}

async function aHub({ runs = { isOn: true }, ...more }: Cast = {}): Promise<{ world: World; hub: WorldCluster }> {
  const world = await aWorld({
    controllers: hubCast((deps) => [
      ...detectorControllers({ ...deps, ...more, narrowings: runs.isOn ? [byConfigMap] : [] }),
      scheduler(RESOURCE_BINDINGS, { isSummaryCurrent: () => true }),
    ]),
  }).settle()
  await joinMembers(world.hub, [{ name: 'member1' }, { name: 'member2' }])
  return { world, hub: world.hub }
}

const placesOf = ({ spec }: Binding): string[] => (spec?.clusters ?? []).map(({ name }) => name)
const policy = (): KubeObject => aPolicy('default/web', { resourceSelectors: selecting('web'), placement: {} })
const placesOfWeb = async (hub: WorldCluster): Promise<string[]> => placesOf(await theBinding(hub, WEB))

describe('what a narrowing holds', () => {
  it('stays held over a restart in which its first list fails', async () => {
    const { world, hub } = await aHub()
    await hub.create(policy())
    await hub.create(claim({ hold: 'no data' }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    hub.killControllers()
    const brokenUntilMs = world.clock.now() + 2000
    hub.interference = {
      onRequest: ({ part, request }) =>
        part === 'caches' && request.path.startsWith('/api/v1/configmaps') && world.clock.now() < brokenUntilMs
          ? { do: 'fail-before' }
          : undefined,
    }
    hub.takeControllerWrites()
    await hub.inside(() => hub.startControllers())
    await world.settle()
    assert.deepEqual(await placesOfWeb(hub), [])
    assert.deepEqual(hub.takeControllerWrites(), [], 'nothing was written to lift it for a moment either')
    await world.stop()
  })

  it('is held although its event is late, and the server is asked once for all who wait', async () => {
    const { world, hub } = await aHub()
    await hub.create(policy())
    await world.settle()
    let asked = 0
    hub.interference = {
      onDelivery: ({ path, name }) => (path.endsWith('/configmaps') && name === 'claim-of-web' ? 'hide' : undefined),
      onRequest({ request }) {
        if (request.path.startsWith('/api/v1/namespaces/default/configmaps?') && !request.path.includes('watch')) asked++
        return undefined
      },
    }
    await hub.create(claim({ hold: 'no data' }))
    await hub.create(aDeployment('default/web'))
    await world.advance(200)
    assert.equal(await bindingAt(hub, WEB), undefined, 'not let through while the claim is unknown')
    await world.settle()
    const binding = await theBinding(hub, WEB)
    assert.deepEqual([binding.metadata.generation, placesOf(binding), binding.metadata.annotations?.[HELD_BECAUSE]], [1, [], 'no data'])
    assert.ok(asked >= 1)
    await world.stop()
  })

  it('is not let go further while the claim that it names now is unknown, although it runs already', async () => {
    const { world, hub } = await aHub()
    await hub.create(policy())
    await hub.create(claim({ allow: 'member1' }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    assert.deepEqual(await placesOfWeb(hub), ['member1'])
    const before = await theBinding(hub, WEB)
    hub.interference = { onDelivery: ({ path, name }) => (path.endsWith('/configmaps') && name === 'other' ? 'hide' : undefined) }
    await hub.create({ ...claim({ allow: 'member1' }), metadata: { namespace: 'default', name: 'other' } })
    await hub.patch(DEPLOYMENTS, 'default/web', { metadata: { annotations: { [NAMED]: 'other' } } })
    await world.advance(200)
    assert.deepEqual((await theBinding(hub, WEB)).metadata.resourceVersion, before.metadata.resourceVersion)
    await world.settle()
    assert.deepEqual(await placesOfWeb(hub), ['member1'])
    await world.stop()
  })

  it('is not let through by a policy that has changed, if its claim was withdrawn before that, although the event is late', async () => {
    const { world, hub } = await aHub()
    await hub.create(
      aPolicy('default/web', { resourceSelectors: selecting('web'), placement: { clusterAffinity: { clusterNames: ['none'] } } }),
    )
    await hub.create(claim({ allow: 'member1' }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    assert.deepEqual(await placesOfWeb(hub), [])
    hub.interference = { onDelivery: ({ path, name }) => (path.endsWith('/configmaps') && name === 'claim-of-web' ? 'hide' : undefined) }
    await hub.patch(CONFIG_MAPS, 'default/claim-of-web', { data: { allow: null, hold: 'no data' } })
    await hub.patch(PROPAGATION_POLICIES, 'default/web', { spec: { placement: { clusterAffinity: null } } })
    await world.advance(200)
    assert.deepEqual(await placesOfWeb(hub), [])
    await world.settle()
    assert.deepEqual(await placesOfWeb(hub), [])
    assert.equal((await theBinding(hub, WEB)).metadata.annotations?.[HELD_BECAUSE], 'no data')
    await world.stop()
  })

  it('is held when users change it, if its claim was there before, although the event of the claim is late', async () => {
    const { world, hub } = await aHub()
    await hub.create(policy())
    await hub.create(aDeployment('default/web'))
    await world.settle()
    const before = await theBinding(hub, WEB)
    assert.deepEqual(placesOf(before), ['member1', 'member2'])
    hub.interference = { onDelivery: ({ path, name }) => (path.endsWith('/configmaps') && name === 'other' ? 'hide' : undefined) }
    await hub.create({ ...claim({ hold: 'no data' }), metadata: { namespace: 'default', name: 'other' } })
    await hub.patch(DEPLOYMENTS, 'default/web', { metadata: { annotations: { [NAMED]: 'other' }, labels: { changed: 'now' } } })
    await world.advance(200)
    assert.deepEqual((await theBinding(hub, WEB)).metadata.resourceVersion, before.metadata.resourceVersion)
    await world.settle()
    assert.equal((await theBinding(hub, WEB)).metadata.annotations?.[HELD_BECAUSE], 'no data')
    await world.stop()
  })

  it('costs a template without a claim one shared read and no write', async () => {
    const { world, hub } = await aHub()
    let asked = 0
    hub.interference = {
      onRequest({ request }) {
        if (request.path.startsWith('/api/v1/namespaces/default/configmaps?') && !request.path.includes('watch')) asked++
        return undefined
      },
    }
    await hub.create(aPolicy('default/all', { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], placement: {} }))
    await world.settle()
    hub.takeControllerWrites()
    await hub.inside(async () => {
      for (let i = 0; i < 40; i++) await hub.client.create(DEPLOYMENTS, aDeployment(`default/web${i}`))
    })
    await world.settle()
    const writes = hub.takeControllerWrites().filter((text) => /PATCH .*resourcebindings\/[^/]+$/.test(text))
    assert.equal(writes.length, 40, 'the scheduler’s decision for each, and nothing else after the creation')
    assert.ok(asked >= 1 && asked < 40, `${asked} reads for 40 templates`)
    await world.stop()
  })

  it('stays as it is while the narrowing does not run, and is taken up by it again', async () => {
    const runs = { isOn: true }
    const { world, hub } = await aHub({ runs })
    await hub.create(policy())
    await hub.create(claim({ hold: 'no data' }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    const before = await theBinding(hub, WEB)
    runs.isOn = false
    hub.takeControllerWrites()
    await world.restartControllers()
    await world.settle()
    assert.deepEqual(hub.takeControllerWrites(), [])
    await hub.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 5 } })
    await world.settle()
    const changed = await theBinding(hub, WEB)
    assert.deepEqual([changed.spec?.replicas, changed.spec?.suspension, placesOf(changed)], [5, { scheduling: true }, []])
    for (const mark of [HELD_BECAUSE, HELD_REASON, HELD_BY, NARROWED_BY])
      assert.equal(changed.metadata.annotations?.[mark], before.metadata.annotations?.[mark], mark)
    runs.isOn = true
    await world.restartControllers()
    await hub.patch(CONFIG_MAPS, 'default/claim-of-web', { data: { hold: null, allow: 'member2' } })
    await world.settle()
    assert.deepEqual(await placesOfWeb(hub), ['member2'])
    runs.isOn = false
    await world.restartControllers()
    await hub.patch(PROPAGATION_POLICIES, 'default/web', { spec: { placement: { clusterTolerations: [] }, priority: 3 } })
    await hub.delete(CONFIG_MAPS, 'default/claim-of-web')
    await hub.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 6 } })
    await world.settle()
    assert.deepEqual(await placesOfWeb(hub), ['member2'], 'what it narrowed stays narrow')
    runs.isOn = true
    await world.restartControllers()
    await world.settle()
    const free = await theBinding(hub, WEB)
    assert.deepEqual(
      [placesOf(free).length, free.metadata.annotations?.[NARROWED_BY], free.metadata.annotations?.[RELEASED]],
      [2, undefined, undefined],
    )
    await expectQuiet(world)
    await world.stop()
  })

  it('is repaired when somebody removes a mark, and released like any other', async () => {
    const { world, hub } = await aHub()
    await hub.create(policy())
    await hub.create(claim({ hold: 'no data' }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    for (const mark of [HELD_BECAUSE, HELD_REASON, HELD_BY]) {
      const before = (await theBinding(hub, WEB)).metadata.annotations
      await hub.patch(RESOURCE_BINDINGS, WEB, { metadata: { annotations: { [mark]: null } } })
      await world.settle()
      assert.deepEqual((await theBinding(hub, WEB)).metadata.annotations, before, mark)
    }
    await hub.patch(RESOURCE_BINDINGS, WEB, { spec: { suspension: null } })
    await world.settle()
    assert.deepEqual((await theBinding(hub, WEB)).spec?.suspension, { scheduling: true }, 'nor can it be let through by hand')
    await hub.patch(RESOURCE_BINDINGS, WEB, { metadata: { annotations: { [HELD_BECAUSE]: null } } })
    await hub.patch(CONFIG_MAPS, 'default/claim-of-web', { data: { hold: null, allow: 'member1' } })
    await world.settle()
    const binding = await theBinding(hub, WEB)
    assert.deepEqual([placesOf(binding), binding.spec?.suspension], [['member1'], undefined])
    const events = await eventsOf(hub, 'Deployment', 'web')
    assert.ok(events.includes('Held: no data') && events.some((text) => text.startsWith('Released: ')), events.join('\n'))
    await expectQuiet(world)
    await world.stop()
  })
})

describe('what a narrowing is told', () => {
  it('includes what the interpreter found, also when a template is scaled; and that it is unknown while it fails', async () => {
    const seen: (number | undefined)[] = []
    let isBroken = false
    const native = nativeInterpreter()
    const interpreter = {
      ...native,
      replicas: async (object: KubeObject) => {
        if (isBroken) throw new Error('a rule that fails')
        return native.replicas(object)
      },
    }
    const counting: Narrowing = {
      name: 'counting',
      watches: [],
      of({ needs }) {
        seen.push(needs?.replicas)
        return needs === undefined || (needs.replicas ?? 0) > 10 ? { hold: { reason: 'TooMany', message: 'too many', by: [] } } : undefined
      },
    }
    const world = await aWorld({
      controllers: hubCast((deps) => detectorControllers({ ...deps, interpreter, narrowings: [counting] })),
    }).settle()
    const { hub } = world
    await hub.create(policy())
    await hub.create(aDeployment('default/web'))
    await world.settle()
    assert.equal((await theBinding(hub, WEB)).spec?.suspension, undefined)
    await hub.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 50 } })
    await world.settle()
    assert.ok(seen.includes(2) && seen.includes(50), String(seen))
    assert.equal((await theBinding(hub, WEB)).metadata.annotations?.[HELD_REASON], 'TooMany')
    isBroken = true
    await hub.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 3 } })
    await world.advance(1000)
    assert.equal(seen.at(-1), undefined)
    assert.deepEqual((await theBinding(hub, WEB)).spec?.suspension, { scheduling: true }, 'unknown lifts nothing')
    await world.stop()
  })
})
