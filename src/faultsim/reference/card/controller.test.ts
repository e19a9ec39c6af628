import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aCard, aGreeting } from '../builders.ts'
import type { Card, Greeting } from '../kinds.ts'
import { plan } from './controller.ts'

const card = (usedBy?: string[]): Card => ({
  ...aCard('default/red'),
  ...(usedBy === undefined ? {} : { status: { usedBy: usedBy.map((name) => ({ name, uid: `u-${name}`, generation: 1 })) } }),
})
const greeting = (name: string): Greeting => {
  const object = aGreeting(`default/${name}`)
  return { ...object, metadata: { ...object.metadata, uid: `u-${name}`, generation: 1 } }
}
const going = { ...card(), metadata: { ...card().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }

describe('the plan for a card', () => {
  const table: [string, Card | undefined, string[], string[] | undefined][] = [
    ['nothing without a card', undefined, ['a'], undefined],
    ['nothing for one that goes', going, ['a'], undefined],
    ['the empty list is said too', card(), [], []],
    ['whoever names it, by name', card(), ['b', 'a'], ['a', 'b']],
    ['nothing when it says so already', card(['a', 'b']), ['b', 'a'], undefined],
    ['who left is not kept', card(['a', 'b']), ['b'], ['b']],
  ]
  for (const [name, of, greetings, expected] of table)
    it(name, () => {
      const [action] = plan({ card: of, greetings: greetings.map(greeting) }).actions
      const written = action?.do === 'patch' ? (action.patch as { status: { usedBy: { name: string }[] } }).status.usedBy : undefined
      assert.deepEqual(
        written?.map((use) => use.name),
        expected,
      )
    })
})
