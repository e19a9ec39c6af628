import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../../../client/client.ts'
import { expectGone, expectQuiet, expectThere } from '../../../faultsim/expect/index.ts'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { mirrorName } from '../../../kinds/fluid/reference.ts'
import { CACHE_RUNTIME_CLASSES, CACHE_RUNTIMES, DATASETS } from '../../../kinds/fluid/resources.ts'
import { ReferenceGrant } from '../../../kinds/gateway/reference-grant.ts'
import { CONFIG_MAPS, DAEMON_SETS, NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { ConfigMap, DaemonSet, Node } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Resource } from '../../../kube/resource.ts'
import type { PassReader } from '../../../runtime/controller.ts'
import { OWN_VERSION } from '../../../runtime/own-image.ts'
import { storedReader } from '../../../runtime/testing.ts'
import { builtinClass } from '../../engines/builtin/class.ts'
import {
  aDataset,
  aGrant,
  anOriginal,
  aReference,
  aRuntime,
  createNamespaces,
  createOriginal,
  member,
  messageIn,
  modulesWith,
  ORIGINAL,
  phaseIn,
  REFERENCE,
  SHARING,
} from '../testing.ts'
import { plan, referenceMirrorController } from './controller.ts'
import { needsOf, renamed } from './mirror.ts'
import type { Observed } from './observe.ts'

const IMAGES = { namespace: 'data', name: 'images' }
const TEMPLATE = `web/${mirrorName('images-client', IMAGES)}`
const CONFIG = `web/${mirrorName('fluid-runtime-config-images', IMAGES)}`

const templateIn = async (cluster: WorldCluster, where = TEMPLATE): Promise<DaemonSet> => expectThere(cluster, DAEMON_SETS, where)
const configIn = async (cluster: WorldCluster, where = CONFIG): Promise<string> =>
  ((await expectThere(cluster, CONFIG_MAPS, where)) as ConfigMap).data?.['runtime.json'] ?? ''
const ownersOf = ({ metadata }: KubeObject): string[] => (metadata.ownerReferences ?? []).map(({ name }) => name).sort()
const configMapsOf = (set: DaemonSet): string[] => needsOf(set.spec?.template?.spec).configMaps

/** A class with a ConfigMap of its own, and whatever else its clients mount. */
const aClass = (volumes: object[] = []): KubeObject =>
  ({
    apiVersion: 'data.fluid.io/v1alpha1',
    kind: 'CacheRuntimeClass',
    metadata: { name: 'sample' },
    fileSystemType: 'sample',
    extraResources: { configMaps: [{ name: 'tuning', data: { 'tuning.conf': 'fast' } }] },
    topology: {
      worker: { template: { spec: { containers: [{ name: 'worker', image: 'cache:1' }] } } },
      client: {
        template: { spec: { containers: [{ name: 'client', image: 'cache:1' }], volumes } },
        dependencies: { extraResources: { configMaps: [{ name: 'tuning', mountPath: '/etc/tuning' }] } },
      },
    },
  }) as unknown as KubeObject

const createSample = async (cluster: WorldCluster, volumes: object[] = []): Promise<void> => {
  await cluster.inside(() => cluster.client.create(CACHE_RUNTIME_CLASSES, aClass(volumes)))
  await cluster.create(aDataset(ORIGINAL, { mounts: [{ mountPoint: 's3://lake', name: 'lake' }] }))
  await cluster.create(aRuntime(ORIGINAL, 'CacheRuntime', { runtimeClassName: 'sample' }))
}

