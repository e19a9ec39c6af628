import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { checkDns1123Subdomain } from '../../kube/names.ts'
import type { DataName } from './annotations.ts'
import { sourceObjectName } from './source-name.ts'

const nameOf = (system: string, type: string, name: string, namespace = 'work'): string =>
  sourceObjectName({ system, type, name }, namespace)

describe('the name of a source that a workload makes', () => {
  it('never changes', () => {
    assert.equal(nameOf('hive', 'table', 'sales.daily'), 'hive-table-sales.daily-s4iuxkdgvdxltwx5')
  })

  const SLUGS: [string, string][] = [
    ['Sales_Daily', 'hive-table-sales-daily-'],
    ['s3://lake/Sales:v1', 'hive-table-s3-lake-sales-v1-'],
    ['.hidden..file.', 'hive-table.hidden.file-'],
    ['-a-.-b-', 'hive-table-a.b-'],
    ['数据', 'hive-table-'],
    ['x'.repeat(1024), `hive-table-${'x'.repeat(49)}-`],
    [`${'x'.repeat(48)}.y`, `hive-table-${'x'.repeat(48)}-`],
  ]
  for (const [name, slug] of SLUGS)
    it(`begins with ${slug.slice(0, 30)} for ${name.slice(0, 20)}`, () =>
      assert.match(nameOf('hive', 'table', name), new RegExp(`^${slug.replaceAll('.', '\\.')}[a-z2-7]{16}$`)))

  it('says something even if nothing of the text can be used', () => assert.match(nameOf('数', '/', '_'), /^data-[a-z2-7]{16}$/))

  it('tells namespaces and the borders of parts apart', () => {
    const names = [
      nameOf('a', 'b', 'c'),
      nameOf('a', 'b', 'c', 'other'),
      nameOf('a-b', 'c', ''),
      nameOf('a', 'b-c', ''),
      nameOf('a', 'b', 'C'),
      nameOf('a', 'b', 'c', 'work","a'),
      nameOf('a', 'b', '\ud800'),
      nameOf('a', 'b', '\ufffd'),
    ]
    assert.equal(new Set(names).size, names.length)
  })
})

describe('names of sources for any data', () => {
  const piece = fc.constantFrom('a', 'B', '0', '.', '-', '_', '/', ':', ' ', '"', ',', '数', '\ud800', '\ufffd', '\u0000', 'İ', '𝄞')
  const part = fc.oneof(fc.string({ unit: piece, maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 400 }))
  const input = fc.tuple(part, part, part, fc.constantFrom('work', 'other', ''))

  it('are names that Kubernetes takes, of a bounded length', () => {
    fc.assert(
      fc.property(input, (parts) => {
        const name = nameOf(...parts)
        assert.deepEqual(checkDns1123Subdomain(name), [])
        assert.ok(name.length <= 60 + 17)
      }),
      { numRuns: 1000 },
    )
  })
  it('are different for different data', () => {
    fc.assert(
      fc.property(input, input, (a, b) => assert.equal(nameOf(...a) === nameOf(...b), JSON.stringify(a) === JSON.stringify(b))),
      { numRuns: 1000 },
    )
  })
  it('do not collide in large numbers that read alike', () => {
    const names = new Set<string>()
    for (let i = 0; i < 20_000; i++)
      names.add(sourceObjectName({ system: 'hive', type: 'table', name: `t${'_'.repeat(i % 50)}${i}` } satisfies DataName, `ns-${i % 7}`))
    assert.equal(names.size, 20_000)
  })
})
