import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import { ENDPOINT_SLICES, NODES, PODS, SERVICES } from '../../../kinds/kubernetes/resources.ts'
import { controllerReference } from '../../../runtime/workloads/pod/ownership.ts'
import { addressesIn, aPodOf, aService, report, reportUnready, slicesOf, startNode } from '../testing.ts'
import { endpointSlices } from './controller.ts'

const MEMBER = { members: 1 }

describe('slices of a service', () => {
  story(
    'say what Kubernetes says about a pod',
    async (world) => {
      const { member } = world
      await startNode(member)
      const service = await member.create(aService('web', {}, { labels: { team: 'blue', 'service.kubernetes.io/headless': 'no' } }))
      await world.settle()
      const [placeholder] = await slicesOf(member, 'web')
      assert.deepEqual([placeholder?.endpoints ?? [], placeholder?.ports ?? [], placeholder?.addressType], [[], [], 'IPv4'])
      const pod = await member.create(aPodOf('web', 'web-0'))
      await report(member, 'web-0', '10.0.0.7')
      await world.settle()
      const slices = await slicesOf(member, 'web')
      assert.equal(slices.length, 1)
      const [slice] = slices
      assert.equal(slice?.metadata.name, placeholder?.metadata.name, 'the placeholder is used')
      assert.match(slice?.metadata.name ?? '', /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
      assert.deepEqual(slice?.metadata.labels, {
        team: 'blue',
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      })
      assert.deepEqual(slice?.metadata.ownerReferences, [controllerReference(service)])
      assert.deepEqual(slice?.metadata.annotations, { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T12:00:00Z' })
      assert.deepEqual(slice?.ports, [{ name: 'http', port: 8080, protocol: 'TCP' }])
      assert.deepEqual(slice?.endpoints, [
        {
          addresses: ['10.0.0.7'],
          conditions: { ready: true, serving: true, terminating: false },
          targetRef: { kind: 'Pod', namespace: 'default', name: 'web-0', uid: pod.metadata.uid },
          nodeName: 'node',
          zone: 'east-a',
        },
      ])
    },
    MEMBER,
  )

  story(
    'follow readiness, ending and the end of pods, and end with the service',
    async (world) => {
      const { member } = world
      await startNode(member)
      await member.create(aService('web'))
      for (const [name, ip] of [
        ['a', '10.0.0.1'],
        ['b', '10.0.0.2'],
        ['c', '10.0.0.3'],
      ] as const) {
        await member.create(aPodOf('web', name))
        await report(member, name, ip)
      }
      await member.create(aPodOf('other', 'd'))
      await report(member, 'd', '10.0.0.4')
      await world.settle()
      assert.deepEqual(addressesIn(await slicesOf(member, 'web')), ['10.0.0.1', '10.0.0.2', '10.0.0.3'])
      await reportUnready(member, 'a', '10.0.0.1')
      await member.delete(PODS, 'default/b')
      await member.patch(PODS, 'default/c', { status: { phase: 'Succeeded' } }, 'status')
      await world.settle()
      const slices = await slicesOf(member, 'web')
      assert.deepEqual(addressesIn(slices), ['10.0.0.1!', '10.0.0.2!'])
      const ending = slices[0]?.endpoints?.find(({ targetRef }) => targetRef?.name === 'b')
      assert.deepEqual(ending?.conditions, { ready: false, serving: true, terminating: true })
      await member.patch(PODS, 'default/d', { metadata: { labels: { app: 'web' } } })
      await member.delete(PODS, 'default/b', { gracePeriodSeconds: 0 })
      await world.settle()
      assert.deepEqual(addressesIn(await slicesOf(member, 'web')), ['10.0.0.1!', '10.0.0.4'])
      await member.delete(SERVICES, 'default/web')
      await world.settle()
      assert.deepEqual(await slicesOf(member, 'web'), [])
    },
    MEMBER,
  )

  story(
    'are headless, publish what is not ready, know hostnames and ports by name',
    async (world) => {
      const { member } = world
      await startNode(member)
      const spec = { clusterIP: 'None', publishNotReadyAddresses: true, ports: [{ name: 'p', port: 80, targetPort: 'web' }] }
      await member.create(aService('web', spec))
      await member.create(aPodOf('web', 'named', { hostname: 'first', subdomain: 'web' }))
      await member.create(
        aPodOf('web', 'other', { containers: [{ name: 'main', image: 'one', ports: [{ name: 'web', containerPort: 7070 }] }] }),
      )
      await member.create(aPodOf('web', 'portless', { containers: [{ name: 'main', image: 'one' }] }))
      await reportUnready(member, 'named', '10.0.0.1')
      await reportUnready(member, 'other', '10.0.0.2')
      await reportUnready(member, 'portless', '10.0.0.3')
      await world.settle()
      const slices = await slicesOf(member, 'web')
      const ports = slices.map((slice) => `${(slice.ports ?? []).map(({ port }) => port).join()} ${addressesIn([slice]).join()}`).sort()
      assert.deepEqual(ports, [' 10.0.0.3', '7070 10.0.0.2', '9090 10.0.0.1'])
      const named = slices.flatMap(({ endpoints }) => endpoints ?? []).find(({ targetRef }) => targetRef?.name === 'named')
      assert.equal(named?.hostname, 'first')
      assert.deepEqual(named?.conditions, { ready: true, serving: false, terminating: false })
      assert.equal(slices[0]?.metadata.labels?.['service.kubernetes.io/headless'], '')
    },
    MEMBER,
  )

  story(
    'are not written for services without a selector, nor for pods on nodes that are not there',
    async (world) => {
      const { member } = world
      await member.create(aService('manual', { selector: undefined }))
      await member.create({ ...aService('far'), spec: { type: 'ExternalName', externalName: 'example.com', selector: { app: 'far' } } })
      await member.create(aService('web'))
      await member.create(aPodOf('web', 'lost', { nodeName: 'later' }))
      await report(member, 'lost', '10.0.0.1')
      await world.settle()
      assert.deepEqual([await slicesOf(member, 'manual'), await slicesOf(member, 'far')], [[], []])
      assert.deepEqual(addressesIn(await slicesOf(member, 'web')), [])
      await startNode(member, 'later')
      await world.settle()
      assert.deepEqual(addressesIn(await slicesOf(member, 'web')), ['10.0.0.1'])
    },
    MEMBER,
  )

  story(
    'hint at zones when traffic is to stay near, and are repaired when somebody spoils them',
    async (world) => {
      const { member } = world
      await startNode(member)
      await member.create(aService('web', { trafficDistribution: 'PreferClose' }))
      await member.create(aPodOf('web', 'a'))
      await report(member, 'a', '10.0.0.1')
      await world.settle()
      const [slice] = await slicesOf(member, 'web')
      assert.deepEqual(slice?.endpoints?.[0]?.hints, { forZones: [{ name: 'east-a' }] })
      await member.patch(ENDPOINT_SLICES, `default/${slice?.metadata.name}`, { endpoints: [] })
      await world.settle()
      assert.deepEqual(addressesIn(await slicesOf(member, 'web')), ['10.0.0.1'])
      await member.patch(SERVICES, 'default/web', { spec: { trafficDistribution: null }, metadata: { labels: { new: 'label' } } })
      await world.settle()
      const [now] = await slicesOf(member, 'web')
      assert.equal(now?.endpoints?.[0]?.hints, undefined)
      assert.equal(now?.metadata.labels?.new, 'label')
    },
    MEMBER,
  )

  story(
    'hold a hundred each, and one pod rewrites one of them',
    async (world) => {
      const { member } = world
      await startNode(member)
      for (let i = 0; i < 130; i++) {
        await member.create(aPodOf('web', `web-${i}`))
        await report(member, `web-${i}`, `10.0.1.${i}`)
      }
      await member.create(aService('web'))
      await world.settle()
      const slices = await slicesOf(member, 'web')
      assert.deepEqual(slices.map(({ endpoints }) => endpoints?.length ?? 0).sort(), [100, 30])
      const revisions = new Map(slices.map(({ metadata }) => [metadata.name, metadata.resourceVersion]))
      await reportUnready(member, 'web-7', '10.0.1.7')
      await world.settle()
      const changed = (await slicesOf(member, 'web')).filter(({ metadata }) => revisions.get(metadata.name) !== metadata.resourceVersion)
      assert.equal(changed.length, 1)
    },
    MEMBER,
  )
})

survives(endpointSlices(), {
  before: [(cluster) => startNode(cluster)],
  steps: [
    (cluster) => cluster.create(aService('web')),
    async (cluster) => {
      await cluster.create(aPodOf('web', 'a'))
      await report(cluster, 'a', '10.0.0.1')
    },
    (cluster) => reportUnready(cluster, 'a', '10.0.0.1'),
  ],
  async atRest(cluster) {
    const slices = await slicesOf(cluster, 'web')
    assert.equal(slices.length, 1)
    assert.deepEqual(addressesIn(slices), ['10.0.0.1!'])
    assert.ok((await cluster.get(NODES, 'node')) !== undefined)
  },
})
