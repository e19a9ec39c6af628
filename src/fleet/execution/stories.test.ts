import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CLUSTERS, WORKS } from '../../kinds/karmada/resources.ts'
import type { Work } from '../../kinds/karmada/work.ts'
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS, EVENTS, NAMESPACES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { withField } from '../../kube/fields.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { nativeInterpreter } from '../interpreter/testing.ts'
import { readyStatus } from '../testing.ts'
import { APPLIED, aConfigMap, aDeployment, aWork, conditionsOf, DISPATCHED, ES, executionWorld, theWork } from './testing.ts'

const notReady = { conditions: [{ ...readyStatus.conditions[0], status: 'False', reason: 'ClusterNotReachable' }] }

describe('the end of a Work', () => {
  it('waits until nothing of it runs any longer where another cluster waits for that', async () => {
    const world = await executionWorld({ nodes: 1 })
    const { hub, member } = world
    const task = { fromCluster: 'member1', purgeMode: 'Directly', reason: 'R', producer: 'P' }
    const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' }
    const binding = {
      apiVersion: 'work.karmada.io/v1alpha2',
      kind: 'ResourceBinding',
      metadata: { namespace: 'default', name: 'web-deployment' },
    }
    await hub.create({ ...binding, spec: { resource, clusters: [], gracefulEvictionTasks: [task] } })
    // No node takes it: it ends when the member gives it up, which is after the Work is deleted.
    const web = withField(aDeployment('web', 1), ['spec', 'template', 'spec', 'nodeSelector'], { on: 'no-node' })
    const work = aWork('web', [web])
    const annotations = { 'resourcebinding.karmada.io/namespace': 'default', 'resourcebinding.karmada.io/name': 'web-deployment' }
    await hub.create({ ...work, metadata: { ...work.metadata, annotations } })
    await world.advance(10_000)
    const [pod] = await member.list(PODS, { namespace: 'default' })
    await member.patch(PODS, `default/${pod?.metadata.name}`, { metadata: { finalizers: ['example.io/slow-to-end'] } })
    await hub.delete(WORKS, `${ES}/web`)
    await world.settle()
    const events = (await hub.list(EVENTS, { namespace: ES })).filter(({ reason }) => reason === 'CleanupWorkFailed')
    assert.deepEqual(
      events.map(({ message }) => message),
      [
        'Failed to remove the objects of work(karmada-es-member1/web): purge mode is Directly, and 1 of its pods have not ended in cluster(member1)',
      ],
    )
    // Meanwhile the member has given the pod up.
    const [ended] = (await member.list(PODS, { namespace: 'default' })) as Pod[]
    assert.equal(ended?.status?.phase, 'Failed')
    assert.equal(await hub.get(WORKS, `${ES}/web`), undefined)
    await world.stop()
  })

  it('leaves what is to be preserved, without a trace of ours', async () => {
    const world = await executionWorld({ nodes: 1 })
    const { hub, member } = world
    await hub.create(aWork('web', [aDeployment('web', 1)], { preserveResourcesOnDeletion: true }))
    await world.settle()
    const before = await member.get(DEPLOYMENTS, 'default/web')
    await hub.delete(WORKS, `${ES}/web`)
    await world.settle()
    const after = await member.get(DEPLOYMENTS, 'default/web')
    assert.equal(await hub.get(WORKS, `${ES}/web`), undefined)
    assert.equal(after?.metadata.uid, before?.metadata.uid)
    assert.deepEqual(after?.spec, before?.spec)
    assert.deepEqual(after?.metadata.labels, undefined)
    assert.deepEqual(after?.metadata.annotations, { 'deployment.kubernetes.io/revision': '1' })
    await world.stop()
  })

  it('does not touch what only bears the same name', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    await member.create(aConfigMap('web', { theirs: 'x' }))
    await hub.create(aWork('web', [aConfigMap('web')]))
    await world.settle()
    await hub.delete(WORKS, `${ES}/web`)
    await world.settle()
    assert.deepEqual((await member.get(CONFIG_MAPS, 'default/web'))?.data, { theirs: 'x' })
    assert.equal(await hub.get(WORKS, `${ES}/web`), undefined)
    await world.stop()
  })

  it('waits for a cluster that is not ready, and does not wait for one that is being removed', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    await hub.create(aWork('web', [aConfigMap('web')]))
    await world.settle()
    await hub.patch(CLUSTERS, 'member1', { status: notReady }, 'status')
    member.link.cut()
    await hub.delete(WORKS, `${ES}/web`)
    await world.settle()
    assert.notEqual(await hub.get(WORKS, `${ES}/web`), undefined)
    const [events] = (await hub.list(EVENTS, { namespace: ES })).filter(({ reason }) => reason === 'CleanupWorkFailed')
    assert.match(String(events?.message), /cluster\(member1\) not ready$/)
    await hub.patch(CLUSTERS, 'member1', { metadata: { finalizers: ['karmada.io/cluster-controller'] } })
    await hub.delete(CLUSTERS, 'member1')
    await world.settle()
    assert.equal(await hub.get(WORKS, `${ES}/web`), undefined)
    await world.stop()
  })
})