describe('the copies for a reference', () => {
  story(
    'are the configuration without options, and a template that never runs',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference())
      await world.settle()
      const { mounts, targetPath } = JSON.parse(await configIn(cluster)) as { mounts: unknown; targetPath: string }
      assert.deepEqual(mounts, [{ mountPoint: 'https://example.com/images', name: 'all', path: '/' }])
      assert.equal(targetPath, '/runtime-mnt/cache/data/images/cache-fuse')
      const set = await templateIn(cluster)
      assert.deepEqual(configMapsOf(set), [mirrorName('fluid-runtime-config-images', IMAGES)])
      assert.equal(set.spec?.template?.spec?.nodeSelector?.['fluid.io/fuse-balloon'], 'true')
      assert.deepEqual(set.spec?.template?.metadata?.annotations, { 'sluice.dev/sidecar-files': 'true' })
      const [node] = (await cluster.list(NODES)) as Node[]
      await cluster.patch(NODES, node?.metadata.name ?? '', { metadata: { labels: { 'fluid.io/f-data-images': 'true' } } })
      await world.settle()
      assert.deepEqual(
        (await cluster.list(PODS)).filter(({ metadata }) => metadata.namespace === 'web'),
        [],
      )
    },
    member(),
  )

  story(
    'follow the original, are repaired, and leave alone what a user has under their names',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createSample(cluster)
      const theirs = `web/${mirrorName('images-tuning', IMAGES)}`
      await cluster.create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'web', name: theirs.slice(4) },
        data: { a: 'b' },
      } as KubeObject)
      await cluster.create(aReference())
      await world.settle()
      assert.deepEqual(configMapsOf(await templateIn(cluster)), [mirrorName('fluid-runtime-config-images', IMAGES), theirs.slice(4)])
      assert.deepEqual(((await expectThere(cluster, CONFIG_MAPS, theirs)) as ConfigMap).data, { a: 'b' })
      assert.match(
        (await messageIn(cluster, 'Mirrored')) ?? '',
        /^ConfigMap images-tuning-\w+ exists in namespace web and is no copy: delete it/,
      )
      await cluster.delete(CONFIG_MAPS, theirs)
      await world.settle()
      assert.deepEqual(((await expectThere(cluster, CONFIG_MAPS, theirs)) as ConfigMap).data, { 'tuning.conf': 'fast' })
      assert.equal(await messageIn(cluster, 'Mirrored'), undefined)
      await cluster.patch(DATASETS, ORIGINAL, { spec: { mounts: [{ mountPoint: 's3://sea', name: 'sea', options: { secret: 'x' } }] } })
      await cluster.patch(CONFIG_MAPS, CONFIG, { data: { 'runtime.json': 'broken' } })
      await world.settle()
      assert.match(await configIn(cluster), /"mounts":\[\{"mountPoint":"s3:\/\/sea","name":"sea","path":"\/sea"\}\]/)
      await cluster.delete(DAEMON_SETS, TEMPLATE)
      await world.settle()
      await templateIn(cluster)
    },
    member(),
  )

  story(
    'are shared by the references of a namespace, and go with the last',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference('web/a'))
      await cluster.create(aReference('web/b', `dataset://${ORIGINAL}/part`))
      await world.settle()
      const { metadata } = await templateIn(cluster)
      assert.deepEqual(ownersOf(await templateIn(cluster)), ['a', 'b'])
      await cluster.delete(DATASETS, 'web/a')
      await world.settle()
      assert.deepEqual(ownersOf(await templateIn(cluster)), ['b'])
      assert.equal((await templateIn(cluster)).metadata.uid, metadata.uid)
      await cluster.delete(DATASETS, 'web/b')
      await world.settle()
      await expectGone(cluster, DAEMON_SETS, TEMPLATE)
      await expectGone(cluster, CONFIG_MAPS, CONFIG)
    },
    member(),
  )

  story(
    'never clash: two originals of one name and a local dataset of that name',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster, ['data', 'web', 'ns-c'])
      await createOriginal(cluster)
      const mounts = [{ mountPoint: 'https://example.com/others', name: 'others' }]
      for (const namespace of ['ns-c', 'web']) {
        await cluster.create(aDataset(`${namespace}/images`, { mounts, placement: 'Shared' }))
        await cluster.create(aRuntime(`${namespace}/images`))
      }
      await cluster.create(aReference('web/a'))
      await cluster.create(aReference('web/c', 'dataset://ns-c/images'))
      await world.settle()
      const other = { namespace: 'ns-c', name: 'images' }
      for (const [original, text] of [
        [IMAGES, 'example.com/images'],
        [other, 'example.com/others'],
      ] as const) {
        const config = mirrorName('fluid-runtime-config-images', original)
        assert.deepEqual(configMapsOf(await templateIn(cluster, `web/${mirrorName('images-client', original)}`)), [config])
        assert.ok((await configIn(cluster, `web/${config}`)).includes(text))
      }
      assert.deepEqual(configMapsOf(await templateIn(cluster, 'web/images-client')), ['fluid-runtime-config-images'])
    },
    member(),
  )

  story(
    'are not made of a client that mounts a Secret: the reference names it, and is bound all the same',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createSample(cluster, [{ name: 'keys', secret: { secretName: 'keys-of-data' } }])
      await cluster.create(aReference())
      await world.settle()
      await expectGone(cluster, DAEMON_SETS, TEMPLATE)
      await expectGone(cluster, CONFIG_MAPS, CONFIG)
      assert.match((await messageIn(cluster, 'Mirrored')) ?? '', /needs what its namespace alone has \(Secret keys-of-data\)/)
      assert.equal(await phaseIn(cluster), 'Bound')
    },
    member(),
  )

  story(
    'stay as they are while the class of the original is missing, and are there for new references when it is back',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster, ['data', 'web', 'lab'])
      await createSample(cluster)
      await cluster.create(aReference())
      await world.settle()
      const { uid } = (await templateIn(cluster)).metadata
      await cluster.delete(CACHE_RUNTIME_CLASSES, 'sample')
      await cluster.create(aReference('lab/images'))
      await world.settle()
      await cluster.inside(() => cluster.resync())
      await world.settle()
      assert.equal((await templateIn(cluster)).metadata.uid, uid)
      await expectGone(cluster, DAEMON_SETS, TEMPLATE.replace('web/', 'lab/'))
      await cluster.inside(() => cluster.client.create(CACHE_RUNTIME_CLASSES, aClass()))
      await world.settle()
      await templateIn(cluster, TEMPLATE.replace('web/', 'lab/'))
      assert.equal((await templateIn(cluster)).metadata.uid, uid)
      await expectQuiet(world)
    },
    member(),
  )

  story(
    'stay as they are while the original is being deleted',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createSample(cluster)
      await cluster.create(aReference())
      await world.settle()
      const before = await configIn(cluster)
      await cluster.delete(DATASETS, ORIGINAL)
      await cluster.patch(DATASETS, ORIGINAL, { spec: { mounts: [{ mountPoint: 's3://other', name: 'other' }] } })
      await world.settle()
      await cluster.inside(() => cluster.resync())
      await world.settle()
      assert.equal(await configIn(cluster), before)
      await expectQuiet(world)
    },
    member(),
  )

  story(
    'carry no option that somebody wrote, and nothing that somebody changed in the original’s objects',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await cluster.create(anOriginal({ sharedOptions: { 'fs.s3a.secret.key': 'open-sesame' } }))
      const options = { 'aws.secretKey': 'open-sesame', blockSize: '8Mi' }
      const spec = {
        runtimeClassName: 'builtin',
        options,
        podMetadata: { annotations: { note: 'open-sesame' } },
        master: { options, env: [{ name: 'TOKEN', value: 'open-sesame' }], podMetadata: { labels: { note: 'open-sesame' } } },
        worker: { options, env: [{ name: 'TOKEN', value: 'open-sesame' }] },
        client: { options, podMetadata: { annotations: { note: 'open-sesame', 'sluice.dev/sidecar-files': 'false' } } },
      }
      await cluster.create(aRuntime(ORIGINAL, 'CacheRuntime', spec))
      await cluster.create(aReference())
      await world.settle()
      // Whoever may edit the original's namespace may edit these.
      const container = { name: 'client', env: [{ name: 'TOKEN', value: 'open-sesame' }], securityContext: { privileged: true } }
      const stolen = { name: 'root', hostPath: { path: '/' } }
      const apply = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { namespace: 'data', name: 'images-client' } }
      await cluster.inside(() =>
        cluster.client.apply(
          DAEMON_SETS,
          {
            ...apply,
            spec: { template: { spec: { hostPID: true, containers: [container], volumes: [stolen] } } },
          } as unknown as KubeObject,
          { fieldManager: 'owner' },
        ),
      )
      await world.settle()
      assert.match(
        JSON.stringify(await templateIn(cluster, 'data/images-client')),
        /open-sesame.*"hostPID":true|"hostPID":true.*open-sesame/,
      )
      const seen = [await templateIn(cluster), await expectThere(cluster, CONFIG_MAPS, CONFIG)]
        .map((object) => JSON.stringify(object))
        .join()
      assert.doesNotMatch(seen, /open-sesame|privileged|hostPID|"path":"\/"\}/)
      const { worker, client } = JSON.parse(await configIn(cluster)) as Record<'worker' | 'client', { options: unknown }>
      // Clients must cut files as workers do.
      assert.deepEqual(worker, {
        enabled: true,
        name: 'images-worker',
        options: { allowPrivateAddresses: 'true', blockSize: '8Mi' },
        replicas: 1,
        service: { name: 'svc-images-worker' },
      })
      assert.deepEqual(client.options, { blockSize: '8Mi' })
      assert.deepEqual((await templateIn(cluster)).spec?.template?.metadata?.annotations, { 'sluice.dev/sidecar-files': 'true' })
    },
    member(),
  )

  story(
    'are not made of a client that runs what its namespace chose: the reference says what that is',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createSample(cluster)
      await cluster.create(aReference())
      await world.settle()
      await templateIn(cluster)
      const client = { runtimeVersion: { image: 'evil', imageTag: '1' }, env: [{ name: 'TOKEN', value: 'open-sesame' }], args: [] }
      await cluster.patch(CACHE_RUNTIMES, ORIGINAL, { spec: { client } })
      await world.settle()
      await expectGone(cluster, DAEMON_SETS, TEMPLATE)
      await expectGone(cluster, CONFIG_MAPS, CONFIG)
      assert.match(
        (await messageIn(cluster, 'Mirrored')) ?? '',
        /^the client of Dataset data\/images runs what its namespace chose \(client\.env, client\.runtimeVersion\), so no sidecar/,
      )
      assert.equal(await phaseIn(cluster), 'Bound')
      await cluster.patch(CACHE_RUNTIMES, ORIGINAL, { spec: { client: null } })
      await world.settle()
      await templateIn(cluster)
      assert.equal(await messageIn(cluster, 'Mirrored'), undefined)
    },
    member(),
  )

  story(
    'need consent, and are taken back with it',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference())
      await world.settle()
      await expectGone(cluster, DAEMON_SETS, TEMPLATE)
      await cluster.create(aGrant())
      await world.settle()
      await templateIn(cluster)
      await cluster.delete(ReferenceGrant.resource, 'data/for-web')
      await world.settle()
      await expectGone(cluster, DAEMON_SETS, TEMPLATE)
      await expectGone(cluster, CONFIG_MAPS, CONFIG)
    },
    member('grant'),
  )
})

