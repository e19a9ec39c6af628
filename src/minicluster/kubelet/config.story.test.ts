import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aConfigMap } from '../../faultsim/builders/index.ts'
import { aProcessPod, machineOf, processNodes } from '../../faultsim/builders/process-nodes.ts'
import { containerOf, eventsOf, podOf } from '../../faultsim/expect/pods.ts'
import { story } from '../../faultsim/story.ts'
import type { World } from '../../faultsim/world/index.ts'
import { CONFIG_MAPS, PODS } from '../../kinds/kubernetes/resources.ts'

const world = {
  members: 1,
  hub: false,
  controllers: processNodes(
    { serve: {} },
    { apiServer: { host: '127.0.0.1', port: 6443 }, images: new Map([['mapped', '/images/mapped']]) },
  ),
}
const bare = { automountServiceAccountToken: false }

const filesOf = (w: World, part: string): string[] =>
  [...machineOf(w.member).files].filter(([path]) => path.includes(part)).map(([path, text]) => `${path.slice(path.indexOf(part))}=${text}`)

describe('variables of a container', () => {
  story(
    'come from the pod, ConfigMaps and Secrets; a missing one keeps it from starting until it appears',
    async (w) => {
      const env = [
        { name: 'A', value: 'one $(POD_IP) $$(A) $(NOBODY)' },
        { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'B', value: 'at $(POD_IP)' },
        { name: 'KEY', valueFrom: { configMapKeyRef: { name: 'settings', key: 'key' } } },
      ]
      await w.member.create(aProcessPod('default/p', 'serve', bare, { env, args: ['$(KEY)', '$(B)'] }))
      await w.settle()
      const waiting = (await containerOf(w)).state?.waiting
      assert.deepEqual(waiting, { reason: 'CreateContainerConfigError', message: 'configmap "settings" not found' })
      assert.deepEqual(await eventsOf(w), ['Failed: Error: configmap "settings" not found'])
      await w.member.create(aConfigMap('default/settings', { data: { other: 'x' } }))
      await w.settle()
      assert.equal((await containerOf(w)).state?.waiting?.message, "couldn't find key key in ConfigMap default/settings")
      await w.member.update(CONFIG_MAPS, 'default/settings', (object) => {
        object.data = { key: 'value' }
      })
      await w.settle()
      const [spec] = machineOf(w.member).specs
      assert.deepEqual(spec?.command, ['serve', 'value', 'at 127.64.64.2'])
      assert.equal(spec?.env.A, 'one $(POD_IP) $(A) $(NOBODY)')
      assert.equal(spec?.env.HOSTNAME, 'p')
      assert.equal(spec?.env.KUBERNETES_SERVICE_HOST, '127.0.0.1')
      assert.equal(spec?.env.KUBERNETES_SERVICE_PORT, '6443')
    },
    world,
  )
})