describe('a cluster that is away', () => {
  it('is waited for, with the reason on Works that never arrived; drift is repaired when it is back', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    await hub.create(aWork('old', [aConfigMap('old')]))
    await world.settle()
    await hub.patch(CLUSTERS, 'member1', { status: notReady }, 'status')
    member.link.cut()
    await hub.create(aWork('new', [aConfigMap('new')]))
    await member.patch(CONFIG_MAPS, 'default/old', { data: { a: 'drifted' } })
    await world.settle()
    assert.deepEqual(conditionsOf(await theWork(hub, 'old')), [APPLIED, DISPATCHED], 'it does not flap')
    assert.deepEqual(conditionsOf(await theWork(hub, 'new')), [
      'Applied False AppliedFailed: Failed to apply all manifests (0/1): cluster(member1) not ready',
      DISPATCHED,
    ])
    member.link.mend()
    await hub.patch(CLUSTERS, 'member1', { status: readyStatus }, 'status')
    await world.settle({ quietMs: 40_000 })
    assert.deepEqual((await member.get(CONFIG_MAPS, 'default/old'))?.data, { a: '1' })
    assert.deepEqual(conditionsOf(await theWork(hub, 'new')), [APPLIED, DISPATCHED])
    await world.stop()
  })

  it('that does not answer before anybody noticed leaves what was applied as it is', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    await hub.create(aWork('web', [aConfigMap('web')]))
    await world.settle()
    member.link.cut()
    await hub.patch(WORKS, `${ES}/web`, { spec: { workload: { manifests: [aConfigMap('web', { b: '2' })] } } })
    await world.advance(5000)
    assert.deepEqual(conditionsOf(await theWork(hub, 'web')), [APPLIED, DISPATCHED])
    member.link.mend()
    await world.settle({ quietMs: 40_000 })
    assert.deepEqual((await member.get(CONFIG_MAPS, 'default/web'))?.data, { b: '2' })
    await world.stop()
  })

  it('is nothing to Works of other clusters', async () => {
    const world = await executionWorld({ members: 2 })
    const { hub } = world
    world.members[0]?.link.cut()
    await hub.create(aWork('web', [aConfigMap('web')]))
    await hub.create(aWork('web', [aConfigMap('web')], { cluster: 'member2' }))
    await world.advance(3000)
    assert.deepEqual(conditionsOf(await theWork(hub, 'web', 'member2')), [APPLIED, DISPATCHED])
    await world.stop()
  })
})

