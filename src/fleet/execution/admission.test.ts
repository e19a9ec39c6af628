import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deepClone } from '../../base/json.ts'
import type { AdmissionContext, AdmissionRequest } from '../../kinds/admission.ts'
import type { Work } from '../../kinds/karmada/work.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { workAdmission } from './admission.ts'
import { manifestsOf } from './manifest.ts'
import { aDeployment, aWork } from './testing.ts'

async function admitted(work: unknown): Promise<Work> {
  const object = deepClone(work) as Work
  await workAdmission.mutate?.({ object, operation: 'CREATE' } as unknown as AdmissionRequest, {} as AdmissionContext)
  return object
}

const identified = (work: Work): Work => ({ ...work, metadata: { ...work.metadata, labels: { 'work.karmada.io/permanent-id': 'id' } } })

describe('admission of a Work', () => {
  const deployment = aDeployment('web')
  const full: KubeObject = {
    ...deployment,
    metadata: {
      ...deployment.metadata,
      uid: 'u',
      resourceVersion: '5',
      finalizers: ['f'],
      labels: { z: '1', a: '2' },
      annotations: { 'deployment.kubernetes.io/revision': '3', note: 'x' },
    },
    status: { replicas: 1 },
  }

  it('prunes manifests, gives them the id and lists what is managed', async () => {
    const [manifest] = manifestsOf(await admitted(identified(aWork('w', [full]))))
    assert.deepEqual(manifest?.metadata, {
      name: 'web',
      namespace: 'default',
      labels: { z: '1', a: '2', 'work.karmada.io/permanent-id': 'id' },
      annotations: {
        note: 'x',
        'resourcetemplate.karmada.io/managed-annotations':
          'note,resourcetemplate.karmada.io/managed-annotations,resourcetemplate.karmada.io/managed-labels',
        'resourcetemplate.karmada.io/managed-labels': 'a,work.karmada.io/permanent-id,z',
      },
    })
    assert.equal('status' in (manifest ?? {}), false)
    assert.deepEqual(manifest?.spec, deployment.spec)
  })

  it('changes nothing of what it has been through', async () => {
    const once = await admitted(identified(aWork('w', [full])))
    assert.deepEqual(await admitted(once), once)
  })

  const odd: [string, unknown][] = [
    ['no workload', { ...aWork('w', []), spec: {} }],
    ['manifests that are no list', { ...aWork('w', []), spec: { workload: { manifests: 'x' } } }],
    ['a manifest that is no object', { ...aWork('w', []), spec: { workload: { manifests: [7, null] } } }],
    ['a manifest without metadata', { ...aWork('w', []), spec: { workload: { manifests: [{ kind: 'X' }] } } }],
  ]
  for (const [name, work] of odd) it(`leaves to validation: ${name}`, async () => assert.deepEqual(await admitted(work), work))
})
