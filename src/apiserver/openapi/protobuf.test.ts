/** Protobuf documents have the same content as the JSON ones; read back with the recorded tables. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import { isJsonObject } from '../../base/json.ts'
import { definitionOf } from '../../kinds/custom/definition.ts'
import v2Text from '../../kinds/kubernetes/facts/openapi-v2-messages.facts'
import v3Text from '../../kinds/kubernetes/facts/openapi-v3-messages.facts'
import { builtinKinds } from '../../kinds/kubernetes/registry.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { createCatalog } from '../catalog.ts'
import { decodeDocument, type MessageTable } from './decode-messages.ts'
import { createDocuments, type Document } from './documents.ts'
import { toYamlText } from './yaml-text.ts'

const gadgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.demo.example.com' },
  spec: {
    group: 'demo.example.com',
    names: { kind: 'Gadget', listKind: 'GadgetList', plural: 'gadgets', singular: 'gadget' },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1, maximum: 10, default: 3 },
                  share: { type: 'number', minimum: -0.5, default: 0 },
                  on: { type: 'boolean', default: false },
                  name: { type: 'string', pattern: '^[a-z]+$', maxLength: 300, enum: ['yes', 'no', 'null', '1', 'é "x"'], nullable: true },
                  port: { 'x-kubernetes-int-or-string': true },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  list: {
                    type: 'array',
                    minItems: 2,
                    items: { type: 'object', additionalProperties: { type: 'string' } },
                    'x-kubernetes-list-type': 'atomic',
                  },
                },
                'x-kubernetes-validations': [{ rule: "self.size > 2 || self.name == 'a: b'", message: 'too\nsmall' }],
              },
            },
          },
        },
      },
    ],
  },
} as unknown as KubeObject

/** v3's message for a default holds numbers, booleans and strings only. */
function withoutStructuredDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutStructuredDefaults)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, child]) => !(key === 'default' && isJsonObject(child) && Object.keys(child).length === 0))
      .map(([key, child]) => [key, withoutStructuredDefaults(child)]),
  )
}

const jsonOf = (document: Document): unknown => JSON.parse(Buffer.from(document.json()).toString())

describe('openapi protobuf', () => {
  const kinds = builtinKinds({ rulesFor: () => ({}), printerFor: () => undefined })
  const documents = createDocuments(createCatalog([...kinds, definitionOf(gadgets)]))

  it('of v2 reads back as the JSON document', () => {
    const document = documents.v2()
    assert.deepEqual(decodeDocument(JSON.parse(v2Text) as MessageTable, 'openapi.v2.Document', document.protobuf()), jsonOf(document))
  })

  it('of v3 reads back as the JSON document, for every group version', () => {
    const table = JSON.parse(v3Text) as MessageTable
    for (const place of documents.places()) {
      const document = documents.v3(place)
      assert.ok(document !== undefined)
      assert.deepEqual(
        decodeDocument(table, 'openapi.v3.Document', document.protobuf()),
        withoutStructuredDefaults(jsonOf(document)),
        place,
      )
    }
  })

  it('is the same whether or not the JSON was asked for before', () => {
    const [one, other] = [createDocuments(createCatalog([definitionOf(gadgets)])), createDocuments(createCatalog([definitionOf(gadgets)]))]
    const [first, second] = [one.v3('apis/demo.example.com/v1'), other.v3('apis/demo.example.com/v1')]
    first?.json()
    assert.deepEqual(Buffer.from(first?.protobuf() ?? []), Buffer.from(second?.protobuf() ?? []))
    assert.equal(first?.hash(), second?.hash())
  })
})

describe('yaml text', () => {
  it('writes lists and maps in block form', () => {
    assert.equal(toYamlText(['port', 'protocol']), '- port\n- protocol\n')
    assert.equal(
      toYamlText([{ group: '', kind: 'Pod', list: [1, { a: true }] }]),
      '- group: ""\n  kind: Pod\n  list:\n  - 1\n  - a: true\n',
    )
    assert.equal(toYamlText({}), '{}\n')
  })

  it('reads back as the value, by readers of both versions of YAML', () => {
    const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => !JSON.stringify(value).includes('"__proto__"'))
    fc.assert(
      fc.property(json, (value) => {
        const expected: unknown = JSON.parse(JSON.stringify(value))
        for (const version of ['1.1', '1.2'] as const) assert.deepEqual(parse(toYamlText(value), { version }), expected)
      }),
    )
  })
})
