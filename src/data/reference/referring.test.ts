import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ReferenceConsent } from '../../runtime/reference-consent.ts'
import { MOST_FIRST_REFERENCES, MOST_REFERENCES, referencesTo, shownKeys } from './referring.ts'
import { anOriginal, aReference } from './testing.ts'

/** Without grants: what holds then is the mode. */
const readOf = (references: readonly KubeObject[]) => ({
  byIndex: <T extends KubeObject>({ plural }: { plural: string }): T[] => (plural === 'datasets' ? ([...references] as T[]) : []),
})
const found = (references: readonly KubeObject[], more: Partial<Dataset> = {}, mode: ReferenceConsent = 'open') =>
  referencesTo({ ...(anOriginal() as Dataset), ...more }, { read: readOf(references), mode })
const at = (creationTimestamp: string, where: string, more: object = {}): KubeObject => {
  const one = aReference(where)
  return { ...one, metadata: { ...one.metadata, creationTimestamp, ...more } }
}
const GOING = { ...anOriginal().metadata, deletionTimestamp: '2026-01-01T00:00:10Z' }
const listing = (...datasetRef: string[]) => ({ conditions: [], datasetRef })

describe('the references of an original', () => {
  it('are listed sorted, each once, whatever the list said', () => {
    const { listed, holding } = found([aReference('web/b'), aReference('lab/a')], { status: listing('gone/x', 'web/b') })
    assert.deepEqual(
      [listed, holding],
      [
        ['lab/a', 'web/b'],
        ['lab/a', 'web/b'],
      ],
    )
  })

  it('hold it until they are gone, and are listed until they go', () => {
    const { listed, holding } = found([at('', 'web/b', { deletionTimestamp: '2026-01-01T00:00:00Z' })])
    assert.deepEqual([listed, holding], [['web/b'], ['web/b']])
  })

  it('are none without consent; those that had it are named', () => {
    const lost = { ...aReference('web/b'), status: { conditions: [{ type: 'ConsentWithdrawn', status: 'True' }] } }
    const same = aReference('data/own')
    const { listed, holding, withdrawn } = found([lost, aReference('web/a'), same], {}, 'grant')
    assert.deepEqual([listed, holding, withdrawn], [['data/own'], ['data/own'], ['web/b']])
  })

  it('are not the dataset itself', () => assert.deepEqual(found([aReference('data/images')]).listed, []))

  it('do not come to one that is being deleted already', () => {
    const references = [
      at('2026-01-01T00:00:10Z', 'web/before'),
      at('2026-01-01T00:00:11Z', 'web/after'),
      at('2026-01-01T00:00:12Z', 'web/listed'),
    ]
    assert.deepEqual(found(references, { metadata: GOING, status: listing('web/listed') }).holding, ['web/before', 'web/listed'])
  })

  it('stay in a list that is full, whoever comes; there is room for the first of each namespace', () => {
    const old = Array.from({ length: MOST_REFERENCES }, (_, i) => `web/r${i}`)
    const firsts = Array.from({ length: MOST_FIRST_REFERENCES }, (_, i) => `ns-${100 + i}/first`)
    const seen = (listedBefore: readonly string[], more: readonly string[]) =>
      found(
        [...old, ...more].map((where) => aReference(where)),
        { status: listing(...listedBefore) },
      )
    const hoarded = seen(old, ['web/aaa', 'lab/a', 'lab/b'])
    assert.deepEqual(
      [hoarded.listed.filter((key) => !old.includes(key)), hoarded.listed.length, hoarded.unlisted, hoarded.holding.length],
      [['lab/a'], MOST_REFERENCES + 1, 2, MOST_REFERENCES + 3],
    )
    const full = seen([...old, ...firsts], [...firsts, 'aaa/late'])
    assert.deepEqual([full.listed, full.unlisted], [[...old, ...firsts].sort(), 1])
  })

  it('are shown up to a number', () => {
    assert.equal(shownKeys(['a', 'b']), 'a, b')
    assert.match(
      shownKeys(
        Array.from({ length: 12 }, (_, i) => `k${i}`),
        ' ',
      ),
      /^k0 .* k9 and 2 more$/,
    )
  })
})
