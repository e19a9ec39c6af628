import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { byPlace, columnsOf, joinedColumns, rowsOf, type ServerTable, tableOf } from './table.ts'

const TABLE: ServerTable = {
  kind: 'Table',
  columnDefinitions: [{ name: 'Name' }, { name: 'Ready', priority: 0 }, { name: 'Node', priority: 1 }],
  rows: [
    { cells: ['web', 1, null], object: { metadata: { name: 'web', namespace: 'default', labels: { 'karmada.io/managed': 'true' } } } },
    {
      cells: ['own', true, { a: 1 }],
      object: { metadata: { name: 'own', namespace: 'default', labels: { 'karmada.io/managed': 'false' } } },
    },
    { cells: ['bare'], object: null },
  ],
}
const columns = columnsOf(TABLE)
const rows = rowsOf('member1', TABLE, columns)

describe('one table of many', () => {
  it('has the columns of servers between cluster and adoption', () => {
    assert.deepEqual(tableOf(rows, columns, { isWide: false, showsNamespace: false }), [
      ['CLUSTER', 'NAME', 'READY', 'ADOPTION'],
      ['member1', 'web', '1', 'Y'],
      ['member1', 'own', 'true', 'N'],
      ['member1', 'bare', '', 'N'],
    ])
  })

  it('has all of them when wide, and namespaces where they tell something apart', () => {
    assert.deepEqual(tableOf(rows, columns, { isWide: true, showsNamespace: true }).slice(0, 3), [
      ['CLUSTER', 'NAMESPACE', 'NAME', 'READY', 'NODE', 'ADOPTION'],
      ['member1', 'default', 'web', '1', '', 'Y'],
      ['member1', 'default', 'own', 'true', '{"a":1}', 'N'],
    ])
  })

  it('knows what a cluster does not say', () => {
    const joined = joinedColumns(columns, [
      { name: 'Name', priority: 0 },
      { name: 'Age', priority: 0 },
    ])
    assert.deepEqual(
      joined.map(({ name }) => name),
      ['Name', 'Age', 'Ready', 'Node'],
    )
    assert.deepEqual(tableOf(rows.slice(0, 1), joined, { isWide: false, showsNamespace: false })[1], [
      'member1',
      'web',
      '<unknown>',
      '1',
      'Y',
    ])
  })

  it('has every column once, in the order of each cluster where they agree', () => {
    const names = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e', 'f'))
    const of = (list: string[]) => list.map((name) => ({ name, priority: 0 }))
    fc.assert(
      fc.property(names, names, (first, second) => {
        const joined = joinedColumns(of(first), of(second)).map(({ name }) => name)
        assert.deepEqual([...joined].sort(), [...new Set([...first, ...second])].sort())
        assert.deepEqual(
          joined.filter((name) => first.includes(name)),
          first,
        )
        assert.deepEqual(
          joinedColumns(of(joined), of(first)).map(({ name }) => name),
          joined,
        )
      }),
    )
  })

  it('is ordered by namespace, name and cluster', () => {
    const at = (namespace: string, name: string, cluster: string) => ({ namespace, name, cluster })
    const sorted = [at('a', 'x', 'm1'), at('a', 'x', 'm2'), at('a', 'y', 'm1'), at('a-b', 'a', 'm1'), at('b', 'a', 'm0')]
    assert.deepEqual([...sorted].reverse().sort(byPlace), sorted)
  })
})
