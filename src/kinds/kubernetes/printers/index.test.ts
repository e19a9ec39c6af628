import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { KubeObject } from '../../../kube/meta.ts'
import tableFacts from '../facts/tables.facts'
import { printerFor } from './index.ts'

interface Facts {
  columns: { name: string; type: string }[]
  rows: { cells: unknown[]; object: KubeObject; conditions?: unknown[] }[]
}

const facts = JSON.parse(tableFacts) as Record<string, Facts>
const NOW = Date.parse('2026-11-15T21:30:00Z')
const AGE = /(\d+[smhdy]){1,2}|<invalid>/

const printer = (key: string) => {
  const parts = key.split('/')
  const [group, version, resource] = parts.length === 2 ? ['', ...parts] : parts
  const found = printerFor(group ?? '', version ?? '', resource ?? '')
  assert.ok(found, key)
  return found
}

/** Ages were left out of the recording, and so were the timestamps they came from. */
function sameCell(actual: unknown, expected: unknown): boolean {
  if (typeof expected !== 'string' || !expected.includes('<age>')) return actual === expected
  const [before = '', after = ''] = expected.split('<age>')
  const text = String(actual)
  const middle = text.slice(before.length, text.length - after.length)
  return text.startsWith(before) && text.endsWith(after) && AGE.exec(middle)?.[0] === middle
}

describe('table printers', () => {
  for (const [key, { columns, rows }] of Object.entries(facts)) {
    it(`declares the columns of ${key}`, () => {
      assert.deepEqual(printer(key).columns, columns)
    })
    for (const recorded of rows) {
      it(`prints ${key} ${recorded.object.metadata.name} as recorded`, () => {
        const created = columns[1]?.type === 'date' ? String(recorded.cells[1]) : '2026-11-15T21:06:48Z'
        const object = { ...recorded.object, metadata: { ...recorded.object.metadata, creationTimestamp: created } }
        const row = printer(key).row(object, NOW)
        assert.equal(row.cells.length, recorded.cells.length)
        for (const [i, cell] of recorded.cells.entries())
          assert.ok(sameCell(row.cells[i], cell), `${columns[i]?.name}: ${row.cells[i]} instead of ${cell}`)
        assert.deepEqual(row.conditions, recorded.conditions)
      })
    }
  }

  it('never fails, whatever an object holds', () => {
    const keys = Object.keys(facts)
    const junk = fc.dictionary(fc.constantFrom('spec', 'status', 'data', 'subsets', 'series', 'roleRef'), fc.jsonValue({ maxDepth: 4 }))
    fc.assert(
      fc.property(fc.constantFrom(...keys), junk, (key, content) => {
        const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, ...content }
        assert.ok(Array.isArray(printer(key).row(object, NOW).cells))
      }),
      { numRuns: 300 },
    )
  })

  it('counts restarts and says when the last one was', () => {
    const status = { name: 'a', ready: true, restartCount: 2, state: { running: {} } }
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', creationTimestamp: '2026-11-15T21:00:00Z' },
      spec: { containers: [{ name: 'a' }] },
      status: { phase: 'Running', containerStatuses: [{ ...status, lastState: { terminated: { finishedAt: '2026-11-15T21:25:00Z' } } }] },
    }
    assert.deepEqual(printer('v1/pods').row(pod, NOW).cells.slice(0, 5), ['p', '1/1', 'Running', '2 (5m ago)', '30m'])
  })

  it('shows quotas in two columns, requests and limits', () => {
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q', creationTimestamp: '2026-11-15T21:00:00Z' },
      status: { hard: { pods: '10', 'limits.cpu': '4', 'requests.cpu': '2' }, used: { pods: '1', 'limits.cpu': '500m' } },
    }
    assert.deepEqual(printer('v1/resourcequotas').row(quota, NOW).cells, [
      'q',
      'pods: 1/10, requests.cpu: 0/2',
      'limits.cpu: 500m/4',
      '30m',
    ])
  })
})
