import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { builtinKinds } from '../../kinds/kubernetes/registry.ts'
import type { ApiRequest, ApiResponse } from '../../kube/http.ts'
import { StatusError } from '../../kube/status.ts'
import { createCatalog } from '../catalog.ts'
import { createDiscovery } from './serve.ts'

const discovery = createDiscovery(createCatalog(builtinKinds({ rulesFor: () => ({}), printerFor: () => undefined })))
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

function get(path: string, headers: Record<string, string> = {}): ApiResponse {
  const request: ApiRequest = { method: 'GET', url: path, headers: { host: 'h:1', ...headers } }
  return discovery.serve(path, request) ?? assert.fail(`${path} is not discovery's`)
}

const textOf = (response: ApiResponse): string => Buffer.from(response.body as Uint8Array).toString()

interface Resource {
  name: string
  storageVersionHash?: string
}

function hashOf(path: string, name: string): string | undefined {
  const { resources } = JSON.parse(textOf(get(path))) as { resources: Resource[] }
  return resources.find((resource) => resource.name === name)?.storageVersionHash
}

describe('discovery', () => {
  it('hashes what is stored, not what is served', () => {
    assert.equal(hashOf('/api/v1', 'events'), 'r2yiGXH7wu8=')
    assert.equal(hashOf('/apis/events.k8s.io/v1', 'events'), 'r2yiGXH7wu8=')
    assert.equal(hashOf('/apis/admissionregistration.k8s.io/v1', 'mutatingadmissionpolicies'), 'LYmCf+UMVdg=')
    assert.equal(hashOf('/apis/admissionregistration.k8s.io/v1', 'mutatingadmissionpolicybindings'), '90V5FRZZ3Zg=')
    assert.equal(hashOf('/apis/apiextensions.k8s.io/v1', 'customresourcedefinitions'), 'jfWCUB31mvA=')
    assert.equal(hashOf('/apis/apps/v1', 'controllerrevisions'), '85nkx63pcBU=')
  })

  it('names group and version of a subresource only where they are foreign', () => {
    const { items } = JSON.parse(textOf(get('/api', { accept: AGGREGATED }))) as {
      items: { versions: { resources: { resource: string; subresources?: { subresource: string; responseKind: object }[] }[] }[] }[]
    }
    const pods = items[0]?.versions[0]?.resources.find((resource) => resource.resource === 'pods')
    const responseKind = (name: string) => pods?.subresources?.find((one) => one.subresource === name)?.responseKind
    assert.deepEqual(responseKind('exec'), { group: '', version: '', kind: 'PodExecOptions' })
    assert.deepEqual(responseKind('status'), { group: '', version: '', kind: 'Pod' })
    assert.deepEqual(responseKind('eviction'), { group: 'policy', version: 'v1', kind: 'Eviction' })
  })

  it('gives the form that is accepted first', () => {
    const kindOf = (accept: string): unknown => (JSON.parse(textOf(get('/apis', { accept }))) as { kind: unknown }).kind
    assert.equal(kindOf(`${AGGREGATED},application/json`), 'APIGroupDiscoveryList')
    assert.equal(kindOf(`application/json,${AGGREGATED}`), 'APIGroupList')
    assert.equal(kindOf(`${AGGREGATED.replace('v2', 'v2beta1')},${AGGREGATED}`), 'APIGroupDiscoveryList')
    assert.equal(kindOf(`${AGGREGATED.replace('v2', 'v2beta1')},application/json`), 'APIGroupList')
    assert.throws(
      () => get('/apis', { accept: AGGREGATED.replace('v2', 'v2beta1') }),
      (error) => error instanceof StatusError && error.code === 406,
    )
    assert.match(textOf(get('/apis/apps', { accept: 'application/yaml' })), /^apiVersion: v1\nkind: APIGroup\nname: apps\n/)
  })

  it('ends a document with a newline, and is not read twice', () => {
    assert.ok(textOf(get('/apis')).endsWith('}\n'))
    const first = get('/apis', { accept: AGGREGATED })
    assert.ok(textOf(first).endsWith('}\n'))
    // The tags that kube-apiserver v1.36.3 gives to the same documents.
    assert.match(String(first.headers.etag), /^"A74552DF419C4697E3A/)
    assert.match(String(get('/api', { accept: AGGREGATED }).headers.etag), /^"4D7E1BED90B364BC860/)
    assert.equal(get('/apis', { accept: AGGREGATED, 'if-none-match': String(first.headers.etag) }).status, 304)
  })
})
