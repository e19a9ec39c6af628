import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Lease, Node } from '../../../kinds/kubernetes/types.ts'
import { type Observed, plan } from './controller.ts'
import { processNode, processNodeStatus, processNodes } from './node.ts'

const T0 = Date.UTC(2026, 0, 1)
const size = { cpu: '4', memory: '8Gi', pods: 110 }
const shape = { index: 2, name: 'm', region: 'west', zones: ['w-a', 'w-b'], simulated: { count: 0, size }, process: { count: 3, size } }
const NAME = 'm-process-2'

const ready: Node = { ...processNode(shape, NAME), status: processNodeStatus(shape, NAME, T0) }
const renewed = (at: number): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: NAME },
  spec: { renewTime: new Date(T0 + at).toISOString() },
})
const observed = (more: Partial<Observed>): Observed => ({
  name: NAME,
  node: ready,
  lease: renewed(0),
  shape,
  systemInfo: undefined,
  isWanted: true,
  isRegistered: true,
  nowMs: T0,
  ...more,
})
const summaryOf = (more: Partial<Observed>): string[] =>
  plan(observed(more)).actions.map((action) => (action.do === 'batch' ? 'batch' : `${action.do} ${action.resource.plural}`))

describe('process nodes', () => {
  it('have networks of their own inside 127.64.0.0/10', () => {
    assert.deepEqual(
      processNodes(shape).map(({ name, podCIDR }) => `${name} ${podCIDR}`),
      ['m-process-1 127.64.128.0/24', 'm-process-2 127.64.129.0/24', 'm-process-3 127.64.130.0/24'],
    )
    const far = processNodes({ ...shape, index: 250 }).map(({ podCIDR }) => Number(podCIDR.split('.')[1]))
    assert.ok(far.every((second) => second >= 64 && second < 128))
    assert.deepEqual(
      processNodes({ ...shape, network: 16_383 }).map(({ podCIDR }) => podCIDR),
      ['127.64.127.0/24', '127.64.128.0/24', '127.64.129.0/24'],
    )
  })
  it('say where they are and how large', () => {
    assert.equal(ready.metadata.labels?.['topology.kubernetes.io/zone'], 'w-b')
    assert.equal(ready.metadata.labels?.['kubernetes.io/hostname'], NAME)
    assert.deepEqual(ready.status?.capacity, { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '100Gi' })
  })
  const cases: [string, Partial<Observed>, string[]][] = [
    ['register', { node: undefined, isRegistered: false }, ['create nodes']],
    ['do not come back while the process lives', { node: undefined }, []],
    ['report and take their lease', { node: processNode(shape, NAME), lease: undefined }, ['patch nodes', 'create leases']],
    ['are quiet while the lease is fresh', { nowMs: T0 + 9999 }, []],
    ['renew it after ten seconds', { nowMs: T0 + 10_000 }, ['patch leases']],
    ['renew it after a jump of the clock', { nowMs: T0 - 60_000 }, ['patch leases']],
    ['go when the shape has them no longer', { isWanted: false }, ['delete nodes']],
    [
      'leave nodes of people alone',
      { isWanted: false, node: { ...ready, metadata: { name: NAME, labels: { 'sluice.dev/node': 'process' } } } },
      [],
    ],
    ['leave nodes of others alone', { node: { ...ready, metadata: { name: NAME } } }, []],
    ['do nothing while they go', { node: { ...ready, metadata: { ...ready.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } } }, []],
  ]
  for (const [name, more, expected] of cases) it(name, () => assert.deepEqual(summaryOf(more), expected))
})
