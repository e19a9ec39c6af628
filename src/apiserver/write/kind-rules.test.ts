/** What differs between kinds in how the server writes: how often metadata is validated, what a deletion leaves, what /status keeps. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestServer, type TestServer } from '../testing.ts'

const MERGE = { headers: { 'content-type': 'application/merge-patch+json' } }
const APPLY = { headers: { 'content-type': 'application/apply-patch+yaml' } }
const inDefault = (group: string, resource: string): string =>
  `/${group === 'v1' ? 'api/v1' : `apis/${group}`}/namespaces/default/${resource}`

interface Cause {
  field: string
  message: string
}

async function made(server: TestServer, url: string, body: object): Promise<string> {
  const answer = await server.send('POST', url, { metadata: { name: 'a' }, ...body })
  assert.equal(answer.status, 201, answer.text)
  return `${url}/a`
}

const budget = { spec: { minAvailable: 1 } }
const lease = { spec: { holderIdentity: 'x' } }
const range = { spec: { limits: [{ type: 'Container' }] } }
const volume = { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } } }

describe('metadata of a kind', () => {
  // The number of causes for an invalid uid, for a finalizer that is no qualified name, and for one unknown to Kubernetes.
  const counted: [string, string, object, [number, number, number]][] = [
    ['a ConfigMap is judged as a change and as new', inDefault('v1', 'configmaps'), {}, [2, 2, 2]],
    ['a LimitRange as new', inDefault('v1', 'limitranges'), range, [1, 2, 1]],
    ['a PersistentVolume as new, twice', '/api/v1/persistentvolumes', volume, [1, 3, 2]],
    ['a Lease as a change, with any finalizer', inDefault('coordination.k8s.io/v1', 'leases'), lease, [2, 1, 0]],
    ['a PodDisruptionBudget in general only', inDefault('policy/v1', 'poddisruptionbudgets'), budget, [1, 1, 0]],
  ]
  for (const [name, url, body, expected] of counted)
    it(name, async () => {
      const server = await startTestServer()
      const one = await made(server, url, body)
      const causes = async (metadata: object, field: string): Promise<number> => {
        const answer = await server.send('PATCH', one, { metadata }, MERGE)
        const list = (answer.body.details?.causes ?? []) as Cause[]
        return list.filter((cause) => cause.field === field).length
      }
      const found = [
        await causes({ uid: 'b' }, 'metadata.uid'),
        await causes({ finalizers: ['x y'] }, 'metadata.finalizers'),
        await causes({ finalizers: ['bad'] }, 'metadata.finalizers[0]'),
      ]
      assert.deepEqual(found, expected)
      server.stop()
    })

  it('names a LimitRange that has no name', async () => {
    const server = await startTestServer()
    const answer = await server.send('POST', inDefault('v1', 'limitranges'), range)
    assert.match(answer.body.metadata.name ?? '', /^[0-9a-f]{8}-[0-9a-f-]{27}$/)
    server.stop()
  })

  it('takes a resourceVersion of a new object that is no number, or nothing, for none', async () => {
    const server = await startTestServer()
    const create = (name: string, resourceVersion: string) =>
      server.send('POST', inDefault('v1', 'configmaps'), { metadata: { name, resourceVersion } })
    assert.deepEqual([(await create('a', '0')).status, (await create('b', 'x')).status, (await create('c', '5')).status], [201, 201, 500])
    server.stop()
  })

  it('counts the templates of a DaemonSet in an annotation that its metadata alone does not have', async () => {
    const server = await startTestServer()
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const one = await made(server, inDefault('apps/v1', 'daemonsets'), { spec: { selector: { matchLabels: { a: 'b' } }, template } })
    const partial = { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } }
    const [whole, alone] = [await server.send('GET', one), await server.send('GET', one, undefined, partial)]
    assert.deepEqual(whole.body.metadata.annotations, { 'deprecated.daemonset.template.generation': '1' })
    assert.equal(alone.body.metadata.annotations, undefined)
    server.stop()
  })
})

describe('a deletion', () => {
  it('of an Event knows no propagation', async () => {
    const server = await startTestServer()
    const one = await made(server, inDefault('v1', 'events'), { involvedObject: { namespace: 'default' } })
    assert.equal((await server.send('DELETE', one, { propagationPolicy: 'Orphan' })).status, 200)
    assert.equal((await server.send('GET', one)).status, 404)
    server.stop()
  })

  it('of a pod whose time is up can still change its mind about dependents', async () => {
    const server = await startTestServer()
    const one = await made(server, inDefault('v1', 'pods'), {
      metadata: { name: 'a', finalizers: ['a.b/c'] },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    })
    assert.deepEqual((await server.send('DELETE', one)).body.metadata.finalizers, ['a.b/c'])
    assert.deepEqual((await server.send('DELETE', one, { propagationPolicy: 'Orphan' })).body.metadata.finalizers, ['a.b/c', 'orphan'])
    server.stop()
  })

  it('of a namespace says in its own words that it is another one', async () => {
    const server = await startTestServer()
    await made(server, '/api/v1/namespaces', {})
    const answer = await server.send('DELETE', '/api/v1/namespaces/a', { preconditions: { uid: 'x' } })
    assert.match(
      answer.body.message ?? '',
      /^Operation cannot be fulfilled on namespaces "a": Precondition failed: UID in precondition: x, UID in object meta: /,
    )
    server.stop()
  })

  it('warns about children of a Job, and of nothing else that orphans by default', async () => {
    const server = await startTestServer()
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
    const job = await made(server, inDefault('batch/v1', 'jobs'), { spec: { template } })
    const labelled = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const controller = await made(server, inDefault('v1', 'replicationcontrollers'), { spec: { selector: { a: 'b' }, template: labelled } })
    assert.match(String((await server.send('DELETE', job)).headers.warning), /child pods are preserved by default/)
    assert.equal((await server.send('DELETE', controller)).headers.warning, undefined)
    server.stop()
  })
})

describe('a status door', () => {
  it('of a ServiceCIDR leaves metadata alone', async () => {
    const server = await startTestServer()
    const one = await made(server, '/apis/networking.k8s.io/v1/servicecidrs', { spec: { cidrs: ['10.9.0.0/24'] } })
    const answer = await server.send('PATCH', `${one}/status`, { metadata: { labels: { a: 'b' }, finalizers: ['a.b/c'] } }, MERGE)
    assert.deepEqual([answer.status, answer.body.metadata.labels, answer.body.metadata.finalizers], [200, undefined, undefined])
    server.stop()
  })

  it('reads what it wrote with defaults: a Job without labels takes those of its template', async () => {
    const server = await startTestServer()
    const template = { metadata: { labels: { a: 'b' } }, spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
    const one = await made(server, inDefault('batch/v1', 'jobs'), { spec: { template } })
    const answer = await server.send('PUT', `${one}/status`, { metadata: { name: 'a' }, spec: { template }, status: { active: 1 } })
    assert.equal(answer.body.metadata.labels?.a, 'b', answer.text)
    server.stop()
  })
})

describe('an applied body', () => {
  const one = `${inDefault('v1', 'configmaps')}/a?fieldManager=m`
  const refused: [string, string][] = [
    ['', 'invalid object type: /, Kind='],
    [
      '[]',
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
    [
      '5',
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go value of type map[string]interface {}',
    ],
    ['{', 'error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content'],
  ]
  for (const [body, message] of refused)
    it(`of ${JSON.stringify(body)} is refused`, async () => {
      const server = await startTestServer()
      const answer = await server.send('PATCH', one, body, APPLY)
      assert.deepEqual([answer.status, answer.body.message], [400, message])
      server.stop()
    })

  it('with a key twice warns, or is refused when asked to be strict', async () => {
    const server = await startTestServer()
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  q: "1"\n  q: "2"\n'
    assert.deepEqual((await server.send('PATCH', one, body, APPLY)).headers.warning, ['299 - "line 7: key \\"q\\" already set in map"'])
    assert.equal((await server.send('PATCH', `${one}&fieldValidation=Strict`, body, APPLY)).status, 400)
    server.stop()
  })
})
