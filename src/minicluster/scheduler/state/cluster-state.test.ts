import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { parseLabelSelector } from '../../../kube/selector.ts'
import { aPod, on } from '../testing.ts'
import { ClusterState } from './cluster-state.ts'
import { spreadQuery } from './spread.ts'

const someOf = (...values: string[]) => fc.constantFrom(...values)
const labels = fc.dictionary(someOf('app', 'tier', 'toString'), someOf('a', 'b', 'longer'), { maxKeys: 3 })
const put = fc.record({
  name: someOf('p1', 'p2', 'p3', 'p4', 'p5'),
  namespace: someOf('one', 'two'),
  node: someOf('n1', 'n2'),
  labels,
  isThere: fc.boolean(),
})
const selector = someOf('app=a', 'app=longer,tier=b', 'tier', 'tier!=a', 'app in (a,b),toString=a')
const question = fc.record({ namespace: someOf('one', 'two'), selector })

it('pods of a set are counted on their nodes, whatever came and went, and however often sets are asked for', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(put, question), { maxLength: 40 }), (steps) => {
      const state = new ClusterState()
      const there = new Map<string, ReturnType<typeof aPod>>()
      const ask = (of: ClusterState, { namespace, selector: text }: { namespace: string; selector: string }): [string, number][] => {
        const query = spreadQuery(namespace, {
          ...{ topologyKey: 'host', maxSkew: 1, minDomains: 1, honoursAffinity: true, honoursTaints: false },
          selector: parsedSelector(text),
        })
        assert.ok(query)
        return [...of.countsOf(query)].sort()
      }
      for (const step of steps) {
        if (!('node' in step)) {
          const anew = new ClusterState()
          for (const [key, pod] of there) anew.setPod(key, pod)
          assert.deepEqual(ask(state, step), ask(anew, step))
          continue
        }
        const key = `${step.namespace}/${step.name}`
        const pod = step.isThere ? on(step.node, aPod(step.name, { namespace: step.namespace, labels: step.labels })) : undefined
        if (pod === undefined) there.delete(key)
        else there.set(key, pod)
        state.setPod(key, pod)
      }
    }),
  )
})

it('of more labels than are remembered, each is counted right', () => {
  const state = new ClusterState()
  const all = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`label-${i}`, 'x']))
  state.setPod('default/p', on('n1', aPod('p', { labels: all })))
  for (const label of Object.keys(all)) {
    const query = spreadQuery('default', {
      ...{ topologyKey: 'host', maxSkew: 1, minDomains: 1, honoursAffinity: true, honoursTaints: false },
      selector: parsedSelector(`${label}=x`),
    })
    assert.ok(query)
    assert.deepEqual([...state.countsOf(query)], [['n1', 1]])
  }
})

function parsedSelector(text: string) {
  const { value } = parseLabelSelector(text)
  assert.ok(value)
  return value
}
