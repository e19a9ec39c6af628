import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DATASETS } from '../../../kinds/fluid/resources.ts'
import { ReferenceGrant } from '../../../kinds/gateway/reference-grant.ts'
import { CONFIG_MAPS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { keyOfRef } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import type { ReferenceConsent } from '../../../runtime/reference-consent.ts'
import { storedReader } from '../../../runtime/testing.ts'
import { aGrant, anOriginal, aReference, SHARING } from '../testing.ts'
import { referenceMirrorController } from './controller.ts'
import { MIRROR_OF, MIRROR_SOURCE } from './mirror.ts'

const REFERENCES = ['web/c', 'web/a', 'web/b', 'lab/y', 'lab/x']
const going = (where: string): KubeObject => {
  const one = aReference(where)
  return { ...one, metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
}
const other = aReference('web/0', 'dataset://data/others')

/** Whom a change makes look again. */
function keysOf(
  { resource, object }: { resource: Resource; object: KubeObject },
  { datasets, grants = [], mode = 'open' }: { datasets: readonly KubeObject[]; grants?: KubeObject[]; mode?: ReferenceConsent },
): string[] {
  const controller = referenceMirrorController({ referenceConsent: mode, ...SHARING })
  const read = storedReader(controller, [
    [DATASETS as Resource, [anOriginal(), ...datasets]],
    [ReferenceGrant.resource as Resource, grants],
  ])
  const watches = (controller.watches ?? []).filter((watch) => watch.resource === resource)
  return [...new Set(watches.flatMap((watch) => watch.keysFor(object, read)).map(keyOfRef))].sort()
}

const all = REFERENCES.map((where) => aReference(where))
const config: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    namespace: 'data',
    name: 'fluid-runtime-config-images',
    ownerReferences: [{ apiVersion: 'data.fluid.io/v1alpha1', kind: 'CacheRuntime', name: 'images', uid: 'u', controller: true }],
  },
}
const copy: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    namespace: 'web',
    name: 'copied',
    labels: { [MIRROR_OF]: 'h' },
    annotations: { [MIRROR_SOURCE]: 'data/images' },
    ownerReferences: ['a', 'b', 'c'].map((name) => ({ apiVersion: 'data.fluid.io/v1alpha1', kind: 'Dataset', name, uid: name })),
  },
}
const ofConfig = { resource: CONFIG_MAPS as Resource, object: config }
const ofCopy = { resource: CONFIG_MAPS as Resource, object: copy }
const ofReference = (where: string) => ({ resource: DATASETS as Resource, object: aReference(where) })

/** With a thousand that share copies, nothing may depend on how many there are. */
describe('of references that share copies', () => {
  it('one in each namespace looks again when what is copied changes', () =>
    assert.deepEqual(keysOf(ofConfig, { datasets: [...all, other] }), ['lab/x', 'web/a']))

  it('one looks again when a copy changes', () => assert.deepEqual(keysOf(ofCopy, { datasets: all }), ['web/a']))

  it('one looks again when another one comes or goes, also if that is the one itself', () => {
    assert.deepEqual(keysOf(ofReference('web/c'), { datasets: all }), ['web/a'])
    assert.deepEqual(keysOf(ofReference('web/a'), { datasets: all.filter(({ metadata }) => metadata.name !== 'a') }), ['web/b'])
    assert.deepEqual(keysOf(ofReference('web/a'), { datasets: [going('web/a'), aReference('web/b')] }), ['web/b'])
  })

  it('nobody does where it was the last', () => assert.deepEqual(keysOf(ofReference('web/a'), { datasets: [other] }), []))

  it('only those with consent do', () =>
    assert.deepEqual(keysOf(ofConfig, { datasets: all, grants: [aGrant('lab')], mode: 'grant' }), ['lab/x']))

  it('all that a copy belongs to do when none of them may have it any more', () =>
    assert.deepEqual(keysOf(ofCopy, { datasets: all, mode: 'grant' }), ['web/a', 'web/b', 'web/c']))
})
