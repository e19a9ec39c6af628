import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Located } from '../../client/cache/cluster-cache.ts'
import type { CacheEvent } from '../../client/cache/object-cache.ts'
import { CLUSTER_ROLES, CRON_JOBS, JOBS } from '../../kinds/kubernetes/resources.ts'
import { type DataName, dataNameText } from '../../kinds/volcano/annotations.ts'
import { sourceObjectName } from '../../kinds/volcano/source-name.ts'
import { PRODUCES_ANNOTATION } from '../../kinds/volcano/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfRef } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Templates } from '../../runtime/templates.ts'
import { createProducers, type ProducerIndex } from './producers.ts'
import { aCronJob, aJob } from './testing.ts'

const SALES: DataName = { system: 'hive', type: 'table', name: 'sales' }
const COSTS: DataName = { system: 'hive', type: 'table', name: 'costs' }

/** Templates as far as producers look at them; everything in namespace `kube-system` is ignored by policies. */
class FakeTemplates {
  readonly objects = new Map<string, Located>()
  #take: (located: Located, event: CacheEvent) => void = () => undefined
  #complete: () => void = () => undefined
  readonly as = {
    subscribe: (handler: (located: Located, event: CacheEvent) => void) => {
      this.#take = handler
      for (const located of this.objects.values()) handler(located, { type: 'added', object: located.object, old: undefined })
      return () => undefined
    },
    onComplete: (handler: () => void) => {
      this.#complete = handler
      return () => undefined
    },
    get: ({ kind, namespace = '', name }: { kind: string; namespace?: string; name: string }) =>
      this.objects.get(`${kind} ${namespace}/${name}`)?.object,
    isSkipped: ({ metadata }: KubeObject) => metadata.namespace === 'kube-system',
  } as unknown as Templates

  put(object: KubeObject, resource: Resource = object.kind === 'Job' ? JOBS : CRON_JOBS): void {
    const key = keyOf(object)
    const old = this.objects.get(key)?.object
    this.objects.set(key, { resource, object })
    this.#take({ resource, object }, { type: old === undefined ? 'added' : 'updated', object, old })
  }

  delete(object: KubeObject): void {
    const found = this.objects.get(keyOf(object))
    this.objects.delete(keyOf(object))
    if (found !== undefined) this.#take(found, { type: 'deleted', object: found.object, old: found.object })
  }

  /** Its kind is no longer served. */
  vanish(object: KubeObject): void {
    this.objects.delete(keyOf(object))
    this.#complete()
  }
}

const keyOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`

const created = (object: KubeObject, second: number, more: KubeObject['metadata'] = {}): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, uid: `${object.metadata.name}-1`, creationTimestamp: `2026-01-01T00:00:0${second}Z`, ...more },
})

const makers = (producers: ProducerIndex, name: DataName): string[] =>
  producers.of(name).map(({ template: { kind, metadata } }) => `${kind} ${metadata.namespace}/${metadata.name}`)

function aView(...objects: KubeObject[]) {
  const templates = new FakeTemplates()
  for (const object of objects) templates.put(object)
  const producers = createProducers(templates.as)
  const heard: string[] = []
  producers.subscribe((name) => heard.push(dataNameText(name)))
  producers.onDeclaration((binding) => heard.push(keyOfRef(binding)))
  return { templates, producers, take: () => heard.splice(0).sort() }
}

describe('producers', () => {
  it('are found by what they declare, the oldest first', () => {
    const { producers } = aView(
      created(aJob('b/young', 'hive/table/sales'), 3),
      created(aJob('b/same', 'hive/table/sales, hive/table/costs'), 2),
      created(aCronJob('a/same', 'hive/table/sales'), 2),
      created(aJob('a/same', 'hive/table/sales'), 2),
      created(aJob('z/old', ' hive/table/sales '), 1),
      created(aJob('a/none'), 0),
      created(aJob('a/unreadable', 'hive/table/sales,'), 0),
      created(aJob('kube-system/skipped', 'hive/table/sales'), 0),
    )
    assert.deepEqual(makers(producers, SALES), ['Job z/old', 'CronJob a/same', 'Job a/same', 'Job b/same', 'Job b/young'])
    assert.deepEqual(makers(producers, COSTS), ['Job b/same'])
    assert.deepEqual(makers(producers, { ...SALES, name: 'other' }), [])
    assert.deepEqual(
      producers.of(COSTS).map(({ binding, resource }) => [binding, resource]),
      [[{ namespace: 'b', name: 'same-job' }, JOBS]],
    )
    assert.deepEqual(producers.publishedAs(sourceObjectName(COSTS, 'b')), [{ namespace: 'b', name: 'same-job' }])
    assert.deepEqual(producers.publishedAs(sourceObjectName(COSTS, 'a')), [])
  })

  it('are announced when they come, change and go, and not when only their status changes', () => {
    const { templates, producers, take } = aView()
    const job = created(aJob('a/one', 'hive/table/sales'), 1)
    templates.put(job)
    assert.deepEqual(take(), ['a/one-job', 'hive/table/sales'])
    const running = { ...job, status: { active: 1 }, metadata: { ...job.metadata, resourceVersion: '2' } }
    templates.put(running)
    assert.deepEqual(take(), [])
    assert.equal(producers.of(SALES)[0]?.template, running, 'yet they are shown as they are now')
    templates.put({ ...running, metadata: { ...running.metadata, labels: { team: 'a' } } })
    assert.deepEqual(take(), ['a/one-job', 'hive/table/sales'])
    templates.put(created(aJob('a/one', 'hive/table/costs'), 1))
    assert.deepEqual(take(), ['a/one-job', 'hive/table/costs', 'hive/table/sales'])
    assert.deepEqual([makers(producers, SALES), makers(producers, COSTS)], [[], ['Job a/one']])
    templates.put(created(aJob('a/one', 'hive/table/costs'), 2, { uid: 'a-successor' }))
    assert.deepEqual(take(), ['a/one-job', 'hive/table/costs'])
    templates.put(created(aJob('a/one', 'costs'), 2, { uid: 'a-successor' }))
    assert.deepEqual(take(), ['a/one-job', 'hive/table/costs'])
    templates.put(created(aJob('a/one', 'what?'), 2, { uid: 'a-successor' }))
    assert.deepEqual(take(), ['a/one-job'], 'what cannot be read is news for whoever reports it')
    templates.put(job)
    take()
    templates.delete(job)
    assert.deepEqual(take(), ['a/one-job', 'hive/table/sales'])
    assert.deepEqual([makers(producers, SALES), producers.publishedAs(sourceObjectName(SALES, 'a'))], [[], []])
    templates.put(created(aJob('a/one'), 3))
    assert.deepEqual(take(), [])
  })

  it('are forgotten with their kind', () => {
    const job = created(aJob('a/one', 'hive/table/sales'), 1)
    const { templates, producers, take } = aView(job, created(aCronJob('a/two', 'hive/table/sales'), 2))
    templates.vanish(job)
    assert.deepEqual(take(), ['a/one-job', 'hive/table/sales'])
    assert.deepEqual(makers(producers, SALES), ['CronJob a/two'])
  })

  it('are never of the whole cluster', () => {
    const { templates, producers, take } = aView()
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'r', annotations: { [PRODUCES_ANNOTATION]: 'a/b/c' } },
    }
    templates.put(role, CLUSTER_ROLES)
    assert.deepEqual([producers.madeBy(role), producers.of({ system: 'a', type: 'b', name: 'c' }), take()], [[], [], []])
  })

  it('are what the present templates say, whatever happened before and whatever they say', () => {
    const text = fc.oneof(fc.constantFrom(undefined, 'hive/table/sales', 'hive/table/costs,hive/table/sales', '', ',', 'a//b'), fc.string())
    const step = fc.record({ name: fc.constantFrom('one', 'two'), text, isGone: fc.boolean(), uid: fc.constantFrom('1', '2') })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const { templates, producers } = aView()
        for (const { name, text: produces, isGone, uid } of steps) {
          const job = created(aJob(`a/${name}`, produces), 1, { uid })
          if (isGone) templates.delete(job)
          else templates.put(job)
        }
        const anew = createProducers(templates.as)
        for (const name of [SALES, COSTS]) {
          assert.deepEqual(producers.of(name), anew.of(name))
          assert.deepEqual(producers.publishedAs(sourceObjectName(name, 'a')).length, producers.of(name).length)
        }
      }),
    )
  })
})
