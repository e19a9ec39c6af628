import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { anObject, ruleOf } from './testing.ts'

const template = { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '100m' } } }] } }
const requirements = { resourceRequest: { cpu: '100m' } }

describe('replicas and what each needs', () => {
  const cases: [string, string, object, number][] = [
    ['as the spec says', 'Deployment', { replicas: 3 }, 3],
    ['none when the spec says nothing', 'Deployment', {}, 0],
    ['as the spec says', 'ReplicaSet', { replicas: 2 }, 2],
    ['as the spec says', 'StatefulSet', { replicas: 5 }, 5],
    ['as many as run beside each other', 'Job', { parallelism: 4 }, 4],
    ['no more than are to complete', 'Job', { parallelism: 4, completions: 2 }, 2],
    ['no more than run beside each other', 'Job', { parallelism: 2, completions: 4 }, 2],
    ['none without parallelism', 'Job', { completions: 4 }, 0],
  ]
  for (const [name, kind, spec, replicas] of cases) {
    it(`${kind}: ${name}`, () => {
      assert.deepEqual(ruleOf(kind, 'replicas')(anObject(kind, { spec: { ...spec, template } })), { replicas, requirements })
      assert.deepEqual(ruleOf(kind, 'replicas')(anObject(kind, { spec })), { replicas })
    })
  }

  it('Pod: one', () => assert.deepEqual(ruleOf('Pod', 'replicas')(anObject('Pod', template)), { replicas: 1, requirements }))
})

describe('revised replicas', () => {
  for (const [kind, field] of [
    ['Deployment', 'replicas'],
    ['ReplicaSet', 'replicas'],
    ['StatefulSet', 'replicas'],
    ['Job', 'parallelism'],
  ] as const) {
    it(`${kind}: spec.${field}, where it exists`, () => {
      const revise = ruleOf(kind, 'revise')
      const before = anObject(kind, { spec: { [field]: 3, template } })
      assert.deepEqual(revise(before, 7), { ...before, spec: { [field]: 7, template } })
      assert.deepEqual(revise(before, 0), { ...before, spec: { [field]: 0, template } })
      const without = anObject(kind, { spec: { template } })
      assert.equal(revise(without, 7), without)
    })
  }

  it('Job: completions stay', () => {
    const job = anObject('Job', { spec: { parallelism: 1, completions: 10 } })
    assert.deepEqual(ruleOf('Job', 'revise')(job, 4).spec, { parallelism: 4, completions: 10 })
  })
})
