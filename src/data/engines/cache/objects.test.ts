import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AdvancedStatefulSet, CacheRuntimeClass, CacheTierLevel } from '../../../kinds/fluid/index.ts'
import type { Container, DaemonSet, PodSpec } from '../../../kinds/kubernetes/types.ts'
import { cacheObjects } from './objects.ts'
import { CLASS_ANNOTATIONS, volumeName } from './pod-template.ts'
import { aCache, aClass, type CacheParts } from './testing.ts'
import { problemOf } from './topology.ts'

const NO_CONTAINERS = { spec: { containers: [] } }

describe('a cache that cannot be made', () => {
  const cases: [string, CacheParts, RegExp][] = [
    ['no component', { runtimeClass: aClass({ topology: {} }) }, /^at least one component should be defined in runtimeClass sample$/],
    [
      'none that is enabled',
      {
        spec: {
          master: { disabled: true, replicas: 1 },
          worker: { disabled: true, replicas: 1 },
          client: { disabled: true, cleanPolicy: 'OnDemand' },
        },
      },
      /^every component of runtimeClass sample is disabled: enable the worker$/,
    ],
    [
      'a component without containers',
      { runtimeClass: aClass({ topology: { worker: { template: NO_CONTAINERS } } }) },
      /^component worker must define at least one container$/,
    ],
    [
      'a ConfigMap that the class does not define',
      { runtimeClass: withWorker({ dependencies: { extraResources: { configMaps: [{ name: 'tuning', mountPath: '/etc/tuning' }] } } }) },
      /^component has undefined config map extra resource 'tuning', check the CacheRuntimeClass definition$/,
    ],
    [
      'a mount without its volume',
      { spec: { worker: { replicas: 1, volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }] } } },
      /^volume not found for volumeMount scratch, check the CacheRuntime Spec$/,
    ],
    [
      'two media in a level',
      { spec: workerLevels({ processMemory: { quota: '1Gi' }, emptyDir: { quota: '1Gi' } }) },
      /^only one storage medium can be specified per level at index 0, but found 2: make a level of each$/,
    ],
    [
      'two levels of process memory',
      { spec: workerLevels({ processMemory: { quota: '1Gi' } }, { processMemory: { quota: '1Gi' } }) },
      /only one ProcessMemoryMediumSource for all levels: keep one$/,
    ],
    [
      'a quota of zero',
      { spec: workerLevels({ processMemory: { quota: 0 } }) },
      /^process memory quota cannot be zero at level index 0: write for example 2Gi$/,
    ],
    [
      'more paths than quotas',
      { spec: workerLevels({ hostPath: { paths: ['/a', '/b'], quotas: ['1Gi'] } }) },
      /^must have as many entries as paths: it has 1 for 2 paths$/,
    ],
  ]
  for (const [name, parts, expected] of cases)
    it(`says why: ${name}`, () => {
      assert.match(problemOf(aCache(parts)) ?? 'no problem', expected)
    })

  it('has no problem otherwise', () => {
    assert.equal(problemOf(aCache()), undefined)
  })
})

function withWorker(more: Record<string, unknown>): CacheRuntimeClass {
  const { topology = {}, ...rest } = aClass()
  return { ...rest, topology: { ...topology, worker: { ...topology.worker, ...more } } }
}

function workerLevels(...levels: CacheTierLevel[]) {
  return { worker: { replicas: 2, tieredStore: { levels } } }
}

const podOf = ({ spec }: AdvancedStatefulSet | DaemonSet): PodSpec => spec?.template?.spec ?? {}
const firstOf = (object: AdvancedStatefulSet | DaemonSet): Container => podOf(object).containers?.[0] ?? {}

function made(parts: CacheParts = {}): { master: AdvancedStatefulSet; worker: AdvancedStatefulSet; client: DaemonSet } {
  const { sets, daemonSets } = cacheObjects(aCache(parts))
  const [master, worker] = sets
  const [client] = daemonSets
  assert.ok(master !== undefined && worker !== undefined && client !== undefined)
  return { master, worker, client }
}

