import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../../../kube/meta.ts'
import { podInfo } from '../state/pod-info.ts'
import { aNode, aPod, aSnapshot, on, type PodAsked } from '../testing.ts'
import { FILTERS } from './all.ts'
import { type Change, clusterEventOf } from './filter.ts'

const ZONE = 'topology.kubernetes.io/zone'
const node = (old: Parameters<typeof aNode>[1] | undefined, now: Parameters<typeof aNode>[1] | undefined): Change => ({
  kind: 'node',
  old: old && aNode('n', old),
  now: now && aNode('n', now),
})
const placed = (asked: PodAsked) => podInfo(on('n', aPod('q', asked)))
const came = (asked: PodAsked): Change => ({ kind: 'pod', old: undefined, now: placed(asked) })
const went = (asked: PodAsked): Change => ({ kind: 'pod', old: placed(asked), now: undefined })
const changed = (old: PodAsked, now: PodAsked): Change => ({ kind: 'pod', old: placed(old), now: placed(now) })
const object = (kind: 'claim' | 'volume' | 'storage-class', name: string, old = false): Change => {
  const one: KubeObject = { apiVersion: 'v1', kind: 'X', metadata: { namespace: 'default', name } }
  return { kind, old: old ? one : undefined, now: { ...one } }
}

const taint = { taints: [{ key: 'k', effect: 'NoSchedule' }] }
const port: PodAsked = { spec: { containers: [{ name: 'c', ports: [{ hostPort: 80 }] }] } }
const claim: PodAsked = { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] } }
const app: PodAsked = { labels: { app: 'x' } }
const spread: PodAsked = {
  spec: {
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app: 'x' } } },
    ],
  },
}
const term = { topologyKey: ZONE, labelSelector: { matchLabels: { app: 'x' } } }
const near: PodAsked = { spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } } }
const far: PodAsked = { spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } } }
const east = { labels: { [ZONE]: 'east' } }

const cases: [filter: string, what: string, pod: PodAsked, change: Change, helps: boolean][] = [
  ['NodeUnschedulable', 'uncordoned', {}, node({ unschedulable: true }, {}), true],
  ['NodeUnschedulable', 'cordoned', {}, node({}, { unschedulable: true }), false],
  ['TaintToleration', 'taint gone', {}, node(taint, {}), true],
  ['TaintToleration', 'new node with taint', {}, node(undefined, taint), false],
  ['TaintToleration', 'node gone', {}, node(taint, undefined), false],
  ['NodeAffinity', 'label appears', { spec: { nodeSelector: { [ZONE]: 'east' } } }, node({}, east), true],
  ['NodeAffinity', 'another label appears', { spec: { nodeSelector: { [ZONE]: 'west' } } }, node({}, east), false],
  ['NodePorts', 'its port becomes free', port, went(port), true],
  ['NodePorts', 'a pod without ports goes', port, went({}), false],
  ['NodeResourcesFit', 'a pod goes', { cpu: '1' }, went({}), true],
  ['NodeResourcesFit', 'a pod comes', { cpu: '1' }, came({}), false],
  ['NodeResourcesFit', 'a pod shrinks', { cpu: '1' }, changed({ cpu: '2' }, { cpu: '1' }), true],
  ['NodeResourcesFit', 'a pod shrinks in something else', { cpu: '1' }, changed({ memory: '2Gi' }, { memory: '1Gi' }), false],
  ['NodeResourcesFit', 'a node grows', { cpu: '1' }, node({ cpu: '1' }, { cpu: '2' }), true],
  ['NodeResourcesFit', 'a node grows, not enough', { cpu: '3' }, node({ cpu: '1' }, { cpu: '2' }), false],
  ['NodeResourcesFit', 'a node changes otherwise', { cpu: '1' }, node({ cpu: '2' }, { cpu: '2', ...east }), false],
  ['VolumeRestrictions', 'the user of the claim goes', claim, went(claim), true],
  ['VolumeRestrictions', 'somebody else goes', claim, went({}), false],
  ['VolumeBinding', 'its claim changes', claim, object('claim', 'c', true), true],
  ['VolumeBinding', 'another claim changes', claim, object('claim', 'd', true), false],
  ['VolumeBinding', 'a volume appears', claim, object('volume', 'v'), true],
  ['VolumeBinding', 'a class appears', claim, object('storage-class', 's'), true],
  ['VolumeBinding', 'a class changes in nothing that matters', claim, object('storage-class', 's', true), false],
  ['VolumeBinding', 'a pod goes', claim, went({}), false],
  ['VolumeZone', 'its claim changes', claim, object('claim', 'c', true), true],
  ['PodTopologySpread', 'a pod that counts comes', spread, came(app), true],
  ['PodTopologySpread', 'a pod that does not count comes', spread, came({}), false],
  ['PodTopologySpread', 'a pod begins to count', spread, changed({}, app), true],
  ['PodTopologySpread', 'a domain appears', spread, node(undefined, east), true],
  ['PodTopologySpread', 'a node without the label appears', spread, node(undefined, {}), false],
  ['InterPodAffinity', 'somebody wanted comes', near, came(app), true],
  ['InterPodAffinity', 'somebody else comes', near, came({}), false],
  ['InterPodAffinity', 'somebody in the way goes', far, went(app), true],
  ['InterPodAffinity', 'somebody who minded goes', app, went(far), true],
  ['InterPodAffinity', 'somebody indifferent goes', far, went({}), false],
]

describe('what may help a pod that a filter kept away', () => {
  const snapshot = aSnapshot({})
  for (const [name, what, asked, change, helps] of cases)
    it(`${name}: ${what}: ${helps ? 'yes' : 'no'}`, () => {
      const filter = FILTERS.find((one) => one.name === name)
      const isHeard = filter?.listens.includes(clusterEventOf(change)) === true
      assert.equal(isHeard && filter?.isHelpedBy(change, podInfo(aPod('p', asked)), snapshot), helps)
    })
})
