import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestServer, type TestServer } from '../testing.ts'

const PODS = '/api/v1/namespaces/default/pods'
const PDBS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const MERGE = { 'content-type': 'application/merge-patch+json' }

async function withPod(name = 'p', more: object = {}): Promise<TestServer> {
  const server = await startTestServer()
  await makePod(server, name, more)
  return server
}

async function makePod(server: TestServer, name: string, more: object = {}): Promise<void> {
  const pod = { metadata: { name, labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }], ...more } }
  const made = await server.send('POST', PODS, pod)
  assert.equal(made.status, 201, made.text)
}

const nodeOf = async (server: TestServer, name = 'p'): Promise<unknown> =>
  ((await server.send('GET', `${PODS}/${name}`)).body.spec as { nodeName?: string }).nodeName

describe('binding', () => {
  const binding = (metadata: object = { name: 'p' }, node = 'n1'): object => ({ metadata, target: { kind: 'Node', name: node } })

  it('gives a pod its node, once', async () => {
    const server = await withPod()
    const bound = await server.send('POST', `${PODS}/p/binding`, binding())
    assert.deepEqual([bound.status, bound.body.status], [201, 'Success'])
    assert.equal(await nodeOf(server), 'n1')
    const again = await server.send('POST', `${PODS}/p/binding`, binding({ name: 'p' }, 'n2'))
    assert.deepEqual([again.status, again.body.reason], [409, 'Conflict'])
    assert.equal(await nodeOf(server), 'n1')
    server.stop()
  })

  it('works through the old door too', async () => {
    const server = await withPod()
    assert.equal((await server.send('POST', '/api/v1/namespaces/default/bindings', binding())).status, 201)
    assert.equal(await nodeOf(server), 'n1')
    server.stop()
  })

  it('of many at once gives one node', async () => {
    const server = await withPod()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => server.send('POST', `${PODS}/p/binding`, binding({ name: 'p' }, `n${i}`))),
    )
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [201, ...Array.from({ length: 9 }, () => 409)])
    server.stop()
  })

  const refused: [string, string, unknown, number][] = [
    ['another name', '/p/binding', binding({ name: 'other' }), 400],
    ['no such pod', '/none/binding', binding({ name: 'none' }), 404],
    ['another uid', '/p/binding', binding({ name: 'p', uid: 'x' }), 409],
    ['an old revision', '/p/binding', binding({ name: 'p', resourceVersion: '1' }), 409],
    ['an unknown rehearsal', '/p/binding?dryRun=Some', binding(), 422],
    ['no target', '/p/binding', { metadata: { name: 'p' } }, 500],
  ]
  for (const [what, path, body, status] of refused)
    it(`refuses ${what} with ${status}`, async () => {
      const server = await withPod()
      const answer = await server.send('POST', PODS + path, body)
      assert.equal(answer.status, status, answer.text)
      assert.equal(await nodeOf(server), undefined)
      assert.deepEqual(server.internalErrors, [])
      server.stop()
    })

  it('as a rehearsal changes nothing', async () => {
    const server = await withPod()
    assert.equal((await server.send('POST', `${PODS}/p/binding?dryRun=All`, binding())).status, 201)
    assert.equal(await nodeOf(server), undefined)
    server.stop()
  })
})

describe('eviction', () => {
  const eviction = (name = 'p', more: object = {}): object => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, ...more })

  async function withBudget(allowed: number): Promise<TestServer> {
    const server = await withPod('p', { nodeName: 'n' })
    await makePod(server, 'q', { nodeName: 'n' })
    const conditions = [{ type: 'Ready', status: 'True' }]
    for (const name of ['p', 'q'])
      assert.equal(
        (await server.send('PATCH', `${PODS}/${name}/status`, { status: { phase: 'Running', conditions } }, { headers: MERGE })).status,
        200,
      )
    const made = await server.send('POST', PDBS, {
      metadata: { name: 'b' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
    })
    assert.equal(made.status, 201)
    const status = { observedGeneration: 1, disruptionsAllowed: allowed, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 }
    assert.equal((await server.send('PATCH', `${PDBS}/b/status`, { status }, { headers: MERGE })).status, 200)
    return server
  }

  it('without a budget deletes the pod with its grace', async () => {
    const server = await withPod('p', { nodeName: 'n' })
    assert.equal((await server.send('POST', `${PODS}/p/eviction`, eviction())).status, 201)
    assert.equal((await server.send('GET', `${PODS}/p`)).body.metadata.deletionGracePeriodSeconds, 30)
    server.stop()
  })

  it('charges the budget, and never beyond what it allows, however many come at once', async () => {
    const server = await withBudget(1)
    const answers = await Promise.all(['p', 'q'].map((name) => server.send('POST', `${PODS}/${name}/eviction`, eviction(name))))
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [201, 429])
    const refused = answers.find((answer) => answer.status === 429)
    assert.match(refused?.body.message ?? '', /Cannot evict pod as it would violate the pod's disruption budget/)
    const left = (await server.send('GET', PODS)).body.items.filter((pod) => pod.metadata.deletionTimestamp === undefined)
    assert.equal(left.length, 1)
    server.stop()
  })

  it('as a rehearsal charges and deletes nothing', async () => {
    const server = await withBudget(1)
    const revision = server.store.revision
    assert.equal((await server.send('POST', `${PODS}/p/eviction?dryRun=All`, eviction())).status, 201)
    assert.equal((await server.send('POST', `${PODS}/p/eviction`, eviction('p', { deleteOptions: { dryRun: ['All'] } }))).status, 201)
    assert.equal(server.store.revision, revision)
    server.stop()
  })

  it('keeps preconditions, and refuses another name', async () => {
    const server = await withPod('p', { nodeName: 'n' })
    const wrong = await server.send('POST', `${PODS}/p/eviction`, eviction('p', { deleteOptions: { preconditions: { uid: 'x' } } }))
    assert.equal(wrong.status, 409)
    assert.match(wrong.body.message ?? '', /the UID in the precondition \(x\) does not match the UID in record/)
    assert.equal((await server.send('POST', `${PODS}/p/eviction`, eviction('q'))).status, 400)
    assert.equal((await server.send('POST', `${PODS}/none/eviction`, eviction('none'))).status, 404)
    assert.equal((await server.send('GET', `${PODS}/p`)).body.metadata.deletionTimestamp, undefined)
    server.stop()
  })
})

