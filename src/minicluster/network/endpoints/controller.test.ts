import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectGone, expectThere } from '../../../faultsim/expect/index.ts'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import { ENDPOINTS, PODS, SERVICES } from '../../../kinds/kubernetes/resources.ts'
import type { EndpointSubset, Endpoints, Pod } from '../../../kinds/kubernetes/types.ts'
import { aPodOf, aService, report, reportUnready, startNode } from '../testing.ts'
import { serviceEndpoints } from './controller.ts'
import { subsetsOf, truncate } from './plan.ts'

const MEMBER = { members: 1 }

const running = (name: string, ip: string, isReady: boolean, port?: number): Pod => {
  const ports = port === undefined ? [] : [{ name: 'web', containerPort: port }]
  const pod = aPodOf('web', name, { nodeName: 'node', containers: [{ name: 'main', ports }] })
  return {
    ...pod,
    metadata: { ...pod.metadata, uid: `uid-${name}` },
    status: { phase: 'Running', podIPs: [{ ip }], conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  }
}

/** `ready/not ready:ports`. */
const brief = (subsets: readonly EndpointSubset[]): string[] =>
  subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const ips = (all: { ip?: string }[]): string => all.map(({ ip }) => ip).join('+')
    return `${ips(addresses)}/${ips(notReadyAddresses)}:${ports.map(({ name, port }) => `${name ?? ''}${port}`).join('+')}`
  })

describe('subsets', () => {
  const two = [
    { name: 'a', port: 80, targetPort: 8080 },
    { name: 'b', port: 81, targetPort: 'web' },
  ]
  it('join ports that the same pods offer', () => {
    const pods = [running('one', '10.0.0.2', true, 9090), running('two', '10.0.0.1', true, 9090)]
    assert.deepEqual(brief(subsetsOf(aService('web', { ports: two }), pods)), ['10.0.0.1+10.0.0.2/:a8080+b9090'])
  })
  it('keep apart what differs', () => {
    const pods = [running('one', '10.0.0.1', true, 9090), running('two', '10.0.0.2', false, 7070), running('three', '10.0.0.3', true)]
    assert.deepEqual(brief(subsetsOf(aService('web', { ports: two }), pods)), [
      '10.0.0.1+10.0.0.3/10.0.0.2:a8080',
      '/10.0.0.2:b7070',
      '10.0.0.1/:b9090',
    ])
  })
  it('need no ports when the service is headless', () => {
    const service = aService('web', { ports: undefined, clusterIP: 'None' })
    assert.deepEqual(brief(subsetsOf(service, [running('one', '10.0.0.1', true)])), ['10.0.0.1/:'])
  })
  it('leave out what ends, unless everything is published', () => {
    const ending = running('one', '10.0.0.1', false)
    ending.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
    assert.deepEqual(subsetsOf(aService('web'), [ending]), [])
    assert.deepEqual(brief(subsetsOf(aService('web', { publishNotReadyAddresses: true }), [ending])), ['10.0.0.1/:http8080'])
  })
  it('are cut to what fits, ready addresses last', () => {
    const many = (count: number, prefix: string): { ip: string }[] => Array.from({ length: count }, (_, i) => ({ ip: `${prefix}${i}` }))
    const { subsets, isTruncated } = truncate([{ addresses: many(6, 'r'), notReadyAddresses: many(6, 'n') }], 10)
    assert.deepEqual([subsets[0]?.addresses?.length, subsets[0]?.notReadyAddresses?.length, isTruncated], [6, 4, true])
    const halves = truncate([{ addresses: many(8, 'a') }, { addresses: many(8, 'b'), notReadyAddresses: many(3, 'c') }], 10)
    assert.deepEqual(
      halves.subsets.map(({ addresses = [], notReadyAddresses }) => [addresses.length, notReadyAddresses]),
      [
        [5, undefined],
        [5, undefined],
      ],
    )
    assert.equal(truncate([{ addresses: many(10, 'a') }], 10).isTruncated, false)
  })
})

describe('Endpoints', () => {
  story(
    'mirror the pods of a service, and go with it',
    async (world) => {
      const { member } = world
      await startNode(member)
      await member.create(aService('web', {}, { labels: { team: 'blue' } }))
      await world.settle()
      const empty = (await expectThere(member, ENDPOINTS, 'default/web')) as Endpoints
      assert.equal(empty.subsets, undefined)
      assert.deepEqual(empty.metadata.labels, { team: 'blue', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' })
      const pod = await member.create(aPodOf('web', 'a'))
      await report(member, 'a', '10.0.0.1')
      await world.settle()
      const { subsets, metadata } = (await expectThere(member, ENDPOINTS, 'default/web')) as Endpoints
      assert.deepEqual(subsets, [
        {
          addresses: [
            { ip: '10.0.0.1', nodeName: 'node', targetRef: { kind: 'Pod', namespace: 'default', name: 'a', uid: pod.metadata.uid } },
          ],
          ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
        },
      ])
      assert.deepEqual(metadata.annotations, { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T12:00:00Z' })
      await reportUnready(member, 'a', '10.0.0.1')
      await world.settle()
      const after = (await expectThere(member, ENDPOINTS, 'default/web')) as Endpoints
      assert.deepEqual(brief(after.subsets ?? []), ['/10.0.0.1:http8080'])
      await member.delete(PODS, 'default/a', { gracePeriodSeconds: 0 })
      await world.settle()
      assert.equal(((await expectThere(member, ENDPOINTS, 'default/web')) as Endpoints).subsets, undefined)
      await member.delete(SERVICES, 'default/web')
      await world.settle()
      await expectGone(member, ENDPOINTS, 'default/web')
    },
    MEMBER,
  )

  story(
    'of people stay as they are',
    async (world) => {
      const { member } = world
      await member.create(aService('manual', { selector: undefined }))
      const own = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'manual', namespace: 'default' } }
      await member.create({ ...own, subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }] })
      await world.settle()
      const { subsets } = (await expectThere(member, ENDPOINTS, 'default/manual')) as Endpoints
      assert.equal(subsets?.[0]?.addresses?.[0]?.ip, '192.0.2.1')
    },
    MEMBER,
  )
})

survives(serviceEndpoints(), {
  before: [(cluster) => startNode(cluster)],
  steps: [
    (cluster) => cluster.create(aService('web')),
    async (cluster) => {
      await cluster.create(aPodOf('web', 'a'))
      await report(cluster, 'a', '10.0.0.1')
    },
    (cluster) => cluster.delete(SERVICES, 'default/web'),
  ],
  atRest: (cluster) => expectGone(cluster, ENDPOINTS, 'default/web'),
})
