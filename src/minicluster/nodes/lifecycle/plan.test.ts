import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Lease, Node, NodeCondition, Taint } from '../../../kinds/kubernetes/types.ts'
import { NODE_LABEL } from '../../shape.ts'
import { givenUpAtMs, unknownConditions } from './health.ts'
import { type Disruption, disruptionOf, taintsFor } from './taints.ts'

const START = Date.UTC(2026, 0, 1)

const node = (conditions: NodeCondition[] | undefined, spec: Node['spec'] = {}, labels: Record<string, string> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', labels, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec,
  status: conditions === undefined ? undefined : { conditions },
})
const lease = (renewTime: string | undefined): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'n' },
  spec: { renewTime },
})
const READY: NodeCondition = { type: 'Ready', status: 'True' }
const brief = (taints: readonly Taint[]): string[] => taints.map(({ key, effect }) => `${key?.split('/').pop()}:${effect}`).sort()

describe('the taints of a node', () => {
  const simulated: Taint = { key: 'sluice.dev/simulated', effect: 'NoSchedule' }
  const notReady: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute', timeAdded: '2025-01-01T00:00:00Z' }
  const cases: [string, Node, Disruption, string[]][] = [
    ['ready', node([READY]), 'none', []],
    ['ready again', node([READY], { taints: [simulated, notReady] }), 'none', ['simulated:NoSchedule']],
    ['not ready', node([{ type: 'Ready', status: 'False' }]), 'none', ['not-ready:NoExecute', 'not-ready:NoSchedule']],
    [
      'unknown',
      node([{ type: 'Ready', status: 'Unknown' }], { taints: [notReady] }),
      'none',
      ['unreachable:NoExecute', 'unreachable:NoSchedule'],
    ],
    ['not ready, nobody is', node([{ type: 'Ready', status: 'False' }], { taints: [notReady] }), 'full', ['not-ready:NoSchedule']],
    ['not ready in a bad zone', node([{ type: 'Ready', status: 'False' }]), 'partial', ['not-ready:NoSchedule']],
    [
      'not ready before the zone was bad',
      node([{ type: 'Ready', status: 'False' }], { taints: [notReady] }),
      'partial',
      ['not-ready:NoExecute', 'not-ready:NoSchedule'],
    ],
    ['cordoned', node([READY], { unschedulable: true }), 'none', ['unschedulable:NoSchedule']],
    [
      'under pressure',
      node([
        READY,
        { type: 'MemoryPressure', status: 'True' },
        { type: 'DiskPressure', status: 'True' },
        { type: 'PIDPressure', status: 'True' },
        { type: 'NetworkUnavailable', status: 'True' },
      ]),
      'none',
      ['disk-pressure:NoSchedule', 'memory-pressure:NoSchedule', 'network-unavailable:NoSchedule', 'pid-pressure:NoSchedule'],
    ],
    ['says nothing', node(undefined, { taints: [notReady] }), 'none', ['not-ready:NoExecute']],
    ['has odd conditions', node([{}, { type: 'Ready' }, { status: 'True' }]), 'none', []],
  ]
  for (const [name, one, disruption, expected] of cases)
    it(name, () => {
      const taints = taintsFor(one, disruption, START)
      assert.deepEqual(brief(taints), expected)
      const settled = { ...one, spec: { ...one.spec, taints: [...taints] } }
      assert.equal(taintsFor(settled, disruption, START + 1000), settled.spec.taints, 'and then nothing changes')
    })

  it('keeps the time of what stays', () => {
    const [kept] = taintsFor(node([{ type: 'Ready', status: 'False' }], { taints: [notReady] }), 'none', START)
    assert.deepEqual(kept, notReady)
  })
})

describe('how bad it is around a node', () => {
  const cases: [number, number, boolean, Disruption][] = [
    [0, 3, false, 'full'],
    [0, 3, true, 'none'],
    [2, 2, true, 'none'],
    [2, 3, true, 'partial'],
    [3, 3, true, 'none'],
    [20, 40, true, 'none'],
  ]
  for (const [ready, notReady, isAnyReady, expected] of cases)
    it(`${ready} ready, ${notReady} not, ${isAnyReady ? 'some' : 'none'} anywhere: ${expected}`, () => {
      assert.equal(disruptionOf({ inZone: { ready, notReady }, isAnyReady }), expected)
    })
})

describe('a node is given up', () => {
  const cases: [string, Node, Lease | undefined, number | undefined][] = [
    ['50 s after its last heartbeat', node([READY]), lease('2026-01-01T00:01:00.000000Z'), START + 110_000],
    ['50 s after somebody began to look', node([READY]), lease('2025-01-01T00:00:00.000000Z'), START + 50_000],
    ['never without a lease', node([READY]), undefined, undefined],
    ['50 s after it began, with a lease that says nothing', node([READY]), lease(undefined), START + 50_000],
    [
      '50 s after its last report',
      node([{ ...READY, lastHeartbeatTime: '2026-01-01T00:02:00Z' }]),
      lease('2026-01-01T00:01:00.000000Z'),
      START + 170_000,
    ],
    ['never when it is simulated', node(undefined, {}, { [NODE_LABEL]: 'simulated' }), undefined, undefined],
    ['a minute after its creation when it never said anything', node(undefined), undefined, START + 60_000],
  ]
  for (const [name, one, of, expected] of cases)
    it(name, () => assert.equal(givenUpAtMs({ node: one, lease: of, watchedSinceMs: START }), expected))

  it('and its conditions say so once', () => {
    const one = node([
      { ...READY, reason: 'KubeletReady' },
      { type: 'MemoryPressure', status: 'False' },
    ])
    const conditions = unknownConditions(one, START) ?? []
    assert.deepEqual(
      conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
      [
        'Ready Unknown NodeStatusUnknown',
        'MemoryPressure Unknown NodeStatusUnknown',
        'DiskPressure Unknown NodeStatusNeverUpdated',
        'PIDPressure Unknown NodeStatusNeverUpdated',
      ],
    )
    assert.equal(conditions[0]?.message, 'Kubelet stopped posting node status.')
    assert.equal(unknownConditions(node(conditions), START + 1), undefined)
  })
})
