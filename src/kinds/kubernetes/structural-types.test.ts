import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Schema } from '../../kube/schema.ts'
import { crdProblems } from '../custom/crd-rules.ts'
import { s } from '../schema/builder.ts'
import { defineKind } from '../schema/define-kind.ts'
import { type KubernetesTypes, structuralType } from './structural-types.ts'

const TYPES: readonly (keyof KubernetesTypes)[] = [
  'Affinity',
  'Container',
  'ContainerPort',
  'EnvVar',
  'LabelSelector',
  'Lifecycle',
  'LocalObjectReference',
  'NodeAffinity',
  'NodeSelector',
  'PersistentVolumeClaim',
  'PodSpec',
  'PodTemplateSpec',
  'Probe',
  'ResourceRequirements',
  'SecurityContext',
  'Toleration',
  'Volume',
  'VolumeMount',
  'VolumeSource',
]

const at = (schema: Schema, ...path: string[]): Schema | undefined =>
  path.reduce<Schema | undefined>((node, key) => (key === '[]' ? node?.items : node?.properties?.[key]), schema)

const everyNode = (schema: Schema): Schema[] => [
  schema,
  ...Object.values(schema.properties ?? {}).flatMap(everyNode),
  ...(schema.items === undefined ? [] : everyNode(schema.items)),
  ...(typeof schema.additionalProperties === 'object' ? everyNode(schema.additionalProperties) : []),
]

const Wagon = defineKind({
  group: 'example.test',
  kind: 'Wagon',
  plural: 'wagons',
  scope: 'Namespaced',
  versions: {
    v1: {
      schema: s.object({
        first: s.optional(s.kubernetes('PodTemplateSpec', { description: 'The first.' })),
        second: s.optional(s.kubernetes('PodTemplateSpec')),
        third: s.optional(s.array(s.kubernetes('Container'))),
      }),
    },
  },
})

describe('types of Kubernetes in definitions of our own', () => {
  for (const type of TYPES)
    it(`${type} is structural and complete`, () => {
      const nodes = everyNode(structuralType(type))
      assert.ok(
        nodes.every(
          (node) => node.type !== undefined || node['x-kubernetes-int-or-string'] || node['x-kubernetes-preserve-unknown-fields'],
        ),
      )
      assert.ok(nodes.every((node) => Object.isFrozen(node) && node.description === undefined && node.definition === undefined))
      const kind = defineKind({
        group: 'example.test',
        kind: 'A',
        plural: 'as',
        scope: 'Cluster',
        versions: { v1: { schema: s.object({ a: s.kubernetes(type) }) } },
      })
      assert.deepEqual(crdProblems(kind.crd), [])
    })

  it('writes amounts and ports as definitions of custom resources do', () => {
    const pod = structuralType('PodSpec')
    assert.deepEqual(at(pod, 'containers', '[]', 'resources', 'limits')?.additionalProperties, s.quantity())
    assert.deepEqual(at(pod, 'containers', '[]', 'livenessProbe', 'httpGet', 'port'), s.intOrString())
    assert.deepEqual(at(pod, 'containers', '[]', 'ports', '[]', 'protocol'), { type: 'string', default: 'TCP' })
    assert.deepEqual(at(pod, 'containers', '[]', 'imagePullPolicy'), { type: 'string' }, 'a newer server may know more values')
    assert.deepEqual(pod.required, ['containers'])
  })

  it('keeps of the metadata of a template what a template can say', () => {
    const object = {
      apiVersion: 'example.test/v1',
      kind: 'Wagon',
      metadata: { name: 'w' },
      first: {
        metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, name: 'n', uid: 'made up' },
        spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }], unheardOf: 1 }] },
      },
    }
    const { definition } = Wagon
    assert.deepEqual(definition.versions[0]?.coerce?.(object).unknown, ['first.metadata.uid', 'first.spec.containers[0].unheardOf'])
    definition.rules.applyDefaults?.(object, 'v1')
    assert.deepEqual(object.first, {
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, name: 'n' },
      spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, protocol: 'TCP' }] }] },
    })
  })

  it('has one copy of each type, however often it occurs', () => {
    const { versions } = Wagon.crd.spec as { versions: { schema: { openAPIV3Schema: Schema } }[] }
    const schema = versions[0]?.schema.openAPIV3Schema ?? {}
    assert.equal(at(schema, 'second'), structuralType('PodTemplateSpec'))
    assert.equal(at(schema, 'first', 'spec'), structuralType('PodSpec'))
    assert.equal(at(schema, 'third', '[]'), structuralType('Container'))
    assert.equal(at(schema, 'first')?.description, 'The first.')
    assert.equal(Wagon.versions.v1.schema.properties?.second?.properties, undefined, 'nothing is put in before it is needed')
  })

  it('calls a volume without its name a source', () => {
    const { properties: { name, ...others } = {} } = structuralType('Volume')
    assert.deepEqual(name, { type: 'string' })
    assert.deepEqual(structuralType('VolumeSource'), { type: 'object', properties: others })
  })
})
