import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aProcessPod, machineOf, processNodes } from '../../../faultsim/builders/process-nodes.ts'
import { story } from '../../../faultsim/story.ts'
import type { World } from '../../../faultsim/world/index.ts'
import { PODS, SERVICES } from '../../../kinds/kubernetes/resources.ts'
import type { EndpointSlice, Pod, Service, SliceEndpoint } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { hostsText, MAX_SERVICE_LINES, ownLines, serviceLines } from './hosts-text.ts'

const service = (name: string, spec: Service['spec'] = {}): Service => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec })
const slice = (of: string, endpoints: SliceEndpoint[], addressType = 'IPv4'): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: `${of}-1`, labels: { 'kubernetes.io/service-name': of } },
  addressType,
  endpoints,
})
const ready = (address: string, more: SliceEndpoint = {}): SliceEndpoint => ({ addresses: [address], conditions: { ready: true }, ...more })
const aPod = (spec: Pod['spec']): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'ns' }, spec })

describe('the names of Services', () => {
  it('are those of their ready addresses, a line each', () => {
    const notReady = { addresses: ['127.64.0.9'], conditions: { ready: false } }
    const web = slice('web', [ready('127.64.0.3'), notReady, ready('127.64.0.2')])
    const names = 'web web.ns web.ns.svc web.ns.svc.cluster.local'
    assert.equal(serviceLines('ns', [service('web')], [web]), `127.64.0.2\t${names}\n127.64.0.3\t${names}\n`)
  })

  it('have the pods of headless Services before them', () => {
    const db = slice('db', [ready('127.64.0.2', { hostname: 'db-0' }), ready('127.64.0.3')])
    assert.deepEqual(serviceLines('ns', [service('db', { clusterIP: 'None' })], [db]).split('\n'), [
      '127.64.0.2\tdb-0.db db-0.db.ns db-0.db.ns.svc db-0.db.ns.svc.cluster.local',
      '127.64.0.2\tdb db.ns db.ns.svc db.ns.svc.cluster.local',
      '127.64.0.3\tdb db.ns db.ns.svc db.ns.svc.cluster.local',
      '',
    ])
    assert.ok(!serviceLines('ns', [service('db', { clusterIP: '10.0.0.1' })], [db]).includes('db-0'))
  })

  it('leave out what is no address, no name, or has no Service', () => {
    const odd = [ready('not an address\n6.6.6.6 evil'), ready('127.64.0.2', { hostname: 'a b' }), { conditions: { ready: true } }]
    const lines = serviceLines(
      'ns',
      [service('web', { clusterIP: 'None' }), service('far', { type: 'ExternalName' }), service('localhost')],
      [slice('web', odd), slice('far', [ready('1.1.1.1')]), slice('localhost', [ready('1.1.1.2')]), slice('gone', [ready('1.1.1.3')])],
    )
    assert.equal(lines, '127.64.0.2\tweb web.ns web.ns.svc web.ns.svc.cluster.local\n')
    assert.equal(serviceLines('ns', [service('web')], [slice('web', [ready('host.example')], 'FQDN')]), '')
  })

  it('are bounded, and say what is missing', () => {
    const many = Array.from({ length: MAX_SERVICE_LINES + 5 }, (_, i) => ready(`10.1.${i >> 8}.${i & 255}`))
    const lines = serviceLines('ns', [service('web')], [slice('web', many)])
      .trimEnd()
      .split('\n')
    assert.equal(lines.length, MAX_SERVICE_LINES + 1)
    assert.match(lines.at(-1) ?? '', /^# 5 more do not fit/)
  })
})

describe('the text of a hosts file', () => {
  const MACHINE = '127.0.0.1 localhost me\n::1 localhost\nff02::1 ip6-allnodes\n# a comment\n192.0.2.7 build build.example\n'

  it('names the pod as Kubernetes does, then its aliases, the Services, and other machines', () => {
    const pod = aPod({ hostname: 'p-0', subdomain: 'db', hostAliases: [{ ip: '192.0.2.1', hostnames: ['a', 'b'] }, { ip: 'nonsense' }] })
    const text = hostsText(ownLines(pod, '127.64.0.2'), '127.64.0.3\tweb\n', MACHINE)
    assert.match(text, /^127\.0\.0\.1\tlocalhost$/m)
    assert.match(text, /^127\.64\.0\.2\tp-0\.db\.ns\.svc\.cluster\.local p-0$/m)
    assert.match(text, /\n# Entries added by HostAliases\.\n192\.0\.2\.1\ta b\n/)
    assert.match(text, /\n# Services of the namespace\.\n127\.64\.0\.3\tweb\n/)
    assert.match(text, /192\.0\.2\.7 build build\.example\n$/)
    assert.ok(!text.includes('localhost me') && !text.includes('nonsense') && !text.includes('# a comment'))
  })

  it('is that of the machine with its network, with aliases and Services', () => {
    const pod = aPod({ hostNetwork: true, nodeName: 'n', hostAliases: [{ ip: '192.0.2.1', hostnames: ['a'] }] })
    const text = hostsText(ownLines(pod, '127.0.0.1'), '127.64.0.3\tweb\n', MACHINE)
    assert.ok(text.includes(MACHINE) && text.includes('192.0.2.1\ta\n') && text.includes('127.64.0.3\tweb\n'))
    assert.ok(!/^127\.64\.0\.2/m.test(text))
  })
})

const aService = (name: string, spec: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
})
const labelled = (name: string, app: string, spec: Record<string, unknown> = {}): KubeObject => {
  const pod = aProcessPod(`default/${name}`, 'serve', { automountServiceAccountToken: false, ...spec })
  return { ...pod, metadata: { ...pod.metadata, labels: { app } } }
}
const podNamed = async (w: World, name: string): Promise<Pod> => (await w.member.get(PODS, `default/${name}`)) as Pod
async function hostsOf(w: World, name: string): Promise<string> {
  const pod = await podNamed(w, name)
  return machineOf(w.member).files.get(`/data/pods/${pod.metadata.uid}/etc/hosts`) ?? ''
}
const ips = async (w: World, name: string): Promise<string[]> =>
  [...(await hostsOf(w, name)).matchAll(/^(\S+)\tweb web\.default /gm)].map(([, ip]) => ip ?? '')

const world = { members: 1, hub: false, controllers: processNodes({ serve: {} }) }

describe('the hosts files of pods on process nodes', () => {
  story(
    'follow the Services of their namespace while the pods run',
    async (w) => {
      await w.member.create(labelled('reader', 'reader'))
      await w.settle()
      assert.deepEqual(await ips(w, 'reader'), [])
      assert.match(await hostsOf(w, 'reader'), /^127\.\S+\treader$/m)
      const mounts = machineOf(w.member).specs[0]?.mounts
      assert.ok(mounts?.some(({ path, source, readOnly }) => path === '/etc/hosts' && source.endsWith('/etc/hosts') && readOnly))
      await w.member.create(aService('web'))
      await w.member.create(labelled('one', 'web'))
      await w.settle()
      const { status } = await podNamed(w, 'one')
      assert.deepEqual(await ips(w, 'reader'), [status?.podIP])
      assert.deepEqual(await ips(w, 'one'), [status?.podIP], 'also in the pod itself')
      await w.member.create(labelled('late', 'other'))
      await w.settle()
      assert.deepEqual(await ips(w, 'late'), [status?.podIP], 'known from the start')
      await w.member.delete(SERVICES, 'default/web')
      await w.settle()
      assert.deepEqual(await ips(w, 'reader'), [])
    },
    world,
  )

  story(
    'name the Services of other namespaces, with their namespace, for pods that want them',
    async (w) => {
      const elsewhere = (object: KubeObject): KubeObject => ({ ...object, metadata: { ...object.metadata, namespace: 'far' } })
      await w.member.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'far' } })
      const reader = labelled('reader', 'reader')
      const annotations = { ...reader.metadata.annotations, 'sluice.dev/resolves-namespaces': 'far, default, not a name' }
      await w.member.create({ ...reader, metadata: { ...reader.metadata, annotations } })
      await w.member.create(labelled('other', 'other'))
      await w.member.create(elsewhere(aService('web')))
      const { metadata, ...pod } = labelled('one', 'web')
      await w.member.create(elsewhere({ ...pod, metadata: { ...metadata, namespace: 'far' } }))
      await w.settle()
      const { status } = (await w.member.get(PODS, 'far/one')) as Pod
      assert.ok((await hostsOf(w, 'reader')).includes(`\n${status?.podIP}\tweb.far web.far.svc web.far.svc.cluster.local\n`))
      assert.ok(!(await hostsOf(w, 'other')).includes('web.far'))
      await w.member.delete(SERVICES, 'far/web')
      await w.settle()
      assert.ok(!(await hostsOf(w, 'reader')).includes('web.far'))
    },
    world,
  )

  story(
    'are not written more than once a second, and not at all when nothing changed',
    async (w) => {
      await w.member.create(labelled('reader', 'reader'))
      await w.member.create(aService('web'))
      await w.settle()
      await w.advance(5000)
      const { rewrites } = machineOf(w.member)
      rewrites.length = 0
      for (let i = 0; i < 12; i++) {
        await w.member.create(labelled(`web-${i}`, 'web'))
        await w.advance(100)
      }
      await w.settle()
      assert.equal((await ips(w, 'reader')).length, 12)
      const uid = (await podNamed(w, 'reader')).metadata.uid ?? ''
      const times = rewrites.filter((path) => path.includes(uid)).length
      assert.ok(times >= 1 && times <= 3, `${times} times`)
      rewrites.length = 0
      await w.member.patch(PODS, 'default/web-0', { metadata: { annotations: { a: 'b' } } })
      await w.member.patch(SERVICES, 'default/web', { metadata: { annotations: { a: 'b' } } })
      await w.advance(5000)
      assert.deepEqual(rewrites, [])
    },
    world,
  )

  story(
    'name the pods of a headless Service, also before they are ready where it says so',
    async (w) => {
      await w.member.create(aService('db', { clusterIP: 'None', publishNotReadyAddresses: true }))
      await w.member.create(labelled('db-0', 'db', { hostname: 'db-0', subdomain: 'db' }))
      await w.settle()
      const { status } = await podNamed(w, 'db-0')
      const line = `${status?.podIP}\tdb-0.db db-0.db.default db-0.db.default.svc db-0.db.default.svc.cluster.local\n`
      assert.ok((await hostsOf(w, 'db-0')).includes(line))
    },
    world,
  )

  story(
    'leave alone a container that mounts its own',
    async (w) => {
      const own = { volumes: [{ name: 'v', emptyDir: {} }] }
      const pod = aProcessPod(
        'default/p',
        'serve',
        { automountServiceAccountToken: false, ...own },
        {
          volumeMounts: [{ name: 'v', mountPath: '/etc/hosts' }],
        },
      )
      await w.member.create(pod)
      await w.settle()
      assert.equal(machineOf(w.member).specs[0]?.mounts.filter(({ path }) => path === '/etc/hosts').length, 1)
      assert.equal(await hostsOf(w, 'p'), '')
    },
    world,
  )

  story(
    'are not there where nothing can be mounted',
    async (w) => {
      await w.member.create(labelled('p', 'web'))
      await w.member.create(aService('web'))
      await w.settle()
      assert.equal((await podNamed(w, 'p')).status?.phase, 'Running')
      assert.deepEqual(machineOf(w.member).specs[0]?.mounts, [])
      assert.equal(await hostsOf(w, 'p'), '')
    },
    { ...world, controllers: processNodes({ serve: {} }, { namespacesRefusal: 'not here' }) },
  )
})
