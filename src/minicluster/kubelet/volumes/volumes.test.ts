import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Volume } from '../../../kinds/kubernetes/types.ts'
import type { Token, VolumeContext, VolumeDriver } from '../../../runtime/seams/volume-driver.ts'
import { createPodVolumes } from './index.ts'
import { isClean } from './payload.ts'

const VOLUMES = createPodVolumes()

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const named = (kind: string, name: string, more: object) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, uid: `uid-${name}`, resourceVersion: '7' },
  ...more,
})
const configMap = named('ConfigMap', 'settings', { data: { a: 'A', b: 'B' }, binaryData: { raw: base64('\x00\x01') } }) as ConfigMap
const secret = named('Secret', 'keys', { data: { pin: base64('1234') } }) as Secret
const claims: Record<string, object> = {
  bound: { spec: { volumeName: 'disk' }, status: { phase: 'Bound' } },
  'bound-csi': { spec: { volumeName: 'far' }, status: { phase: 'Bound' } },
  'bound-nfs': { spec: { volumeName: 'net' }, status: { phase: 'Bound' } },
  'bound-here': { spec: { volumeName: 'near', accessModes: ['ReadOnlyMany'] }, status: { phase: 'Bound' } },
  'bound-node': { spec: { volumeName: 'tier' }, status: { phase: 'Bound' } },
  'bound-own': { spec: { volumeName: 'own' }, status: { phase: 'Bound' } },
  stolen: { spec: { volumeName: 'taken' }, status: { phase: 'Bound' } },
  'named-only': { spec: { volumeName: 'reserved' }, status: { phase: 'Bound' } },
  'of-another': { spec: { volumeName: 'elsewhere' }, status: { phase: 'Bound' } },
  lost: { spec: { volumeName: 'nowhere' }, status: { phase: 'Bound' } },
  pending: { spec: {}, status: { phase: 'Pending' } },
  'web-cache': { spec: {}, status: { phase: 'Pending' } },
}
const persistentVolumes: Record<string, object> = {
  reserved: { spec: { claimRef: { namespace: 'bank', name: 'named-only' }, local: { path: '/disks/2' } } },
  elsewhere: { spec: { claimRef: { namespace: 'shop', name: 'data' }, local: { path: '/disks/3' } } },
  disk: { spec: { local: { path: '/disks/1' } } },
  far: { spec: { csi: { driver: 'far.example.com' } } },
  near: {
    spec: {
      csi: { driver: 'here.example.com', volumeHandle: 'h', volumeAttributes: { a: 'b' } },
      accessModes: ['ReadWriteMany', 'ReadOnlyMany'],
    },
  },
  net: { spec: { nfs: { server: 's', path: '/p' } } },
  tier: { spec: { hostPath: { path: '/var/lib/sluice/cache/ssd', type: 'DirectoryOrCreate' } } },
  own: {
    spec: { hostPath: { path: '/data/v' } },
    metadata: { name: 'own', annotations: { 'pv.kubernetes.io/provisioned-by': 'sluice.dev/local' } },
  },
  taken: { spec: { local: { path: '/disks/2' }, claimRef: { uid: 'somebody' } } },
}

function planOf(volume: Volume, tokens: Token | undefined = { token: 'jwt', issuedAtMs: 5 }, volumesRoot?: string) {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: 'u1', labels: { l: 'v' } },
    spec: { volumes: [volume] },
  }
  const context: VolumeContext = {
    pod,
    node: undefined,
    configMap: (name) => (name === 'settings' ? configMap : undefined),
    secret: (name) => (name === 'keys' ? secret : undefined),
    claim: (name) =>
      Object.hasOwn(claims, name) ? (named('PersistentVolumeClaim', name, claims[name] ?? {}) as PersistentVolumeClaim) : undefined,
    volumesRoot,
    nodeDirectory: '/data/nodes/n1',
    hasCsiDriver: (name) => name === 'here.example.com',
    persistentVolume: (name) =>
      Object.hasOwn(persistentVolumes, name)
        ? (named('PersistentVolume', name, persistentVolumes[name] ?? {}) as PersistentVolume)
        : undefined,
    token: () => tokens,
  }
  const [planned] = VOLUMES.plan(context)
  assert.ok(planned !== undefined)
  return planned.plan
}