describe('what a member refuses', () => {
  it('is said, and the other manifests of the Work are applied all the same', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    const bad: KubeObject = { ...aConfigMap('bad'), data: { 'not a key!': 'x' } }
    await hub.create(aWork('web', [bad, aConfigMap('good')]))
    await world.settle()
    assert.deepEqual((await member.get(CONFIG_MAPS, 'default/good'))?.data, { a: '1' })
    const work = await theWork(hub, 'web')
    assert.match(
      conditionsOf(work)[0] ?? '',
      /^Applied False AppliedFailed: Failed to apply all manifests \(1\/2\): ConfigMap "bad" is invalid/,
    )
    assert.deepEqual(
      work.status?.manifestStatuses?.map(({ identifier }) => identifier.ordinal),
      [1],
    )
    const failures = (await hub.list(EVENTS)).filter(({ reason }) => reason === 'SyncFailed').map(({ message }) => String(message))
    assert.equal(failures.length, 2)
    await hub.patch(WORKS, `${ES}/web`, { spec: { workload: { manifests: [aConfigMap('bad'), aConfigMap('good')] } } })
    await world.settle()
    assert.deepEqual(conditionsOf(await theWork(hub, 'web')), [APPLIED, DISPATCHED])
    await world.stop()
  })

  it('for want of a namespace arrives as soon as the namespace does', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    await hub.create(aWork('web', [aConfigMap('web', { a: '1' }, 'shop')]))
    await world.advance(120_000)
    assert.match(conditionsOf(await theWork(hub, 'web'))[0] ?? '', /namespaces "shop" not found/)
    await hub.create(aWork('shop', [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }]))
    await world.advance(100)
    assert.notEqual(await member.get(NAMESPACES, 'shop'), undefined)
    assert.deepEqual((await member.get(CONFIG_MAPS, 'shop/web'))?.data, { a: '1' })
    await world.settle()
    assert.deepEqual(conditionsOf(await theWork(hub, 'web')), [APPLIED, DISPATCHED])
    await world.stop()
  })

  it('because it does not know the kind is applied when the cluster says that it does', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    const widget: KubeObject = {
      apiVersion: 'example.io/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'default' },
      spec: { size: 1 },
    }
    await hub.create(aWork('widget', [widget]))
    await world.settle()
    assert.match(
      conditionsOf(await theWork(hub, 'widget'))[0] ?? '',
      /: cluster\(member1\) does not serve kind "Widget" of version "example.io\/v1"$/,
    )
    await member.create(widgetDefinition)
    await world.advance(2000)
    const apiEnablements = [
      { groupVersion: 'example.io/v1', resources: [{ name: 'widgets', kind: 'Widget' }] },
      ...readyStatus.apiEnablements,
    ]
    await hub.patch(CLUSTERS, 'member1', { status: { apiEnablements } }, 'status')
    await world.advance(500)
    await world.settle()
    assert.deepEqual(conditionsOf(await theWork(hub, 'widget')), [APPLIED, DISPATCHED])
    await world.stop()
  })
})

const widgetDefinition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.io' },
  spec: {
    group: 'example.io',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' }, colour: { type: 'string', default: 'red' } } } },
          },
        },
      },
    ],
  },
}

