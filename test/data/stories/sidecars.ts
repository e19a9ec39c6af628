/** Pods that bring the client of their dataset along, in the namespace of the dataset and in others. */
import assert from 'node:assert/strict'
import type { CacheRuntimeClass } from '../../../src/kinds/fluid/index.ts'
import { DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS, JOBS, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Container, Pod, PodSpec, Volume } from '../../../src/kinds/kubernetes/types.ts'
import { becomes, eventsOf, isBound, isGone, messageOf, podsOf, there } from '../expectations.ts'
import { aClass, aDataset, another, aReader, aRuntime, componentOf } from '../manifests.ts'
import { aGrant, aNamespace, aReference, copyName, end, guestsOf, isRunning, OFFERED, ownersOf, referTo, SHARED } from '../sharing.ts'
import type { DataArea, DataTestbed, EmbeddedTestbed } from '../story.ts'

interface Injecting {
  name?: string
  claims?: readonly string[]
  labels?: Record<string, string>
  spec?: Partial<PodSpec>
}

/** It stays on the nodes of the story. */
function anInjected(testbed: DataTestbed, { labels = {}, ...reading }: Injecting = {}): Pod {
  const pod = aReader(testbed, reading)
  return { ...pod, metadata: { ...pod.metadata, labels: { 'serverless.fluid.io/inject': 'true', ...labels } } }
}

const names = (of: readonly (Container | Volume)[] = []): string[] => of.map(({ name }) => name ?? '')
const volumeIn = ({ spec }: Pod, name: string): Volume | undefined => spec?.volumes?.find((volume) => volume.name === name)
const claimsIn = ({ spec }: Pod): Volume[] =>
  (spec?.volumes ?? []).filter(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined)
const sidecarsIn = ({ metadata }: Pod): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
      const container = /^dataset-(name|namespace)\.sidecar\.fluid\.io\/(.*)$/.exec(key)
      return container === null ? [] : [[`${container[2]} ${container[1]}`, value] as const]
    }),
  )
const configMapsIn = ({ spec }: Pod): string[] =>
  (spec?.volumes ?? []).flatMap(({ configMap }) => configMap?.name ?? []).filter((name) => name.startsWith('fluid-runtime-config'))

/** Its client mounts, in a directory of the node, as Fluid's do. */
function aMountingClass(testbed: DataTestbed, path = '/runtime-mnt'): CacheRuntimeClass {
  const { topology } = aClass(testbed)
  const client = structuredClone(componentOf('client'))
  const [container] = client.template?.spec?.containers ?? []
  if (container !== undefined && client.template?.spec !== undefined) {
    container.securityContext = { privileged: true }
    container.volumeMounts = [{ name: 'host', mountPath: path, mountPropagation: 'Bidirectional' }]
    client.template.spec.volumes = [{ name: 'host', hostPath: { path, type: 'DirectoryOrCreate' } }]
  }
  return aClass(testbed, { topology: { ...topology, client } })
}

/** And a Secret of its namespace. */
function aSecretClass(testbed: DataTestbed): CacheRuntimeClass {
  const secretive = aMountingClass(testbed)
  const spec = secretive.topology?.client?.template?.spec
  spec?.containers?.[0]?.volumeMounts?.push({ name: 'keys', mountPath: '/keys' })
  spec?.volumes?.push({ name: 'keys', secret: { secretName: 'keys-of-owner' } })
  return secretive
}

/** As `SHARED`, of another class. */
async function shareOf(testbed: DataTestbed, runtimeClass: CacheRuntimeClass): Promise<DataTestbed> {
  const guests = await aNamespace(testbed, 'guests')
  await testbed.create(aGrant(guests.namespace))
  await testbed.create(runtimeClass)
  await testbed.create(aDataset(testbed, { placement: 'Shared' }))
  await testbed.create(aRuntime(testbed))
  await isBound(testbed)
  await referTo(testbed, guests)
  await isBound(guests)
  return guests
}

