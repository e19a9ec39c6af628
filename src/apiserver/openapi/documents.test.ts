/** The contents of the documents: they are consistent, match what was recorded of the built-in kinds, and follow the catalog. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { definitionOf } from '../../kinds/custom/definition.ts'
import pathsText from '../../kinds/kubernetes/facts/openapi-paths.facts'
import { openApiTexts } from '../../kinds/kubernetes/openapi-texts.ts'
import { builtinKinds } from '../../kinds/kubernetes/registry.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { createCatalog } from '../catalog.ts'
import { createDocuments, type Document } from './documents.ts'

type Node = Record<string, unknown>
interface Parsed {
  paths: Record<string, Record<string, Node>>
  definitions: Record<string, Node>
  parameters: Record<string, Node>
}

const kinds = builtinKinds({ rulesFor: () => ({}), printerFor: () => undefined })

function widgets(
  schema: Node = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer', default: 1 } } } } },
): KubeObject {
  const version = (name: string, isStored: boolean): Node => ({
    name,
    served: true,
    storage: isStored,
    ...(isStored ? { subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } } } : {}),
    schema: { openAPIV3Schema: schema },
  })
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.demo.example.com' },
    spec: {
      group: 'demo.example.com',
      names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
      scope: 'Namespaced',
      versions: [version('v1', true), version('v1beta1', false)],
    },
  } as unknown as KubeObject
}

const read = new WeakMap<Uint8Array, Parsed>()

function parsed(document: Document | undefined): Parsed {
  assert.ok(document !== undefined, 'there is such a document')
  const known = read.get(document.json())
  if (known !== undefined) return known
  const fresh = parse(document)
  read.set(document.json(), fresh)
  return fresh
}

function parse(document: Document): Parsed {
  const value = JSON.parse(Buffer.from(document.json()).toString()) as Node & { components?: { schemas?: Record<string, Node> } }
  return {
    paths: value.paths as Parsed['paths'],
    definitions: (value.components?.schemas ?? value.definitions ?? {}) as Record<string, Node>,
    parameters: (value.parameters ?? {}) as Record<string, Node>,
  }
}

/** Targets of the references in a value, as the last two segments of their pointer. */
function* references(value: unknown): Iterable<[kind: string, name: string]> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value)) {
    const match = key === '$ref' && typeof child === 'string' ? /^#\/(?:components\/)?(\w+)\/(.+)$/.exec(child) : null
    if (match !== null) yield [match[1] ?? '', match[2] ?? '']
    else yield* references(child)
  }
}

const recorded = new Map(openApiTexts.flatMap(({ text }) => Object.entries(JSON.parse(text) as Record<string, Node>)))

