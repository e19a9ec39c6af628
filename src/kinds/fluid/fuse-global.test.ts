import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../../kube/meta.ts'
import { isFuseGlobal } from './fuse-global.ts'

const runtime = (spec: unknown, annotation?: string, kind = 'AlluxioRuntime'): KubeObject =>
  ({
    ...{ apiVersion: 'data.fluid.io/v1alpha1', kind, spec },
    metadata: { name: 'demo', ...(annotation === undefined ? {} : { annotations: { 'sluice.dev/fuse-global': annotation } }) },
  }) as KubeObject

describe('clients are global', () => {
  const CASES: [string, KubeObject, boolean][] = [
    ['by default', runtime({}), true],
    ['without a spec', runtime(undefined), true],
    ['not when the field says so', runtime({ fuse: { global: false } }), false],
    ['not when the annotation says so', runtime({}, 'false', 'CacheRuntime'), false],
    ['when the field wins', runtime({ fuse: { global: true } }, 'false'), true],
    ['when the annotation is no answer', runtime({}, 'no'), true],
    ['when the field is none', runtime({ fuse: 'x' }), true],
    ['when no node is labelled for workers', runtime({ fuse: { global: false } }, 'false', 'ThinRuntime'), true],
  ]
  for (const [name, object, expected] of CASES) it(name, () => assert.equal(isFuseGlobal(object), expected))
})
