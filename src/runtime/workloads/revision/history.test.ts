import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ControllerRevision, PodTemplateSpec } from '../../../kinds/kubernetes/types.ts'
import { dataHash } from './hash.ts'
import { changesHistory, dataOf, newRevision, ownerNameIn, readHistory, renumber, templateIn, truncate } from './history.ts'

const templateOf = (image: string): PodTemplateSpec => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
})
const a = dataOf(templateOf('a'))
const b = dataOf(templateOf('b'))

function revisionOf(name: string, revision: number | undefined, data: Record<string, unknown>): ControllerRevision {
  return { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name, namespace: 'default' }, data, revision }
}
const names = (revisions: readonly ControllerRevision[]): (string | undefined)[] => revisions.map(({ metadata }) => metadata.name)

describe('the hash of a revision', () => {
  it('is the one of kube-controller-manager', () => {
    // Recorded from v1.36.3 for a StatefulSet with one container `c` of `nginx`.
    const container = {
      name: 'c',
      image: 'nginx',
      resources: {},
      imagePullPolicy: 'Always',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    }
    const spec = {
      containers: [container],
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      schedulerName: 'default-scheduler',
    }
    assert.equal(dataHash(dataOf({ metadata: { labels: { app: 'web' } }, spec }), 0), '757df7b85b')
    assert.notEqual(dataHash(dataOf({ metadata: { labels: { app: 'web' } }, spec }), 1), '757df7b85b')
  })

  it('does not depend on the order of keys', () => {
    assert.equal(dataHash({ x: 1, y: [{ b: 1, a: '<' }] }, 0), dataHash({ y: [{ a: '<', b: 1 }], x: 1 }, 0))
  })
})

describe('a history', () => {
  const cases: [string, ControllerRevision[], { current?: string; number: number; old: string[]; duplicates: string[] }][] = [
    ['begins with 1', [], { number: 1, old: [], duplicates: [] }],
    ['goes on', [revisionOf('one', 1, b)], { number: 2, old: ['one'], duplicates: [] }],
    ['stays', [revisionOf('two', 2, a), revisionOf('one', 1, b)], { current: 'two', number: 2, old: ['one'], duplicates: [] }],
    ['comes back', [revisionOf('one', 1, a), revisionOf('two', 2, b)], { current: 'one', number: 3, old: ['two'], duplicates: [] }],
    ['has twins', [revisionOf('y', 2, a), revisionOf('x', 1, a)], { current: 'y', number: 2, old: [], duplicates: ['x'] }],
    [
      'is ordered by name where all else is equal',
      [revisionOf('y', 1, b), revisionOf('x', 1, b)],
      { number: 2, old: ['x', 'y'], duplicates: [] },
    ],
    ['bears revisions without a number', [revisionOf('x', undefined, b)], { number: 1, old: ['x'], duplicates: [] }],
  ]
  for (const [name, revisions, wanted] of cases)
    it(name, () => {
      const history = readHistory(revisions, a)
      const { current, number, old, duplicates } = history
      assert.deepEqual(
        { current: current?.metadata.name, number, old: names(old), duplicates: names(duplicates) },
        { current: undefined, ...wanted },
      )
      const patches = renumber(history)
      assert.equal(patches.length, current !== undefined && current.revision !== number ? 1 : 0)
      assert.equal(changesHistory(history), current === undefined || patches.length === 1)
    })

  it('gives the template back', () => {
    assert.deepEqual(templateIn(revisionOf('x', 1, a)), templateOf('a'))
    for (const data of [{}, { spec: null }, { spec: {} }, { spec: { template: 'x' } }, { spec: [] }])
      assert.equal(templateIn(revisionOf('x', 1, data as Record<string, unknown>)), undefined)
  })

  it('loses the oldest that nobody lives by', () => {
    const old = [revisionOf('a', 1, a), revisionOf('b', 2, a), revisionOf('c', 3, a)]
    const gone = (excess: number): unknown[] =>
      truncate(old, excess, ({ metadata }) => metadata.name === 'a').map((action) => 'of' in action && action.of.metadata.name)
    assert.deepEqual([gone(-1), gone(0), gone(1), gone(5)], [[], [], ['b'], ['b', 'c']])
  })

  it('knows whose name a revision may stand in the way of', () => {
    const nameIn = (name: string): string | undefined => ownerNameIn(revisionOf(name, 1, a))
    assert.deepEqual(['web-1', 'a-b-c', '-x', 'plain', ''].map(nameIn), ['web', 'a-b', undefined, undefined, undefined])
  })
})

describe('a new revision', () => {
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'default', uid: 'u', annotations: { note: 'x' } },
  }
  const make = (held: ControllerRevision[] = []) =>
    newRevision({
      ...{ owner, template: templateOf('a'), data: a, number: 4, hashLabel: 'hash', collisions: undefined },
      hashOf: (count) => `h${count ?? 0}`,
      lookUp: (name) => held.find(({ metadata }) => metadata.name === name),
    })

  it('has the labels of the template, the annotations of the owner and a name by its hash', () => {
    const { revision, exists, collisions } = make()
    assert.deepEqual([exists, collisions], [false, undefined])
    assert.deepEqual(revision, {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name: 'web-h0',
        namespace: 'default',
        labels: { app: 'web', hash: 'h0' },
        annotations: { note: 'x' },
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true, blockOwnerDeletion: true },
        ],
      },
      data: a,
      revision: 4,
    })
  })

  it('takes another name when its own is taken, and the one that is there when it holds the same', () => {
    const other = make([revisionOf('web-h0', 1, b)])
    assert.deepEqual([other.revision.metadata.name, other.exists, other.collisions], ['web-h1', false, 1])
    const same = make([revisionOf('web-h0', 1, b), revisionOf('web-h1', 1, a)])
    assert.deepEqual([same.revision.metadata.name, same.exists, same.collisions], ['web-h1', true, 1])
  })
})
