import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../../client/client.ts'
import { discoverResources } from '../../client/discovery.ts'
import { namedResource } from '../../client/named-resource.ts'
import { aWorld, type WorldCluster } from '../../faultsim/world/index.ts'
import { fluidKinds } from '../../kinds/fluid/index.ts'
import { CACHE_RUNTIME_CLASSES, CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import type { Binding } from '../../kinds/karmada/index.ts'
import { JOBS, PODS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { defineModule } from '../../runtime/module/module.ts'
import type { ExplainedObject } from '../../runtime/seams/explainer.ts'
import { otherModules } from '../testing.ts'
import { commandsFor } from './commands.ts'
import { dataExplainer } from './index.ts'
import { explainPod, type PodInput } from './pod.ts'
import { aClaim, aDataset, aPod, aRuntime, BOUND, FLUID, READY, textOf, unschedulable } from './testing.ts'

const dataForTests = defineModule<Record<string, never>, object>({
  name: 'data-for-tests',
  roles: ['member'],
  upstreamLeases: [],
  kinds: { member: fluidKinds },
  defaults: {},
  services: () => ({}),
  controllers: () => [],
})
const modules = [...otherModules, dataForTests]

/** Counts what is asked of the server. */
function counting(client: Client): { client: Client; requests(): number } {
  let requests = 0
  const counted =
    <A extends unknown[], R>(call: (...given: A) => R) =>
    (...given: A): R => {
      requests += 1
      return call(...given)
    }
  return { client: { ...client, get: counted(client.get) as Client['get'], raw: counted(client.raw) }, requests: () => requests }
}

describe('sluice why on datasets of a member', () => {
  async function prepare(cluster: WorldCluster): Promise<void> {
    const create = async (resource: Resource, { status, ...object }: KubeObject): Promise<void> => {
      await cluster.inside(() => cluster.client.create(resource, object))
      const { namespace, name } = object.metadata
      if (status !== undefined) await cluster.patch(resource, `${namespace}/${name}`, { status }, 'status')
    }
    const aClass = { apiVersion: FLUID, kind: 'CacheRuntimeClass', metadata: { name: 'builtin' }, fileSystemType: 'x' }
    await create(CACHE_RUNTIME_CLASSES, aClass as KubeObject)
    await create(DATASETS, aDataset({ phase: 'NotBound' }))
    await create(CACHE_RUNTIMES, aRuntime())
    await create(CACHE_RUNTIMES, { ...aRuntime(), metadata: { namespace: 'shop', name: 'lonely' } })
    // Without a status: the scheduler gives it one.
    const { status: _status, ...reader } = aPod('reader', unschedulable(''), {}, ['demo'])
    await create(PODS, reader)
  }

  async function ask(cluster: WorldCluster, kind: string, name: string, context?: string): Promise<ExplainedObject & { requests: number }> {
    const { client, requests } = counting(cluster.client)
    return cluster.inside(async () => {
      const served = await discoverResources(cluster.client)
      const resource = namedResource(served, kind)
      assert.ok(resource !== undefined && dataExplainer.objects !== undefined)
      const object = await cluster.client.get(resource, { namespace: 'shop', name })
      const explained = await dataExplainer.objects.explain(
        { resource, namespace: 'shop', name, object, served, ...(context === undefined ? {} : { context }) },
        client,
      )
      return { ...explained, requests: requests() }
    })
  }

  it('is the chain of the dataset, also from its runtime and its reader, in a handful of requests', async () => {
    const world = await aWorld({ hub: false, members: 1, nodes: 1, modules }).settle()
    const { member: cluster } = world
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    await world.settle()
    await prepare(cluster)
    await world.settle()
    const { requests, ...ofDataset } = await ask(cluster, 'dataset', 'demo')
    assert.ok(requests <= 12, `${requests} requests`)
    assert.deepEqual(
      textOf(ofDataset).filter((line) => !line.startsWith(' ')),
      [
        '… dataset: NotBound',
        '✓ runtime: CacheRuntime demo is served',
        '✓ class: CacheRuntimeClass builtin',
        '… sources: 1 source, not mounted yet',
        '… volume: comes when it is bound',
        '… readers: 1 pod uses its claim; reader waits for a node: 0/1 nodes are available: persistentvolumeclaim "demo" not found. not found',
      ],
    )
    assert.deepEqual((await ask(cluster, 'cacheruntime', 'demo')).links, ofDataset.links)
    const lonely = await ask(cluster, 'cacheruntimes', 'lonely')
    assert.match(lonely.trouble?.fix ?? '', /^create a Dataset of that name in namespace shop/)
    const reader = await ask(cluster, 'pod', 'reader')
    assert.equal(reader.trouble?.fix, 'see what the Dataset waits for: sluice why dataset/demo -n shop')
    const elsewhere = await ask(cluster, 'pod', 'reader', 'member1')
    assert.equal(elsewhere.trouble?.fix, 'see what the Dataset waits for: sluice why dataset/demo -n shop --context member1')
    await world.stop()
  })

  it('is what this module explains on members, and nothing on a hub, where the fleet does', () => {
    const explains = dataExplainer.objects?.explains as (resource: Resource, isHub: boolean) => boolean
    const kinds: [Resource, boolean][] = [
      [DATASETS, true],
      [CACHE_RUNTIMES, true],
      [PODS, true],
      [CACHE_RUNTIME_CLASSES, false],
      [JOBS, false],
    ]
    for (const [resource, expected] of kinds) {
      assert.equal(explains(resource, false), expected, resource.kind)
      assert.equal(explains(resource, true), false)
    }
  })
})

describe('sluice why on datasets of the hub', () => {
  it('says how the dataset is in each cluster, and where to ask', async () => {
    const aggregatedStatus = [
      { clusterName: 'member1', status: { phase: 'Bound', cacheStates: { cached: '1.00GiB' }, datasetRef: ['web/a', 'lab/b'] } },
      { clusterName: 'member2', status: {} },
    ]
    const subject = {
      resource: DATASETS,
      namespace: 'shop',
      name: 'demo',
      template: undefined,
      binding: { status: { aggregatedStatus } } as unknown as Binding,
    }
    const { links } = await dataExplainer.explain(subject, {} as Client)
    assert.deepEqual(textOf({ links, says: '' }), [
      '✓ data: Bound in member1: 1.00GiB cached, 2 references',
      '  sluice why dataset/demo -n shop --context member1',
      '… data: in member2',
      '  sluice why dataset/demo -n shop --context member2',
    ])
    assert.deepEqual(await dataExplainer.explain({ ...subject, resource: JOBS }, {} as Client), { links: [] })
  })
})

describe('why a pod waits', () => {
  const creating = {
    phase: 'Pending',
    containerStatuses: [{ name: 'c', state: { waiting: { reason: 'ContainerCreating', message: 'volume demo: 1.2 of 2.0 GiB' } } }],
  }
  const SIMULATED = { ...BOUND, conditions: [{ type: 'Simulated', status: 'True', reason: 'Simulated', message: 'no image runs here' }] }
  const volumes = [
    { name: 'demo', claim: aClaim(), dataset: aDataset({ ...BOUND, runtimes: [{ name: 'demo', namespace: 'shop', type: 'cache' }] }) },
  ]
  const saying = (says: string) => ({
    phase: 'Pending',
    containerStatuses: [{ name: 'c', state: { waiting: { reason: 'ContainerCreating', message: `waiting for volume "demo": ${says}` } } }],
  })
  const filling = (name: string, says: string, fix: string): [string, Omit<PodInput, 'commands'>, string, string] => [
    name,
    { pod: aPod('p', saying(says), {}, ['demo']), volumes },
    `waits on n1: ContainerCreating: waiting for volume "demo": ${says}`,
    fix,
  ]
  const cases: [string, Omit<PodInput, 'commands'>, string, string | undefined][] = [
    filling(
      'whose files are on their way',
      '120.0 of 200.0 MiB, 2 of 4 files',
      'wait: its files are on their way to node n1, and it starts when they are complete',
    ),
    filling(
      'whose files find no room within the quota',
      'needs 200.00MiB, but option nodeQuota leaves 64.00MiB: raise it',
      'raise nodeQuota in client.options of the runtime (kubectl edit cacheruntime/demo -n shop --context m1), or delete pods of node n1 that hold other files of the dataset',
    ),
    filling(
      'whose files find no room on the disk',
      "needs 200.00MiB, but the node's disk has 1.00MiB left: make room there",
      'make room on the disk of node n1: it goes on by itself',
    ),
    filling(
      'whose files do not come',
      '120.0 of 200.0 MiB, 2 of 4 files; unchanged for a while: see pod demo-client-… in namespace shop',
      'see why no more files come to node n1: sluice why dataset/demo -n shop --context m1',
    ),
    filling(
      'whose node has no client yet',
      'waiting for the client of the node (pod demo-client-… in namespace shop)',
      'wait a moment; if no client comes to node n1, see why: sluice why dataset/demo -n shop --context m1',
    ),
    filling(
      'whose files are not listed yet',
      "the dataset's files are still being listed",
      'wait until the sources are listed: sluice why dataset/demo -n shop --context m1',
    ),
    filling(
      'whose files cannot be read',
      'no worker serves',
      'see what the Dataset waits for: sluice why dataset/demo -n shop --context m1',
    ),
    ['that is well', { pod: aPod('p', READY), volumes: [] }, 'Running on n1; it uses no claim', undefined],
    [
      'that waits for its volume',
      { pod: aPod('p', creating, {}, ['demo']), volumes: [{ name: 'demo', claim: aClaim(), dataset: aDataset(BOUND) }] },
      'waits on n1: ContainerCreating: volume demo: 1.2 of 2.0 GiB',
      'see its events: kubectl describe pod/p -n shop --context m1',
    ],
    [
      'whose dataset fails',
      { pod: aPod('p', creating, {}, ['demo']), volumes: [{ name: 'demo', claim: aClaim(), dataset: aDataset({ phase: 'Failed' }) }] },
      'waits on n1: ContainerCreating: volume demo: 1.2 of 2.0 GiB; claim demo: Dataset demo is Failed',
      'see why it fails: sluice why dataset/demo -n shop --context m1',
    ],
    [
      'whose dataset is simulated',
      { pod: aPod('p', creating, {}, ['demo']), volumes: [{ name: 'demo', claim: aClaim(), dataset: aDataset(SIMULATED) }] },
      'waits on n1: ContainerCreating: volume demo: 1.2 of 2.0 GiB; claim demo: Dataset demo is Bound, and simulated, so it has no files',
      'give Dataset demo a runtime that runs here, for example a CacheRuntime with runtimeClassName: builtin; or let the pod be simulated, too: annotation sluice.dev/run: simulated',
    ],
    [
      'whose claim nobody makes',
      { pod: aPod('p', unschedulable('not found'), {}, ['demo']), volumes: [{ name: 'demo', claim: undefined, dataset: undefined }] },
      'waits for a node: not found; there is neither a claim demo nor a Dataset',
      'create the Dataset demo in namespace shop, or the claim',
    ],
    [
      'that demands a node with a cache',
      { pod: aPod('p', unschedulable("0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.")), volumes: [] },
      "waits for a node: 0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
      'see which nodes it demands: kubectl get pod/p -o yaml -n shop --context m1; nodes with a cache are labelled fluid.io/s-…',
    ],
  ]
  for (const [name, input, says, fix] of cases)
    it(name, () => {
      const explained = explainPod({ ...input, commands: commandsFor('shop', 'm1') })
      assert.deepEqual([explained.trouble?.says ?? explained.says, explained.trouble?.fix], [says, fix])
    })

  const injected = {
    labels: {
      'done.sidecar.fluid.io/inject': 'true',
      'dataset-name.sidecar.fluid.io/fluid-fuse-0': 'demo',
      'dataset-namespace.sidecar.fluid.io/fluid-fuse-0': 'shop',
    },
  }
  const refused = 'the files of the dataset are not here: namespace shop may not read / of this dataset'
  const sidecars: [string, object, string, string | undefined][] = [
    ['that has not started', {}, '… sidecar: Dataset demo comes by the sidecar fluid-fuse-0, which has not started', undefined],
    [
      'that fills',
      { state: { running: {} } },
      '… sidecar: Dataset demo comes by the sidecar fluid-fuse-0, which is not ready yet',
      undefined,
    ],
    [
      'that is complete',
      { state: { running: {} }, started: true },
      '✓ sidecar: Dataset demo comes by the sidecar fluid-fuse-0, which is ready',
      undefined,
    ],
    [
      'that has ended',
      { state: { terminated: { exitCode: 0 } } },
      '✓ sidecar: Dataset demo comes by the sidecar fluid-fuse-0, which is done',
      undefined,
    ],
    [
      'that was refused',
      { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: { exitCode: 1, message: refused } } },
      `… sidecar: Dataset demo comes by the sidecar fluid-fuse-0, which failed: ${refused}`,
      'see its log: kubectl logs p -c fluid-fuse-0 -n shop',
    ],
  ]
  for (const [name, status, says, fix] of sidecars)
    it(`is said of a sidecar ${name}`, () => {
      const pod = aPod('p', { phase: 'Pending', initContainerStatuses: [{ name: 'fluid-fuse-0', ...status }] }, injected)
      const explained = explainPod({
        pod,
        volumes: [{ name: 'demo', claim: undefined, dataset: aDataset(BOUND), sidecar: 'fluid-fuse-0' }],
        commands: commandsFor('shop', undefined),
      })
      assert.ok(textOf(explained).includes(says), textOf(explained).join('\n'))
      if (fix !== undefined) assert.equal(explained.trouble?.fix, fix)
    })
})