describe('the objects of a cache', () => {
  it('have the names, labels and owner that others find them by', () => {
    const { configMaps, services, sets, daemonSets } = cacheObjects(aCache({ spec: { worker: { replicas: 2 } } }))
    assert.deepEqual(
      [...configMaps, ...services, ...sets, ...daemonSets].map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      [
        'ConfigMap fluid-runtime-config-demo',
        'Service svc-demo-master',
        'AdvancedStatefulSet demo-master',
        'AdvancedStatefulSet demo-worker',
        'DaemonSet demo-client',
      ],
    )
    for (const { metadata } of [...configMaps, ...services, ...sets, ...daemonSets])
      assert.deepEqual(metadata.ownerReferences, [
        { apiVersion: 'data.fluid.io/v1alpha1', kind: 'CacheRuntime', name: 'demo', uid: 'r1', controller: true, blockOwnerDeletion: true },
      ])
    const [master, worker] = sets
    assert.deepEqual([master?.spec.serviceName, worker?.spec.serviceName, worker?.spec.replicas], ['svc-demo-master', undefined, 2])
    assert.deepEqual(worker?.spec.template.metadata?.labels, {
      'cacheruntime.fluid.io/name': 'demo',
      'cacheruntime.fluid.io/component-name': 'demo-worker',
      'fluid.io/dataset': 'default-demo',
      'fluid.io/dataset-placement': 'Exclusive',
    })
  })

  it('leave out what the runtime disables', () => {
    const { sets, services } = cacheObjects(aCache({ spec: { master: { disabled: true, replicas: 1 } } }))
    assert.deepEqual([sets.map(({ metadata }) => metadata.name), services], [['demo-worker'], []])
  })

  it('are the same whenever they are made from the same', () => {
    assert.deepEqual(cacheObjects(aCache()), cacheObjects(aCache()))
  })

  it('do not change the class', () => {
    const runtimeClass = Object.freeze(aClass())
    const before = JSON.stringify(runtimeClass)
    cacheObjects(aCache({ runtimeClass, spec: workerLevels({ emptyDir: { quota: '1Gi', medium: 'Memory' } }) }))
    assert.equal(JSON.stringify(runtimeClass), before)
  })
})

