/** What goes wrong in Fluid's own controllers, and must not here. Those of operations and references do not apply yet. */
import assert from 'node:assert/strict'
import { CACHE_RUNTIMES, DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import { areRecorded, conditionTexts, eventsOf, isBound, isGone, phaseOf, podsOf, runtimeOf, there, waitsBecause } from '../expectations.ts'
import { aClass, another, aReader, componentOf, serve } from '../manifests.ts'
import { runtimeConfigOf } from '../runtime-config.ts'
import type { DataArea } from '../story.ts'

export const defects: DataArea = {
  name: 'defects that are not repeated',
  stories: [
    {
      name: 'a class that lacks a component is served without it',
      async run(testbed) {
        await serve(testbed, { runtimeClass: aClass(testbed, { topology: { worker: componentOf('worker') } }) })
        await isBound(testbed)
        const config = await runtimeConfigOf(testbed)
        assert.deepEqual([config.master, config.worker?.enabled, config.client], [undefined, true, undefined])
      },
    },
    {
      name: 'a class without any component, and a component without a container, are named',
      async run(testbed) {
        await serve(testbed, { runtimeClass: aClass(testbed, { topology: {} }) })
        await waitsBecause(testbed, /^at least one component should be defined in runtimeClass sample-story$/)
        const empty = { template: { spec: { containers: [] } } }
        await testbed.create({ ...aClass(testbed, { topology: { worker: empty } }), metadata: { name: 'hollow' } })
        await testbed.patch(CACHE_RUNTIMES, 'demo', { spec: { runtimeClassName: 'hollow' } })
        await waitsBecause(testbed, /^component worker must define at least one container$/)
      },
    },
    {
      name: 'resources of the class and memory of tiers are still there after the next look',
      async run(testbed) {
        const worker = componentOf('worker')
        const [container] = worker.template?.spec?.containers ?? []
        const resources = { requests: { cpu: '100m', memory: '1Gi' }, limits: { memory: '2Gi' } }
        const spec = { ...worker.template?.spec, containers: [{ ...container, resources }] }
        const topology = { worker: { ...worker, template: { ...worker.template, spec } } }
        const tieredStore = { levels: [{ processMemory: { quota: '1Gi' } }] }
        await serve(testbed, { runtimeClass: aClass(testbed, { topology }), runtime: { worker: { replicas: 1, tieredStore } } })
        await isBound(testbed)
        const raised = { requests: { cpu: '100m', memory: '2Gi' }, limits: { memory: '3Gi' } }
        const resourcesOf = async () => (await podsOf(testbed, 'demo-worker'))[0]?.spec?.containers?.[0]?.resources
        assert.deepEqual(await resourcesOf(), raised)
        await testbed.patch(CACHE_RUNTIMES, 'demo', { metadata: { labels: { looked: 'at' } } })
        await testbed.restart()
        assert.deepEqual(await resourcesOf(), raised)
      },
    },
    {
      name: 'podMetadata and imagePullSecrets of the whole runtime have an effect',
      async run(testbed) {
        const podMetadata = { labels: { team: 'a' }, annotations: { note: 'all' } }
        const worker = { replicas: 1, podMetadata: { annotations: { note: 'worker' } } }
        await serve(testbed, { runtime: { podMetadata, imagePullSecrets: [{ name: 'registry' }], worker } })
        await isBound(testbed)
        for (const [set, note] of [
          ['demo-master', 'all'],
          ['demo-worker', 'worker'],
        ] as const) {
          const [pod] = await podsOf(testbed, set)
          assert.deepEqual([pod?.metadata.labels?.team, pod?.metadata.annotations?.note], ['a', note])
          assert.deepEqual(pod?.spec?.imagePullSecrets, [{ name: 'registry' }])
        }
      },
    },
    {
      name: 'two runtimes of a class each have their own ConfigMaps: one that goes takes nothing from the other',
      async run(testbed) {
        const extraResources = { configMaps: [{ name: 'scripts', data: { 'run.sh': 'true' } }] }
        const dependencies = { extraResources: { configMaps: [{ name: 'scripts', mountPath: '/scripts' }] } }
        const topology = { worker: componentOf('worker', { dependencies }) }
        await serve(testbed, { runtimeClass: aClass(testbed, { topology, extraResources }) })
        await another(testbed, 'other')
        for (const name of ['demo', 'other']) await isBound(testbed, name)
        await testbed.delete(DATASETS, 'demo')
        await isGone(testbed, CACHE_RUNTIMES, 'demo')
        await isGone(testbed, CONFIG_MAPS, 'demo-scripts')
        assert.deepEqual((await there(testbed, CONFIG_MAPS, 'other-scripts')).data, { 'run.sh': 'true' })
        await isBound(testbed, 'other')
      },
    },
    {
      name: 'a CacheRuntime has a selector and a scale, and says what it is',
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 1 } } })
        await isBound(testbed)
        const { status } = await runtimeOf(testbed)
        assert.deepEqual([status.selector === undefined, status.setupDuration === undefined], [false, false])
        await testbed.patch(CACHE_RUNTIMES, 'demo', { spec: { replicas: 2 } }, { subresource: 'scale' })
        await testbed.settle()
        assert.equal((await podsOf(testbed, 'demo-worker')).length, 2)
      },
    },
    {
      name: 'a dataset is not bound without its volume and claim unnoticed',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        for (const name of ['first', 'second']) {
          await testbed.delete(PERSISTENT_VOLUME_CLAIMS, 'demo')
          await testbed.settle()
          assert.equal((await there(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')).metadata.deletionTimestamp, undefined, name)
        }
        assert.equal(await phaseOf(testbed), 'Bound')
      },
    },
    {
      name: 'a refused pod is not half changed, and leaves nothing behind',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        await assert.rejects(testbed.create(aReader(testbed, { claims: ['demo', 'missing'] })), /PVCs \[missing\]/)
        assert.equal(await testbed.get(PODS, 'reader'), undefined)
        const reader = await testbed.create(aReader(testbed))
        assert.equal(reader.metadata.annotations?.['fluid.io/datasets-in-use'], 'demo')
      },
    },
    {
      name: 'a scale is an event when it is done, and once',
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 1 } } })
        await isBound(testbed)
        assert.deepEqual(await eventsOf(testbed, 'Succeed'), [], 'the first workers are no scale-out')
        for (const replicas of [2, 3]) {
          await testbed.patch(CACHE_RUNTIMES, 'demo', { spec: { worker: { replicas } } })
          await testbed.settle()
        }
        await areRecorded(testbed, 'Succeed', ['Runtime scaled out', 'Runtime scaled out'])
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True'])
      },
    },
  ],
}
