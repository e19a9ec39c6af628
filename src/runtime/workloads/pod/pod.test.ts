import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { PODS, REPLICA_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod, PodStatus, ReplicaSet } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject, ObjectMeta } from '../../../kube/meta.ts'
import type { Index, Reader } from '../../controller.ts'
import { inDeletionOrder } from './deletion-order.ts'
import { freshNames, podFromTemplate, podNamePrefix } from './from-template.ts'
import { byController, bySelector, controlledBy, controllersOf, orphansIn, readSelector, selecting } from './indexes.ts'
import { claimActions, claimObjects, controllerOf, controllerReference } from './ownership.ts'
import { isPodActive, isPodAvailable, isPodReady, isPodTerminating, nextPodAvailableInMs, podReadySinceMs } from './state.ts'
import { statusPatch } from './status-patch.ts'
import { aPod, aReplicaSet } from './testing.ts'

const NOW = Date.UTC(2026, 0, 1)
const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1000).toISOString()

const podWith = (status: PodStatus, metadata: ObjectMeta = {}): Pod => aPod('p', metadata, { status })
const readyFor = (seconds: number): Pod =>
  podWith({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: at(seconds) }] })

describe('the state of a pod', () => {
  it('is ready by its condition alone', () => {
    assert.equal(isPodReady(readyFor(0)), true)
    assert.equal(isPodReady(podWith({ conditions: [{ type: 'Ready', status: 'False' }] })), false)
    assert.equal(isPodReady(podWith({})), false)
    assert.equal(isPodReady(aPod('p')), false)
    assert.equal(podReadySinceMs(readyFor(5)), NOW - 5000)
    assert.equal(podReadySinceMs(podWith({ conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: at(5) }] })), undefined)
  })

  it('is available after it has been ready long enough', () => {
    assert.equal(isPodAvailable(readyFor(0), 0, NOW), true)
    assert.equal(isPodAvailable(readyFor(9), 10, NOW), false)
    assert.equal(isPodAvailable(readyFor(10), 10, NOW), true)
    const timeless = podWith({ conditions: [{ type: 'Ready', status: 'True' }] })
    assert.equal(isPodAvailable(timeless, 0, NOW), true)
    assert.equal(isPodAvailable(timeless, 1, NOW), false)
  })

  it('says when the next pod becomes available', () => {
    assert.equal(nextPodAvailableInMs([readyFor(3), readyFor(7), readyFor(20)], 10, NOW), 3000)
    assert.equal(nextPodAvailableInMs([readyFor(20), podWith({})], 10, NOW), undefined)
    assert.equal(nextPodAvailableInMs([readyFor(3)], 0, NOW), undefined)
  })

  it('is active until it is over or on its way out', () => {
    const going = { deletionTimestamp: at(0) }
    const cases: [Pod, boolean, boolean][] = [
      [podWith({ phase: 'Pending' }), true, false],
      [podWith({}), true, false],
      [podWith({ phase: 'Succeeded' }), false, false],
      [podWith({ phase: 'Failed' }), false, false],
      [podWith({ phase: 'Running' }, going), false, true],
      [podWith({ phase: 'Failed' }, going), false, false],
    ]
    for (const [pod, active, terminating] of cases) {
      assert.equal(isPodActive(pod), active, JSON.stringify(pod))
      assert.equal(isPodTerminating(pod), terminating, JSON.stringify(pod))
    }
  })
})

const owner = aReplicaSet('web', {}, { uid: 'mine' })
const other = aReplicaSet('other', {}, { uid: 'theirs' })
const selector = readSelector({ matchLabels: { app: 'web' } })
const matching = { labels: { app: 'web' } }

