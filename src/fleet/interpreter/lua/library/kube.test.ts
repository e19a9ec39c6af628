import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Script } from '../script.ts'
import { answerOf, failureOf } from '../testing.ts'

const kube = (expression: string, ...args: unknown[]): unknown => answerOf(`local kube = require("kube") return ${expression}`, ...args)

const TEMPLATE = {
  metadata: { labels: { app: 'web' } },
  spec: {
    serviceAccountName: 'runner',
    nodeSelector: { disk: 'ssd' },
    containers: [
      { name: 'a', resources: { requests: { cpu: '500m', memory: '1Gi' } }, envFrom: [{ configMapRef: { name: 'settings' } }] },
      { name: 'b', resources: { limits: { cpu: '250m' } } },
    ],
    volumes: [
      { name: 'data', persistentVolumeClaim: { claimName: 'disk' } },
      { name: 'tmp', emptyDir: {} },
    ],
  },
}

describe('lua kube library', () => {
  it('adds quantities', () => {
    assert.equal(kube('kube.resourceAdd("500m", "1", nil, "250m")'), '1750m')
    assert.equal(kube('kube.resourceAdd("512Mi", "512Mi")'), '1Gi')
    assert.equal(kube('kube.resourceAdd()'), '0')
    assert.match(failureOf('return require("kube").resourceAdd("many")'), /line 1: cannot parse 'many'/)
    assert.match(failureOf('return require("kube").resourceAdd(5)'), /string expected, got number/)
  })

  it('gives a quantity as a number', () => {
    assert.deepEqual(
      kube('{kube.getResourceQuantity("1500m"), kube.getResourceQuantity("2Ki"), kube.getResourceQuantity(nil)}'),
      [1.5, 2048, 0],
    )
    // Digits multiplied by the unit, as in Go: scripts that compare such numbers were tested with that.
    assert.equal(kube('kube.getResourceQuantity("0.3") == 3 * 0.1'), true)
    assert.match(failureOf('return require("kube").getResourceQuantity("-1")'), /negative/)
  })

  it('returns what a pod needs', () => {
    const requirements = kube('kube.accuratePodRequirements(arg1)', TEMPLATE) as Record<string, unknown>
    assert.deepEqual(requirements, { nodeClaim: { nodeSelector: { disk: 'ssd' } }, resourceRequest: { cpu: '750m', memory: '1Gi' } })
    assert.equal(kube('kube.accuratePodRequirements({spec = {containers = {}}}) == nil'), true)
    assert.match(failureOf('return require("kube").accuratePodRequirements()'), /only accepts one argument/)
    assert.match(
      failureOf('require("kube").accuratePodRequirements({spec = {containers = {{resources = {requests = {cpu = "x"}}}}}})'),
      /quantit/,
    )
  })

  it('returns the priority class of a pod unless it is not to', () => {
    const script = new Script('function main(t) return require("kube").accuratePodRequirements(t) end', 'main')
    const pod = { spec: { priorityClassName: 'high', nodeSelector: { disk: 'ssd' } } }
    const reported = (options: object) => script.call([pod], { now: () => 0, ...options }).json(1, { root: 'struct' })
    const nodeClaim = { nodeSelector: { disk: 'ssd' } }
    assert.deepEqual(reported({}), { nodeClaim, priorityClassName: 'high' })
    assert.deepEqual(reported({ priorityClassName: false }), { nodeClaim })
  })

  it('returns what a pod depends on', () => {
    const references = kube('kube.getPodDependencies(arg1, arg2)', TEMPLATE, 'shop') as { kind: string; name: string; namespace: string }[]
    assert.deepEqual(references.map(({ kind, name }) => `${kind}/${name}`).sort(), [
      'ConfigMap/settings',
      'PersistentVolumeClaim/disk',
      'ServiceAccount/runner',
    ])
    assert.ok(references.every(({ namespace }) => namespace === 'shop'))
    assert.equal((kube('kube.getPodDependencies(arg1, nil)', TEMPLATE) as { namespace: string }[])[0]?.namespace, 'default')
    assert.match(failureOf('return require("kube").getPodDependencies({})'), /only accepts two argument/)
  })

  it('is the same table at every require, and a fresh one in every call', () => {
    assert.equal(kube('require("kube") == kube'), true)
    assert.equal(answerOf('local kube = require("kube"); local seen = kube.mark; kube.mark = 1; return seen == nil'), true)
  })
})
