import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../../kinds/kubernetes/types.ts'
import { podInfo } from '../state/pod-info.ts'
import { aNode, aPod, aSnapshot, type Objects, on, verdicts } from '../testing.ts'
import { claimsOf } from './claims.ts'
import { findVolumes } from './find-volumes.ts'

const ZONE = 'topology.kubernetes.io/zone'
const BOUND = { 'pv.kubernetes.io/bind-completed': 'yes' }

interface ClaimAsked {
  size?: string
  storageClass?: string
  volume?: string
  annotations?: Record<string, string>
  phase?: string
  modes?: string[]
  metadata?: object
}

const aClaim = (
  name: string,
  { size = '1Gi', storageClass = 'local', volume, annotations, phase, modes, metadata }: ClaimAsked = {},
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    namespace: 'default',
    name,
    uid: `uid-${name}`,
    annotations: volume === undefined ? annotations : { ...BOUND, ...annotations },
    ...metadata,
  },
  spec: {
    storageClassName: storageClass,
    volumeName: volume,
    resources: { requests: { storage: size } },
    accessModes: modes ?? ['ReadWriteOnce'],
  },
  status: { phase },
})

const aVolume = (
  name: string,
  size = '1Gi',
  spec: PersistentVolume['spec'] = {},
  labels: Record<string, string> = {},
): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name, labels },
  spec: { storageClassName: 'local', capacity: { storage: size }, accessModes: ['ReadWriteOnce'], ...spec },
  status: { phase: 'Available' },
})

const at = (node: string): PersistentVolume['spec'] => ({
  nodeAffinity: {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] }] },
  },
})

const aClass = (more: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'local' },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
  ...more,
})

const using = (...names: string[]): Pod =>
  aPod('p', { uid: 'uid-p', spec: { volumes: names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })) } })
const ephemeral = aPod('p', { uid: 'uid-p', spec: { volumes: [{ name: 'e', ephemeral: {} }] } })
const nodes = [aNode('a'), aNode('b')]
const [CONFLICT, NO_VOLUME] = [
  "node(s) didn't match PersistentVolume's node affinity (final)",
  "node(s) didn't find available persistent volumes to bind (final)",
]
const made = { provisioner: 'example.com/p' }

const cases: [what: string, pod: Pod, objects: Objects, said: Record<string, string> | string][] = [
  ['no claims, no opinion', aPod('p'), {}, 'indifferent'],
  ['a claim that is not there', using('c'), {}, 'refused: persistentvolumeclaim "c" not found'],
  [
    'a claim that lost its volume',
    using('c'),
    { claims: [aClaim('c', { volume: 'v', phase: 'Lost' })] },
    'refused: persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
  ],
  [
    'a claim that leaves',
    using('c'),
    { claims: [aClaim('c', { metadata: { deletionTimestamp: 'x' } })] },
    'refused: persistentvolumeclaim "c" is being deleted',
  ],
  [
    'a claim that must be bound first',
    using('c'),
    { claims: [aClaim('c')], classes: [aClass({ volumeBindingMode: 'Immediate' })] },
    'refused: pod has unbound immediate PersistentVolumeClaims',
  ],
  [
    'a claim of a class that is not there',
    using('c'),
    { claims: [aClaim('c')] },
    'refused: pod has unbound immediate PersistentVolumeClaims',
  ],
  [
    'a volume of a CSI driver that only some nodes reach',
    using('c'),
    {
      claims: [aClaim('c', { volume: 'v', phase: 'Bound' })],
      volumes: [aVolume('v', '1Gi', { ...at('b'), csi: { driver: 'd.example.com', volumeHandle: 'v' } })],
    },
    { a: CONFLICT, b: 'yes' },
  ],
  [
    'an ephemeral claim that is still to come',
    ephemeral,
    {},
    'refused: waiting for ephemeral volume controller to create the persistentvolumeclaim "p-e"',
  ],
  [
    'an ephemeral claim of somebody else',
    ephemeral,
    { claims: [aClaim('p-e')] },
    'refused: PVC default/p-e was not created for pod default/p (pod is not owner)',
  ],
  [
    'a bound volume decides',
    using('c'),
    { claims: [aClaim('c', { volume: 'v' })], volumes: [aVolume('v', '1Gi', at('b'))] },
    { a: CONFLICT, b: 'yes' },
  ],
  [
    'a bound volume that is not there',
    using('c'),
    { claims: [aClaim('c', { volume: 'v' })] },
    {
      a: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s) (final)',
      b: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s) (final)',
    },
  ],
  [
    'a volume that waits to be used',
    using('c'),
    { claims: [aClaim('c')], classes: [aClass()], volumes: [aVolume('v', '1Gi', at('b'))] },
    { a: NO_VOLUME, b: 'yes' },
  ],
  [
    'too small',
    using('c'),
    { claims: [aClaim('c', { size: '2Gi' })], classes: [aClass()], volumes: [aVolume('v')] },
    { a: NO_VOLUME, b: NO_VOLUME },
  ],
  [
    'for somebody else',
    using('c'),
    { claims: [aClaim('c')], classes: [aClass()], volumes: [aVolume('v', '1Gi', { claimRef: { namespace: 'default', name: 'd' } })] },
    { a: NO_VOLUME, b: NO_VOLUME },
  ],
  [
    'one volume is not enough for two claims',
    using('c', 'd'),
    { claims: [aClaim('c'), aClaim('d')], classes: [aClass()], volumes: [aVolume('v')] },
    { a: NO_VOLUME, b: NO_VOLUME },
  ],
  ['what can be made is fine anywhere', using('c'), { claims: [aClaim('c')], classes: [aClass(made)] }, { a: 'yes', b: 'yes' }],
  [
    'but only where the class allows it',
    using('c'),
    {
      claims: [aClaim('c')],
      classes: [aClass({ ...made, allowedTopologies: [{ matchLabelExpressions: [{ key: 'kubernetes.io/hostname', values: ['b'] }] }] })],
    },
    { a: NO_VOLUME, b: 'yes' },
  ],
  [
    'a node selected before is final',
    using('c'),
    { claims: [aClaim('c', { annotations: { 'volume.kubernetes.io/selected-node': 'a' } })], classes: [aClass(made)] },
    { a: 'yes', b: NO_VOLUME },
  ],
]

