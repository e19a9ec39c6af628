import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aWorld } from '../../faultsim/world/index.ts'
import type { AdmissionContext } from '../../kinds/admission.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { data } from '../module.ts'
import { inlineVolumes } from './inline-volumes.ts'

const aPod = (driver: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'p' },
  spec: {
    containers: [{ name: 'c', image: 'i' }],
    volumes: [
      { name: 'scratch', emptyDir: {} },
      { name: 'files', csi: { driver, volumeAttributes: { fluid_path: '/runtime-mnt/x' } } },
    ],
  },
})

describe('inline volumes of datasets', () => {
  it('are forbidden, those of others are not', () => {
    const problemsOf = (driver: string) => inlineVolumes.validate?.(aPod(driver), 'default', {} as AdmissionContext)
    assert.deepEqual(problemsOf('other.csi.example.com'), [])
    const [problem, ...more] = problemsOf('fuse.csi.fluid.io') ?? []
    assert.deepEqual([problem?.type, problem?.field, more], ['Forbidden', 'spec.volumes[1].csi.driver', []])
    assert.match(problem?.detail ?? '', /could reach data of any namespace: use a persistentVolumeClaim instead$/)
  })

  it('are refused by the server of a member', async () => {
    const world = await aWorld({ hub: false, members: 1, nodes: 1 }).settle()
    await assert.rejects(
      world.member.create(aPod('fuse.csi.fluid.io')),
      /spec\.volumes\[1\]\.csi\.driver: Forbidden: inline volumes of driver fuse\.csi\.fluid\.io are refused/,
    )
    await world.stop()
  })

  it('cost no webhook for every pod on Kubernetes', () => {
    const isAsked = (translates: boolean): boolean =>
      data
        .with({ translates })
        .admission('member')
        .some(({ name }) => name === 'DatasetInlineVolumes')
    assert.deepEqual([isAsked(true), isAsked(false)], [true, false])
  })
})
