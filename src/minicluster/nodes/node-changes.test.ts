import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DAEMON_SETS, NODES, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { DaemonSet, Node } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Controller, Watch } from '../../runtime/controller.ts'
import type { CsiDriver, CsiLabels } from '../../runtime/seams/csi-driver.ts'
import { storedReader } from '../../runtime/testing.ts'
import { nodeWatch } from '../network/service-pods.ts'
import { daemonSet } from '../workloads/daemon-set/controller.ts'
import { csiNodes } from './csi/controller.ts'
import { simulatedNodes } from './simulated/controller.ts'

const aNode = (labels: Record<string, string>, more: Partial<Node> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'a', uid: 'n1', labels },
  ...more,
})

function watchOf({ watches = [] }: Controller, resource: Resource): Watch {
  const found = watches.find((watch) => watch.resource === resource)
  assert.ok(found !== undefined)
  return found
}

/** Caches of datasets label nodes all the time: with many of them, nothing may depend on how many there are. */
describe('a label of a node', () => {
  it('is nothing to the pods that are played there', () => {
    const { isRelevantUpdate } = watchOf(simulatedNodes(), NODES)
    const played = { 'sluice.dev/node': 'simulated' }
    assert.equal(isRelevantUpdate?.(aNode(played), aNode({ ...played, 'fluid.io/s-x': 'true' })), false)
    const networked = { spec: { podCIDR: '10.1.2.0/24' } }
    assert.equal(isRelevantUpdate?.(aNode(played), aNode(played, networked)), true)
    const addressed = { status: { addresses: [{ type: 'InternalIP', address: '10.9.9.9' }] } }
    assert.equal(isRelevantUpdate?.(aNode(played), aNode(played, addressed)), true)
  })

  it('is nothing to services, except that of the zone', () => {
    assert.equal(nodeWatch.isRelevantUpdate?.(aNode({}), aNode({ 'fluid.io/s-x': 'true' })), false)
    assert.equal(nodeWatch.isRelevantUpdate?.(aNode({}), aNode({ 'topology.kubernetes.io/zone': 'west' })), true)
  })

  it('makes only those DaemonSets look that select it, that select none, or that have a pod there', () => {
    const judged: string[] = []
    const controller = daemonSet({
      admit(pod) {
        judged.push(pod.metadata.labels?.app ?? '')
        return pod
      },
    })
    const sets = [
      aSet('everywhere', {}),
      aSet('called', { 'fluid.io/f-called': 'true' }),
      aSet('others', { 'fluid.io/f-others': 'true' }),
      aSet('present', { 'fluid.io/f-present': 'true' }),
    ]
    const pods = [podOf(sets, 'everywhere'), podOf(sets, 'present')]
    const node = aNode({ 'fluid.io/f-called': 'true' })
    const keys = watchOf(controller, NODES).keysFor(
      node,
      storedReader(controller, [
        [DAEMON_SETS, sets],
        [PODS, pods],
        [NODES, [node]],
      ]),
    )
    assert.deepEqual(judged.sort(), ['called', 'everywhere', 'present'])
    assert.deepEqual(keys.map(({ name }) => name).sort(), ['called', 'present'])
  })
})

describe('a volume of a CSI driver', () => {
  it('concerns the nodes that have its label, and no others', () => {
    const labels: CsiLabels = {
      of: ({ attributes }) => ({ [attributes.key ?? '']: 'true' }),
      owns: (key) => key.startsWith('fluid.io/f-'),
      reads: [],
    }
    const driver = { name: 'test.csi', labels } as CsiDriver
    const controller = csiNodes([driver])
    const nodes = ['x', 'y', 'z'].map((name) => ({ ...aNode({}), metadata: { name, labels: { [`fluid.io/f-${name}`]: 'true' } } }))
    const volume: KubeObject = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'v' },
      spec: { csi: { driver: 'test.csi', volumeHandle: 'v', volumeAttributes: { key: 'fluid.io/f-y' } } },
    }
    const keys = watchOf(controller, PERSISTENT_VOLUMES).keysFor(volume, storedReader(controller, [[NODES, nodes]]))
    assert.deepEqual(keys, [{ namespace: '', name: 'y' }])
  })
})

const aSet = (name: string, nodeSelector: Record<string, string>): DaemonSet => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name, namespace: 'default', uid: name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { nodeSelector, containers: [] } },
  },
})

function podOf(sets: readonly DaemonSet[], name: string): KubeObject {
  const { uid = '' } = sets.find(({ metadata }) => metadata.name === name)?.metadata ?? {}
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid, controller: true }]
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: `${name}-1`, namespace: 'default', ownerReferences }, spec: { nodeName: 'a' } }
}