describe('VolumeBinding', () => {
  for (const [what, pod, objects, said] of cases)
    it(what, () => assert.deepEqual(verdicts('VolumeBinding', pod, { nodes, ...objects }), said))

  const find = (pod: Pod, objects: Objects): unknown => {
    const snapshot = aSnapshot({ nodes: [aNode('a')], ...objects })
    const claims = claimsOf(podInfo(pod), snapshot)
    const node = snapshot.cluster.node('a')
    assert.ok(!('problem' in claims) && node !== undefined)
    const found = findVolumes(claims, node, snapshot)
    assert.ok(!('reasons' in found))
    return [
      found.matched.map(({ claim, volume }) => [claim.metadata.name, volume.metadata.name]),
      found.provisioned.map(({ metadata }) => metadata.name),
    ]
  }

  it('takes the smallest volume that fits, the smallest claim first, and has made what is missing', () => {
    const volumes = [aVolume('large', '10Gi'), aVolume('small', '1Gi'), aVolume('middle', '5Gi')]
    const claims = [aClaim('big', { size: '4Gi' }), aClaim('little'), aClaim('huge', { size: '20Gi' })]
    assert.deepEqual(find(using('big', 'little', 'huge'), { claims, volumes, classes: [aClass(made)] }), [
      [
        ['little', 'small'],
        ['big', 'middle'],
      ],
      ['huge'],
    ])
  })

  it('takes the volume that was made for the claim, even if a smaller one is there', () => {
    const volumes = [aVolume('small'), aVolume('own', '5Gi', { claimRef: { namespace: 'default', name: 'c', uid: 'uid-c' } })]
    assert.deepEqual(find(using('c'), { claims: [aClaim('c')], volumes, classes: [aClass()] }), [[['c', 'own']], []])
  })

  it('does not count volumes that are promised to others', () => {
    const snapshot = aSnapshot({ nodes: [aNode('a')], claims: [aClaim('c')], volumes: [aVolume('v')], classes: [aClass()] })
    const rival = podInfo(aPod('q', { uid: 'q' }))
    snapshot.cluster.reserve({ info: rival, node: 'a', isBinding: false, volumes: new Map([['v', 'default/d']]), claims: new Map() })
    const claims = claimsOf(podInfo(using('c')), snapshot)
    const node = snapshot.cluster.node('a')
    assert.ok(!('problem' in claims) && node !== undefined)
    assert.deepEqual(findVolumes(claims, node, snapshot), { reasons: ["node(s) didn't find available persistent volumes to bind"] })
    snapshot.cluster.release('default/q')
    assert.ok('matched' in findVolumes(claims, node, snapshot))
  })
})

const TAKEN = 'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod'
describe('VolumeRestrictions', () => {
  const alone = aClaim('c', { modes: ['ReadWriteOncePod'] })
  it('one pod only, anywhere in the cluster', () => {
    const user = on('a', { ...using('c'), metadata: { namespace: 'default', name: 'q' } })
    assert.deepEqual(verdicts('VolumeRestrictions', using('c'), { nodes, claims: [alone], pods: [user] }), { a: TAKEN, b: TAKEN })
    assert.equal(verdicts('VolumeRestrictions', using('c'), { nodes, claims: [alone] }), 'indifferent')
    assert.equal(verdicts('VolumeRestrictions', using('c'), { nodes, claims: [aClaim('c')], pods: [user] }), 'indifferent')
  })
  it('a claim that is not there', () =>
    assert.equal(verdicts('VolumeRestrictions', using('c'), { nodes }), 'refused: persistentvolumeclaim "c" not found'))
})

describe('VolumeZone', () => {
  const zoned = [aNode('e', { labels: { [ZONE]: 'east' } }), aNode('w', { labels: { [ZONE]: 'west' } }), aNode('n')]
  const NO_ZONE = 'node(s) had no available volume zone (final)'
  it('volumes are used in their zone, or where nobody knows', () => {
    const volumes = [aVolume('v', '1Gi', {}, { [ZONE]: 'east__north' })]
    assert.deepEqual(verdicts('VolumeZone', using('c'), { nodes: zoned, claims: [aClaim('c', { volume: 'v' })], volumes }), {
      e: 'yes',
      w: NO_ZONE,
      n: 'yes',
    })
  })
  it('the old label means the same', () => {
    const volumes = [aVolume('v', '1Gi', {}, { 'failure-domain.beta.kubernetes.io/zone': 'west' })]
    assert.deepEqual(verdicts('VolumeZone', using('c'), { nodes: zoned, claims: [aClaim('c', { volume: 'v' })], volumes }), {
      e: NO_ZONE,
      w: 'yes',
      n: 'yes',
    })
  })
})