describe('ownership', () => {
  const claimed = (pod: Pod, by: KubeObject = owner, mayAdopt = true): string => {
    const { claimed: list, adopt, release } = claimObjects({ owner: by, selector, candidates: [pod], mayAdopt })
    return [...list.map(() => 'claimed'), ...adopt.map(() => 'adopt'), ...release.map(() => 'release')].join(' ')
  }
  const mine = { ownerReferences: [controllerReference(owner)] }
  const theirs = { ownerReferences: [controllerReference(other)] }
  const dying = { ...owner, metadata: { ...owner.metadata, deletionTimestamp: at(0) } }

  it('finds the controller among the owners', () => {
    const plain = { ...controllerReference(other), controller: false }
    assert.equal(controllerOf(aPod('p', { ownerReferences: [plain, controllerReference(owner)] }))?.uid, 'mine')
    assert.equal(controllerOf(aPod('p', { ownerReferences: [plain] })), undefined)
    assert.equal(controllerOf(aPod('p')), undefined)
  })

  it('claims, adopts and releases as Kubernetes does', () => {
    assert.equal(claimed(aPod('p', { ...matching, ...mine })), 'claimed')
    assert.equal(claimed(aPod('p', { ...matching, ...theirs })), '')
    assert.equal(claimed(aPod('p', mine)), 'release')
    assert.equal(claimed(aPod('p', matching)), 'claimed adopt')
    assert.equal(claimed(aPod('p')), '')
    assert.equal(claimed(aPod('p', { ...matching, deletionTimestamp: at(0) })), '')
    assert.equal(claimed(aPod('p', { ...matching, namespace: 'elsewhere' })), '')
    assert.equal(claimed(aPod('p', matching), owner, false), '')
  })

  it('changes nothing while the owner is being deleted, and counts what it has', () => {
    assert.equal(claimed(aPod('p', { ...matching, ...mine }), dying), 'claimed')
    assert.equal(claimed(aPod('p', mine), dying), '')
    assert.equal(claimed(aPod('p', matching), dying), '')
  })

  it('claims nothing without a selector, and only what else is asked for', () => {
    const candidates = [aPod('p', matching), aPod('q', matching)]
    assert.deepEqual(claimObjects({ owner, selector: undefined, candidates }), { claimed: [], adopt: [], release: [] })
    const { adopt } = claimObjects({ owner, selector, candidates, also: (pod) => pod.metadata.name === 'q' })
    assert.deepEqual(
      adopt.map(({ metadata }) => metadata.name),
      ['q'],
    )
  })

  it('patches owners and finalizers, keeping those of others', () => {
    const plain = { ...controllerReference(other), controller: false }
    const claim = {
      adopt: [aPod('a', { ownerReferences: [plain], finalizers: ['x/y'] })],
      release: [aPod('r', { ownerReferences: [plain, controllerReference(owner)], finalizers: ['x/y', 'mine/track'] })],
    }
    const patches = (finalizer?: string): unknown[] =>
      claimActions({ resource: PODS, owner, claim, finalizer }).flatMap(({ actions }) =>
        actions.map((action) => (action.do === 'patch' ? action.patch.metadata : undefined)),
      )
    assert.deepEqual(patches(), [{ ownerReferences: [plain, controllerReference(owner)] }, { ownerReferences: [plain] }])
    assert.deepEqual(patches('mine/track'), [
      { ownerReferences: [plain, controllerReference(owner)], finalizers: ['x/y', 'mine/track'] },
      { ownerReferences: [plain], finalizers: ['x/y'] },
    ])
    assert.deepEqual(claimActions({ resource: PODS, owner, claim: { adopt: [], release: [] } }), [])
  })
})

describe('pods from a template', () => {
  it('have labels, annotations, finalizers and spec of the template, and the owner as controller', () => {
    const spec = { containers: [{ name: 'main', image: 'one' }] }
    const template = { metadata: { labels: { app: 'web' }, annotations: { a: 'b' }, finalizers: ['x/y'], name: 'ignored' }, spec }
    assert.deepEqual(podFromTemplate({ template, owner, name: 'web-abcde' }), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'web-abcde',
        generateName: 'web-',
        namespace: 'default',
        labels: { app: 'web' },
        annotations: { a: 'b' },
        ownerReferences: [controllerReference(owner)],
        finalizers: ['x/y'],
      },
      spec,
    })
  })

  it('need nothing of a template to be made', () => {
    assert.deepEqual(podFromTemplate({ template: undefined, owner, name: 'p', generateName: '' }).metadata.labels, {})
  })

  it('leave the dash out where the name would become too long', () => {
    assert.equal(podNamePrefix('web'), 'web-')
    assert.equal(podNamePrefix('x'.repeat(253)), 'x'.repeat(253))
  })

  it('have names that repeat for the same decision, and none that is taken', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 60 }), (count, takenCount) => {
        const free = { seed: 'u', isTaken: () => false }
        const taken = new Set(freshNames('web-', { ...free, count: takenCount }))
        const names = freshNames('web-', { seed: 'u', count, isTaken: (name) => taken.has(name) })
        assert.equal(new Set(names).size, count)
        assert.ok(names.every((name) => !taken.has(name)))
        // Those not yet seen come first again: a lost creation is repeated, not duplicated.
        assert.deepEqual([...taken, ...names], freshNames('web-', { ...free, count: takenCount + count }))
      }),
    )
  })
})