describe('the pods of a component', () => {
  it('are told their dataset first, then what the class and the runtime say', () => {
    const env = (name: string) => [{ name, value: 'x' }]
    const runtimeClass = withWorker({
      template: { spec: { containers: [{ name: 'worker', env: env('CLASS') }], initContainers: [{ name: 'init' }] } },
    })
    const { worker } = made({ runtimeClass, spec: { worker: { replicas: 1, env: env('OWN') } } })
    const names = (firstOf(worker).env ?? []).map(({ name }) => name)
    assert.deepEqual(names, [
      'FLUID_DATASET_NAME',
      'FLUID_DATASET_NAMESPACE',
      'FLUID_RUNTIME_CONFIG_PATH',
      'FLUID_RUNTIME_MOUNT_PATH',
      'FLUID_RUNTIME_COMPONENT_TYPE',
      'FLUID_RUNTIME_COMPONENT_SVC_NAME',
      'CLASS',
      'OWN',
    ])
    const [init] = podOf(worker).initContainers ?? []
    assert.deepEqual(init?.volumeMounts, [{ name: 'fluid-runtime-demo-config', mountPath: '/etc/fluid/config', readOnly: true }])
    assert.equal(init?.env?.length, 6)
  })

  it('keep the image of the class unless image and tag are given, and its resources unless others are', () => {
    const resources = { requests: { memory: '1Gi' } }
    const runtimeClass = withWorker({ template: { spec: { containers: [{ name: 'worker', image: 'a:1', resources }] } } })
    const imageOf = (runtimeVersion: object) =>
      firstOf(made({ runtimeClass, spec: { worker: { replicas: 1, runtimeVersion } } }).worker).image
    assert.deepEqual([imageOf({}), imageOf({ image: 'b' }), imageOf({ image: 'b', imageTag: '2' })], ['a:1', 'a:1', 'b:2'])
    assert.deepEqual(firstOf(made({ runtimeClass }).worker).resources, resources)
    const own = { limits: { memory: '2Gi' } }
    assert.deepEqual(firstOf(made({ runtimeClass, spec: { worker: { replicas: 1, resources: own } } }).worker).resources, own)
  })

  it('have a directory for each tier; memory counts where memory is restricted', () => {
    const resources = { requests: { memory: '1Gi', cpu: '1' } }
    const levels = workerLevels(
      { processMemory: { quota: '512Mi' } },
      { emptyDir: { quota: '1Gi', medium: 'Memory' } },
      { hostPath: { paths: ['/a', '/b'], quotas: ['1Gi', '2Gi'] } },
    )
    const { worker } = made({ spec: { worker: { ...levels.worker, resources } } })
    assert.deepEqual(firstOf(worker).resources, { requests: { memory: '2560Mi', cpu: '1' } })
    assert.deepEqual(
      (firstOf(worker).volumeMounts ?? []).map(({ name, mountPath }) => `${name} ${mountPath}`),
      [
        'fluid-runtime-demo-config /etc/fluid/config',
        'tiered-store-level-0-memory /dev/shm',
        'tiered-store-level-1-index-0 /etc/fluid/mount/tiered-store/level-1-index-0-emptydir',
        'tiered-store-level-2-index-0 /etc/fluid/mount/tiered-store/level-2-index-0-hostpath',
        'tiered-store-level-2-index-1 /etc/fluid/mount/tiered-store/level-2-index-1-hostpath',
      ],
    )
    assert.deepEqual(podOf(worker).volumes?.[1], {
      name: 'tiered-store-level-0-memory',
      emptyDir: { medium: 'Memory', sizeLimit: '512Mi' },
    })
  })

  it('carry what is meant for all pods of the runtime, which Fluid ignores', () => {
    const spec = { podMetadata: { labels: { team: 'a' }, annotations: { note: 'x' } }, imagePullSecrets: [{ name: 'registry' }] }
    for (const object of Object.values(made({ spec }))) {
      assert.equal(object.spec?.template?.metadata?.labels?.team, 'a')
      assert.equal(object.spec?.template?.metadata?.annotations?.note, 'x')
      assert.deepEqual(podOf(object).imagePullSecrets, [{ name: 'registry' }])
    }
  })

  it('get the Secrets of sources if they are masters or workers, unless the class says otherwise', () => {
    const encryptOptions = [{ name: 'aws.secretKey', valueFrom: { secretKeyRef: { name: 'keys', key: 'secret' } } }]
    const dataset = { mounts: [{ mountPoint: 's3://bucket', name: 'b', encryptOptions }] }
    const secretsOf = (object: AdvancedStatefulSet | DaemonSet) =>
      (podOf(object).volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? [])
    const { master, worker, client } = made({ dataset })
    assert.deepEqual([master, worker, client].map(secretsOf), [['keys'], ['keys'], []])
    const off = made({ dataset, runtimeClass: withWorker({ dependencies: { secretMount: { enabled: false } } }) })
    assert.deepEqual(secretsOf(off.worker), [])
  })

  it('of clients run on labelled nodes whatever their taints, and share a directory of the node', () => {
    const { client, worker } = made()
    assert.deepEqual(podOf(client).nodeSelector, { 'fluid.io/f-default-demo': 'true' })
    assert.deepEqual(podOf(client).tolerations, [{ operator: 'Exists' }])
    assert.deepEqual(podOf(client).volumes?.at(-1), {
      name: 'fluid-cache-runtime-shared-path',
      hostPath: { path: '/runtime-mnt/cache/default/demo/cache-fuse', type: 'DirectoryOrCreate' },
    })
    assert.equal(podOf(worker).tolerations, undefined)
  })

  it('get more where annotations of the class ask for it: a shared key, native mounts, the tiers of workers', () => {
    const annotations = Object.fromEntries(Object.values(CLASS_ANNOTATIONS).map((key) => [key, 'true']))
    const dataset = {
      mounts: [
        { mountPoint: 'pvc://claim/sub/path', name: 'p' },
        { mountPoint: 'local:///data', path: '/images/train' },
      ],
    }
    const runtimeClass = { ...aClass(), metadata: { name: 'sample', annotations } }
    const { worker, client } = made({ dataset, runtimeClass, spec: workerLevels({ hostPath: { paths: ['/cache'], quotas: ['1Gi'] } }) })
    assert.deepEqual((firstOf(worker).volumeMounts ?? []).slice(-3), [
      { name: 'sluice-cache-key', mountPath: '/etc/sluice/key', readOnly: true },
      { name: 'native-mount-0', mountPath: '/var/lib/sluice/sources/p', readOnly: true, subPath: 'sub/path' },
      { name: 'native-mount-1', mountPath: '/var/lib/sluice/sources/images-train', readOnly: true },
    ])
    assert.deepEqual((firstOf(client).volumeMounts ?? [])[1], {
      name: 'worker-tiered-store-level-0-index-0',
      mountPath: '/etc/fluid/mount/tiered-store/level-0-index-0-hostpath',
      readOnly: true,
    })
    assert.ok(!(podOf(client).volumes ?? []).some(({ secret }) => secret !== undefined), 'a client never gets the key')
  })
})

describe('the name of a volume', () => {
  it('is a label, and names that are cut stay apart', () => {
    assert.equal(volumeName('cache-mnt-secret-keys'), 'cache-mnt-secret-keys')
    const long = ['a', 'b'].map((end) => volumeName(`cache-mnt-secret-${'x'.repeat(80)}${end}`))
    assert.notEqual(long[0], long[1])
    for (const name of [...long, volumeName('cache-mnt-secret-my.keys')]) assert.match(name, /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/)
  })
})
