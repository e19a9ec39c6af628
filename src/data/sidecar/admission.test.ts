import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { mirrorName } from '../../kinds/fluid/reference.ts'
import type { Container, Pod, PodSpec } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { aClaim, aDataset } from '../locality/testing.ts'
import { datasetSidecar } from './admission.ts'
import { admitted, aPod, aReference, bound, filesClient, fuseClient } from './testing.ts'

const COPY = mirrorName('real-client', { namespace: 'storage', name: 'real' })
const copied = (container: Partial<Container> = {}) => filesClient('real', { namespace: 'storage', set: COPY, container })

const names = (containers: readonly Container[] = []) => containers.map(({ name }) => name)
const volumeOf = ({ spec }: Pod, name: string) => spec?.volumes?.find((volume) => volume.name === name)
const envOf = ({ env = [] }: Container, name: string) => env.find((one) => one.name === name)?.value
const firstInit = ({ spec }: Pod): Container => spec?.initContainers?.[0] ?? {}
const labels = ({ metadata }: Pod, key: string) => metadata.labels?.[key]
const CONTAINER = { mode: 'container' } as const

describe('a pod that asks for sidecars', () => {
  it('gets a client that completes the files in a directory of the pod', () => {
    const { pod, warnings } = admitted(aPod(['demo']), bound('demo', undefined, { fluid_sub_path: 'train/$(HOME)' }))
    assert.deepEqual(warnings, [])
    assert.deepEqual([names(pod.spec?.initContainers), names(pod.spec?.containers)], [['fluid-fuse-0'], ['c']])
    const sidecar = firstInit(pod)
    assert.equal(sidecar.restartPolicy, 'Always')
    assert.equal(sidecar.startupProbe?.exec?.command?.[0], 'test')
    assert.equal(sidecar.readinessProbe, undefined, 'only the client of a node serves HTTP')
    assert.equal(envOf(sidecar, 'SLUICE_SIDECAR_SUB_PATH'), '/train/$$(HOME)', 'not replaced by Kubernetes')
    assert.equal(envOf(sidecar, 'FLUID_RUNTIME_MOUNT_PATH'), '/runtime-mnt/cache/default/demo/cache-fuse')
    assert.deepEqual(volumeOf(pod, 'v-demo'), { name: 'v-demo', emptyDir: {} })
    assert.ok(
      sidecar.volumeMounts?.some(({ name, mountPath }) => name === 'v-demo' && mountPath === '/runtime-mnt/cache/default/demo/cache-fuse'),
    )
    assert.deepEqual(pod.spec?.containers?.[0]?.volumeMounts, [{ name: 'v-demo', mountPath: '/demo', readOnly: true }])
    assert.deepEqual(names(pod.spec?.volumes as Container[]).sort(), ['config-0', 'sluice-sidecar-state-0', 'token-0', 'v-demo'])
    assert.ok(!(pod.spec?.volumes ?? []).some(({ hostPath }) => hostPath !== undefined), 'nothing of its node')
    assert.equal(labels(pod, 'done.sidecar.fluid.io/inject'), 'true')
    assert.equal(labels(pod, 'fluid.io/managed-by'), 'fluid')
    assert.equal(labels(pod, 'dataset-name.sidecar.fluid.io/fluid-fuse-0'), 'demo')
    assert.equal(labels(pod, 'dataset-namespace.sidecar.fluid.io/fluid-fuse-0'), 'default')
    assert.equal(pod.metadata.annotations?.['fluid.io/datasets-in-use'], 'demo')
  })

  it('gets an init container that ends instead, where there are no native sidecars', () => {
    const { pod } = admitted(aPod(['demo'], { initContainers: [{ name: 'first', image: 'i' }] }), bound('demo'), CONTAINER)
    assert.deepEqual([names(pod.spec?.initContainers), names(pod.spec?.containers)], [['init-fluid-fuse-0', 'first'], ['c']])
    const filling = firstInit(pod)
    assert.deepEqual([filling.restartPolicy, filling.startupProbe, envOf(filling, 'SLUICE_SIDECAR_ENDS')], [undefined, undefined, 'true'])
    assert.equal(labels(pod, 'dataset-name.sidecar.fluid.io/init-fluid-fuse-0'), 'demo')
  })

  it('gets one for each dataset, in the order of their claims', () => {
    const { pod } = admitted(aPod(['b', 'a']), [...bound('a'), ...bound('b', fuseClient('b'))])
    assert.deepEqual(names(pod.spec?.initContainers), ['fluid-fuse-0', 'fluid-fuse-1'])
    assert.equal(labels(pod, 'dataset-name.sidecar.fluid.io/fluid-fuse-0'), 'a')
    assert.equal(labels(pod, 'dataset-name.sidecar.fluid.io/fluid-fuse-1'), 'b')
    assert.deepEqual([volumeOf(pod, 'v-a')?.emptyDir, volumeOf(pod, 'v-b')?.emptyDir], [{}, undefined])
  })

  it('gets a client that mounts below a directory of the node which only this pod has', () => {
    const { pod } = admitted(
      aPod(['demo'], {}, { name: '', generateName: 'job-' }),
      bound('demo', fuseClient('demo'), { fluid_sub_path: 'train' }),
    )
    assert.deepEqual(volumeOf(pod, 'v-demo'), {
      name: 'v-demo',
      hostPath: { path: '/runtime-mnt/cache/default/demo/job/uid/cache-fuse/train' },
    })
    assert.equal(volumeOf(pod, 'x-fuse-mount-0')?.hostPath?.path, '/runtime-mnt/cache/default/demo/job/uid')
    const sidecar = firstInit(pod)
    assert.equal(sidecar.volumeMounts?.[0]?.mountPath, '/runtime-mnt/cache/default/demo', 'the client sees the same')
    assert.deepEqual(sidecar.lifecycle?.postStart?.exec?.command, [
      'sh',
      '/check-mount.sh',
      '/runtime-mnt/cache/default/demo/cache-fuse',
      'fuse.cache-fuse',
      'train',
    ])
    assert.equal(volumeOf(pod, 'check-mount-0')?.configMap?.name, 'demo-fuse.cache-fuse-check-mount')
    assert.deepEqual(sidecar.ports, [{ name: 'rpc', containerPort: 1 }], 'no port for metrics')
    assert.equal(volumeOf(pod, 'cache-dir-0-0'), undefined)
    const [own] = pod.spec?.containers ?? []
    assert.deepEqual(own?.volumeMounts, [
      { name: 'v-demo', mountPath: '/demo', mountPropagation: 'HostToContainer' },
      { name: 'check-fluid-mount-ready', mountPath: '/check-fluid-mount-ready.sh', subPath: 'check-fluid-mount-ready.sh', readOnly: true },
    ])
    assert.equal(own?.lifecycle, undefined)
  })

  it('mounts where its client does, if that has several directories of the node above each other', () => {
    const root = '/runtime-mnt/cache/default/demo'
    const mounts = [root, `${root}/cache-fuse`].map((path, i) => ({
      name: `host-${i}`,
      mountPath: path,
      mountPropagation: 'Bidirectional',
    }))
    const volumes = mounts.map(({ name, mountPath }) => ({ name, hostPath: { path: mountPath } }))
    const client = fuseClient('demo', { container: { volumeMounts: mounts }, spec: { volumes } })
    const { pod } = admitted(aPod(['demo']), bound('demo', client))
    const paths = ['v-demo', 'host-1-0'].map((name) => volumeOf(pod, name)?.hostPath?.path)
    assert.deepEqual(paths, [`${root}/p/uid/cache-fuse`, `${root}/p/uid/cache-fuse`])
  })

  it('gets containers of the old form: beside its own, and for init containers one that waits', () => {
    const init = { name: 'first', image: 'i', volumeMounts: [{ name: 'v-demo', mountPath: '/x' }] }
    const both = admitted(aPod(['demo'], { initContainers: [init] }), bound('demo', fuseClient('demo')), CONTAINER).pod
    assert.deepEqual(
      [names(both.spec?.initContainers), names(both.spec?.containers)],
      [
        ['init-fluid-fuse-0', 'first'],
        ['fluid-fuse-0', 'c'],
      ],
    )
    assert.deepEqual([firstInit(both).command, firstInit(both).args, firstInit(both).lifecycle], [['sleep'], ['2s'], undefined])
    const main = admitted(aPod(['demo']), bound('demo', fuseClient('demo')), CONTAINER).pod
    assert.deepEqual([main.spec?.initContainers, names(main.spec?.containers)], [undefined, ['fluid-fuse-0', 'c']])
    const only = aPod(['demo'], { initContainers: [init], containers: [{ name: 'c', image: 'i' }] })
    const inits = admitted(only, bound('demo', fuseClient('demo')), CONTAINER).pod
    assert.deepEqual([names(inits.spec?.initContainers), names(inits.spec?.containers)], [['init-fluid-fuse-0', 'first'], ['c']])
  })

  const OPTIONS: [string, Pod['metadata'], (pod: Pod) => unknown, unknown][] = [
    [
      'shares a directory',
      { annotations: { 'default.fuse-sidecar.fluid.io/host-mount-path-mode': 'fixed' } },
      (pod) => volumeOf(pod, 'v-demo')?.hostPath?.path,
      '/runtime-mnt/cache/default/demo/cache-fuse',
    ],
    [
      'keeps directories of the cache',
      { labels: { 'cachedir.sidecar.fluid.io/inject': 'true' } },
      (pod) => volumeOf(pod, 'cache-dir-0-0')?.hostPath?.path,
      '/mnt/cache',
    ],
    [
      'is not checked',
      { labels: { 'fuse.sidecar.poststart.fluid.io/inject': 'false' } },
      (pod) => firstInit(pod).lifecycle?.postStart,
      undefined,
    ],
    [
      'waits in its own containers',
      { labels: { 'app.poststart.fluid.io/inject': 'true' } },
      (pod) => pod.spec?.containers?.[0]?.lifecycle?.postStart?.exec?.command,
      ['sh', '/check-fluid-mount-ready.sh', '/demo', 'fuse.cache-fuse'],
    ],
    [
      'has no privileges',
      { labels: { 'unprivileged.sidecar.fluid.io/inject': 'true' } },
      (pod) => [firstInit(pod).securityContext, firstInit(pod).volumeMounts?.map(({ mountPath }) => mountPath)],
      [{ privileged: false, capabilities: { add: ['NET_ADMIN'] } }, ['/check-mount.sh']],
    ],
    [
      'has no privileges on such a platform',
      { annotations: { 'serverless.fluid.io/platform': 'unprivileged' } },
      (pod) => firstInit(pod).securityContext?.privileged,
      false,
    ],
  ]
  for (const [says, metadata, get, expected] of OPTIONS)
    it(`${says}, when it wants that`, () => {
      const { pod } = admitted(aPod(['demo'], {}, metadata), bound('demo', fuseClient('demo')))
      assert.deepEqual(get(pod), expected)
    })

  it('has ports for metrics and the process ids of its node when the runtime wants them', () => {
    const objects = bound('demo', fuseClient('demo', { spec: { hostPID: true } })).map((object) =>
      object.kind === 'CacheRuntime' ? { ...object, spec: { fuse: { metrics: { scrapeTarget: 'MountPod,Sidecar' } } } } : object,
    )
    const { pod } = admitted(aPod(['demo']), objects)
    assert.deepEqual(
      [firstInit(pod).ports?.length, pod.spec?.hostPID, pod.metadata.annotations?.['prometheus.fuse.fluid.io/scrape']],
      [2, true, 'true'],
    )
    const unchecked = admitted(
      aPod(['demo']),
      bound('demo', fuseClient('demo'), { 'fluid.io/skip-check-mount-ready-target': 'Sidecar' }),
    ).pod
    assert.equal(firstInit(unchecked).lifecycle?.postStart, undefined)
  })

  it('gets names that it does not have, nor refers to', () => {
    const container = {
      name: 'fluid-fuse-0',
      image: 'i',
      volumeMounts: [
        { name: 'v-demo', mountPath: '/a' },
        { name: 'token-1', mountPath: '/b' },
      ],
    }
    const volumes = [
      { name: 'v-demo', persistentVolumeClaim: { claimName: 'demo' } },
      { name: 'config-1', emptyDir: {} },
    ]
    const { pod } = admitted(aPod([], { containers: [container], volumes }), bound('demo'))
    assert.deepEqual(names(pod.spec?.initContainers), ['fluid-fuse-1'])
    assert.deepEqual(names(pod.spec?.volumes as Container[]), ['v-demo', 'config-1', 'token-1-1', 'config-1-1', 'sluice-sidecar-state-1'])
  })

  it('is told that it cannot write what is only completed', () => {
    const objects = bound('demo').map((object) =>
      object.kind === 'PersistentVolumeClaim'
        ? { ...object, spec: { ...(object.spec as object), accessModes: ['ReadWriteMany'] } }
        : object,
    )
    assert.match(admitted(aPod(['demo']), objects).warnings.join(), /dataset demo can only be read in this pod: to write it/)
  })

  const UNTOUCHED: [string, Pod, KubeObject[]][] = [
    ['without the label', aPod(['demo'], {}, { labels: { 'serverless.fluid.io/inject': 'false' } }), bound('demo')],
    ['that opts out', aPod(['demo'], {}, { labels: { 'fluid.io/enable-injection': 'false' } }), bound('demo')],
    ['that was changed already', aPod(['demo'], {}, { labels: { 'done.sidecar.fluid.io/inject': 'true' } }), bound('demo')],
    ['without datasets', aPod([]), []],
    ['with a claim of something else', aPod(['plain']), [aClaim('plain', {})]],
  ]
  for (const [says, pod, objects] of UNTOUCHED) it(`stays as it is: ${says}`, () => assert.deepEqual(admitted(pod, objects).pod, pod))

  const REFUSED: [string, Pod, KubeObject[], RegExp][] = [
    ['no claim', aPod(['demo']), [], /failed to get the following PVCs \[demo\]/],
    [
      'a dataset that is not bound',
      aPod(['demo']),
      [aClaim('demo'), aDataset('default/demo', { phase: 'NotBound' })],
      /dataset "default\/demo" not bound/,
    ],
    [
      'no client yet',
      aPod(['demo']),
      bound('demo').slice(0, -1),
      /the DaemonSet demo-client, of which .* is not there: wait until the dataset is Bound/,
    ],
    [
      'no volume yet',
      aPod(['demo']),
      bound('demo').filter(({ kind }) => kind !== 'PersistentVolume'),
      /the volume of claim demo is not there yet/,
    ],
    [
      'a volume that leads out of its place',
      aPod(['demo']),
      bound('demo', undefined, { fluid_path: '/etc' }),
      /fluid_path "\/etc" .* is no clean path below \/runtime-mnt/,
    ],
    ['a sub path that climbs', aPod(['demo']), bound('demo', undefined, { fluid_sub_path: '../x' }), /fluid_sub_path .* contains "\.\."/],
    [
      'an empty template',
      aPod(['demo']),
      bound('demo', { ...filesClient('demo'), spec: {} } as KubeObject),
      /has no container to make a sidecar of/,
    ],
    [
      'a claim twice',
      aPod(['demo'], { volumes: ['a', 'b'].map((name) => ({ name, persistentVolumeClaim: { claimName: 'demo' } })) }),
      bound('demo'),
      /volumes a and b are the same claim demo: mount one of them/,
    ],
    [
      'a port of the node twice',
      aPod(['demo'], { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 1, hostPort: 7 }] }] }),
      bound('demo', fuseClient('demo', { container: { ports: [{ name: 'a', containerPort: 2, hostPort: 7 }] } })),
      /needs the port 7\/TCP of the node, which another container/,
    ],
    ['no copy of the client of another namespace', aPod(['ref']), aReference('ref'), /the DaemonSet real-client-[0-9a-f]{8}, of which/],
  ]
  for (const [says, pod, objects, expected] of REFUSED)
    it(`is refused with the reason: ${says}`, () => {
      assert.throws(() => admitted(pod, objects), expected)
    })

  it('is never left half changed, and its author is told', () => {
    const pod = aPod(['a', 'b'])
    const copy = structuredClone(pod)
    assert.throws(() => admitted(pod, [...bound('a'), ...bound('b').slice(0, -1)]), /pods "p" is forbidden/)
    assert.deepEqual(pod, copy)
  })

  it('is matched by its label, and not created while that cannot be done', () => {
    const { label, failurePolicy } = datasetSidecar()
    assert.deepEqual([label, failurePolicy], [{ key: 'serverless.fluid.io/inject', value: 'true' }, 'Fail'])
  })
})

