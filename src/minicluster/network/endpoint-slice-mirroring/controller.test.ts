import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from '../../../kinds/kubernetes/resources.ts'
import type { EndpointSlice, EndpointSubset, Endpoints } from '../../../kinds/kubernetes/types.ts'
import { repackedSubsets } from '../subsets.ts'
import { addressesIn, aService, slicesOf } from '../testing.ts'
import { endpointSliceMirroring } from './controller.ts'
import { plan } from './plan.ts'

const MEMBER = { members: 1 }

const anEndpoints = (subsets: EndpointSubset[], metadata: Endpoints['metadata'] = {}): Endpoints => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name: 'db', namespace: 'default', ...metadata },
  subsets,
})
const withoutSelector = aService('db', { selector: undefined })
const http = { name: 'http', port: 80, protocol: 'TCP' }

describe('subsets that people wrote', () => {
  const brief = (subsets: readonly EndpointSubset[]): string[] =>
    repackedSubsets(subsets).map(
      ({ addresses = [], notReadyAddresses = [], ports = [] }) =>
        `${addresses.map(({ ip }) => ip).join('+')}/${notReadyAddresses.map(({ ip }) => ip).join('+')}:${ports.map(({ port }) => port).join('+')}`,
    )
  it('are joined where the same addresses offer several ports', () => {
    const one = { addresses: [{ ip: '10.0.0.1' }], ports: [http] }
    assert.deepEqual(brief([one, { ...one, ports: [{ port: 443 }] }]), ['10.0.0.1/:80+443'])
  })
  it('hold an address once, and not ready wins', () => {
    const ports = [http]
    assert.deepEqual(
      brief([
        { addresses: [{ ip: '10.0.0.1' }], ports },
        { notReadyAddresses: [{ ip: '10.0.0.1' }], ports },
      ]),
      ['/10.0.0.1:80'],
    )
  })
})

describe('mirrored slices', () => {
  const created = (endpoints: Endpoints): EndpointSlice[] =>
    plan({ endpoints, slices: [] }).actions?.flatMap((action) => (action.do === 'create' ? [action.object as EndpointSlice] : [])) ?? []

  it('are one for each family, with addresses as they are written properly', () => {
    const slices = created(anEndpoints([{ addresses: [{ ip: '2001:DB8::0:1' }, { ip: '10.0.0.1' }], ports: [http] }]))
    assert.deepEqual(
      slices.map(({ addressType, endpoints }) => [addressType, endpoints?.[0]?.addresses]),
      [
        ['IPv4', ['10.0.0.1']],
        ['IPv6', ['2001:db8::1']],
      ],
    )
  })
  it('hold a thousand addresses, and say what was left out', () => {
    const many = Array.from({ length: 1001 }, (_, i) => ({ ip: `10.0.${i >> 8}.${i & 255}` }))
    const actions = plan({ endpoints: anEndpoints([{ addresses: many, ports: [http] }]), slices: [] }).actions ?? []
    const [action] = actions
    assert.ok(action?.do === 'create')
    assert.equal((action.object as EndpointSlice).endpoints?.length, 1000)
    assert.deepEqual(
      [action.events].flat().map((events) => (typeof events === 'object' ? `${events.reason}: ${events.message}` : events)),
      [
        'TooManyAddressesToMirror: A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped',
      ],
    )
  })
})

describe('Endpoints written by hand', () => {
  story(
    'are mirrored into slices that follow them',
    async (world) => {
      const { member } = world
      await member.create(withoutSelector)
      const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'example.test/of': 'people' }
      const subsets = [{ addresses: [{ ip: '192.0.2.1' }], notReadyAddresses: [{ ip: '192.0.2.2' }], ports: [http] }]
      const endpoints = await member.create(anEndpoints(subsets, { labels: { tier: 'data' }, annotations }))
      await world.settle()
      const [slice, ...others] = await slicesOf(member, 'db')
      assert.deepEqual(others, [])
      assert.deepEqual(addressesIn(slice === undefined ? [] : [slice]), ['192.0.2.1', '192.0.2.2!'])
      assert.deepEqual(slice?.metadata.annotations, { 'example.test/of': 'people' })
      assert.deepEqual(slice?.metadata.labels, {
        tier: 'data',
        'kubernetes.io/service-name': 'db',
        'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
      })
      assert.deepEqual(
        slice?.metadata.ownerReferences?.map(({ kind, uid }) => [kind, uid]),
        [['Endpoints', endpoints.metadata.uid]],
      )
      await member.patch(ENDPOINTS, 'default/db', { subsets: [{ addresses: [{ ip: '192.0.2.3' }], ports: [{ name: 'sql', port: 5432 }] }] })
      await world.settle()
      const after = await slicesOf(member, 'db')
      assert.deepEqual(
        [after[0]?.metadata.name, addressesIn(after), after[0]?.ports?.[0]?.port],
        [slice?.metadata.name, ['192.0.2.3'], 5432],
      )
      await member.delete(ENDPOINT_SLICES, `default/${slice?.metadata.name}`)
      await world.settle()
      assert.deepEqual(addressesIn(await slicesOf(member, 'db')), ['192.0.2.3'])
      await member.delete(ENDPOINTS, 'default/db')
      await world.settle()
      assert.deepEqual(await slicesOf(member, 'db'), [])
    },
    MEMBER,
  )

  story(
    'are left alone when they say so, are a lock, or have no service that lacks a selector',
    async (world) => {
      const { member } = world
      const subsets = [{ addresses: [{ ip: '192.0.2.1' }], ports: [http] }]
      await member.create(anEndpoints(subsets))
      await world.settle()
      assert.deepEqual(await slicesOf(member, 'db'), [])
      await member.create(withoutSelector)
      await world.settle()
      assert.equal((await slicesOf(member, 'db')).length, 1)
      const mark = async (metadata: Endpoints['metadata'], count: number): Promise<void> => {
        await member.patch(ENDPOINTS, 'default/db', { metadata })
        await world.settle()
        assert.equal((await slicesOf(member, 'db')).length, count, JSON.stringify(metadata))
      }
      await mark({ labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }, 0)
      await mark({ labels: { 'endpointslice.kubernetes.io/skip-mirror': 'false' } }, 1)
      await mark({ annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } }, 0)
      await member.patch(ENDPOINTS, 'default/db', { metadata: { annotations: null } })
      await member.delete(SERVICES, 'default/db')
      await world.settle()
      assert.deepEqual(await slicesOf(member, 'db'), [])
    },
    MEMBER,
  )
})

survives(endpointSliceMirroring(), {
  steps: [
    (cluster) => cluster.create(withoutSelector),
    (cluster) => cluster.create(anEndpoints([{ addresses: [{ ip: '192.0.2.1' }], ports: [http] }])),
    (cluster) => cluster.patch(ENDPOINTS, 'default/db', { subsets: [{ addresses: [{ ip: '192.0.2.9' }], ports: [{ port: 5432 }] }] }),
  ],
  atRest: async (cluster) => assert.deepEqual(addressesIn(await slicesOf(cluster, 'db')), ['192.0.2.9']),
})