describe('volumes of a pod', () => {
  story(
    'wait for what is missing, say so, and follow their sources',
    async (w) => {
      const volumes = [
        { name: 'config', configMap: { name: 'settings', items: [{ key: 'key', path: 'deep/key.txt', mode: 0o400 }] } },
        { name: 'maybe', secret: { secretName: 'nobody', optional: true } },
        { name: 'scratch', emptyDir: {} },
      ]
      const volumeMounts = [
        { name: 'config', mountPath: '/etc/config' },
        { name: 'scratch', mountPath: '/scratch', subPath: 'inner' },
      ]
      await w.member.create(aProcessPod('default/p', 'serve', { ...bare, volumes }, { volumeMounts }))
      await w.settle()
      const { state } = await containerOf(w)
      assert.equal(state?.waiting?.reason, 'ContainerCreating')
      assert.equal(state?.waiting?.message, 'MountVolume.SetUp failed for volume "config" : configmap "settings" not found')
      assert.deepEqual(await eventsOf(w), ['FailedMount: MountVolume.SetUp failed for volume "config" : configmap "settings" not found'])
      assert.equal((await podOf(w)).status?.phase, 'Pending')
      await w.member.create(aConfigMap('default/settings'))
      await w.settle()
      assert.equal((await podOf(w)).status?.phase, 'Running')
      const mounts = machineOf(w.member).specs[0]?.mounts.map(({ source, path, readOnly }) => [
        source.replace(/.*\/pods\/[^/]+/, ''),
        path,
        readOnly,
      ])
      assert.deepEqual(mounts, [
        ['/volumes/config', '/etc/config', true],
        ['/volumes/scratch/inner', '/scratch', false],
        ['/containers/main/termination-0', '/dev/termination-log', false],
        ['/etc/hosts', '/etc/hosts', true],
      ])
      assert.deepEqual(filesOf(w, '/volumes/config'), ['/volumes/config/deep/key.txt=value'])
      await w.member.update(CONFIG_MAPS, 'default/settings', (object) => {
        object.data = { key: 'newer' }
      })
      await w.settle()
      assert.deepEqual(filesOf(w, '/volumes/config'), ['/volumes/config/deep/key.txt=newer'])
      await w.member.delete(CONFIG_MAPS, 'default/settings')
      await w.settle()
      assert.equal((await podOf(w)).status?.phase, 'Running')
    },
    world,
  )

  story(
    'bring a service account token, which is renewed in time and read back after a restart',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'serve'))
      await w.settle()
      const tokenOf = () => filesOf(w, '/token=').concat(filesOf(w, '/token'))[0] ?? ''
      const first = tokenOf()
      assert.match(first, /eyJ/)
      assert.ok(filesOf(w, '/ca.crt').some((file) => file.includes('BEGIN CERTIFICATE')))
      assert.ok(filesOf(w, '/namespace').includes('/namespace=default'))
      await w.advance(40 * 60_000)
      assert.equal(tokenOf(), first)
      await w.advance(10 * 60_000)
      assert.notEqual(tokenOf(), first)
    },
    world,
  )

  story(
    'that nobody here can mount leave the pod waiting with the name of the driver',
    async (w) => {
      const volumes = [{ name: 'far', csi: { driver: 'far.example.com' } }]
      await w.member.create(aProcessPod('default/p', 'serve', { ...bare, volumes }))
      await w.settle()
      const message =
        'MountVolume.SetUp failed for volume "far" : driver name far.example.com not found in the list of registered CSI drivers'
      assert.equal((await containerOf(w)).state?.waiting?.message, message)
      await w.member.delete(PODS, 'default/p')
    },
    world,
  )

  story(
    'that every node has for itself are made in the directory of the node; any other path is the machine’s',
    async (w) => {
      const volumes = [
        { name: 'cache', hostPath: { path: '/runtime-mnt/cache' } },
        { name: 'file', hostPath: { path: '/var/lib/sluice/cache/list', type: 'FileOrCreate' } },
        { name: 'srv', hostPath: { path: '/srv' } },
      ]
      const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }))
      const create = (name: string, nodeName: string) =>
        w.member.create(aProcessPod(`default/${name}`, 'serve', { ...bare, nodeName, volumes }, { volumeMounts }))
      await create('p', 'member1-process-1')
      await create('q', 'member1-process-2')
      await w.settle()
      const sources = machineOf(w.member).specs.map(({ mounts }) => mounts.slice(0, 3).map(({ source }) => source))
      assert.deepEqual(
        sources,
        ['member1-process-1', 'member1-process-2'].map((node) => [
          `/data/nodes/${node}/runtime-mnt/cache`,
          `/data/nodes/${node}/var/lib/sluice/cache/list`,
          '/srv',
        ]),
      )
      assert.ok(machineOf(w.member).files.has('/data/nodes/member1-process-1/var/lib/sluice/cache/list'))
    },
    { ...world, controllers: processNodes({ serve: {} }, { nodes: 2 }) },
  )

  story(
    'in memory have a limit, and are given back when the pod has ended or is gone',
    async (w) => {
      const volumes = [{ name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }]
      const volumeMounts = [{ name: 'm', mountPath: '/m' }]
      await w.member.create(aProcessPod('default/p', 'serve', { ...bare, volumes }, { volumeMounts }))
      await w.member.create(aProcessPod('default/q', 'work', { ...bare, volumes, restartPolicy: 'Never' }, { volumeMounts }))
      await w.advance(500)
      assert.deepEqual([...machineOf(w.member).inMemory.values()], [1024 * 1024, 1024 * 1024])
      assert.ok(((await podOf(w)).status?.conditions ?? []).every(({ type }) => type !== 'sluice.dev/MemoryVolume'))
      await w.advance(5000)
      assert.equal((await podOf(w, 'default/q')).status?.phase, 'Succeeded')
      assert.equal(machineOf(w.member).inMemory.size, 1)
      await w.member.delete(PODS, 'default/p')
      await w.settle()
      assert.equal(machineOf(w.member).inMemory.size, 0)
    },
    { ...world, controllers: processNodes({ serve: {}, work: { runMs: 2000 } }) },
  )

  story(
    'that cannot be in memory are directories, and the pod says so',
    async (w) => {
      const volumes = [{ name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }]
      await w.member.create(aProcessPod('default/p', 'serve', { ...bare, volumes }))
      await w.settle()
      const { status } = await podOf(w)
      const condition = status?.conditions?.find(({ type }) => type === 'sluice.dev/MemoryVolume')
      assert.deepEqual([status?.phase, condition?.status, condition?.reason], ['Running', 'False', 'Refused'])
      assert.match(condition?.message ?? '', /^on disk and without a limit instead of in memory: m\. .*: mount: permission denied$/)
      await w.restartControllers()
      await w.settle()
      assert.deepEqual((await podOf(w)).status, status)
    },
    { ...world, controllers: processNodes({ serve: {} }, { memoryRefusal: 'mount: permission denied' }) },
  )

  story(
    'from a path out of a volume are refused',
    async (w) => {
      const volumes = [{ name: 'scratch', emptyDir: {} }]
      const volumeMounts = [{ name: 'scratch', mountPath: '/x', subPathExpr: '$(WHERE)' }]
      const env = [{ name: 'WHERE', value: '../../etc' }]
      await w.member.create(aProcessPod('default/p', 'serve', { ...bare, volumes }, { volumeMounts, env }))
      await w.settle()
      const { state } = await containerOf(w)
      assert.equal(state?.waiting?.reason, 'CreateContainerConfigError')
      assert.equal(machineOf(w.member).specs.length, 0)
    },
    world,
  )
})

describe('a machine that refuses namespaces', () => {
  story(
    'runs pods without volumes, and tells those with volumes what to allow',
    async (w) => {
      await w.member.create(aProcessPod('default/p', 'serve', bare))
      await w.member.create(aProcessPod('default/q', 'serve'))
      await w.settle()
      assert.equal((await podOf(w)).status?.phase, 'Running')
      assert.deepEqual(machineOf(w.member).specs[0]?.mounts, [])
      const { state } = await containerOf(w, 'main', 'default/q')
      assert.equal(state?.waiting?.reason, 'CreateContainerError')
      assert.match(state?.waiting?.message ?? '', /allow user namespaces/)
    },
    { ...world, controllers: processNodes({ serve: {} }, { namespacesRefusal: 'allow user namespaces' }) },
  )
})