function filesOf(volume: Volume): Record<string, [string, string]> {
  const plan = planOf(volume)
  assert.equal(plan.kind, 'files', JSON.stringify(plan))
  return plan.kind !== 'files'
    ? {}
    : Object.fromEntries(plan.files().map(({ path, content, mode }) => [path, [Buffer.from(content).toString(), mode.toString(8)]]))
}

const projectedOf = (...sources: object[]): Volume => ({ name: 'v', projected: { defaultMode: 0o600, sources } })

describe('files of a volume', () => {
  const cases: [string, Volume, Record<string, [string, string]>][] = [
    ['all keys of a ConfigMap', { configMap: { name: 'settings' } }, { a: ['A', '644'], b: ['B', '644'], raw: ['\x00\x01', '644'] }],
    [
      'chosen keys, with modes',
      {
        configMap: {
          name: 'settings',
          defaultMode: 0o440,
          items: [
            { key: 'a', path: 'x/a' },
            { key: 'b', path: 'y', mode: 0o400 },
          ],
        },
      },
      { 'x/a': ['A', '440'], y: ['B', '400'] },
    ],
    ['no ConfigMap, where it is optional', { configMap: { name: 'nobody', optional: true } }, {}],
    ['no key, where it is optional', { configMap: { name: 'settings', optional: true, items: [{ key: 'z', path: 'z' }] } }, {}],
    ['a Secret', { secret: { secretName: 'keys', defaultMode: 0o400 } }, { pin: ['1234', '400'] }],
    ['no Secret, where it is optional', { secret: { secretName: 'nobody', optional: true } }, {}],
    [
      'fields of the pod',
      { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
      { labels: ['l="v"', '644'] },
    ],
    [
      'everything at once',
      projectedOf(
        { configMap: { name: 'settings', items: [{ key: 'a', path: 'a' }] } },
        { secret: { name: 'keys' } },
        { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' }, mode: 0o444 }] } },
        { serviceAccountToken: { path: 'token' } },
        { configMap: { name: 'nobody', optional: true } },
      ),
      { a: ['A', '600'], pin: ['1234', '600'], name: ['web', '444'], token: ['jwt', '600'] },
    ],
  ]
  for (const [name, volume, expected] of cases) it(name, () => assert.deepEqual(filesOf({ name: 'v', ...volume }), expected))
})

describe('paths of a volume', () => {
  const cases: [string, Volume, object][] = [
    ['nothing said is an emptyDir', {}, { kind: 'directory' }],
    ['emptyDir', { emptyDir: {} }, { kind: 'directory' }],
    ['emptyDir in memory', { emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } }, { kind: 'memory', sizeBytes: 64 * 1024 * 1024 }],
    ['emptyDir in memory without a limit', { emptyDir: { medium: 'Memory' } }, { kind: 'memory', sizeBytes: undefined }],
    ['hostPath', { hostPath: { path: '/srv', type: 'Directory' } }, { kind: 'path', path: '/srv', type: 'Directory', readOnly: false }],
    [
      'hostPath that every node has for itself',
      { hostPath: { path: '/runtime-mnt/cache/shop/photos/' } },
      { kind: 'path', path: '/data/nodes/n1/runtime-mnt/cache/shop/photos', type: '', readOnly: false, within: '/data/nodes/n1' },
    ],
    [
      'a volume that every node has for itself',
      { persistentVolumeClaim: { claimName: 'bound-node', readOnly: true } },
      {
        kind: 'path',
        path: '/data/nodes/n1/var/lib/sluice/cache/ssd',
        type: 'DirectoryOrCreate',
        readOnly: true,
        within: '/data/nodes/n1',
      },
    ],
    [
      'a volume of a registered driver, for a claim that may only read',
      { persistentVolumeClaim: { claimName: 'bound-here' } },
      {
        kind: 'csi',
        volume: {
          driver: 'here.example.com',
          name: 'near',
          uid: 'uid-near',
          handle: 'h',
          attributes: { a: 'b' },
          accessModes: ['ReadWriteMany', 'ReadOnlyMany'],
        },
        readOnly: true,
      },
    ],
    [
      'a local volume',
      { persistentVolumeClaim: { claimName: 'bound', readOnly: true } },
      { kind: 'path', path: '/disks/1', type: 'Directory', readOnly: true },
    ],
    [
      'a volume of our own',
      { persistentVolumeClaim: { claimName: 'bound-own' } },
      { kind: 'path', path: '/data/v', type: 'DirectoryOrCreate', readOnly: false },
    ],
  ]
  for (const [name, volume, expected] of cases) it(name, () => assert.deepEqual(planOf({ name: 'v', ...volume }), expected))

  it('a volume of our own in a data directory that was moved', () => {
    const plan = (claimName: string) => planOf({ name: 'v', persistentVolumeClaim: { claimName } }, undefined, '/moved/volumes')
    assert.deepEqual(plan('bound-own'), { kind: 'path', path: '/moved/volumes/own', type: 'DirectoryOrCreate', readOnly: false })
    assert.deepEqual(plan('bound'), { kind: 'path', path: '/disks/1', type: 'Directory', readOnly: false })
  })
})

describe('what a volume waits for', () => {
  const cases: [string, Volume, RegExp][] = [
    ['a ConfigMap', { configMap: { name: 'x' } }, /^configmap "x" not found$/],
    ['a key', { configMap: { name: 'settings', items: [{ key: 'z', path: 'z' }] } }, /^configmap references non-existent config key: z$/],
    ['a Secret', { secret: { secretName: 'x' } }, /^secret "x" not found$/],
    ['a secret key', { secret: { secretName: 'keys', items: [{ key: 'z', path: 'z' }] } }, /non-existent secret key: z$/],
    ['a field that is none', { downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'spec' } }] } }, /unsupported fieldPath: spec/],
    ['a projected ConfigMap', projectedOf({ configMap: { name: 'x' } }), /^configmap "x" not found$/],
    ['a trust bundle', projectedOf({ clusterTrustBundle: { path: 'x' } }), /clusterTrustBundle/],
    ['a pod certificate', projectedOf({ podCertificate: {} }), /podCertificate/],
    ['a claim', { persistentVolumeClaim: { claimName: 'x' } }, /^persistentvolumeclaim "x" not found$/],
    ['a claim to be bound', { persistentVolumeClaim: { claimName: 'pending' } }, /^error processing PVC shop\/pending: PVC is not bound$/],
    ['a volume that is gone', { persistentVolumeClaim: { claimName: 'lost' } }, /failed to fetch PV nowhere/],
    ['a volume of somebody else', { persistentVolumeClaim: { claimName: 'stolen' } }, /bound to another claim/],
    ['a volume that another namespace reserved', { persistentVolumeClaim: { claimName: 'named-only' } }, /bound to another claim/],
    ['a volume that another claim reserved', { persistentVolumeClaim: { claimName: 'of-another' } }, /bound to another claim/],
    [
      'a driver',
      { persistentVolumeClaim: { claimName: 'bound-csi' } },
      /^driver name far\.example\.com not found in the list of registered CSI drivers$/,
    ],
    ['another type of volume', { persistentVolumeClaim: { claimName: 'bound-nfs' } }, /only local and hostPath/],
    ['an inline driver', { csi: { driver: 'd.example.com' } }, /^driver name d\.example\.com not found/],
    [
      'an inline driver that is registered',
      { csi: { driver: 'here.example.com' } },
      /are refused, because .* use a persistentVolumeClaim instead$/,
    ],
    ['somebody else in the place of its claim', { name: 'cache', ephemeral: {} }, /pod is not owner/],
    ['its claim', { name: 'other', ephemeral: {} }, /^persistentvolumeclaim "web-other" not found$/],
    ['images', { image: { reference: 'quay.io/x' } }, /pull no images/],
    ['types nobody has', { nfs: { server: 's', path: '/' } }, /volumes of type nfs are not supported/],
    ['a path that is none', { hostPath: { path: 'relative' } }, /not an absolute path/],
    ['a path that climbs', { hostPath: { path: '/a/../b' } }, /not an absolute path/],
  ]
  for (const [name, volume, message] of cases)
    it(name, () => {
      const plan = planOf({ name: 'v', ...volume })
      assert.match(plan.kind === 'waiting' ? plan.message : JSON.stringify(plan), message)
    })

  it('a token, and why there is none', () => {
    const volume = projectedOf({ serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 600 } })
    assert.deepEqual(planOf(volume, { problem: 'failed to fetch token: no' }), { kind: 'waiting', message: 'failed to fetch token: no' })
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { volumes: [volume] } }
    assert.deepEqual(VOLUMES.tokenOrders(pod), [{ volume: 'v', order: { path: 'token', audience: 'vault', expirationSeconds: 600 } }])
  })
})