describe('scale', () => {
  async function withDeployment(): Promise<TestServer> {
    const server = await startTestServer()
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const made = await server.send('POST', DEPLOYMENTS, {
      metadata: { name: 'd' },
      spec: { replicas: 2, selector: { matchLabels: { a: 'b' } }, template },
    })
    assert.equal(made.status, 201)
    return server
  }
  const replicasOf = async (server: TestServer): Promise<unknown> =>
    ((await server.send('GET', `${DEPLOYMENTS}/d`)).body.spec as { replicas?: number }).replicas

  it('shows and sets the replicas of its parent', async () => {
    const server = await withDeployment()
    const shown = (await server.send('GET', `${DEPLOYMENTS}/d/scale`)).body
    assert.deepEqual(
      [shown.kind, shown.spec, (shown.status as unknown as { selector: string }).selector],
      ['Scale', { replicas: 2 }, 'a=b'],
    )
    assert.equal((await server.send('PUT', `${DEPLOYMENTS}/d/scale`, { ...shown, spec: { replicas: 5 } })).status, 200)
    assert.equal(await replicasOf(server), 5)
    assert.equal((await server.send('PATCH', `${DEPLOYMENTS}/d/scale`, { spec: { replicas: 0 } }, { headers: MERGE })).status, 200)
    assert.equal(await replicasOf(server), 0)
    server.stop()
  })

  const refused: [string, string, unknown, Record<string, string>, number][] = [
    ['fewer than none', 'PATCH', { spec: { replicas: -1 } }, MERGE, 422],
    ['a half', 'PATCH', { spec: { replicas: 1.5 } }, MERGE, 400],
    ['a text', 'PATCH', { spec: { replicas: 'x' } }, MERGE, 400],
    ['an old revision', 'PUT', { metadata: { name: 'd', resourceVersion: '1' }, spec: { replicas: 1 } }, {}, 409],
    ['another name', 'PUT', { metadata: { name: 'e' }, spec: { replicas: 1 } }, {}, 400],
    ['a patch of no known type', 'PATCH', '{}', { 'content-type': 'text/plain' }, 415],
    ['nothing at all', 'PATCH', 'null', MERGE, 400],
    ['a text for a Scale', 'PATCH', '"x"', MERGE, 400],
  ]
  for (const [what, method, body, headers, status] of refused)
    it(`refuses ${what} with ${status}`, async () => {
      const server = await withDeployment()
      const answer = await server.send(method, `${DEPLOYMENTS}/d/scale`, body, { headers })
      assert.equal(answer.status, status, answer.text)
      assert.equal(await replicasOf(server), 2)
      assert.deepEqual(server.internalErrors, [])
      server.stop()
    })

  it('of what is not there is 404', async () => {
    const server = await startTestServer()
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', {}],
    ] as const)
      assert.equal((await server.send(method, `${DEPLOYMENTS}/none/scale`, body, { headers: MERGE })).status, 404)
    assert.equal((await server.send('GET', '/api/v1/namespaces/default/configmaps/a/scale')).status, 404)
    server.stop()
  })
})

describe('reaching into a pod', () => {
  const cases: [string, object, string, number, RegExp][] = [
    ['logs of a pod without node', {}, '/log', 204, /^$/],
    ['logs of an unknown container', {}, '/log?container=x', 400, /container x is not valid for pod p/],
    [
      'logs of one of several',
      {
        containers: [
          { name: 'a', image: 'i' },
          { name: 'b', image: 'i' },
        ],
      },
      '/log',
      400,
      /choose one of: \[a b\]/,
    ],
    ['logs from a node that is only an object', { nodeName: 'n' }, '/log', 500, /node n serves neither logs nor commands/],
    ['exec in a pod without node', {}, '/exec?command=ls', 400, /does not have a host assigned/],
    ['exec on a node that is only an object', { nodeName: 'n' }, '/exec?command=ls', 500, /nothing listens there/],
    ['attach', { nodeName: 'n' }, '/attach', 500, /nothing listens there/],
    ['port-forward', { nodeName: 'n' }, '/portforward', 500, /nothing listens there/],
    ['proxy to a pod without address', { nodeName: 'n' }, '/proxy', 400, /address not allowed/],
    ['logs from a node that is not there', { nodeName: 'gone' }, '/log', 404, /pods "gone" not found/],
  ]
  for (const [what, spec, path, status, message] of cases)
    it(`answers ${what} with ${status}`, async () => {
      const server = await withPod('p', spec)
      assert.equal((await server.send('POST', '/api/v1/nodes', { metadata: { name: 'n' } })).status, 201)
      const answer = await server.send('GET', `${PODS}/p${path}`)
      assert.equal(answer.status, status, answer.text)
      assert.match(answer.body.message ?? '', message)
      assert.equal((await server.send('GET', `${PODS}/none${path}`)).status, 404)
      server.stop()
    })
})
