import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectGone } from '../../../faultsim/expect/index.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { DATASETS, THIN_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import { ReferenceGrant } from '../../../kinds/gateway/reference-grant.ts'
import { PERSISTENT_VOLUMES } from '../../../kinds/kubernetes/resources.ts'
import { datasetController } from '../../dataset/controller.ts'
import { DECLARED } from '../../dataset/testing.ts'
import { aGrant, aReference, createNamespaces, createOriginal, modulesWith, ORIGINAL, phaseIn, REFERENCE, SHARING } from '../testing.ts'
import { referenceDatasetController } from './controller.ts'

describe('data.reference.dataset', () => {
  survives(referenceDatasetController({ referenceConsent: 'grant', ...SHARING }), {
    modules: modulesWith('grant'),
    nodes: 1,
    before: [createNamespaces, createOriginal],
    steps: [
      (cluster) => cluster.create(aReference()),
      (cluster) => cluster.create(aGrant()),
      (cluster) => cluster.delete(THIN_RUNTIMES, REFERENCE),
      (cluster) => cluster.delete(ReferenceGrant.resource, 'data/for-web'),
      (cluster) => cluster.create(aGrant()),
      async (cluster) => {
        assert.equal(await phaseIn(cluster), 'Bound')
        await cluster.delete(DATASETS, ORIGINAL)
        await cluster.delete(DATASETS, REFERENCE)
      },
    ],
    invariants: [
      {
        says: 'an original is there as long as a reference that is bound',
        about: ['datasets'],
        broken: (view) => {
          const reference = view.get('datasets', REFERENCE) as Dataset | undefined
          return reference?.status?.phase === 'Bound' && view.get('datasets', ORIGINAL) === undefined ? 'it is gone' : undefined
        },
      },
      {
        says: 'a reference shows no option of a mount',
        about: ['datasets'],
        broken: (view) => (JSON.stringify(view.get('datasets', REFERENCE) ?? {}).includes('open-sesame') ? 'it does' : undefined),
      },
      {
        says: 'a reference is bound only while the original lists it',
        about: ['datasets'],
        broken(view, { object, previous }) {
          const { status, metadata } = object as Dataset
          const isNew = status?.phase === 'Bound' && (previous as Dataset | undefined)?.status?.phase !== 'Bound'
          if (metadata.namespace !== 'web' || !isNew) return undefined
          const original = view.get('datasets', ORIGINAL) as Dataset | undefined
          return original?.status?.datasetRef?.includes(REFERENCE) === true ? undefined : 'it became bound, and is not in the list'
        },
      },
    ],
    async atRest(cluster) {
      for (const where of [ORIGINAL, REFERENCE]) await expectGone(cluster, DATASETS, where)
      await expectGone(cluster, THIN_RUNTIMES, REFERENCE)
      await expectGone(cluster, PERSISTENT_VOLUMES, 'web-images')
    },
  })
})

describe('data.dataset, of an original', () => {
  survives(datasetController(DECLARED), {
    modules: modulesWith('grant'),
    nodes: 1,
    before: [createNamespaces, createOriginal],
    steps: [
      async (cluster) => {
        await cluster.create(aGrant())
        await cluster.create(aReference())
        await cluster.create(aReference('web/more'))
      },
      (cluster) => cluster.delete(ReferenceGrant.resource, 'data/for-web'),
      (cluster) => cluster.create(aGrant()),
      (cluster) => cluster.delete(DATASETS, ORIGINAL),
      (cluster) => cluster.delete(DATASETS, 'web/more'),
      async (cluster) => {
        assert.equal(await phaseIn(cluster), 'Bound')
        await cluster.delete(DATASETS, REFERENCE)
      },
    ],
    invariants: [
      {
        says: 'an original outlives references that are bound',
        about: ['datasets'],
        broken: (view) => {
          const isBound = [REFERENCE, 'web/more'].some(
            (where) => (view.get('datasets', where) as Dataset | undefined)?.status?.phase === 'Bound',
          )
          return isBound && view.get('datasets', ORIGINAL) === undefined ? 'it is gone' : undefined
        },
      },
    ],
    async atRest(cluster) {
      for (const where of [ORIGINAL, REFERENCE, 'web/more']) await expectGone(cluster, DATASETS, where)
    },
  })
})
