import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import { NODES } from '../../../kinds/kubernetes/resources.ts'
import type { Node } from '../../../kinds/kubernetes/types.ts'
import { type MemberShape, SIMULATED_NODE_SIZE } from '../../shape.ts'
import { nodeRegistration, plan } from './controller.ts'
import { simulatedNode } from './node.ts'

const pool = (count: number) => ({ count, size: SIMULATED_NODE_SIZE })
const shape: MemberShape = { index: 1, name: 'member1', region: 'east', zones: ['east-a', 'east-b'], simulated: pool(2), process: pool(0) }

describe('the plan for a simulated node', () => {
  const observed = { shape, index: 0, isRegistered: false, nowMs: 0 }
  it('creates it when the process starts, and not again when somebody deletes it', () => {
    assert.equal(plan({ ...observed, node: undefined }).actions[0]?.do, 'create')
    assert.deepEqual(plan({ ...observed, node: undefined, isRegistered: true }).actions, [])
  })
  it('spreads nodes over zones and gives each its own network', () => {
    const [a, b] = [simulatedNode(shape, 0), simulatedNode(shape, 1)]
    assert.equal(a.metadata.labels?.['topology.kubernetes.io/zone'], 'east-a')
    assert.equal(b.metadata.labels?.['topology.kubernetes.io/zone'], 'east-b')
    assert.notEqual(a.spec?.podCIDR, b.spec?.podCIDR)
  })
  it('takes away what the shape no longer has, and never what people made', () => {
    const own = simulatedNode(shape, 7)
    assert.equal(plan({ ...observed, index: undefined, node: own }).actions[0]?.do, 'delete')
    const { 'sluice.dev/pool': _ours, ...labels } = own.metadata.labels ?? {}
    const theirs = { ...own, metadata: { ...own.metadata, labels } }
    assert.equal(plan({ ...observed, index: undefined, node: theirs }).actions[0]?.do, 'patch')
  })
})

describe('registration', () => {
  story(
    'lets people add nodes of a size of their own, and remove any',
    async (world) => {
      const { member } = world
      await member.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'mine', labels: { 'sluice.dev/node': 'simulated' } } })
      await member.delete(NODES, 'member1-simulated-2')
      await world.settle()
      const nodes = (await member.list(NODES)) as Node[]
      assert.deepEqual(
        nodes.map((node) => [node.metadata.name, node.status?.conditions?.find(({ type }) => type === 'Ready')?.status]),
        [
          ['member1-simulated-1', 'True'],
          ['mine', 'True'],
        ],
      )
      // A start registers what is missing, as a kubelet would.
      await world.restartControllers()
      await world.settle()
      assert.equal((await member.list(NODES)).length, 3)
    },
    { members: 1, nodes: 2 },
  )
  survives(nodeRegistration(shape), {
    nodes: 2,
    steps: [
      (cluster) =>
        cluster.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'mine', labels: { 'sluice.dev/node': 'simulated' } } }),
    ],
    atRest: async (cluster) => assert.equal((await cluster.list(NODES)).length, 3),
  })
})
