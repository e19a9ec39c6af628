import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { ENGINES } from './index.ts'

const OPTIONS = { translates: true, hostPathPrefixes: 'all', version: '1.0.0' } as const
const NONE = { classOf: () => undefined, profileOf: () => undefined }
const dataset: Dataset = {
  apiVersion: 'data.fluid.io/v1alpha1',
  kind: 'Dataset',
  metadata: { namespace: 'web', name: 'images' },
  spec: { mounts: [{ mountPoint: 'dataset://data/images' }] },
}

describe('a dataset that refers to another one', () => {
  for (const { type, resource, serve } of ENGINES)
    it(`is served by no ${resource.kind}`, () => {
      const runtime: KubeObject = { apiVersion: 'data.fluid.io/v1alpha1', kind: resource.kind, metadata: { name: 'images' }, spec: {} }
      const { refused } = serve({ runtime, dataset, ...NONE }, OPTIONS)
      assert.match(refused?.message ?? '', /^dataset mounting another dataset can only use thin runtime: delete /, type)
    })
})
