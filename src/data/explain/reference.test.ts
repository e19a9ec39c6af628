import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FORBIDDEN } from '../../client/read-as-caller.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { withdrawnText, withheldText } from '../reference/consent.ts'
import { commandsFor } from './commands.ts'
import { explainDataset } from './dataset.ts'
import type { DatasetInput } from './input.ts'
import { explainPod } from './pod.ts'
import { aClaim, aDataset, anInput, aPod, aRuntime, BOUND, served, textOf, unschedulable } from './testing.ts'

const ORIGINAL = { namespace: 'data', name: 'images' }
const MOUNTS = { mounts: [{ mountPoint: 'dataset://data/images/cats' }] }
const said = (type: string, status: string, message: string) => ({ type, status, reason: 'R', message })
const referring = (status: object = BOUND): Dataset => aDataset(status, MOUNTS)
const waiting = (message: string, ...more: object[]): Dataset =>
  referring({ phase: 'NotBound', conditions: [said('NotReady', 'True', message), ...more] })
const explained = (more: Partial<DatasetInput>) =>
  explainDataset(anInput({ runtimes: [aRuntime(served('True', 'Served'), 'ThinRuntime')], ...more }))
const linesOf = (more: Partial<DatasetInput>, what: RegExp): string[] => textOf(explained(more)).filter((line) => what.test(line))

describe('why a dataset that refers to another one is bound, or not', () => {
  it('names the original, and where to ask further', () => {
    const original = aDataset(BOUND)
    assert.deepEqual(linesOf({ dataset: referring(), original }, /original|it is|sources/), [
      '  1.50GiB at its sources, 7 files, 300.00MiB cached',
      '✓ original: Dataset data/images, of which it is cats',
      '  it is Bound: sluice why dataset/images -n data',
    ])
    assert.equal(explained({ dataset: referring(), original }).trouble, undefined)
    const repeated = { ...served('True', 'Served'), desiredMasterNumberScheduled: 1, desiredWorkerNumberScheduled: 2 }
    const runtimes = [aRuntime(repeated, 'ThinRuntime')]
    assert.deepEqual(linesOf({ dataset: referring(), original, runtimes }, /master|worker/), [], 'its pods are those of the original')
  })

  for (const text of [withheldText('shop', ORIGINAL), withdrawnText('shop', ORIGINAL)])
    it(`asks for consent: ${text.slice(0, 50)}…`, () => {
      const lost = text === withheldText('shop', ORIGINAL) ? [] : [said('ConsentWithdrawn', 'True', text)]
      const dataset = waiting(text, ...lost)
      // Whoever may read both namespaces, one, or an original that is not there: the same.
      const all = [undefined, FORBIDDEN, aDataset(BOUND)].map((original) => {
        const { links, trouble } = explained({ dataset, original: original as DatasetInput['original'] })
        return JSON.stringify([links, trouble])
      })
      assert.equal(new Set(all).size, 1)
      assert.match(all[0] ?? '', /"what":"consent","state":"waits"/)
      assert.match(explained({ dataset }).trouble?.fix ?? '', /^ask whoever owns namespace data for a ReferenceGrant/)
    })

  it('asks for consent, too, when its runtime waits for it', () => {
    const dataset = waiting(withheldText('shop', ORIGINAL))
    const runtimes = [
      aRuntime(served('False', 'NotBound', 'Dataset demo is not bound: its conditions say what it waits for'), 'ThinRuntime'),
    ]
    assert.deepEqual(linesOf({ dataset, runtimes }, /runtime:/), ['… runtime: ThinRuntime demo waits until its Dataset is bound'])
    assert.match(explained({ dataset, runtimes }).trouble?.fix ?? '', /^ask whoever owns namespace data for a ReferenceGrant/)
  })

  it('is what a pod waits for whose claim was taken back, and it says whom to ask', () => {
    const withdrawn = withdrawnText('shop', ORIGINAL)
    const dataset = waiting(withdrawn, said('ConsentWithdrawn', 'True', withdrawn))
    const going = aClaim()
    const claim = { ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    const pod = aPod('late', unschedulable('0/7 nodes are available: persistentvolumeclaim "demo" is being deleted.'), {}, ['demo'])
    const why = (of: Dataset) =>
      explainPod({ pod, volumes: [{ name: 'demo', claim, dataset: of }], commands: commandsFor('shop', undefined) })
    assert.match(textOf(why(dataset)).join('\n'), /… volume: claim demo: namespace shop may not use Dataset data\/images any more/)
    assert.match(why(dataset).trouble?.fix ?? '', /^ask whoever owns namespace data for a ReferenceGrant/)
    // Consent was given again, and the pods of before still have the claim.
    assert.match(textOf(why(referring())).join('\n'), /… volume: claim demo is being deleted; Dataset demo is Bound/)
    assert.match(
      why(referring()).trouble?.fix ?? '',
      /^wait until the pods that use claim demo have ended, or delete them: kubectl describe/,
    )
  })

  it('says what it waits for, and nothing of an original that the caller may not read', () => {
    const dataset = waiting('mounting dataset is not bound to a runtime yet')
    assert.deepEqual(linesOf({ dataset, original: FORBIDDEN }, /original|read by you/), [
      '… original: mounting dataset is not bound to a runtime yet',
      '  it may not be read by you',
    ])
    assert.match(
      explained({ dataset, original: aDataset({ phase: 'NotBound' }) }).trouble?.fix ?? '',
      /sluice why dataset\/images -n data$/,
    )
  })
})

describe('why an original is as it is', () => {
  it('names who refers to it, and who may no more', () => {
    const datasetRef = Array.from({ length: 30 }, (_, i) => `web/r${i}`)
    const conditions = [...BOUND.conditions, said('ConsentWithdrawn', 'True', 'consent was withdrawn from lab/x')]
    const lines = linesOf({ dataset: aDataset({ ...BOUND, datasetRef, conditions }) }, /refer|web\/r0|lab|more/)
    assert.equal(lines[0], '✓ references: 30 datasets refer to it')
    assert.ok(lines.some((line) => /and \d+ more/.test(line)) && lines.includes('  consent was withdrawn from lab/x'))
  })

  it('says whom its deletion waits for', () => {
    const conditions = [{ ...said('DeletionHeld', 'True', 'Datasets lab/x, web/images refer to it'), reason: 'DatasetsUseIt' }]
    const dataset = aDataset({ ...BOUND, datasetRef: ['web/images'], conditions })
    const going = { ...dataset, metadata: { ...dataset.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    assert.match(explained({ dataset: going }).trouble?.fix ?? '', /first kubectl delete dataset\/images -n web$/)
    assert.ok(
      textOf(explained({ dataset: going })).includes('  Datasets lab/x, web/images refer to it'),
      'all that hold it, with their namespaces',
    )
    assert.deepEqual(linesOf({ dataset: going, claim: undefined }, /volume/), ['… volume: its claim is gone already'])
  })
})
