import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectThere } from '../../faultsim/expect/index.ts'
import { story } from '../../faultsim/story.ts'
import { survives } from '../../faultsim/survives.ts'
import { DATA_BACKUPS, DATA_LOADS, DATA_MIGRATES, DATA_PROCESSES } from '../../kinds/fluid/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { dataBackupController } from './backup/controller.ts'
import { dataLoadController } from './load/controller.ts'
import { dataMigrateController } from './migrate/controller.ts'
import { dataProcessController } from './process/controller.ts'

const dataset = { name: 'demo', namespace: 'default' }
const CASES: [Resource, object, RegExp][] = [
  [DATA_LOADS, { dataset }, /^nothing carries out a DataLoad yet: .*preload/],
  [DATA_MIGRATES, { from: { dataset }, to: { dataset } }, /^nothing carries out a DataMigrate yet: run a Job/],
  [DATA_BACKUPS, { dataset: 'demo', backupPath: 'pvc://backups' }, /^nothing carries out a DataBackup yet/],
  [
    DATA_PROCESSES,
    { dataset: { ...dataset, mountPath: '/data' }, processor: { script: { image: 'busybox', source: 'ls' } } },
    /^nothing carries out a DataProcess yet: run a Job/,
  ],
]
const anOperation = ({ kind }: Resource, spec: object): KubeObject =>
  ({ apiVersion: 'data.fluid.io/v1alpha1', kind, metadata: { namespace: 'default', name: 'op' }, spec }) as KubeObject
const servedIn = ({ status }: KubeObject) =>
  (status as { conditions?: { type: string; status: string; message: string }[] } | undefined)?.conditions?.find(
    ({ type }) => type === 'Served',
  )

describe('data operations that nobody carries out', () => {
  for (const [resource, spec, says] of CASES)
    story(
      `say so, with what to do instead: ${resource.kind}`,
      async (world) => {
        await world.member.create(anOperation(resource, spec))
        await world.settle()
        const found = await expectThere(world.member, resource, 'default/op')
        assert.equal(servedIn(found)?.status, 'False')
        assert.match(servedIn(found)?.message ?? '', says)
        await world.member.delete(resource, 'default/op')
      },
      { hub: false, members: 1 },
    )
})

const scenario = ([resource, spec]: (typeof CASES)[number]) => ({
  nodes: 0,
  steps: [(cluster: Parameters<typeof expectThere>[0]) => cluster.create(anOperation(resource, spec))],
  atRest: async (cluster: Parameters<typeof expectThere>[0]) =>
    assert.equal(servedIn(await expectThere(cluster, resource, 'default/op'))?.status, 'False'),
})
const [load, migrate, backup, process] = CASES as [(typeof CASES)[0], (typeof CASES)[0], (typeof CASES)[0], (typeof CASES)[0]]
survives(dataLoadController, scenario(load))
survives(dataMigrateController, scenario(migrate))
survives(dataBackupController, scenario(backup))
survives(dataProcessController, scenario(process))