describe('what a pod template needs of its namespace', () => {
  const cases: [string, object, string[], string[]][] = [
    ['nothing', { volumes: [{ name: 'a', emptyDir: {} }] }, [], []],
    ['a ConfigMap as a volume', { volumes: [{ configMap: { name: 'a' } }] }, ['a'], []],
    ['a ConfigMap in a projection', { volumes: [{ projected: { sources: [{ configMap: { name: 'a' } }] } }] }, ['a'], []],
    [
      'ConfigMaps in the environment',
      { containers: [{ env: [{ valueFrom: { configMapKeyRef: { name: 'b', key: 'k' } } }], envFrom: [{ configMapRef: { name: 'a' } }] }] },
      ['a', 'b'],
      [],
    ],
    ['a Secret as a volume', { volumes: [{ secret: { secretName: 's' } }] }, [], ['Secret s']],
    ['a Secret in a projection', { volumes: [{ projected: { sources: [{ secret: { name: 's' } }] } }] }, [], ['Secret s']],
    [
      'Secrets in the environment',
      { initContainers: [{ env: [{ valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }], envFrom: [{ secretRef: { name: 't' } }] }] },
      [],
      ['Secret s', 'Secret t'],
    ],
    ['a Secret of a driver', { volumes: [{ csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } }] }, [], ['Secret s']],
    ['a claim', { volumes: [{ persistentVolumeClaim: { claimName: 'c' } }] }, [], ['PersistentVolumeClaim c']],
    ['Secrets to pull images with, which a copy does without', { imagePullSecrets: [{ name: 's' }] }, [], []],
  ]
  for (const [what, spec, configMaps, others] of cases) it(what, () => assert.deepEqual(needsOf(spec), { configMaps, others }))

  it('is called by the names of the copies', () =>
    assert.deepEqual(
      renamed({ volumes: [{ configMap: { name: 'a', optional: true } }, { configMap: { name: 'b' } }] }, new Set(['a']), IMAGES),
      {
        volumes: [{ configMap: { name: mirrorName('a', IMAGES), optional: true } }, { configMap: { name: 'b' } }],
      },
    ))
})

