import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { NAMESPACED_BINDINGS } from '../../../kinds/karmada/binding-kinds.ts'
import type { Binding, Cluster, TargetCluster, Work } from '../../../kinds/karmada/index.ts'
import { numberAt } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Action, Plan } from '../../../runtime/controller.ts'
import type { Interpreter } from '../../interpreter/interpreter.ts'
import { nativeInterpreter } from '../../interpreter/testing.ts'
import { overridesOf } from '../../override/index.ts'
import { aCluster } from '../../testing.ts'
import { keptClusters, purgedFirst, targetsOf } from '../targets.ts'
import { aBinding, aDeployment } from '../testing.ts'
import { clusterOf, type Observed, plan } from './plan.ts'
import { wantedWorks } from './wanted.ts'

const template: KubeObject = {
  ...aDeployment('web', 6),
  metadata: { ...aDeployment('web').metadata, uid: 'u', resourceVersion: '1', generation: 1 },
}
const kind = NAMESPACED_BINDINGS
const override = overridesOf({ clusterPolicies: [], policies: [] })

async function wantedFor(binding: Binding, works: readonly Work[]) {
  const liveOf = (namespace: string) => works.find(({ metadata }) => metadata.namespace === namespace)
  const placeOf = (name: string) => ({ cluster: aCluster(name) as unknown as Cluster, hasNamespace: true })
  return wantedWorks({ kind, binding, template, interpreter: nativeInterpreter(), placeOf, liveOf, override })
}

async function observed(binding: Binding, works: readonly Work[], more: Partial<Observed> = {}): Promise<Observed> {
  return { kind, binding, works, template, ...(await wantedFor(binding, works)), isFresh: true, retryAfterMs: undefined, ...more }
}

it('asks for other replicas only where the kind has a rule for it', async () => {
  const binding = aBinding(template, { replicas: 6, clusters: [{ name: 'a', replicas: 4 }] })
  const places = {
    placeOf: (name: string) => ({ cluster: aCluster(name) as unknown as Cluster, hasNamespace: true }),
    liveOf: () => undefined,
  }
  const native = nativeInterpreter()
  const without: Interpreter = { ...native, has: (object, operation) => operation !== 'ReviseReplica' && native.has(object, operation) }
  const replicasBy = async (interpreter: Interpreter): Promise<unknown> => {
    const { wanted } = await wantedWorks({ kind, binding, template, interpreter, ...places, override })
    return numberAt(wanted[0]?.work.spec.workload?.manifests?.[0], 'spec', 'replicas')
  }
  assert.deepEqual([await replicasBy(native), await replicasBy(without)], [4, 6])
})

const actionsOf = ({ actions }: Plan): Action[] => actions.flatMap((one) => (one.do === 'batch' ? one.actions : [one]))
const summaryOf = (planned: Plan): string[] =>
  actionsOf(planned)
    .map((action) => `${action.do} ${clusterOf('of' in action ? action.of : (action as { object: KubeObject }).object)}`)
    .sort()

const cluster = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const target: fc.Arbitrary<TargetCluster> = fc.record({ name: cluster, replicas: fc.nat(4) })
const unique = fc.uniqueArray(target, { selector: ({ name }) => name, maxLength: 5 })
const task = fc.record({
  fromCluster: cluster,
  purgeMode: fc.constantFrom('Directly' as const, 'Gracefully' as const, 'Never' as const),
  reason: fc.constant('TaintUntolerated'),
  producer: fc.constant('TaintManager'),
})
const anyBinding = fc
  .record({ clusters: unique, followed: unique, tasks: fc.array(task, { maxLength: 3 }) })
  .map(({ clusters, followed, tasks }) =>
    aBinding(template, { replicas: 6, clusters, requiredBy: [{ name: 'x', clusters: followed }], gracefulEvictionTasks: tasks }),
  )

/** The Works that another spec produced. */
async function madeBy(binding: Binding): Promise<Work[]> {
  const before: Binding = { ...binding, spec: { ...binding.spec, gracefulEvictionTasks: [] } }
  return (await wantedFor(before, [])).wanted.map(({ work }) => work)
}

describe('the plan for any spec after any other', () => {
  it('makes Works in targets alone, removes those that nobody keeps, and touches no other', async () => {
    await fc.assert(
      fc.asyncProperty(anyBinding, anyBinding, async (before, now) => {
        const works = await madeBy(before)
        const done = summaryOf(plan(await observed(now, works)))
        const targets = new Set(targetsOf(now.spec).map(({ name }) => name))
        const kept = keptClusters(now.spec)
        const there = works.map(clusterOf)
        const isHeld = purgedFirst(now.spec).some((name) => there.includes(name))
        const removed = there.filter((name) => !kept.has(name)).map((name) => `delete ${name}`)
        assert.deepEqual(
          done.filter((line) => line.startsWith('delete')),
          removed.sort(),
        )
        const made = [...targets].filter((name) => !there.includes(name)).map((name) => `create ${name}`)
        assert.deepEqual(
          done.filter((line) => line.startsWith('create')),
          isHeld ? [] : made.sort(),
        )
        for (const line of done.filter((one) => one.startsWith('patch')))
          assert.ok(targets.has(line.slice('patch '.length)) && !isHeld, line)
      }),
      { numRuns: 200 },
    )
  })

  it('does nothing more once it was carried out', async () => {
    await fc.assert(
      fc.asyncProperty(anyBinding, async (binding) => {
        const { wanted } = await wantedFor(binding, [])
        const works = wanted.map(({ work }) => work)
        assert.deepEqual(summaryOf(plan(await observed(binding, works))), [])
      }),
      { numRuns: 100 },
    )
  })

  it('does not depend on the order of targets', async () => {
    await fc.assert(
      fc.asyncProperty(unique, fc.func(fc.nat()), async (clusters, orderOf) => {
        const shuffled = [...clusters].sort((a, b) => orderOf(a.name) - orderOf(b.name))
        const worksOf = async (list: TargetCluster[]): Promise<Work[]> => {
          const { wanted } = await wantedFor(aBinding(template, { replicas: 6, clusters: list }), [])
          return wanted.map(({ work }) => work).sort((a, b) => (clusterOf(a) < clusterOf(b) ? -1 : 1))
        }
        assert.deepEqual(await worksOf(shuffled), await worksOf(clusters))
      }),
    )
  })
})

describe('the plan', () => {
  const binding = aBinding(template, { clusters: [{ name: 'a' }] })
  const going: Binding = { ...binding, metadata: { ...binding.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  const without = ({ metadata, ...rest }: Binding): Binding => ({ ...rest, metadata: { ...metadata, labels: {} } })

  it('is nothing while the server has another spec than the cache', async () => {
    assert.deepEqual(plan(await observed(binding, [], { isFresh: false })), { actions: [] })
  })
  it('sends Works on their way, then lets go of the binding', async () => {
    const planned = plan(await observed(going, await madeBy(binding), { wanted: [] }))
    assert.deepEqual(
      actionsOf(planned).map((action) => `${action.do} ${action.resource.plural}`),
      ['delete works', 'patch resourcebindings'],
    )
  })
  it('removes what a binding left behind', async () => {
    assert.deepEqual(summaryOf(plan(await observed(binding, await madeBy(binding), { binding: undefined, wanted: [] }))), ['delete a'])
  })
  it('says what is wrong with a binding that has no id', async () => {
    const { actions, events = [] } = plan(await observed(without(binding), []))
    assert.deepEqual(actions, [])
    assert.match(events[0]?.message ?? '', /has no label resourcebinding.karmada.io\/permanent-id/)
  })
})