describe('openapi documents', () => {
  const catalog = createCatalog([...kinds, definitionOf(widgets())])
  const documents = createDocuments(catalog)
  const all = [...documents.places().map((place) => [place, documents.v3(place)] as const), ['v2', documents.v2()] as const]

  it('resolve every reference inside themselves', () => {
    let count = 0
    for (const [place, document] of all) {
      const it = parsed(document)
      for (const [kind, name] of references(it)) {
        assert.ok(Object.hasOwn(kind === 'parameters' ? it.parameters : it.definitions, name), `${place} refers to ${name}`)
        count++
      }
    }
    assert.ok(count > 10_000, `only ${count} references seen`)
  })

  it('hold every served kind with its group, version and kind, in v3 and in v2', () => {
    const v2 = parsed(documents.v2()).definitions
    for (const definition of catalog.definitions()) {
      for (const { name: version } of definition.versions) {
        const place = definition.group === '' ? `api/${version}` : `apis/${definition.group}/${version}`
        const wanted = { group: definition.group, kind: definition.kind, version }
        for (const definitions of [parsed(documents.v3(place)).definitions, v2]) {
          const found = Object.values(definitions).some((node) =>
            ((node['x-kubernetes-group-version-kind'] ?? []) as Node[]).some((gvk) => JSON.stringify(gvk) === JSON.stringify(wanted)),
          )
          assert.ok(found, `${place} has no ${definition.kind}`)
        }
      }
    }
  })

  it('say in v3 exactly what was recorded, with the meta kinds of their own group version', () => {
    const seen = new Set<string>()
    for (const [place, document] of all) {
      if (place === 'v2' || place.startsWith('apis/demo')) continue
      for (const [name, schema] of Object.entries(parsed(document).definitions)) {
        const { 'x-kubernetes-group-version-kind': kindsOfNode, ...rest } = schema
        const { 'x-kubernetes-group-version-kind': recordedKinds, ...wanted } = recorded.get(name) ?? {}
        assert.deepEqual(rest, wanted, name)
        const list = (recordedKinds ?? []) as Node[]
        const [, group = '', version = ''] = place.split('/').length === 3 ? place.split('/') : ['', '', 'v1']
        const own =
          list.length < 2
            ? list
            : list.filter((k) => (k.group === '' && k.version === 'v1') || (k.group === group && k.version === version))
        assert.deepEqual(kindsOfNode ?? [], own, `${place} ${name}`)
        seen.add(name)
      }
    }
    assert.deepEqual(
      [...recorded.keys()].filter((name) => !seen.has(name)),
      [],
    )
  })

  it('say in v2 the same without defaults, wrappers and alternatives', () => {
    const { definitions } = parsed(documents.v2())
    for (const [name, wanted] of recorded) {
      const it = definitions[name] ?? {}
      assert.deepEqual(Object.keys((it.properties ?? {}) as Node), Object.keys((wanted.properties ?? {}) as Node), name)
      assert.deepEqual(it.required, wanted.required, name)
      for (const [field, property] of Object.entries((it.properties ?? {}) as Record<string, Node>)) {
        const before = ((wanted.properties ?? {}) as Record<string, Node>)[field] ?? {}
        const [target] = references(before.allOf)
        assert.equal(property.$ref, target === undefined ? replaced(before.$ref) : `#/definitions/${target[1]}`, `${name}.${field}`)
        assert.ok(!('default' in property) && !('allOf' in property) && !('oneOf' in property), `${name}.${field}`)
        for (const [key, value] of Object.entries(before))
          if (key.startsWith('x-') || key === 'enum') assert.deepEqual(property[key], value)
      }
    }
    assert.deepEqual(definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString'], { format: 'int-or-string', type: 'string' })
    assert.equal(definitions['io.k8s.apimachinery.pkg.api.resource.Quantity']?.type, 'string')
  })

  it('offer the recorded operations with their parameters, bodies and answers', () => {
    const facts = JSON.parse(pathsText) as { params: string[][]; paths: Record<string, Record<string, Record<string, OperationFact>>> }
    const v2 = parsed(documents.v2())
    for (const [key, paths] of Object.entries(facts.paths)) {
      const v3 = parsed(documents.v3(key === 'v1' ? 'api/v1' : `apis/${key.replace('_', '/')}`))
      assert.deepEqual(Object.keys(v3.paths), Object.keys(paths).sort(), key)
      for (const [path, item] of Object.entries(paths)) {
        for (const [method, fact] of Object.entries(item)) {
          for (const document of [v3, v2]) {
            const label = `${method} ${path}`
            const operation = document.paths[path]?.[method] ?? {}
            assert.equal(operation.operationId, fact.operationId, label)
            assert.deepEqual(operation['x-kubernetes-group-version-kind'], fact.gvk, label)
            assert.deepEqual(paramsOf(document, path, method), [...(facts.params[fact.params] ?? [])].sort(), label)
            assert.deepEqual(Object.keys(operation.responses as Node), Object.keys(fact.responses), label)
            assert.deepEqual(
              [...references(operation.responses)].every(([, name]) => answersOf(fact).includes(name)),
              true,
              label,
            )
          }
        }
      }
    }
  })
})

interface OperationFact {
  operationId: string
  params: number
  gvk?: Node
  responses: Record<string, { schema: string } | null>
}

const answersOf = (fact: OperationFact): string[] =>
  Object.values(fact.responses).flatMap((answer) => (answer === null ? [] : [answer.schema]))
const replaced = (ref: unknown): unknown => (typeof ref === 'string' ? ref.replace('#/components/schemas/', '#/definitions/') : ref)

function fieldsOfSpec(schema: Node | undefined): string[] {
  const { properties } = (schema ?? {}) as { properties?: { spec?: { properties?: Node } } }
  return Object.keys(properties?.spec?.properties ?? {})
}

/** Of the path and of the operation, as `in:name`, without the body. */
function paramsOf(document: Parsed, path: string, method: string): string[] {
  const item = document.paths[path] ?? {}
  const list = [...((item.parameters ?? []) as unknown as Node[]), ...((item[method]?.parameters ?? []) as Node[])]
  const resolved = list.map((param) =>
    typeof param.$ref === 'string' ? (document.parameters[param.$ref.slice('#/parameters/'.length)] ?? {}) : param,
  )
  return resolved
    .filter((param) => param.in !== 'body')
    .map((param) => `${String(param.in)}:${String(param.name)}`)
    .sort()
}

describe('openapi documents of a changing catalog', () => {
  it('show a custom resource while it is there, and leave the other documents as they were', () => {
    const catalog = createCatalog(kinds)
    const documents = createDocuments(catalog)
    const before = documents.v3('apis/apps/v1')?.json()
    const hashBefore = documents.v2().hash()
    assert.equal(documents.v3('apis/demo.example.com/v1'), undefined)

    catalog.put(definitionOf(widgets()))
    assert.deepEqual(
      documents.places().filter((place) => place.includes('demo')),
      ['apis/demo.example.com/v1', 'apis/demo.example.com/v1beta1'],
    )
    assert.ok('com.example.demo.v1.Widget' in parsed(documents.v2()).definitions)
    assert.equal(documents.v3('apis/apps/v1')?.json(), before, 'the same bytes, not made again')
    const shown = documents.v3('apis/demo.example.com/v1')
    const first = shown?.hash()

    catalog.put(
      definitionOf(widgets({ type: 'object', properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } } })),
    )
    const changed = parsed(documents.v3('apis/demo.example.com/v1')).definitions['com.example.demo.v1.Widget']
    assert.deepEqual(fieldsOfSpec(changed), ['color'])
    assert.notEqual(documents.v3('apis/demo.example.com/v1')?.hash(), first)

    catalog.remove('demo.example.com', 'widgets')
    assert.equal(documents.v3('apis/demo.example.com/v1'), undefined)
    assert.equal(documents.v2().hash(), hashBefore)
  })

  it('share what is built in between the clusters of a process', () => {
    const [one, other] = [
      createDocuments(createCatalog(kinds)),
      createDocuments(createCatalog(builtinKinds({ rulesFor: () => ({}), printerFor: () => undefined }))),
    ]
    assert.equal(one.v3('apis/batch/v1')?.json(), other.v3('apis/batch/v1')?.json())
  })

  it('describe a custom resource as kubectl needs it', () => {
    const documents = createDocuments(createCatalog([definitionOf(widgets())]))
    const { paths, definitions } = parsed(documents.v3('apis/demo.example.com/v1'))
    const root = '/apis/demo.example.com/v1'
    const one = `${root}/namespaces/{namespace}/widgets/{name}`
    assert.deepEqual(Object.keys(paths), [
      `${root}/namespaces/{namespace}/widgets`,
      one,
      `${one}/scale`,
      `${one}/status`,
      `${root}/widgets`,
    ])
    assert.deepEqual(Object.keys(parsed(documents.v3('apis/demo.example.com/v1beta1')).paths).length, 3)
    for (const document of [parsed(documents.v3('apis/demo.example.com/v1')), parsed(documents.v2())]) {
      const patch = document.paths[one]?.patch ?? {}
      assert.deepEqual(patch['x-kubernetes-group-version-kind'], { group: 'demo.example.com', kind: 'Widget', version: 'v1' })
      // kubectl does not follow references when it looks for these two.
      const inPlace = ((patch.parameters ?? []) as Node[]).map((param) => param.name)
      assert.ok(inPlace.includes('dryRun') && inPlace.includes('fieldValidation'))
    }
    const widget = definitions['com.example.demo.v1.Widget'] ?? {}
    assert.deepEqual(widget['x-kubernetes-group-version-kind'], [{ group: 'demo.example.com', kind: 'Widget', version: 'v1' }])
    assert.deepEqual(
      [...references((widget.properties as Node).metadata)],
      [['schemas', 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']],
    )
    assert.deepEqual([...references(definitions['com.example.demo.v1.WidgetList'])][0]?.[1], 'com.example.demo.v1.Widget')
    assert.equal(paths[one]?.patch?.operationId, 'patchDemoExampleComV1NamespacedWidget')
  })

  it('survive names and values that mean something to JavaScript or to OpenAPI', () => {
    const names = ['__proto__', 'constructor', 'toString', 'x-kubernetes-thing', 'additional_properties', '$ref', 'default']
    const properties = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:{"type":"string"}`).join(',')}}`) as Node
    const value = { $ref: '#/components/schemas/no.such.Thing' }
    const schema = { type: 'object', properties: { spec: { type: 'object', properties, default: value, example: value, enum: [value] } } }
    const documents = createDocuments(createCatalog([...kinds, definitionOf(widgets(schema))]))
    for (const document of [documents.v3('apis/demo.example.com/v1'), documents.v2()]) {
      assert.deepEqual(fieldsOfSpec(parsed(document).definitions['com.example.demo.v1.Widget']), names)
      assert.ok((document?.protobuf().length ?? 0) > 0)
    }
    assert.equal(({} as Node).type, undefined, 'nothing reached the prototype of objects')
  })
})