describe('the writes for copies', () => {
  const resource = CONFIG_MAPS as Resource
  const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'web', name: 'a' } }
  const marks = { labels: { 'sluice.dev/mirror-of': 'h' }, annotations: { 'sluice.dev/mirror-source': 'data/images' } }
  const copy = (more: object = {}): KubeObject => ({ ...object, metadata: { ...object.metadata, ...marks, ...more } })
  const cases: [string, Observed, string[]][] = [
    ['what is missing is made', { wanted: [{ resource, object, live: undefined }], surplus: [] }, ['apply']],
    ['what is there is kept true', { wanted: [{ resource, object, live: copy() }], surplus: [] }, ['apply']],
    ['what goes is waited for', { wanted: [{ resource, object, live: copy({ deletionTimestamp: 'now' }) }], surplus: [] }, []],
    ['what is no copy is left alone', { wanted: [{ resource, object, live: object }], surplus: [] }, []],
    ['what nobody needs goes', { wanted: [], surplus: [{ resource, object: copy() }] }, ['delete']],
  ]
  for (const [what, observed, actions] of cases)
    it(what, () =>
      assert.deepEqual(
        plan(observed).actions.map((action) => action.do),
        actions,
      ),
    )
})

describe('what is missing', () => {
  const cached = aReference() as Dataset
  const stored = [
    [DATASETS, [cached, anOriginal()]],
    [CACHE_RUNTIME_CLASSES, [builtinClass({ version: OWN_VERSION, allowsPrivateAddresses: true })]],
    [CACHE_RUNTIMES, [{ ...aRuntime(), metadata: { ...aRuntime().metadata, uid: 'runtime' } }]],
    [DAEMON_SETS, [{ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { ...IMAGES, name: 'images-client', ...ownedByRuntime() } }]],
  ] as unknown as Parameters<typeof storedReader>[1]
  function ownedByRuntime(): object {
    return {
      ownerReferences: [{ apiVersion: 'data.fluid.io/v1alpha1', kind: 'CacheRuntime', name: 'images', uid: 'runtime', controller: true }],
    }
  }
  const controller = referenceMirrorController({ referenceConsent: 'open', ...SHARING })
  const cases: [string, object, boolean][] = [
    ['is made', {}, true],
    ['is made although others have written to the reference since: nothing tells this controller of that', { finalizers: ['x'] }, true],
    ['is not made for a reference that goes', { deletionTimestamp: '2026-01-01T00:00:00Z' }, false],
    ['is not made for one that is another by now', { uid: 'other' }, false],
  ]
  for (const [what, since, isMade] of cases)
    it(what, async () => {
      const live = { ...cached, metadata: { ...cached.metadata, resourceVersion: '2', ...since } }
      const read = storedReader(controller, stored) as PassReader
      const client = { get: async () => live } as unknown as Client
      const { actions } = controller.plan(await controller.observe({ namespace: 'web', name: 'images' }, cached, read, client))
      assert.equal(actions.length > 0, isMade)
    })
})

