import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Cluster, ClusterTaintPolicy } from '../index.ts'
import { admit, NOW } from './testing.ts'

const cluster = (more: Record<string, unknown> = {}) => ({ spec: { syncMode: 'Push', ...more } })
const taint = (more: Record<string, unknown> = {}) => ({ key: 'example.com/a', effect: 'NoExecute', ...more })
const model = (grade: number, min: string, max: string, name = 'cpu') => ({ grade, ranges: [{ name, min, max }] })

describe('a cluster that comes in', () => {
  const filled = async (more: Record<string, unknown>): Promise<Cluster['spec']> => {
    const { object, schema, refused } = await admit(Cluster, cluster(more))
    assert.deepEqual([...schema, ...refused], [])
    return (object as Cluster).spec
  }

  it('has the time of its taints that evict, where nobody said it', async () => {
    const timeAdded = '2025-01-01T00:00:00Z'
    const { taints } = await filled({ taints: [taint(), taint({ key: 'b', timeAdded }), taint({ effect: 'NoSchedule' })] })
    assert.deepEqual(
      taints?.map((one) => one.timeAdded),
      [NOW, timeAdded, undefined],
    )
  })

  it('has its zone among its zones', async () => {
    assert.deepEqual(await filled({ zone: 'a' }), { syncMode: 'Push', zones: ['a'] })
  })

  it('has its grades in order and open at both ends, and none where none were given', async () => {
    const { resourceModels } = await filled({ resourceModels: [model(2, '4', '8'), model(1, '1', '4')] })
    assert.deepEqual(resourceModels, [model(1, '0', '4'), model(2, '4', '9223372036854775807')])
    assert.equal((await filled({})).resourceModels, undefined)
  })
})