it('a volume in memory is no larger than the pod or its node', () => {
  const limited = (memory?: string) => ({ name: 'main', resources: memory === undefined ? {} : { limits: { memory } } })
  const sizeOf = (sizeLimit: string | undefined, ...limits: (string | undefined)[]) => {
    const spec = { containers: limits.map(limited), volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit } }] }
    const node = { metadata: {}, status: { allocatable: { memory: '1Gi' } } }
    const plan = VOLUMES.plan({ pod: { metadata: {}, spec }, node } as unknown as VolumeContext)[0]?.plan
    return plan?.kind === 'memory' ? plan.sizeBytes : plan
  }
  const [MEBI, GIBI] = [1024 * 1024, 1024 ** 3]
  assert.deepEqual([sizeOf('5Gi', undefined), sizeOf('5Mi', undefined), sizeOf(undefined, undefined)], [GIBI, 5 * MEBI, GIBI])
  assert.deepEqual([sizeOf('5Gi', '2Mi', '3Mi'), sizeOf('1Mi', '2Mi')], [5 * MEBI, MEBI])
})

it('a volume is found by its sources', () => {
  const volumes = [{ name: 'a', configMap: { name: 'c' } }, { name: 'b', ephemeral: {} }, projectedOf({ secret: { name: 's' } })]
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { volumes } }
  assert.deepEqual(
    VOLUMES.sources(pod).map(({ kind, name }) => `${kind}/${name}`),
    ['ConfigMap/c', 'PersistentVolumeClaim/web-b', 'Secret/s'],
  )
})