describe('the order of deletion', () => {
  const NODE = { nodeName: 'n', containers: [] }
  const ready = (secondsAgo: number): PodStatus => ({
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: at(secondsAgo) }],
  })
  const one = (name: string, pod: Partial<Pod>, metadata: ObjectMeta = {}): Pod =>
    aPod(name, { uid: name, creationTimestamp: at(1000), ...metadata }, { spec: NODE, ...pod })
  const restarted = (count: number): PodStatus => ({ ...ready(100), containerStatuses: [{ name: 'main', restartCount: count }] })
  const replicas = { nowMs: NOW, rankOf: (pod: Pod) => Number(pod.metadata.labels?.rank ?? 0) }

  it('prefers pods that do the least', () => {
    const expected = [
      one('unassigned', { spec: { containers: [] }, status: { phase: 'Pending' } }),
      one('pending', { status: { phase: 'Pending' } }),
      one('unknown', { status: { phase: 'Unknown' } }),
      one('not-ready', { status: { phase: 'Running' } }),
      one('cheap', { status: ready(100) }, { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-5' } }),
      one('crowded', { status: ready(100) }, { labels: { rank: '3' } }),
      one('young', { status: ready(2) }),
      one('restarts', { status: restarted(4) }),
      one('new', { status: ready(100) }, { creationTimestamp: at(10) }),
      one('steady', { status: ready(100) }),
      one('costly', { status: ready(100) }, { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '7' } }),
    ].map(({ metadata }) => metadata.name)
    const pods = [
      one('costly', { status: ready(100) }, { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '7' } }),
      one('steady', { status: ready(100) }),
      one('new', { status: ready(100) }, { creationTimestamp: at(10) }),
      one('restarts', { status: restarted(4) }),
      one('young', { status: ready(2) }),
      one('crowded', { status: ready(100) }, { labels: { rank: '3' } }),
      one('cheap', { status: ready(100) }, { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-5' } }),
      one('not-ready', { status: { phase: 'Running' } }),
      one('unknown', { status: { phase: 'Unknown' } }),
      one('pending', { status: { phase: 'Pending' } }),
      one('unassigned', { spec: { containers: [] }, status: { phase: 'Pending' } }),
    ]
    assert.deepEqual(
      inDeletionOrder(pods, { replicas }).map(({ metadata }) => metadata.name),
      expected,
    )
  })

  it('takes ages of one magnitude as equal, and lets the uid decide', () => {
    const pods = [one('b', { status: ready(100) }), one('a', { status: ready(120) })]
    const names = (order: Pod[]): unknown[] => order.map(({ metadata }) => metadata.name)
    assert.deepEqual(names(inDeletionOrder(pods, { replicas })), ['a', 'b'])
    assert.deepEqual(names(inDeletionOrder(pods)), ['b', 'a'], 'without magnitudes the younger goes first')
  })

  it('reads a cost that is no number as none', () => {
    const cost = (value: string): Pod =>
      one(value, { status: ready(100) }, { annotations: { 'controller.kubernetes.io/pod-deletion-cost': value } })
    for (const odd of ['+5', '05', 'much', '', '3000000000', '1.5'])
      assert.deepEqual(
        inDeletionOrder([cost('1'), cost(odd)], { replicas }).map(({ metadata }) => metadata.name),
        [odd, '1'],
      )
  })

  it('is the same whatever order the pods come in', () => {
    const arbitrary = fc.record({
      phase: fc.constantFrom('Pending', 'Running', 'Unknown', undefined),
      ago: fc.option(fc.integer({ min: 0, max: 500 })),
      isReady: fc.boolean(),
      node: fc.constantFrom('', 'a', 'b'),
      rank: fc.integer({ min: 0, max: 2 }),
      restartCount: fc.integer({ min: 0, max: 2 }),
    })
    fc.assert(
      fc.property(fc.array(arbitrary, { maxLength: 12 }), fc.infiniteStream(fc.nat()), (shapes, keys) => {
        const pods = shapes.map(({ phase, ago, isReady, node, rank, restartCount }, i) => {
          const lastTransitionTime = ago === null ? undefined : at(ago)
          const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime }]
          const status = { phase, conditions, containerStatuses: [{ name: 'main', restartCount }] }
          return one(`p${i}`, { spec: { nodeName: node, containers: [] }, status }, { labels: { rank: String(rank) } })
        })
        const shuffled = pods.map((pod) => ({ pod, key: keys.next().value as number })).sort((a, b) => a.key - b.key)
        assert.deepEqual(
          inDeletionOrder(
            shuffled.map(({ pod }) => pod),
            { replicas },
          ),
          inDeletionOrder(pods, { replicas }),
        )
      }),
    )
  })
})