describe('a Work', () => {
  it('that is suspended stays as it is, and goes on when it is resumed', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    await hub.create(aWork('web', [aConfigMap('web')]))
    await world.settle()
    await hub.patch(WORKS, `${ES}/web`, { spec: { suspendDispatching: true, workload: { manifests: [aConfigMap('web', { b: '2' })] } } })
    await world.settle()
    const suspended = 'Dispatching False SuspendDispatching: Work dispatching is in a suspended state.'
    assert.deepEqual(conditionsOf(await theWork(hub, 'web')), [APPLIED, suspended])
    assert.deepEqual((await member.get(CONFIG_MAPS, 'default/web'))?.data, { a: '1' })
    await hub.patch(WORKS, `${ES}/web`, { spec: { suspendDispatching: false } })
    await world.settle()
    assert.deepEqual(conditionsOf(await theWork(hub, 'web')), [APPLIED, DISPATCHED])
    assert.deepEqual((await member.get(CONFIG_MAPS, 'default/web'))?.data, { b: '2' })
    const events = (await hub.list(EVENTS, { namespace: ES })).filter(({ reason }) => reason === 'WorkDispatching')
    assert.equal(events.length, 2)
    await world.stop()
  })

  it('that is suspended goes on telling how its object is', async () => {
    const world = await executionWorld({ nodes: 1, interpreter: nativeInterpreter() })
    const { hub, member } = world
    await hub.create(aWork('web', [aDeployment('web', 2)]))
    await world.settle()
    const events = async (): Promise<unknown> => {
      const [{ status, health } = {}] = (await theWork(hub, 'web')).status?.manifestStatuses ?? []
      return [(status as { readyReplicas?: number } | undefined)?.readyReplicas, health]
    }
    assert.deepEqual(await events(), [2, 'Healthy'])
    await hub.patch(WORKS, `${ES}/web`, { spec: { suspendDispatching: true, workload: { manifests: [aDeployment('web', 5)] } } })
    await world.settle()
    assert.deepEqual(await events(), [2, 'Healthy'])
    await member.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 3 } })
    await world.advance(2000)
    await world.settle()
    assert.deepEqual(await events(), [3, 'Healthy'], 'what others do there is told, and nothing is sent')
    hub.takeWrites()
    await world.restartControllers()
    await world.settle()
    assert.deepEqual(hub.takeControllerWrites(), [])
    await world.stop()
  })

  it('whose kind the member no longer serves says so in one line', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    const widget = (name: string): KubeObject => ({
      apiVersion: 'example.io/v1',
      kind: 'Widget',
      metadata: { name, namespace: 'default' },
      spec: {},
    })
    await member.create(widgetDefinition)
    await world.settle()
    await hub.create(aWork('first', [widget('first')]))
    await world.settle()
    assert.deepEqual(conditionsOf(await theWork(hub, 'first')), [APPLIED, DISPATCHED])
    await member.delete(CUSTOM_RESOURCE_DEFINITIONS, 'widgets.example.io')
    await world.advance(2000)
    await hub.create(aWork('second', [widget('second')]))
    await world.advance(2000)
    const why = 'Failed to apply all manifests (0/1): cluster(member1) does not serve kind "Widget" of version "example.io/v1"'
    assert.deepEqual(conditionsOf(await theWork(hub, 'second')), [`Applied False AppliedFailed: ${why}`, DISPATCHED])
    await world.stop()
  })

  it('that somebody made without finalizer and marks gets both, and takes its object with it', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    const bare = aWork('web', [aConfigMap('web')])
    await hub.create({ ...bare, metadata: { ...bare.metadata, finalizers: undefined } })
    await world.settle()
    assert.equal((await member.get(CONFIG_MAPS, 'default/web'))?.metadata.labels?.['karmada.io/managed'], 'true')
    await hub.delete(WORKS, `${ES}/web`)
    await world.settle()
    assert.equal(await member.get(CONFIG_MAPS, 'default/web'), undefined)
    await world.stop()
  })

  it('whose object is on its way out in the member waits until it is gone, and then makes it again', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    await hub.create(aWork('web', [aConfigMap('web')]))
    await world.settle()
    await member.patch(CONFIG_MAPS, 'default/web', { metadata: { finalizers: ['example.io/slow'] } })
    const { metadata } = (await member.get(CONFIG_MAPS, 'default/web')) as KubeObject
    await member.delete(CONFIG_MAPS, 'default/web')
    await world.advance(3000)
    assert.equal((await member.get(CONFIG_MAPS, 'default/web'))?.metadata.uid, metadata.uid)
    await member.patch(CONFIG_MAPS, 'default/web', { metadata: { finalizers: null } })
    await world.settle()
    const again = await member.get(CONFIG_MAPS, 'default/web')
    assert.notEqual(again?.metadata.uid, metadata.uid)
    assert.deepEqual(again?.data, { a: '1' })
    await world.stop()
  })

  it('says Unknown when the rule for health fails, and keeps the status when the rule for that does', async () => {
    const native = nativeInterpreter()
    let isBroken = false
    const broken = async (): Promise<never> => {
      throw new Error('attempt to index a nil value')
    }
    const interpreter = {
      ...native,
      reflect: (object: KubeObject) => (isBroken ? broken() : native.reflect(object)),
      health: (object: KubeObject) => (isBroken ? broken() : native.health(object)),
    }
    const world = await executionWorld({ nodes: 1, interpreter })
    const { hub, member } = world
    await hub.create(aWork('web', [aDeployment('web', 1)]))
    await world.settle()
    const [before] = (await theWork(hub, 'web')).status?.manifestStatuses ?? []
    assert.equal(before?.health, 'Healthy')
    isBroken = true
    await member.patch(DEPLOYMENTS, 'default/web', { metadata: { labels: { some: 'change' } } })
    await world.settle()
    const [after] = (await theWork(hub, 'web')).status?.manifestStatuses ?? []
    assert.equal(after?.health, 'Unknown')
    assert.deepEqual(after?.status, before?.status)
    const events = (await hub.list(EVENTS, { namespace: ES })).map(({ reason }) => String(reason)).sort()
    assert.deepEqual(events, ['InterpretHealthFailed', 'ReflectStatusFailed', 'SyncSucceed'])
    await world.stop()
  })

  it('whose object the member completes by itself is at rest, also after a restart, and drift beyond that is repaired', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    await member.create(widgetDefinition)
    await world.settle()
    const widget: KubeObject = {
      apiVersion: 'example.io/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'default' },
      spec: { size: 1 },
    }
    const WIDGETS = { group: 'example.io', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true }
    await hub.create(aWork('widget', [widget]))
    await world.settle()
    assert.deepEqual((await member.get(WIDGETS, 'default/w'))?.spec, { size: 1, colour: 'red' })
    assert.deepEqual(conditionsOf(await theWork(hub, 'widget')), [APPLIED, DISPATCHED])
    hub.takeWrites()
    await world.restartControllers()
    await world.settle()
    assert.deepEqual(hub.takeControllerWrites(), [])
    await member.patch(WIDGETS, 'default/w', { spec: { colour: 'blue' } })
    await world.settle()
    assert.deepEqual((await member.get(WIDGETS, 'default/w'))?.spec, { size: 1, colour: 'red' })
    await world.stop()
  })

  it('that drops a manifest takes the object away', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    await hub.create(aWork('web', [aConfigMap('one'), aConfigMap('two')]))
    await world.settle()
    await hub.patch(WORKS, `${ES}/web`, { spec: { workload: { manifests: [aConfigMap('two')] } } })
    await world.settle()
    assert.equal(await member.get(CONFIG_MAPS, 'default/one'), undefined)
    assert.deepEqual(
      (await theWork(hub, 'web')).status?.manifestStatuses?.map(({ identifier: { ordinal, name } }) => [ordinal, name]),
      [[0, 'two']],
    )
    await world.stop()
  })

  it('of any usual kind is applied as it is, and at rest with what the member adds, also after a restart', async () => {
    const world = await executionWorld({ nodes: 1 })
    const { hub } = world
    const meta = (name: string) => ({ name, namespace: 'default' })
    const pod = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } }
    const selector = { matchLabels: { app: 'x' } }
    const objects: KubeObject[] = [
      aDeployment('deployment', 1),
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: meta('set'),
        spec: { replicas: 1, serviceName: 's', selector, template: pod },
      },
      { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: meta('daemons'), spec: { selector, template: pod } },
      { apiVersion: 'v1', kind: 'Service', metadata: meta('service'), spec: { selector: { app: 'x' }, ports: [{ port: 80 }] } },
      { apiVersion: 'v1', kind: 'Secret', metadata: meta('secret'), stringData: { a: 'b' } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: meta('account') },
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: meta('job'),
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i:1' }] } } },
      },
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: meta('claim'),
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'role' }, rules: [] },
      { apiVersion: 'v1', kind: 'Pod', metadata: { ...meta('pod'), labels: { app: 'y' } }, spec: pod.spec },
    ]
    for (const object of objects) await hub.create(aWork(object.kind.toLowerCase(), [object]))
    await world.settle()
    const states = async () => (await hub.list(WORKS)).map((work) => [work.metadata.name, conditionsOf(work as Work)[0]])
    assert.deepEqual(
      (await states()).filter(([, applied]) => applied !== APPLIED),
      [],
    )
    await hub.patch(CLUSTERS, 'member1', { status: notReady }, 'status')
    await hub.patch(CLUSTERS, 'member1', { status: readyStatus }, 'status')
    await world.settle()
    hub.takeWrites()
    await world.restartControllers()
    await world.settle()
    assert.deepEqual(hub.takeControllerWrites(), [])
    await world.stop()
  })
})
