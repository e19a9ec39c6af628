import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dataset, DatasetStatus } from '../../../kinds/fluid/index.ts'
import { THIN_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { RUNTIME_KINDS, type Runtime } from '../../dataset/runtimes.ts'
import { withdrawnText, withheldText } from '../consent.ts'
import { decide } from './decide.ts'
import type { Observed, Original } from './observe.ts'
import { plan } from './plan.ts'
import { MOST_MOUNTS, statusOf } from './status.ts'

const REFERRED = { namespace: 'data', name: 'images', subPath: '' }
const GOING = { deletionTimestamp: '2026-01-01T00:00:00Z' }

const aDataset = (namespace: string, mountPoint: string, status: object = {}, metadata: object = {}): Dataset => ({
  apiVersion: 'data.fluid.io/v1alpha1',
  kind: 'Dataset',
  metadata: { namespace, name: 'images', uid: namespace, ...metadata },
  spec: { mounts: [{ mountPoint }] },
  status: { conditions: [], ...status },
})
const original = (status: object = { phase: 'Bound' }, metadata: object = {}) => aDataset('data', 's3://lake', status, metadata)
const reference = (status: object = {}, metadata: object = {}) => aDataset('web', 'dataset://data/images', status, metadata)
const BOUND = { phase: 'Bound', runtimes: [{ name: 'images', namespace: 'web', category: 'Accelerate', type: 'thin' }] }

function runtime(kind: string, spec: object = {}, metadata: object = {}): Runtime {
  const found = RUNTIME_KINDS.find((one) => one.kind === kind)
  assert.ok(found !== undefined)
  return { ...found, object: { apiVersion: 'data.fluid.io/v1alpha1', kind, metadata: { name: 'images', ...metadata }, spec } as KubeObject }
}
const THIN = runtime('ThinRuntime')

type Permitted = Extract<Original, { isPermitted: true }>
const seen = (of: Dataset | undefined, more: Partial<Permitted> = {}): Permitted => ({
  ...{ isPermitted: true, isEnding: false, dataset: of, isListed: true, mirrorProblem: undefined },
  ...more,
})
const HIDDEN: Original = { isPermitted: false, isEnding: false }
const observed = (more: Partial<Observed> = {}): Observed => ({
  ...{ dataset: reference(), referred: REFERRED, nowMs: 0, runtimes: [THIN], original: seen(original()), isCertain: true },
  ...{ pods: [], taken: undefined, lastFailure: undefined },
  ...more,
})

describe('what a reference is', () => {
  const full = original({ phase: 'Bound', datasetRef: Array.from({ length: 1000 }, (_, i) => `a/${i}`) })
  const withdrawn = reference({ conditions: [{ type: 'ConsentWithdrawn', status: 'True' }] })
  const cases: [string, Partial<Observed>, string, RegExp | undefined][] = [
    ['bound with its original', {}, 'Bound', undefined],
    ['failed with its original', { original: seen(original({ phase: 'Failed' })) }, 'Failed', undefined],
    ['updating with its original', { original: seen(original({ phase: 'Updating' })) }, 'Updating', undefined],
    ['migrating with its original', { original: seen(original({ phase: 'DataMigrating' })) }, 'DataMigrating', undefined],
    [
      'waiting for its original to be bound',
      { original: seen(original({ phase: 'NotBound' })) },
      'waiting',
      /^mounting dataset is not bound to a runtime yet/,
    ],
    [
      'waiting for its original to be looked at',
      { original: seen(original({ phase: 'what is this' })) },
      'waiting',
      /^mounting dataset is not bound/,
    ],
    ['waiting for its original to be created', { original: seen(undefined) }, 'waiting', /^there is no Dataset data\/images/],
    [
      'waiting to be listed',
      { original: seen(original(), { isListed: false }) },
      'waiting',
      /^waits until Dataset data\/images has this one in its list/,
    ],
    [
      'one too many',
      { original: seen(full, { isListed: false }) },
      'waiting',
      /has 1000 references or more, and no room for another of this namespace/,
    ],
    [
      'too late',
      { original: seen(original({ phase: 'Bound' }, GOING), { isListed: false }) },
      'waiting',
      /is being deleted, and takes no new references/,
    ],
    ['early enough', { original: seen(original({ phase: 'Bound' }, GOING)) }, 'Bound', undefined],
    [
      'a chain',
      { original: seen(aDataset('data', 'dataset://far/away', { phase: 'Bound' })) },
      'waiting',
      /references do not chain: mount the dataset that it refers to$/,
    ],
    ['without consent', { original: HIDDEN }, 'waiting', new RegExp(`^${withheldText('web', REFERRED)}$`)],
    [
      'without consent any more',
      { original: HIDDEN, dataset: reference(BOUND) },
      'waiting',
      new RegExp(`^${withdrawnText('web', REFERRED)}$`),
    ],
    ['still without', { original: HIDDEN, dataset: withdrawn }, 'waiting', new RegExp(`^${withdrawnText('web', REFERRED)}$`)],
    [
      'lost with its original',
      { original: seen(undefined), dataset: reference(BOUND) },
      'lost',
      /^Dataset data\/images, to which this one refers, is gone/,
    ],
    [
      'lost with a namespace',
      { original: { ...HIDDEN, isEnding: true }, dataset: reference(BOUND) },
      'lost',
      /^namespace data, .* is being deleted or gone/,
    ],
    [
      'never bound, and its namespace goes',
      { original: { ...HIDDEN, isEnding: true } },
      'waiting',
      /^Dataset data\/images does not exist, or may not be used/,
    ],
    ['without a runtime', { runtimes: [] }, 'waiting', /^its ThinRuntime images is being created$/],
    ['without a runtime that can be made', { runtimes: [], lastFailure: 'no\nquota' }, 'waiting', /cannot be created: no quota$/],
    ['beside a runtime that goes', { runtimes: [runtime('ThinRuntime', {}, GOING)] }, 'waiting', /^waits until ThinRuntime images is gone/],
    [
      'beside a cache',
      { runtimes: [THIN, runtime('CacheRuntime')] },
      'waiting',
      /^dataset mounting another dataset can only use thin runtime: delete CacheRuntime images$/,
    ],
    [
      'with a profile',
      { runtimes: [runtime('ThinRuntime', { profileName: 'nfs' })] },
      'waiting',
      /can only use thin runtime: remove profileName/,
    ],
    ['badly named', { dataset: reference({}, { name: '1' }) }, 'waiting', /^1 cannot be the name of a dataset/],
  ]
  for (const [what, more, is, sentence] of cases)
    it(what, () => {
      const standing = decide(observed(more))
      assert.equal(standing.is === 'mirrored' ? standing.phase : standing.is, is)
      if (sentence !== undefined) assert.match(standing.is === 'mirrored' ? '' : standing.sentence, sentence)
    })
})

describe('the status of a reference', () => {
  const statusFor = (status: Partial<DatasetStatus>, more: Partial<Observed> = {}): DatasetStatus => {
    const one = observed({ original: seen(original({ phase: 'Bound', ...status })), ...more })
    return statusOf(one, decide(one))
  }

  it('repeats no words of another tenant, whatever the original says', () => {
    const types = [
      'Ready',
      'NotReady',
      'Updating',
      'Simulated',
      'Reported',
      'SourcesListed',
      'SecondRuntime',
      'NameTaken',
      'DeletionHeld',
      'Qqq',
    ]
    for (const phase of ['Bound', 'Failed', 'Updating', 'DataMigrating'])
      for (const is of ['True', 'False']) {
        const conditions = types.map((type) => ({ type, status: is, reason: 'qqq', message: 'qqq' }))
        const status = statusFor({
          phase,
          conditions,
          operationRef: { DataLoad: 'qqq' },
          dataLoadRef: 'qqq',
          datasetRef: ['qqq/x'],
        })
        assert.doesNotMatch(JSON.stringify(status), /qqq/, `${phase} ${is}`)
      }
  })

  it('is bounded', () => {
    const long = 'x'.repeat(100_000)
    const status = statusFor({
      mounts: Array.from({ length: 1000 }, () => ({ mountPoint: long, name: long, path: long })),
      ufsTotal: long,
      fileNum: long,
      cacheStates: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${i}${long}`, long])),
      hcfs: { endpoint: long },
    })
    assert.equal(status.mounts?.length, MOST_MOUNTS)
    assert.ok(JSON.stringify(status).length < 200_000)
  })

  it('keeps what was known when the original is lost, and forgets it when it is not bound', () => {
    const dataset = reference({ ...BOUND, ufsTotal: '1GiB', datasetRef: ['a/b'], operationRef: { x: 'y' } })
    const lost = statusFor({}, { dataset, original: seen(undefined) })
    assert.deepEqual([lost.phase, lost.ufsTotal, lost.datasetRef, lost.operationRef], ['Failed', '1GiB', undefined, undefined])
    const waiting = statusFor({}, { dataset, original: HIDDEN })
    assert.deepEqual([waiting.phase, waiting.ufsTotal, waiting.runtimes, waiting.datasetRef], ['NotBound', '', [], undefined])
  })
})

describe('the writes for a reference', () => {
  const OURS = { labels: { 'fluid.io/dataset-id': 'web-images' }, finalizers: ['fluid-dataset-controller-finalizer'] }
  const done = (more: Partial<Observed>) => plan(observed({ dataset: reference({}, OURS), ...more })).actions.map((action) => action.do)
  const cases: [string, Partial<Observed>, string[]][] = [
    ['finalizer and label, before anything else', { dataset: reference() }, ['patch']],
    ['nothing, while a cache is behind', { isCertain: false }, []],
    ['the status', {}, ['patch']],
    ['the status, then a ThinRuntime', { runtimes: [] }, ['patch', 'create']],
    ['no ThinRuntime for one that goes', { runtimes: [], dataset: reference({}, { ...OURS, ...GOING }), pods: ['p'] }, ['patch']],
    ['the finalizer, at last', { dataset: reference({}, { ...OURS, ...GOING }) }, ['patch']],
    ['nothing for one that others hold', { dataset: reference({}, GOING) }, []],
  ]
  for (const [what, more, actions] of cases) it(what, () => assert.deepEqual(done(more), actions))

  it('an empty ThinRuntime that belongs to the reference', () => {
    const create = plan(observed({ dataset: reference({}, OURS), runtimes: [] })).actions.find((action) => action.do === 'create')
    assert.ok(create?.do === 'create' && create.resource === THIN_RUNTIMES)
    assert.deepEqual(create.object.spec, {})
    assert.deepEqual(
      create.object.metadata.ownerReferences?.map(({ uid, controller }) => [uid, controller]),
      [['web', true]],
    )
  })
})
