import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { ENGINES } from './index.ts'

const apiVersion = 'data.fluid.io/v1alpha1'

function refusalOf(name: string): string | undefined {
  const metadata = { namespace: 'tenant', name, uid: 'u' }
  const spec = { profileName: 'nfs', worker: { enabled: true } }
  const profile: KubeObject = {
    ...{ apiVersion, kind: 'ThinRuntimeProfile', metadata: { name: 'nfs' } },
    spec: { fileSystemType: 'nfs', fuse: { image: 'i', imageTag: 't' }, worker: { image: 'i', imageTag: 't' } },
  }
  const served = ENGINES.find(({ type }) => type === 'thin')?.serve(
    {
      runtime: { apiVersion, kind: 'ThinRuntime', metadata, spec } as KubeObject,
      dataset: { apiVersion, kind: 'Dataset', metadata, spec: { mounts: [{ mountPoint: 'nfs:///a', name: 'a' }] } } as Dataset,
      classOf: () => undefined,
      profileOf: () => profile,
    },
    { translates: false, hostPathPrefixes: 'all', version: '1' },
  )
  assert.ok(served)
  return served.refused?.message
}

it('a runtime whose workers no server would take says how long its name may be', () => {
  assert.equal(refusalOf('a'.repeat(45)), undefined)
  assert.match(refusalOf('a'.repeat(60)) ?? 'served', /a-worker, which is too long: make .* under a name of at most 45 characters$/)
})