describe('a clean path', () => {
  for (const path of ['a', 'a/b', '..a', 'a..b/c']) it(`${path} is one`, () => assert.equal(isClean(path), true))
  for (const path of ['', '/a', 'a/../b', '..', './a', 'a//b', 'a/', 'a\0'])
    it(`${JSON.stringify(path)} is none`, () => assert.equal(isClean(path), false))
})

describe('drivers that other modules bring', () => {
  const own: VolumeDriver = {
    field: 'emptyDir',
    sources: () => [{ kind: 'ConfigMap', name: 'cache' }],
    plan: ({ emptyDir }) => (emptyDir?.medium === 'Cache' ? { kind: 'path', path: '/cache', type: '', readOnly: true } : undefined),
  }
  const podWith = (volume: Volume): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { volumes: [volume] } })
  const planOf = (volume: Volume) => createPodVolumes([own]).plan({ pod: podWith(volume) } as VolumeContext)[0]?.plan

  it('are asked before those of Kubernetes', () => {
    assert.deepEqual(planOf({ name: 'v', emptyDir: { medium: 'Cache' } }), { kind: 'path', path: '/cache', type: '', readOnly: true })
  })

  it('pass on what is not their own', () => {
    assert.deepEqual(planOf({ name: 'v', emptyDir: {} }), { kind: 'directory' })
    assert.deepEqual(planOf({ name: 'v', hostPath: { path: '/tmp' } })?.kind, 'path')
  })

  it('name objects that the pod is looked at again for', () => {
    assert.deepEqual(createPodVolumes([own]).sources(podWith({ name: 'v', emptyDir: {} })), [{ kind: 'ConfigMap', name: 'cache' }])
  })
})