describe('data.reference.mirror', () => {
  survives(referenceMirrorController({ referenceConsent: 'grant', ...SHARING }), {
    modules: modulesWith('grant'),
    nodes: 1,
    before: [createNamespaces, createOriginal],
    steps: [
      async (cluster) => {
        await cluster.create(aReference('web/a'))
        await cluster.create(aReference())
        await cluster.create(aGrant())
      },
      (cluster) => cluster.delete(DATASETS, 'web/a'),
      (cluster) => cluster.patch(DATASETS, ORIGINAL, { spec: { mounts: [{ mountPoint: 'https://example.com/more', name: 'more' }] } }),
      (cluster) => cluster.delete(ReferenceGrant.resource, 'data/for-web'),
      (cluster) => cluster.create(aGrant()),
    ],
    invariants: [
      {
        says: 'no copy carries an option of a mount',
        about: ['configmaps'],
        broken: (view) => (JSON.stringify(view.get('configmaps', CONFIG) ?? {}).includes('open-sesame') ? 'it does' : undefined),
      },
    ],
    async atRest(cluster) {
      assert.match(await configIn(cluster), /example.com\/more/)
      assert.deepEqual(ownersOf(await templateIn(cluster)), ['images'])
      assert.equal(await phaseIn(cluster, REFERENCE), 'Bound')
    },
  })
})