/** A reader over a list, with the indexes as declared. */
function readerOf(objects: readonly KubeObject[], indexes: readonly Index[]): Reader {
  return {
    get: () => undefined,
    list: () => [],
    revisionOf: () => 0,
    nowMs: () => NOW,
    byIndex: <T extends KubeObject>(resource: { kind: string }, name: string, value: string) => {
      const index = indexes.find((one) => one.name === name && one.resource.kind === resource.kind)
      assert.ok(index !== undefined, `no index ${name} of ${resource.kind}`)
      return objects.filter((object) => object.kind === resource.kind && index.of(object).includes(value)) as T[]
    },
  }
}

describe('indexes', () => {
  const owners = { resource: REPLICA_SETS, selectorOf: (set: ReplicaSet) => readSelector(set.spec?.selector) }
  const set = (name: string, spec: ReplicaSet['spec'], namespace = 'default'): ReplicaSet => aReplicaSet(name, spec, { namespace })

  it('find what an owner controls, and orphans by namespace', () => {
    const mine = aPod('mine', { ownerReferences: [controllerReference(owner)] })
    const [orphan, far] = [aPod('orphan'), aPod('far', { namespace: 'elsewhere' })]
    const read = readerOf([mine, orphan, far], [byController(PODS)])
    assert.deepEqual(controlledBy(read, PODS, 'mine'), [mine])
    assert.deepEqual(controlledBy(read, PODS, undefined), [])
    assert.deepEqual(orphansIn(read, PODS, 'default'), [orphan])
  })

  it('find who selects an object by any kind of requirement', () => {
    const sets = [
      set('exact', { selector: { matchLabels: { app: 'web', tier: 'front' } } }),
      set('several', { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'api'] }] } }),
      set('present', { selector: { matchExpressions: [{ key: 'tier', operator: 'Exists' }] } }),
      set('absent', { selector: { matchExpressions: [{ key: 'gone', operator: 'DoesNotExist' }] } }),
      set('all', { selector: {} }),
      set('far', { selector: { matchLabels: { app: 'web' } } }, 'elsewhere'),
      set('unlike', { selector: { matchLabels: { app: 'web', tier: 'back' } } }),
      set('broken', { selector: { matchExpressions: [{ key: 'app', operator: 'Near' }] } }),
      { ...set('none', {}), spec: {} },
    ]
    const read = readerOf(sets, [bySelector(owners)])
    const names = (labels: Record<string, string>): unknown[] =>
      selecting(read, owners, aPod('p', { labels }))
        .map(({ metadata }) => metadata.name)
        .sort()
    assert.deepEqual(names({ app: 'web', tier: 'front' }), ['absent', 'all', 'exact', 'present', 'several'])
    assert.deepEqual(names({ gone: 'x' }), ['all'])
    assert.deepEqual(names({}), ['absent', 'all'])
  })

  it('tell whom a pod concerns: its controller of the kind, or those who may adopt it', () => {
    const read = readerOf([set('web', { selector: { matchLabels: { app: 'web' } } })], [bySelector(owners)])
    const controlled = (kind: string, apiVersion: string): Pod =>
      aPod('p', { ...matching, ownerReferences: [{ ...controllerReference(owner), kind, apiVersion, name: 'boss' }] })
    assert.deepEqual(controllersOf(read, owners, controlled('ReplicaSet', 'apps/v1')), [{ namespace: 'default', name: 'boss' }])
    assert.deepEqual(controllersOf(read, owners, controlled('Job', 'batch/v1')), [])
    assert.deepEqual(controllersOf(read, owners, controlled('ReplicaSet', 'example.com/v1')), [])
    assert.deepEqual(controllersOf(read, owners, aPod('p', matching)), [{ namespace: 'default', name: 'web' }])
    assert.deepEqual(controllersOf(read, owners, aPod('p')), [])
  })
})

describe('the patch of a status', () => {
  it('holds what differs, and is nothing when nothing does', () => {
    assert.deepEqual(statusPatch({ a: 1, b: 2 }, { a: 1, b: 3 }), { b: 3 })
    assert.deepEqual(statusPatch<{ a?: number; b: number }>({ a: 1, b: 2 }, { a: undefined, b: 2 }), { a: null })
    assert.equal(statusPatch<{ a?: number; list?: string[] }>({}, { a: 0, list: [] }), undefined)
    assert.equal(statusPatch(undefined, { a: 0 }), undefined)
    assert.deepEqual(statusPatch({ a: 4 }, { a: 0 }), { a: 0 })
  })
})
