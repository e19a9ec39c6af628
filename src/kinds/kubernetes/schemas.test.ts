import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Schema } from '../../kube/schema.ts'
import { openApiTexts } from './openapi-texts.ts'
import { definitionSchema, schemaFor } from './schemas.ts'

function at(schema: Schema | undefined, ...path: string[]): Schema | undefined {
  return path.reduce<Schema | undefined>((s, key) => (key === '[]' ? s?.items : s?.properties?.[key]), schema)
}

describe('linked schemas of the built-in kinds', () => {
  it('follows references down to the leaves', () => {
    const image = at(schemaFor('apps', 'v1', 'Deployment'), 'spec', 'template', 'spec', 'containers', '[]', 'image')
    assert.equal(image?.type, 'string')
    const ports = at(schemaFor('', 'v1', 'Service'), 'spec', 'ports')
    assert.deepEqual(ports?.['x-kubernetes-list-map-keys'], ['port', 'protocol'])
  })

  it('keeps keywords beside a reference and the name of the definition', () => {
    const strategy = at(schemaFor('apps', 'v1', 'Deployment'), 'spec', 'strategy')
    assert.equal(strategy?.['x-kubernetes-patch-strategy'], 'retainKeys')
    assert.equal(strategy?.definition, 'io.k8s.api.apps.v1.DeploymentStrategy')
    assert.equal(at(strategy, 'type')?.type, 'string')
    assert.equal(definitionSchema('io.k8s.api.apps.v1.DeploymentStrategy')?.['x-kubernetes-patch-strategy'], undefined)
  })

  it('closes the cycles of JSONSchemaProps', () => {
    const name = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'
    const props = definitionSchema(name)
    assert.equal(at(props, 'not'), props)
    const item = at(props, 'anyOf', '[]')
    assert.deepEqual(item?.default, {})
    assert.equal(item?.properties, props?.properties)
    assert.equal(at(props, '$ref')?.type, 'string')
    const properties = at(props, 'properties')?.additionalProperties
    assert.ok(typeof properties === 'object' && properties.properties === props?.properties)
  })

  it('knows the shared kinds in every group and nothing else', () => {
    assert.equal(schemaFor('apps', 'v1', 'DeleteOptions')?.definition, 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions')
    assert.equal(schemaFor('', 'v1', 'Status')?.definition, 'io.k8s.apimachinery.pkg.apis.meta.v1.Status')
    assert.equal(schemaFor('example.com', 'v1', 'Pod'), undefined)
    assert.equal(schemaFor('', 'v1', '__proto__'), undefined)
  })

  it('leaves no reference and no single allOf in any definition', () => {
    const seen = new Set<Schema>()
    const walk = (schema: Schema, where: string): void => {
      if (seen.has(schema)) return
      seen.add(schema)
      assert.ok(typeof (schema as { $ref?: unknown }).$ref !== 'string', where)
      assert.equal(schema.allOf, undefined, where)
      for (const [name, child] of Object.entries(schema.properties ?? {})) walk(child, `${where}.${name}`)
      if (schema.items !== undefined) walk(schema.items, `${where}[]`)
      if (typeof schema.additionalProperties === 'object') walk(schema.additionalProperties, `${where}{}`)
    }
    let count = 0
    for (const { text } of openApiTexts) {
      for (const name of Object.keys(JSON.parse(text) as object)) {
        const schema = definitionSchema(name)
        assert.ok(schema !== undefined, name)
        walk(schema, name)
        count++
      }
    }
    assert.equal(count, 584)
  })
})