describe('a cluster', () => {
  const accepted: [string, Record<string, unknown>][] = [
    ['with nothing but its mode', cluster()],
    [
      'with everything',
      cluster({
        apiEndpoint: 'https://10.0.0.1:6443',
        secretRef: { namespace: 'karmada-cluster', name: 'a' },
        impersonatorSecretRef: { namespace: 'karmada-cluster', name: 'a-impersonator' },
        proxyURL: 'socks5://proxy:1080',
        provider: 'p',
        region: 'r',
        zones: ['a', 'b'],
        taints: [taint(), taint({ effect: 'NoSchedule' })],
      }),
    ],
    ['behind a path', cluster({ apiEndpoint: 'https://hub.example.com/clusters/a' })],
  ]
  for (const [name, content] of accepted)
    it(`is accepted ${name}`, async () => {
      const { schema, refused } = await admit(Cluster, content)
      assert.deepEqual([...schema, ...refused], [])
    })

  const refusedBy: [string, Record<string, unknown>, RegExp][] = [
    [
      'an address that is none',
      cluster({ apiEndpoint: 'nowhere' }),
      /^spec\.apiEndpoint: Invalid value: "nowhere": apiEndpoint must be a valid URL/,
    ],
    ['an address without a host', cluster({ apiEndpoint: 'file:///x' }), /^spec\.apiEndpoint: Invalid value: "": host must be provided/],
    ['an address with a user', cluster({ apiEndpoint: 'https://me@example.com' }), /: user information is not permitted in the URL$/],
    ['an address with a query', cluster({ apiEndpoint: 'https://example.com?a=b' }), /: query parameters are not permitted in the URL$/],
    ['an address with a fragment', cluster({ apiEndpoint: 'https://example.com#a' }), /: fragments are not permitted in the URL$/],
    ['a secret without a name', cluster({ secretRef: { namespace: 'n', name: '' } }), /^spec\.secretRef\.name: Required value$/],
    [
      'an impersonator without a namespace',
      cluster({ impersonatorSecretRef: { namespace: '', name: 'x' } }),
      /^spec\.impersonatorSecretRef\.namespace: Required value$/,
    ],
    [
      'an unknown proxy',
      cluster({ proxyURL: 'ftp://x' }),
      /^spec\.proxyURL: Invalid value: "ftp:\/\/x": unsupported scheme "ftp", must be http, https, or socks5$/,
    ],
    ['a proxy without a scheme', cluster({ proxyURL: '/x' }), /unsupported scheme ""/],
    ['a proxy nowhere', cluster({ proxyURL: 'http://' }), /^spec\.proxyURL: /],
    ['a provider that is no value', cluster({ provider: 'a b' }), /^spec\.provider: /],
    ['a region that is no value', cluster({ region: '-' }), /^spec\.region: /],
    ['a zone that is no value', cluster({ zone: 'a/b' }), /^spec\.zones\[0\]: /],
    ['zone and zones', cluster({ zone: 'a', zones: ['b'] }), /^spec\.zone: .*: Zone and Zones cannot co-exist$/],
    ['a taint without a key', cluster({ taints: [taint({ key: 'a b' })] }), /^spec\.taints\[0\]\.key: /],
    ['a taint of a bad value', cluster({ taints: [taint({ value: 'a b' })] }), /^spec\.taints\[0\]\.value: /],
    ['a taint without effect', cluster({ taints: [taint({ effect: '' })] }), /^spec\.taints\[0\]\.effect: Required value$/],
    [
      'a taint of another effect',
      cluster({ taints: [taint({ effect: 'PreferNoSchedule' })] }),
      /^spec\.taints\[0\]\.effect: Unsupported value: "PreferNoSchedule": supported values: "NoExecute", "NoSchedule"$/,
    ],
    [
      'a taint twice',
      cluster({ taints: [taint(), taint({ value: 'x' })] }),
      /^spec\.taints\[1\]: Duplicate value: .*: taints must be unique by key and effect pair$/,
    ],
    [
      'a grade twice',
      cluster({ resourceModels: [model(1, '0', '1'), model(1, '1', '2')] }),
      /^spec\.resourceModels: .*: The grade of each models should not be the same$/,
    ],
    [
      'grades of other resources',
      cluster({ resourceModels: [model(1, '0', '1'), model(2, '1', '2', 'memory')] }),
      /The resource types of each models should be the same$/,
    ],
    [
      'grades of more resources',
      cluster({
        resourceModels: [model(1, '0', '1'), { grade: 2, ranges: [...model(2, '1', '2').ranges, ...model(2, '1', '2', 'memory').ranges] }],
      }),
      /The number of resource types should be the same$/,
    ],
    [
      'a grade that ends before it begins',
      cluster({ resourceModels: [model(1, '0', '0'), model(2, '0', '2')] }),
      /The max value of each resource must be greater than the min value$/,
    ],
    [
      'a gap between grades',
      cluster({ resourceModels: [model(1, '0', '1'), model(2, '1500m', '2')] }),
      /Model intervals for resources must be contiguous and non-overlapping$/,
    ],
  ]
  for (const [name, content, message] of refusedBy)
    it(`is refused with ${name}`, async () => {
      const { schema, refused } = await admit(Cluster, content)
      assert.deepEqual(schema, [])
      assert.equal(refused.length, 1, refused.join('\n'))
      assert.match(refused[0] ?? '', message)
    })

  it('has a name that fits into the name of its namespace', async () => {
    const named = async (name: string): Promise<string[]> => (await admit(Cluster, cluster(), { metadata: { name } })).refused
    assert.deepEqual(await named('a'.repeat(48)), [])
    assert.match((await named('a'.repeat(49))).join(), /must be no more than 48 characters$/)
    assert.match((await named('a.b')).join(), /^metadata\.name: Invalid value: "a\.b": must not contain dots$/)
  })

  it('needs a mode that there is', async () => {
    assert.match((await admit(Cluster, { spec: {} })).schema.join(), /^spec\.syncMode: Required value/)
    assert.match((await admit(Cluster, cluster({ syncMode: 'Guess' }))).schema.join(), /^spec\.syncMode: Unsupported value: "Guess"/)
  })
})

describe('a cluster taint policy', () => {
  const policy = (...taints: Record<string, unknown>[]) => ({ spec: { taints } })

  it('may evict unless that is switched off', async () => {
    const content = policy(taint(), taint({ effect: 'NoSchedule' }))
    assert.deepEqual((await admit(ClusterTaintPolicy, content)).refused, [])
    assert.deepEqual((await admit(ClusterTaintPolicy, content, { options: { allowNoExecuteTaintPolicy: false } })).refused, [
      'spec.taints[0]: Forbidden: Configuring taint with NoExecute effect is not allowed, this capability must be explicitly enabled by administrators through command-line flags',
    ])
  })

  it('names a taint once', async () => {
    const { refused } = await admit(ClusterTaintPolicy, policy(taint(), taint({ value: 'x' }), taint({ key: 'b' })))
    assert.equal(refused.length, 1)
    assert.match(
      refused[0] ?? '',
      /^spec\.taints\[0\]: Duplicate value: .*the same key\(example\.com\/a\) and effect\(NoExecute\) is not allowed/,
    )
  })

  it('has taints', async () => {
    assert.match((await admit(ClusterTaintPolicy, policy())).schema.join(), /^spec\.taints: /)
  })
})