const scriptsIn = async (testbed: DataTestbed): Promise<string[]> =>
  (await testbed.list(CONFIG_MAPS)).flatMap((map) =>
    /check-mount$|^check-fluid-mount-ready$/.test(map.metadata.name ?? '') ? [`${map.metadata.name}: ${ownersOf(map).join()}`] : [],
  )

/** What was run in containers of pods, but for what caches are asked. */
const ranIn = ({ member }: EmbeddedTestbed): string[] =>
  member.commands.calls.map(({ pod, container, command }) => `${pod} ${container}: ${command.join(' ')}`)

export const sidecars: DataArea = {
  name: 'sidecars',
  stories: [
    {
      name: 'a pod of another namespace has the owner’s client as a sidecar, which knows the dataset by the pod’s own claim',
      isSample: true,
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const pod = await guests.create(anInjected(guests))
        const [sidecar] = pod.spec?.initContainers ?? []
        assert.deepEqual([sidecar?.name, sidecar?.restartPolicy, sidecar?.image], ['fluid-fuse-0', 'Always', 'example.com/client:1'])
        assert.deepEqual([names(pod.spec?.containers), claimsIn(pod)], [['reader'], []])
        assert.deepEqual(sidecarsIn(pod), { 'fluid-fuse-0 name': 'demo', 'fluid-fuse-0 namespace': guests.namespace })
        assert.deepEqual(configMapsIn(pod), [copyName(testbed, 'fluid-runtime-config-demo')])
        assert.equal(pod.metadata.labels?.['done.sidecar.fluid.io/inject'], 'true')
        await isRunning(guests)
        await testbed.settle()
        assert.deepEqual(await podsOf(testbed, 'demo-client'), [], 'its node needs no client')
      },
    },
    {
      name: 'in the old form it is a container beside the pod’s own, and one that waits before init containers that read',
      options: { sidecarMode: 'container' },
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const plain = await guests.create(anInjected(guests))
        assert.deepEqual([plain.spec?.initContainers ?? [], names(plain.spec?.containers)], [[], ['fluid-fuse-0', 'reader']])
        const first = { name: 'first', image: 'first', volumeMounts: [{ name: 'data-demo', mountPath: '/data' }] }
        const both = await guests.create(anInjected(guests, { name: 'both', spec: { initContainers: [first] } }))
        assert.deepEqual(names(both.spec?.initContainers), ['init-fluid-fuse-0', 'first'])
        assert.deepEqual(names(both.spec?.containers), ['fluid-fuse-0', 'reader'])
        const { command, args, restartPolicy } = both.spec?.initContainers?.[0] ?? {}
        assert.deepEqual([command, args, restartPolicy], [['sleep'], ['2s'], undefined])
        for (const name of ['reader', 'both']) await isRunning(guests, name)
      },
    },
    {
      name: 'init containers that read come after the sidecar, and see what it mounts',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const first = { name: 'first', image: 'first', volumeMounts: [{ name: 'data-demo', mountPath: '/data' }] }
        const pod = await guests.create(anInjected(guests, { spec: { initContainers: [first] } }))
        assert.deepEqual(names(pod.spec?.initContainers), ['fluid-fuse-0', 'first'])
        const [, own] = pod.spec?.initContainers ?? []
        assert.equal(own?.volumeMounts?.[0]?.mountPropagation, 'HostToContainer')
      },
    },
    {
      name: 'one and two claims: each has a sidecar of its own, in the order of the claims, of a dataset here and of one elsewhere',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await another(guests, 'aside', { dataset: { placement: 'Shared' } })
        await isBound(guests, 'aside')
        const one = await guests.create(anInjected(guests, { name: 'one', claims: ['aside'] }))
        assert.deepEqual([names(one.spec?.initContainers), configMapsIn(one)], [['fluid-fuse-0'], ['fluid-runtime-config-aside']])
        const two = await guests.create(anInjected(guests, { name: 'two', claims: ['demo', 'aside'] }))
        assert.deepEqual(names(two.spec?.initContainers), ['fluid-fuse-0', 'fluid-fuse-1'])
        assert.deepEqual(configMapsIn(two).sort(), ['fluid-runtime-config-aside', copyName(testbed, 'fluid-runtime-config-demo')].sort())
        assert.deepEqual(sidecarsIn(two), {
          'fluid-fuse-0 name': 'aside',
          'fluid-fuse-0 namespace': guests.namespace,
          'fluid-fuse-1 name': 'demo',
          'fluid-fuse-1 namespace': guests.namespace,
        })
        assert.equal(two.metadata.annotations?.['fluid.io/datasets-in-use'], 'aside,demo')
      },
    },
    {
      name: 'three datasets of one name in a pod: each sidecar is made of the right one',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const third = await aNamespace(testbed, 'third')
        for (const [place, mountPoint] of [
          [third, 's3://third'],
          [guests, 's3://local'],
        ] as const) {
          const name = place === third ? 'demo' : 'local'
          await place.create(aDataset(place, { mounts: [{ mountPoint, name: 'one' }], placement: 'Shared' }, { name }))
          await place.create(aRuntime(place, {}, { name }))
          await isBound(place, name)
        }
        await referTo(third, guests, { name: 'from-third' })
        await isBound(guests, 'from-third')
        const pod = await guests.create(anInjected(guests, { claims: ['demo', 'from-third', 'local'] }))
        const mounted = await Promise.all(
          (pod.spec?.initContainers ?? []).map(async ({ volumeMounts = [] }) => {
            const config = volumeMounts.flatMap(({ name = '' }) => volumeIn(pod, name)?.configMap?.name ?? [])
            const found = config.filter((name) => name.startsWith('fluid-runtime-config'))
            return /s3:\/\/\w+/.exec((await there(guests, CONFIG_MAPS, found.join())).data?.['runtime.json'] ?? '')?.[0]
          }),
        )
        assert.deepEqual(mounted, ['s3://one', 's3://third', 's3://local'])
      },
    },
    {
      name: 'a client that mounts has a directory of the node for each pod, unless the pod says that they share one',
      async run(testbed) {
        const guests = await shareOf(testbed, aMountingClass(testbed, `/runtime-mnt/cache/${testbed.namespace}/demo`))
        const root = `/runtime-mnt/cache/${testbed.namespace}/demo`
        const pathOf = (pod: Pod): string => volumeIn(pod, 'data-demo')?.hostPath?.path ?? ''
        const [a, b] = [await guests.create(anInjected(guests, { name: 'a' })), await guests.create(anInjected(guests, { name: 'b' }))]
        for (const [pod, name] of [
          [a, 'a'],
          [b, 'b'],
        ] as const) {
          assert.match(pathOf(pod), new RegExp(`^${root}/${name}/[^/]+/cache-fuse$`))
          const mount = pod.spec?.initContainers?.[0]?.volumeMounts?.find(({ mountPath }) => mountPath === `${root}/cache-fuse`)
          assert.equal(volumeIn(pod, mount?.name ?? '')?.hostPath?.path, pathOf(pod), 'where the client mounts, the pod looks')
        }
        const fixed = anInjected(guests, { name: 'fixed' })
        const annotations = { 'default.fuse-sidecar.fluid.io/host-mount-path-mode': 'fixed' }
        assert.equal(pathOf(await guests.create({ ...fixed, metadata: { ...fixed.metadata, annotations } })), `${root}/cache-fuse`)
      },
    },
    {
      name: 'a client that needs a Secret of its owner is refused elsewhere by its name, and injected at home',
      async run(testbed) {
        const guests = await shareOf(testbed, aSecretClass(testbed))
        assert.match(
          await messageOf(guests, 'Mirrored'),
          /needs what its namespace alone has \(Secret keys-of-owner\), so no sidecar can be injected/,
        )
        await assert.rejects(guests.create(anInjected(guests)), /needs what its namespace alone has \(Secret keys-of-owner\)/)
        assert.deepEqual(await guests.list(PODS), [])
        await guests.create(aReader(guests, { name: 'plain' }))
        await isRunning(guests, 'plain')
        const own = await testbed.create(anInjected(testbed))
        assert.ok((own.spec?.volumes ?? []).some(({ secret }) => secret?.secretName === 'keys-of-owner'))
      },
    },
    {
      name: 'a copy that somebody gave a Secret is refused by the name of the Secret, too',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const name = copyName(testbed, 'demo-client')
        await testbed.member.stopControllers()
        await guests.update(DAEMON_SETS, name, ({ spec }) => {
          const pod = spec?.template?.spec
          pod?.containers?.[0]?.env?.push({ name: 'KEY', valueFrom: { secretKeyRef: { name: 'mine', key: 'a' } } })
        })
        await assert.rejects(
          guests.create(anInjected(guests)),
          /it needs Secrets of namespace \S+ \(mine\), and no Secret crosses a namespace/,
        )
        await guests.delete(DAEMON_SETS, name)
        await testbed.restart()
        await guests.create(anInjected(guests))
        await isRunning(guests)
      },
    },
    {
      name: 'scripts that wait for a mount come with the first sidecar, belong to the dataset of the claim, and go with it',
      async run(testbed) {
        const guests = await shareOf(testbed, aMountingClass(testbed))
        assert.deepEqual(await scriptsIn(guests), [])
        await guests.create(anInjected(guests, { labels: { 'app.poststart.fluid.io/inject': 'true' } }))
        const pod = await isRunning(guests)
        await testbed.until('both scripts', async () => (await scriptsIn(guests)).length === 2)
        const type = 'cache'
        assert.deepEqual(await scriptsIn(guests), ['check-fluid-mount-ready: demo', `demo-${type}-check-mount: demo`])
        assert.deepEqual(await scriptsIn(testbed), [])
        const postStart = pod.spec?.initContainers?.[0]?.lifecycle?.postStart?.exec?.command ?? []
        assert.deepEqual(postStart.slice(0, 2), ['sh', '/check-mount.sh'])
        const own = pod.spec?.containers?.[0]?.lifecycle?.postStart?.exec?.command
        assert.deepEqual(own, ['sh', '/check-fluid-mount-ready.sh', '/data/demo', type])
        await guests.patch(CONFIG_MAPS, 'check-fluid-mount-ready', { data: { 'check-fluid-mount-ready.sh': 'exit 0' } })
        await testbed.until('as it was', async () => {
          const { data } = await there(guests, CONFIG_MAPS, 'check-fluid-mount-ready')
          return data?.['check-fluid-mount-ready.sh'] !== 'exit 0'
        })
        await end(guests)
        await guests.delete(DATASETS, 'demo')
        await isGone(guests, DATASETS, 'demo')
        await testbed.until('no scripts', async () => (await scriptsIn(guests)).length === 0)
      },
    },
    {
      name: 'a Job that comes before its dataset is bound: its pods are refused, and come by themselves when it is',
      begin: OFFERED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const { metadata, spec } = anInjected(guests, { spec: { restartPolicy: 'Never' } })
        const template = { metadata: { labels: metadata.labels }, spec }
        await guests.create({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'early' }, spec: { template } })
        await testbed.until('it is told why', async () =>
          (await eventsOf(guests, 'FailedCreate', 'early')).some((text) => /failed to get the following PVCs \[demo\]/.test(text)),
        )
        await referTo(testbed, guests)
        await isBound(guests)
        await testbed.pass(120)
        await testbed.until('it is done', async () => (await guests.get(JOBS, 'early'))?.status?.succeeded === 1)
        const [pod] = await guests.list(PODS)
        assert.deepEqual(names(pod?.spec?.initContainers), ['fluid-fuse-0'])
        // Of the Job's controller, for each pod that was refused.
        testbed.member.complaints.length = 0
      },
    },
    {
      name: 'a pod with a sidecar has no claim any more, and holds its dataset and the owner’s all the same, until it ends',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await guests.create(anInjected(guests))
        await isRunning(guests)
        await testbed.delete(DATASETS, 'demo')
        await guests.delete(DATASETS, 'demo')
        await testbed.until('held', async () => /Pod reader in Namespace/.test(await messageOf(guests, 'DeletionHeld')))
        await isRunning(guests)
        await end(guests)
        await isGone(guests, DATASETS, 'demo')
        await isGone(testbed, DATASETS, 'demo')
      },
    },
    {
      name: 'without FUSE the sidecar completes files in a directory of the pod, with a token for this cache and none for the API',
      begin: OFFERED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await testbed.create(
          aDataset(testbed, { placement: 'Shared' }, { name: 'built', annotations: { 'sluice.dev/runtime': 'builtin' } }),
        )
        await isBound(testbed, 'built')
        await guests.create(aReference(testbed, { name: 'built', to: 'built', subPath: '/part' }))
        await isBound(guests, 'built')
        const pod = await guests.create(anInjected(guests, { claims: ['built'] }))
        assert.deepEqual(volumeIn(pod, 'data-built'), { name: 'data-built', emptyDir: {} })
        assert.deepEqual(
          (pod.spec?.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined),
          [],
        )
        assert.equal(pod.spec?.containers?.[0]?.volumeMounts?.[0]?.readOnly, true)
        const [sidecar] = pod.spec?.initContainers ?? []
        assert.equal(sidecar?.env?.find(({ name }) => name === 'SLUICE_SIDECAR_SUB_PATH')?.value, '/part')
        const audiences = (sidecar?.volumeMounts ?? []).flatMap(({ name = '' }) =>
          (volumeIn(pod, name)?.projected?.sources ?? []).flatMap(({ serviceAccountToken }) => serviceAccountToken?.audience ?? []),
        )
        assert.deepEqual(audiences, [`sluice.dev/cache/${testbed.namespace}/built`])
        const account = sidecar?.volumeMounts?.find(({ mountPath }) => mountPath === '/var/run/secrets/kubernetes.io/serviceaccount')
        assert.deepEqual(volumeIn(pod, account?.name ?? '')?.emptyDir, {})
      },
    },
    {
      name: 'a sidecar in the old form is ended when nothing else of its pod runs, and only then',
      options: { sidecarMode: 'container' },
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        testbed.member.commands.script(() => ({}))
        await guests.create(anInjected(guests, { spec: { restartPolicy: 'Never', initContainers: [] } }))
        await isRunning(guests)
        assert.deepEqual(ranIn(testbed), [])
        const running = { running: { startedAt: '2026-01-01T00:00:00Z' } }
        const ended = { terminated: { exitCode: 0 } }
        const one = (name: string, state: object) => ({ name, state, image: name, imageID: '', ready: false, restartCount: 0 })
        const containerStatuses = [one('fluid-fuse-0', running), one('reader', ended)]
        await guests.patch(PODS, 'reader', { status: { phase: 'Running', containerStatuses } }, { subresource: 'status' })
        await testbed.until('it is ended', async () => ranIn(testbed).length > 0)
        await testbed.settle()
        const path = `/runtime-mnt/cache/${testbed.namespace}/demo/cache-fuse`
        // Once for each start of the container, as its node counts them.
        const ran = ranIn(testbed)
        assert.deepEqual([...new Set(ran)], [`reader fluid-fuse-0: umount ${path}`])
        await guests.patch(
          PODS,
          'reader',
          { status: { phase: 'Succeeded', containerStatuses: containerStatuses.map((status) => ({ ...status, state: ended })) } },
          { subresource: 'status' },
        )
        await testbed.settle()
        assert.equal(ranIn(testbed).length, ran.length)
        await becomes(guests, 'Bound')
      },
    },
  ],
}
