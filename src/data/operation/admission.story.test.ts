import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { story } from '../../faultsim/story.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { DATA_LOADS, DATA_PROCESSES } from '../../kinds/fluid/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'

const pod = (image: string) => ({ containers: [{ name: 'c', image, ports: [{ containerPort: 80 }] }] })
const aProcess = (spec: object): KubeObject =>
  ({
    apiVersion: 'data.fluid.io/v1alpha1',
    kind: 'DataProcess',
    metadata: { namespace: 'default', name: 'sample-process' },
    spec: { dataset: { name: 'raw-data', mountPath: '/data', subPath: 'path/to/samples' }, ...spec },
  }) as KubeObject
const runAfter = { operationKind: 'DataLoad', name: 'raw-data-warmup', namespace: 'default' }
const shell = { shell: { scrip: 'set -ex\n' }, image: 'mycode/pypreprocess:latest', serviceAccountName: 'mysa' }

interface Stored {
  runAfter?: object
  processor: { script?: { source: string; image: string }; shell?: object; job?: { podSpec: object } }
}
const specOf = async (cluster: WorldCluster): Promise<Stored> =>
  ((await cluster.get(DATA_PROCESSES, 'default/sample-process')) as unknown as { spec: Stored }).spec
const applied = (cluster: WorldCluster, object: KubeObject) =>
  cluster.client.apply(DATA_PROCESSES, object, { fieldManager: 'ann', force: true })

describe('the words of the design on a server', () => {
  story(
    'are stored with those that Fluid built, however the object is sent, and go with them',
    async (world) => {
      const { member } = world
      await applied(member, aProcess({ processor: shell, runAfter }))
      const first = await specOf(member)
      assert.deepEqual(first.runAfter, { ...runAfter, kind: 'DataLoad' })
      assert.equal(first.processor.script?.image, 'mycode/pypreprocess')
      await member.patch(DATA_PROCESSES, 'default/sample-process', { spec: { processor: { script: { source: 'id' } } } })
      assert.deepEqual((await specOf(member)).processor.shell, { scrip: 'id', script: 'id', restartPolicy: 'Never', command: ['/bin/sh'] })
      await applied(member, aProcess({ processor: { serviceAccountName: 'mysa' }, job: { template: { spec: pod('a') } } }))
      const second = await specOf(member)
      assert.equal(second.runAfter, undefined, 'neither spelling is left')
      assert.equal(second.processor.script, undefined)
      assert.deepEqual(second.processor.job?.podSpec, {
        containers: [{ name: 'c', image: 'a', ports: [{ containerPort: 80, protocol: 'TCP' }] }],
      })
    },
    { hub: false, members: 1 },
  )

  story(
    'are refused as a whole where the design shows both processors',
    async (world) => {
      const both = aProcess({ processor: shell, runAfter, job: { template: { spec: pod('a') } } })
      await assert.rejects(world.member.create(both), /multiple processors: remove either shell or job, or make a DataProcess of each/)
    },
    { hub: false, members: 1 },
  )

  story(
    'may not be said twice and differently, and close no circle',
    async (world) => {
      const { member } = world
      const load = (name: string, after: object): KubeObject =>
        ({
          apiVersion: 'data.fluid.io/v1alpha1',
          kind: 'DataLoad',
          metadata: { namespace: 'default', name },
          spec: { dataset: { name: 'd' }, runAfter: after },
        }) as KubeObject
      await assert.rejects(
        member.create(load('a', { kind: 'DataLoad', operationKind: 'DataMigrate', name: 'b' })),
        /spec\.runAfter\.operationKind: .*give one of the two/,
      )
      await member.create(load('a', { kind: 'DataLoad', name: 'b' }))
      await assert.rejects(
        member.create(load('b', { operationKind: 'DataLoad', name: 'a' })),
        /DataLoad default\/b → DataLoad default\/a → DataLoad default\/b/,
      )
      await member.delete(DATA_LOADS, 'default/a')
    },
    { hub: false, members: 1 },
  )
})
