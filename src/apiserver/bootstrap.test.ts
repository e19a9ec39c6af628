import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seededRandom } from '../base/random.ts'
import { bootstrapCluster } from './bootstrap.ts'
import { startTestServer, type TestServer } from './testing.ts'

const again = ({ cluster, clock }: TestServer, port: number) =>
  bootstrapCluster(
    { catalog: cluster.server.catalog, objects: cluster.server.objects, clock, random: seededRandom(2) },
    { port, clientAuthority: 'PEM' },
  )

describe('the objects a cluster starts with', () => {
  it('are those of a bare kube-apiserver, with their owners', async () => {
    const server = await startTestServer()
    const names = async (path: string) => (await server.send('GET', path)).body.items.map(({ metadata }) => metadata.name)
    assert.deepEqual(await names('/api/v1/namespaces'), ['default', 'kube-node-lease', 'kube-public', 'kube-system'])
    assert.equal((await names('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas')).length, 11)
    assert.equal((await names('/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations')).length, 8)
    assert.deepEqual(await names('/apis/networking.k8s.io/v1/ipaddresses'), ['10.0.0.1'])
    const { body } = await server.send('GET', '/apis/networking.k8s.io/v1/servicecidrs/kubernetes')
    assert.deepEqual(
      body.metadata.managedFields?.map(({ manager, operation, subresource, time }) => [manager, operation, subresource, time]),
      [
        ['kubernetes-service-cidr-controller', 'Apply', 'status', '2026-01-01T00:00:00Z'],
        ['kube-apiserver', 'Update', undefined, '2026-01-01T00:00:00Z'],
      ],
    )
    assert.deepEqual((await server.send('GET', '/api/v1/namespaces/kube-system/configmaps')).body.items[1]?.data, { since: '2026-01-01' })
    server.stop()
  })

  it('are not written again, but for the port that the Service names', async () => {
    const server = await startTestServer()
    const before = server.store.revision
    await again(server, 6443)
    assert.equal(server.store.revision, before)
    await again(server, 7443)
    assert.equal(server.store.revision, before + 1)
    const { body } = await server.send('GET', '/api/v1/namespaces/default/services/kubernetes')
    assert.deepEqual(body.spec, {
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 7443 }],
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    })
    server.stop()
  })
})
