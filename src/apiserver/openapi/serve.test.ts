/** Requests for documents and their answers; and, through the whole server, that custom resources appear and disappear. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Clock } from '../../base/clock.ts'
import { seededRandom } from '../../base/random.ts'
import { crdRules } from '../../kinds/custom/crd-rules.ts'
import { builtinKinds } from '../../kinds/kubernetes/registry.ts'
import { rulesFor } from '../../kinds/kubernetes/rules/index.ts'
import type { ApiResponse } from '../../kube/http.ts'
import { parseRequestInfo } from '../../kube/request-info.ts'
import { createMemoryStore } from '../../store/index.ts'
import { createCatalog } from '../catalog.ts'
import { createCluster } from '../cluster.ts'
import { createOpenApi } from './serve.ts'

const NOON = Date.UTC(2026, 0, 2, 12)
const stopped: Clock = { now: () => NOON, after: () => () => undefined }
const kinds = builtinKinds({
  rulesFor: (group, kind) => (kind === 'CustomResourceDefinition' ? crdRules : rulesFor(group, kind)),
  printerFor: () => undefined,
})

const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
const V3_PROTOBUF = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf'

function textOf(response: ApiResponse | undefined): string {
  assert.ok(response !== undefined && (response.body === undefined || typeof response.body !== 'function'))
  return Buffer.from(response.body ?? []).toString()
}

describe('openapi paths', () => {
  const openApi = createOpenApi(createCatalog(kinds), stopped)
  const get = (url: string, headers: Record<string, string> = {}, method = 'GET'): ApiResponse | undefined =>
    openApi(parseRequestInfo(method, url), { method, url, headers })
  const addresses = (): Record<string, { serverRelativeURL: string }> =>
    (JSON.parse(textOf(get('/openapi/v3'))) as { paths: Record<string, { serverRelativeURL: string }> }).paths

  it('leaves other paths to others', () => {
    for (const path of ['/openapi', '/openapi/', '/openapi/v2/', '/openapi/v30', '/apis', '/swagger.json'])
      assert.equal(get(path), undefined)
  })

  it('answers the index to whoever asks, with an address per group version, group and root', () => {
    const response = get('/openapi/v3', { accept: 'text/foo' })
    assert.equal(response?.status, 200)
    assert.deepEqual(response?.headers, { 'cache-control': 'no-cache, private', 'content-type': 'text/plain; charset=utf-8' })
    const places = Object.keys(addresses())
    assert.deepEqual([...places].sort(), places)
    for (const place of [
      '.well-known/openid-configuration',
      'api',
      'api/v1',
      'apis',
      'apis/apps',
      'apis/apps/v1',
      'openid/v1/jwks',
      'version',
    ])
      assert.match(addresses()[place]?.serverRelativeURL ?? '', new RegExp(`^/openapi/v3/${place}\\?hash=[0-9A-F]{128}$`))
  })

  it('answers a document by its hash so that it may be cached for ever', () => {
    const address = addresses()['apis/node.k8s.io/v1']?.serverRelativeURL ?? ''
    const hash = address.slice(address.indexOf('=') + 1)
    const response = get(address)
    assert.equal(response?.status, 200)
    assert.deepEqual(response?.headers, {
      'cache-control': 'public, immutable',
      'content-type': 'application/json',
      etag: `"${hash}"`,
      expires: 'Sat, 02 Jan 2027 12:00:00 UTC',
      vary: 'Accept',
    })
    const plain = get('/openapi/v3/apis/node.k8s.io/v1')
    assert.equal(plain?.headers['cache-control'], 'no-cache, private')
    assert.equal(textOf(plain), textOf(response))
    const old = get('/openapi/v3/apis/node.k8s.io/v1?hash=ABC')
    assert.equal(old?.status, 301)
    assert.equal(old?.headers.location, address)
    assert.equal(textOf(old), '')
  })

  it('answers 304 to a client that has it, in every spelling of If-None-Match', () => {
    for (const path of ['/openapi/v2', '/openapi/v3/apis/node.k8s.io/v1']) {
      const etag = String(get(path)?.headers.etag)
      for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const response = get(path, { 'if-none-match': known })
        assert.equal(response?.status, 304, known)
        assert.equal(response?.body, undefined)
        assert.equal(response?.headers.etag, etag)
      }
      assert.equal(get(path, { 'if-none-match': '"x"' })?.status, 200)
    }
  })

  const JSON_TYPE = 'application/json'
  const asV2 = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
  const asV3 = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'
  for (const [path, accept, status, type] of [
    ['/openapi/v2', '', 200, JSON_TYPE],
    ['/openapi/v2', 'application/*', 200, JSON_TYPE],
    ['/openapi/v2', V2_PROTOBUF, 200, asV2],
    ['/openapi/v2', asV2, 200, asV2],
    ['/openapi/v2', `${V2_PROTOBUF};q=0.5, application/json;q=0.8`, 200, JSON_TYPE],
    ['/openapi/v2', 'application/yaml', 406, undefined],
    ['/openapi/v2', V3_PROTOBUF, 406, undefined],
    ['/openapi/v3/api/v1', '*/*', 200, JSON_TYPE],
    ['/openapi/v3/api/v1', 'application/json; charset=utf-8', 200, JSON_TYPE],
    ['/openapi/v3/api/v1', V3_PROTOBUF, 200, asV3],
    ['/openapi/v3/api/v1', `application/vnd.kubernetes.protobuf, ${JSON_TYPE}`, 200, JSON_TYPE],
    ['/openapi/v3/api/v1', 'application/vnd.kubernetes.protobuf', 406, undefined],
    ['/openapi/v3/api/v1?hash=ABC', 'text/*', 406, undefined],
    ['/openapi/v3/apis/nope/v1', JSON_TYPE, 404, undefined],
    ['/openapi/v3/api/v1/', JSON_TYPE, 404, undefined],
    ['/openapi/v3/', JSON_TYPE, 404, undefined],
  ] as const) {
    it(`answers ${status} ${type ?? ''} to ${path} for ${accept || 'no Accept'}`, () => {
      const response = get(path, accept === '' ? {} : { accept })
      assert.equal(response?.status, status)
      assert.equal(response?.headers['content-type'], type)
      assert.equal(response?.body === undefined, status !== 200)
    })
  }

  it('answers any method alike', () => {
    assert.equal(get('/openapi/v2', {}, 'POST')?.status, 200)
    assert.equal(get('/openapi/v3', {}, 'DELETE')?.status, 200)
  })
})

