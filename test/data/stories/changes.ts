/** A runtime, a class or a dataset that changes while it is bound: what runs follows, and nothing moves that need not. */
import assert from 'node:assert/strict'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIME_CLASSES, CACHE_RUNTIMES, DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS, SERVICES } from '../../../src/kinds/kubernetes/resources.ts'
import type { Container } from '../../../src/kinds/kubernetes/types.ts'
import { cacheLabels, isBound, isGone, nodesUnder, phaseOf, podsOf, runtimeOf, there, uidsOf } from '../expectations.ts'
import { aClass, className, componentOf, serve } from '../manifests.ts'
import { runtimeConfigOf } from '../runtime-config.ts'
import type { DataArea, DataTestbed } from '../story.ts'

const change = (testbed: DataTestbed, spec: object): Promise<unknown> => testbed.patch(CACHE_RUNTIMES, 'demo', { spec })

const containerOf = async (testbed: DataTestbed, set = 'demo-worker'): Promise<Container> => {
  const [pod] = await podsOf(testbed, set)
  const container = pod?.spec?.containers?.[0]
  assert.ok(container !== undefined, `${set} has no pod`)
  return container
}

export const changes: DataArea = {
  name: 'changes of the spec',
  stories: [
    {
      name: 'another image is brought into the running pods: they stay, on their nodes',
      isSample: true,
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 2 } } })
        await isBound(testbed)
        await testbed.until('two workers', async () => (await runtimeOf(testbed)).status.worker?.readyReplicas === 2)
        const [uids, nodes] = [await uidsOf(testbed, 'demo-worker'), await nodesUnder(testbed, 'demo-worker')]
        await change(testbed, { worker: { runtimeVersion: { image: 'example.com/worker', imageTag: '2' } } })
        await testbed.until('the new image', async () =>
          (await podsOf(testbed, 'demo-worker')).every(({ spec }) => spec?.containers?.[0]?.image === 'example.com/worker:2'),
        )
        assert.deepEqual([await uidsOf(testbed, 'demo-worker'), await nodesUnder(testbed, 'demo-worker')], [uids, nodes])
        assert.equal(await phaseOf(testbed), 'Bound')
      },
    },
    {
      name: 'an image without a tag changes nothing',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        await change(testbed, { worker: { runtimeVersion: { image: 'example.com/other' } } })
        await testbed.settle()
        assert.equal((await containerOf(testbed)).image, 'example.com/worker:1')
      },
    },
    {
      name: 'other resources: the pods are made again, one after the other, and the dataset stays bound',
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 2 } } })
        await isBound(testbed)
        const before = await uidsOf(testbed, 'demo-worker')
        await change(testbed, { worker: { resources: { requests: { cpu: '500m' } } } })
        await testbed.settle()
        for (const pod of await podsOf(testbed, 'demo-worker'))
          assert.deepEqual(pod.spec?.containers?.[0]?.resources, { requests: { cpu: '500m' } })
        const after = await uidsOf(testbed, 'demo-worker')
        assert.deepEqual(Object.keys(after), Object.keys(before))
        assert.equal(await phaseOf(testbed), 'Bound')
      },
    },
    {
      name: 'what is taken back is taken back: arguments, selectors, resources',
      async run(testbed) {
        const said = { args: ['--fast'], resources: { requests: { cpu: '1' } }, nodeSelector: { 'kubernetes.io/os': 'linux' } }
        await serve(testbed, { runtime: { worker: { replicas: 1, ...said } } })
        await isBound(testbed)
        assert.deepEqual((await containerOf(testbed)).args, ['--fast'])
        await change(testbed, { worker: { args: null, resources: null, nodeSelector: null } })
        await testbed.settle()
        const { args, resources } = await containerOf(testbed)
        assert.deepEqual([args, resources?.requests], [undefined, undefined])
        assert.equal((await podsOf(testbed, 'demo-worker'))[0]?.spec?.nodeSelector?.['kubernetes.io/os'], undefined)
        await isBound(testbed)
      },
    },
    {
      name: 'other tiers: volumes, runtime.json and the labels of nodes follow',
      async run(testbed) {
        const tiers = (quota: string) => ({ tieredStore: { levels: [{ processMemory: { quota } }] } })
        await serve(testbed, { runtime: { worker: { replicas: 1, ...tiers('1Gi') } } })
        await isBound(testbed)
        await change(testbed, { worker: tiers('4Gi') })
        await testbed.settle()
        const [pod] = await podsOf(testbed, 'demo-worker')
        const memory = pod?.spec?.volumes?.find(({ emptyDir }) => emptyDir?.medium === 'Memory')
        assert.equal(memory?.emptyDir?.sizeLimit, '4Gi')
        assert.deepEqual((await runtimeConfigOf(testbed)).worker?.tieredStoreLevels?.[0]?.quotas, ['4Gi'])
        const [node = ''] = await nodesUnder(testbed, 'demo-worker')
        assert.equal((await cacheLabels(testbed, node))['fluid.io/s-h-cache-m-default-demo'], '4GiB')
        await isBound(testbed)
      },
    },
    {
      name: 'options reach runtime.json: those of the component win over the runtime’s, and these over the class’s',
      async run(testbed) {
        const runtimeClass = aClass(testbed)
        const worker = componentOf('worker', { options: { a: 'class', b: 'class', c: 'class' } })
        await serve(testbed, { runtimeClass: { ...runtimeClass, topology: { ...runtimeClass.topology, worker } } })
        await isBound(testbed)
        const before = await uidsOf(testbed, 'demo-worker')
        await change(testbed, { options: { b: 'runtime', c: 'runtime' }, worker: { options: { c: 'worker' } } })
        await testbed.settle()
        assert.deepEqual((await runtimeConfigOf(testbed)).worker?.options, { a: 'class', b: 'runtime', c: 'worker' })
        assert.deepEqual(await uidsOf(testbed, 'demo-worker'), before, 'no pod is made again for it')
      },
    },
    {
      name: 'a component that is switched off goes, with its Service, and comes back',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        await change(testbed, { master: { disabled: true } })
        await isGone(testbed, ADVANCED_STATEFUL_SETS, 'demo-master')
        await isGone(testbed, SERVICES, 'svc-demo-master')
        await isBound(testbed)
        const { status } = await runtimeOf(testbed)
        assert.deepEqual([status.master, status.conditions?.some(({ type }) => type === 'MasterReady')], [undefined, false])
        await change(testbed, { master: { disabled: false } })
        await isBound(testbed)
        await testbed.settle()
        assert.equal((await podsOf(testbed, 'demo-master')).length, 1)
      },
    },
    {
      name: 'a class that changes: the pods of its runtimes follow',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        const { template } = componentOf('client')
        const spec = { ...template?.spec, containers: [{ name: 'client', image: 'example.com/client:9' }] }
        await testbed.patch(CACHE_RUNTIME_CLASSES, className(testbed), { topology: { client: { template: { spec } } } })
        await testbed.settle()
        const set = await there(testbed, DAEMON_SETS, 'demo-client')
        assert.equal(set.spec?.template?.spec?.containers?.[0]?.image, 'example.com/client:9')
        assert.equal(await phaseOf(testbed), 'Bound')
      },
    },
    {
      name: 'what somebody changes in the objects of a runtime is put right',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        const config = await there(testbed, CONFIG_MAPS, 'fluid-runtime-config-demo')
        await testbed.patch(CONFIG_MAPS, 'fluid-runtime-config-demo', { data: { 'runtime.json': '{}' } })
        await testbed.patch(ADVANCED_STATEFUL_SETS, 'demo-worker', { spec: { replicas: 3 } })
        await testbed.settle()
        assert.deepEqual((await there(testbed, CONFIG_MAPS, 'fluid-runtime-config-demo')).data, config.data)
        assert.equal((await there(testbed, ADVANCED_STATEFUL_SETS, 'demo-worker')).spec.replicas, 1)
        await testbed.delete(CONFIG_MAPS, 'fluid-runtime-config-demo')
        await testbed.settle()
        await there(testbed, CONFIG_MAPS, 'fluid-runtime-config-demo')
      },
    },
    {
      name: 'an object of somebody else under a name that the runtime needs is left alone, and named',
      async run(testbed) {
        await testbed.create({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'fluid-runtime-config-demo' },
          data: { mine: 'yes' },
        })
        await serve(testbed)
        await testbed.until('it says so', async () => {
          const { conditions = [] } = (await testbed.get(CACHE_RUNTIMES, 'demo'))?.status ?? {}
          return /^ConfigMap fluid-runtime-config-demo exists and was not made for this runtime: delete it/.test(
            conditions[0]?.message ?? '',
          )
        })
        await testbed.settle()
        assert.deepEqual((await there(testbed, CONFIG_MAPS, 'fluid-runtime-config-demo')).data, { mine: 'yes' })
        await testbed.delete(CONFIG_MAPS, 'fluid-runtime-config-demo')
        await isBound(testbed)
      },
    },
    {
      name: 'an encrypted option is a path in runtime.json: no value of a Secret is copied anywhere',
      async run(testbed) {
        await testbed.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { key: 'very-secret' } })
        const encryptOptions = [{ name: 'aws.secretKey', valueFrom: { secretKeyRef: { name: 'keys', key: 'key' } } }]
        await serve(testbed, { dataset: { mounts: [{ mountPoint: 's3://one', name: 'one', encryptOptions }] } })
        await isBound(testbed)
        const { mounts } = await runtimeConfigOf(testbed)
        assert.deepEqual(mounts[0]?.encryptOptions, { 'aws.secretKey': '/etc/fluid/secrets/keys/key' })
        const [pod] = await podsOf(testbed, 'demo-worker')
        assert.ok(pod?.spec?.volumes?.some(({ secret }) => secret?.secretName === 'keys'))
        const all = [...(await testbed.list(CONFIG_MAPS)), ...(await testbed.list(DATASETS)), ...(await podsOf(testbed, 'demo-worker'))]
        assert.ok(!JSON.stringify(all).includes('very-secret'))
      },
    },
  ],
}