describe('a pod with a dataset of another namespace', () => {
  it('gets the copy of the client there, the attributes and the dataset of its own claim, and no token for the API', () => {
    const { pod } = admitted(aPod(['ref']), [...aReference('ref', { fluid_sub_path: 'a' }), copied()])
    const sidecar = firstInit(pod)
    assert.equal(envOf(sidecar, 'SLUICE_SIDECAR_SUB_PATH'), '/a')
    assert.equal(labels(pod, 'dataset-name.sidecar.fluid.io/fluid-fuse-0'), 'ref')
    assert.equal(labels(pod, 'dataset-namespace.sidecar.fluid.io/fluid-fuse-0'), 'default')
    const [source] = volumeOf(pod, 'token-0')?.projected?.sources ?? []
    assert.equal(source?.serviceAccountToken?.audience, 'sluice.dev/cache/storage/real')
    const account = sidecar.volumeMounts?.find(({ mountPath }) => mountPath === '/var/run/secrets/kubernetes.io/serviceaccount')
    assert.deepEqual(volumeOf(pod, account?.name ?? '')?.emptyDir, {})
    assert.equal(pod.metadata.annotations?.['sluice.dev/resolves-namespaces'], 'storage')
  })

  const SECRET = { name: 'config', mountPath: '/x' }
  const withVolume = (volume: object): KubeObject => {
    const set = copied({ volumeMounts: [SECRET] })
    const spec = set.spec?.template?.spec
    return {
      ...set,
      spec: { ...set.spec, template: { ...set.spec?.template, spec: { ...spec, volumes: [{ name: 'config', ...volume }] } } },
    }
  }
  const CASES: [string, KubeObject, RegExp][] = [
    ['a Secret', withVolume({ secret: { secretName: 'keys' } }), /needs Secrets of namespace storage \(keys\), and no Secret crosses/],
    ['a projected Secret', withVolume({ projected: { sources: [{ secret: { name: 'keys' } }] } }), /\(keys\)/],
    ['a Secret of a driver', withVolume({ csi: { driver: 'd', nodePublishSecretRef: { name: 'keys' } } }), /\(keys\)/],
    ['a Secret of a file system', withVolume({ cephfs: { monitors: ['m'], secretRef: { name: 'keys' } } }), /\(keys\)/],
    ['a Secret of a share', withVolume({ azureFile: { shareName: 's', secretName: 'keys' } }), /\(keys\)/],
    ['a claim', withVolume({ persistentVolumeClaim: { claimName: 'c' } }), /is a claim of namespace storage/],
    [
      'what a driver finds in the namespace of the pod',
      withVolume({ csi: { driver: 'secrets-store.csi.k8s.io', volumeAttributes: { secretProviderClass: 'keys' } } }),
      /its volume config would be looked for in the pod's namespace/,
    ],
    ['a file system of the network', withVolume({ nfs: { server: 's', path: '/' } }), /its volume config would be looked for/],
    ['a token for the API', withVolume({ projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }), /asks for a token/],
    [
      'a token for another cache',
      withVolume({ projected: { sources: [{ serviceAccountToken: { path: 't', audience: 'sluice.dev/cache/a/b' } }] } }),
      /not for sluice\.dev\/cache\/storage\/real/,
    ],
    ['a variable', copied({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'a' } } }] }), /\(keys\)/],
    ['variables', copied({ envFrom: [{ secretRef: { name: 'keys' } }] }), /\(keys\)/],
  ]
  for (const [says, set, expected] of CASES)
    it(`is refused what would cross it: ${says}`, () => {
      assert.throws(() => admitted(aPod(['ref']), [...aReference('ref'), set]), expected)
    })
})