describe('openapi through the server', () => {
  it('shows a custom resource as soon as it is established, and no longer once it is gone', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const cluster = createCluster({
      store: createMemoryStore({ clock: stopped }).cluster('hub'),
      clock: stopped,
      random: seededRandom(1),
      kinds,
      admission: () => [],
      access: { staticTokens: [], serviceAccountKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) },
      port: 7443,
      clientAuthority: '',
    })
    await cluster.ready
    const request = async (method: string, url: string, body?: unknown): Promise<{ status: number; text: string }> => {
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
      const headers = { 'content-type': 'application/json' }
      const response = await cluster.handle({ method, url, headers, body: bytes, as: { name: 'admin', groups: ['system:masters'] } })
      return { status: response.status, text: textOf(response) }
    }
    const until = async (what: () => Promise<boolean>): Promise<void> => {
      for (let turn = 0; turn < 1000; turn++) {
        if (await what()) return
        await new Promise((resolve) => setImmediate(resolve))
      }
      assert.fail('it did not come to be')
    }
    const document = '/openapi/v3/apis/demo.example.com/v1'
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    assert.equal((await request('GET', document)).status, 404)
    const made = await request('POST', definitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.demo.example.com' },
      spec: {
        group: 'demo.example.com',
        names: { kind: 'Widget', plural: 'widgets' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        ],
      },
    })
    assert.equal(made.status, 201, made.text)
    await until(async () =>
      /"type":"Established"[^}]*"status":"True"|"status":"True"[^}]*"type":"Established"/.test(
        (await request('GET', `${definitions}/widgets.demo.example.com`)).text,
      ),
    )

    const shown = JSON.parse((await request('GET', document)).text) as { components: { schemas: Record<string, { properties: object }> } }
    assert.deepEqual(Object.keys(shown.components.schemas['com.example.demo.v1.Widget']?.properties ?? {}).sort(), [
      'apiVersion',
      'kind',
      'metadata',
      'size',
    ])
    assert.match((await request('GET', '/openapi/v3')).text, /apis\/demo\.example\.com\/v1/)
    assert.match((await request('GET', '/openapi/v2')).text, /com\.example\.demo\.v1\.Widget/)

    assert.equal((await request('DELETE', `${definitions}/widgets.demo.example.com`)).status, 200)
    await until(async () => (await request('GET', `${definitions}/widgets.demo.example.com`)).status === 404)
    assert.equal((await request('GET', document)).status, 404)
    assert.doesNotMatch((await request('GET', '/openapi/v2')).text, /com\.example\.demo/)
    cluster.stop()
  })
})
