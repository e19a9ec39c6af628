import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { s } from '../../src/kinds/schema/builder.ts'
import { defineKind } from '../../src/kinds/schema/define-kind.ts'
import { MODULES } from '../../src/modules.ts'
import { ATTEMPTS } from './attempts.ts'
import { fieldsThatName, keysOfLabels, ownKinds } from './fields.ts'
import { FIELDS, FIELDS_OF_TYPES, type Judgement, KEYS, PLACES_OF_TYPES } from './judgements.ts'

const judged = (judgements: readonly Judgement[]): string[] => judgements.flatMap(({ of }) => of).sort()
const tried = (judgements: readonly Judgement[]): string[] => judgements.flatMap(({ because, of }) => (because === undefined ? of : []))
/** What a message should show: neither side is short. */
const difference = (found: readonly string[], known: readonly string[]) => ({
  new: found.filter((one) => !known.includes(one)),
  gone: known.filter((one) => !found.includes(one)),
  twice: known.filter((one, i) => known.indexOf(one) !== i),
})
const SAME = { new: [], gone: [], twice: [] }

describe('what can name another namespace', () => {
  const found = fieldsThatName()

  it('is judged, each field of each kind of ours', () => {
    assert.ok(ownKinds().length > 25, `${ownKinds().length} kinds are known`)
    assert.deepEqual(difference(found.fields, judged(FIELDS)), SAME)
  })

  it('is judged, each field of a type of Kubernetes that a kind of ours contains', () => {
    assert.deepEqual(difference(found.ofTypes, judged(FIELDS_OF_TYPES)), SAME)
    assert.deepEqual(Object.fromEntries(found.places), PLACES_OF_TYPES)
  })

  it('is judged, each label and annotation', () => {
    assert.deepEqual(difference(keysOfLabels(), judged(KEYS)), SAME)
  })

  it('is tried, unless there is a reason not to', () => {
    const names = new Set(ATTEMPTS.flatMap(({ of }) => of))
    const all = [FIELDS, FIELDS_OF_TYPES, KEYS].flatMap(tried)
    assert.deepEqual(difference(all, [...names]), SAME)
  })

  it('is found where somebody adds it', () => {
    const spec = s.object({
      other: s.object({ namespace: s.string() }),
      childRef: s.string(),
      places: s.map(s.array(s.object({ mountPoint: s.string() }))),
      secret: s.reference({ to: { group: '', kind: 'Secret' } }),
      any: s.anything(),
      claims: s.array(s.kubernetes('PersistentVolumeClaim')),
      size: s.string(),
    })
    const kind = { group: 'example.com', kind: 'New', plural: 'news', scope: 'Namespaced' } as const
    const { fields, places } = fieldsThatName([defineKind({ ...kind, versions: { v1: { schema: s.object({ spec }) } } })])
    assert.deepEqual(fields, [
      'New spec.any',
      'New spec.childRef',
      'New spec.other.namespace',
      'New spec.places{}[].mountPoint',
      'New spec.secret',
    ])
    assert.deepEqual([...places], [['PersistentVolumeClaim', ['New spec.claims[]']]])
  })
})

describe('the roles for users', () => {
  const rules = MODULES.flatMap(({ userRoles = {} }) => Object.values(userRoles)).flatMap((roles) =>
    roles.flatMap((role) => (role as unknown as { rules: { resources: string[]; verbs: string[] }[] }).rules),
  )
  const written = rules
    .filter(({ verbs }) => verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)))
    .flatMap(({ resources }) => resources)

  it('let nobody write a status, a kind without namespaces, or what controllers write', () => {
    const kinds = new Map(ownKinds().map((kind) => [kind.plural, kind]))
    assert.ok(written.includes('datasets'))
    for (const resource of written) {
      const [plural = '', subresource] = resource.split('/')
      assert.ok(subresource === undefined || subresource === 'scale', resource)
      assert.equal(kinds.get(plural)?.scope, 'Namespaced', resource)
    }
    for (const never of ['advancedstatefulsets', 'resourcebindings', 'works', 'referencegrants']) assert.ok(!written.includes(never), never)
  })
})