describe('any pod', () => {
  const name = fc.constantFrom('a', 'b', 'v-demo', 'token-0', 'config-0', 'fluid-fuse-0', 'init-fluid-fuse-0', 'check-fluid-mount-ready')
  const mount = fc.record(
    {
      name,
      mountPath: fc.constantFrom('/a', '/b', '/check-fluid-mount-ready.sh'),
      readOnly: fc.boolean(),
      subPath: fc.constantFrom('x', 'y'),
      mountPropagation: fc.constantFrom('None', 'HostToContainer'),
      recursiveReadOnly: fc.constantFrom('Disabled', 'Enabled'),
    },
    { requiredKeys: ['name', 'mountPath'] },
  )
  const container = fc.record(
    {
      name,
      image: fc.constant('i'),
      command: fc.array(fc.string()),
      volumeMounts: fc.uniqueArray(mount, { selector: ({ mountPath }) => mountPath }),
    },
    { requiredKeys: ['name', 'image'] },
  )
  const volume = fc.record({ name, claim: fc.constantFrom('', 'demo', 'other') }).map(({ name: own, claim }) => ({
    name: own,
    ...(claim === '' ? { emptyDir: {} } : { persistentVolumeClaim: { claimName: claim } }),
  }))
  const unique = <T extends { name?: string }>(one: fc.Arbitrary<T>, minLength = 0) =>
    fc.uniqueArray(one, { selector: (made) => made.name, minLength, maxLength: 5 })
  const spec = fc
    .record(
      { initContainers: unique(container), containers: unique(container, 1), volumes: unique(volume) },
      { requiredKeys: ['containers'] },
    )
    .map((made): PodSpec => {
      const taken = new Set(made.containers.map((one) => one.name))
      return {
        ...made,
        ...(made.initContainers === undefined ? {} : { initContainers: made.initContainers.filter((one) => !taken.has(one.name)) }),
      } as PodSpec
    })
  const optionLabels = fc.dictionary(
    fc.constantFrom(
      'app.poststart.fluid.io/inject',
      'unprivileged.sidecar.fluid.io/inject',
      'cachedir.sidecar.fluid.io/inject',
      'fuse.sidecar.poststart.fluid.io/inject',
    ),
    fc.constantFrom('true', 'false'),
  )
  const objects = [...bound('demo'), ...bound('other', fuseClient('other'))]

  /** What may be different in a container of the pod's author. */
  const plain = ({ volumeMounts = [], lifecycle, ...rest }: Container) => ({
    ...rest,
    mounts: volumeMounts
      .filter((one) => !(one.subPath === 'check-fluid-mount-ready.sh'))
      .map(({ readOnly: _, mountPropagation: __, ...one }) => one),
    isStarted: lifecycle === undefined,
  })

  it('is refused with a sentence, or keeps its containers and is a pod that can be', () => {
    fc.assert(
      fc.property(spec, optionLabels, fc.constantFrom('native-sidecar', 'container'), (made, wanted, mode) => {
        const pod = aPod([], { volumes: [], ...made }, { labels: wanted })
        let after: Pod
        try {
          after = admitted(pod, objects, { mode } as const).pod
        } catch (error) {
          assert.match(String(error), /pods "p" is forbidden: .+: .+/)
          return
        }
        const own = (containers: readonly Container[] = []) =>
          containers.filter((one) => [...(made.containers ?? []), ...(made.initContainers ?? [])].some((other) => other.name === one.name))
        for (const key of ['containers', 'initContainers'] as const) {
          const [before, now] = [made[key] ?? [], own(after.spec?.[key])]
          assert.deepEqual(
            now.map((one) => ({ ...plain(one), isStarted: true })),
            before.map((one) => plain(one)),
          )
        }
        const all = [...(after.spec?.initContainers ?? []), ...(after.spec?.containers ?? [])]
        const volumes = (after.spec?.volumes ?? []).map((one) => one.name)
        assert.equal(new Set(all.map((one) => one.name)).size, all.length, 'names of containers')
        assert.equal(new Set(volumes).size, volumes.length, 'names of volumes')
        for (const one of all) {
          const paths = (one.volumeMounts ?? []).map(({ mountPath }) => mountPath)
          assert.equal(new Set(paths).size, paths.length, 'paths of mounts')
          const isInjected = own([one]).length === 0
          for (const { name: of = '' } of one.volumeMounts ?? []) if (isInjected) assert.ok(volumes.includes(of), `${of} is there`)
        }
        assert.ok(!(after.spec?.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined), 'no claim is left')
        assert.deepEqual(admitted(after, objects, { mode } as const).pod, after, 'once more changes nothing')
      }),
      { numRuns: 300 },
    )
  })
})
