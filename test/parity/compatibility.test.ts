import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { listIn, listOf } from './compatibility.ts'
import { scenario } from './scenario.ts'
import { SCENARIOS } from './scenarios/index.ts'

const nothing = async (): Promise<void> => undefined

describe('the scenarios', () => {
  it('have names of their own, each under its subject', () => {
    assert.equal(new Set(SCENARIOS.map(({ name }) => name)).size, SCENARIOS.length)
    assert.deepEqual(
      SCENARIOS.filter(({ name }) => !/^[a-z ]+: \S/.test(name)).map(({ name }) => name),
      [],
    )
  })

  it('are at least sixty', () => assert.ok(SCENARIOS.length >= 60))
})

describe('the list of scenarios that differ', () => {
  it('has a row for each, with its reason', () => {
    const list = [scenario('a: one', nothing), scenario('a: two', nothing, { differs: 'so it is' })]
    assert.deepEqual(listOf(list), ['| scenario | why |', '|---|---|', '| a: two | so it is |'])
    assert.deepEqual(listOf(list.slice(0, 1)), ['None.'])
  })

  it('is what docs/compatibility.md says', () => {
    assert.deepEqual(listIn(readFileSync('docs/compatibility.md', 'utf8')), listOf(SCENARIOS))
  })
})
