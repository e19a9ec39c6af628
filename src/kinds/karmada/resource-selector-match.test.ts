import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type ImplicitPriority, implicitPriorityOf } from './resource-selector-match.ts'

type Selector = Parameters<typeof implicitPriorityOf>[0][number]

const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } } }
const by = (fields: Partial<Selector> = {}): Selector => ({ apiVersion: 'apps/v1', kind: 'Deployment', ...fields })

describe('how well selectors fit an object', () => {
  const cases: [string, Selector[], ImplicitPriority][] = [
    ['no selectors', [], 0],
    ['the kind', [by()], 1],
    ['another kind', [by({ kind: 'StatefulSet' })], 0],
    ['another version of the kind', [by({ apiVersion: 'apps/v1beta1' })], 0],
    ['the namespace', [by({ namespace: 'shop' })], 1],
    ['another namespace', [by({ namespace: 'other', name: 'web' })], 0],
    ['labels', [by({ labelSelector: { matchLabels: { app: 'web' } } })], 2],
    ['other labels', [by({ labelSelector: { matchLabels: { app: 'db' } } })], 0],
    ['a selector of everything still is a selector', [by({ labelSelector: {} })], 2],
    ['a malformed selector', [by({ labelSelector: { matchExpressions: [{ key: 'app', operator: 'In' }] } })], 0],
    ['the name', [by({ name: 'web' })], 3],
    ['another name', [by({ name: 'db' })], 0],
    ['the name; labels do not matter then', [by({ name: 'web', labelSelector: { matchLabels: { app: 'db' } } })], 3],
    ['another name, although labels fit', [by({ name: 'db', labelSelector: { matchLabels: { app: 'web' } } })], 0],
    ['empty texts are as absent', [by({ name: '', namespace: '' })], 1],
    ['the best of several', [by(), by({ name: 'web' }), by({ labelSelector: { matchLabels: { app: 'web' } } })], 3],
  ]
  for (const [name, selectors, wanted] of cases) it(name, () => assert.equal(implicitPriorityOf(selectors, web), wanted))

  it('does not depend on the order of selectors', () => {
    const selector = fc.constantFrom(by(), by({ name: 'web' }), by({ name: 'db' }), by({ labelSelector: { matchLabels: { app: 'web' } } }))
    fc.assert(
      fc.property(fc.array(selector), (list) => {
        const best = Math.max(0, ...list.map((one) => implicitPriorityOf([one], web)))
        assert.equal(implicitPriorityOf(list, web), best)
        assert.equal(implicitPriorityOf(list.toReversed(), web), best)
      }),
    )
  })
})
