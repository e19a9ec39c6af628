import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze, type Json } from '../../base/json.ts'
import { parseJsonText } from '../../kube/json-text.ts'
import { DecodeError, decodeTyped, type TypedObject } from './decode-json.ts'

const kind = (name: string, apiVersion = 'v1') => {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return { group, version, kind: name }
}

function decode(gvk: ReturnType<typeof kind>, text: string): TypedObject {
  const { value, details } = parseJsonText(text)
  return decodeTyped(gvk, value, details)
}

const POD = kind('Pod')
const CONFIG = kind('ConfigMap')
const CRD = kind('CustomResourceDefinition', 'apiextensions.k8s.io/v1')

describe('typed decoding', () => {
  it('drops unknown fields and names them with their path, in the order of the text', () => {
    const { object, unknownFields, strictErrors } = decode(
      POD,
      '{"bogus":1,"spec":{"containers":[{"name":"c","imagePullPolcy":"Always"}],"Volumes":[],"nodeSelector":{"any":"thing"}}}',
    )
    assert.deepEqual(unknownFields, ['bogus', 'spec.containers[0].imagePullPolcy', 'spec.Volumes'])
    assert.equal(strictErrors[1], 'unknown field "spec.containers[0].imagePullPolcy"')
    assert.deepEqual(object.spec, { containers: [{ name: 'c', resources: {} }], nodeSelector: { any: 'thing' } })
  })

  it('tells at most a hundred strict errors, each once', () => {
    const many = Array.from({ length: 300 }, (_, i) => `"x${i}":1`).join(',')
    assert.equal(decode(POD, `{${many}}`).strictErrors.length, 100)
    assert.deepEqual(decode(POD, '{"x":1,"x":2}').strictErrors, ['unknown field "x"'])
  })

  it('decodes a repeated key on top of the first', () => {
    const { object, strictErrors } = decode(
      POD,
      '{"metadata":{"labels":{"a":"1"},"name":"x"},"metadata":{"labels":{"b":"2"}},"spec":{"containers":[{"name":"c","image":"i"}],"containers":[{"name":"d"}]}}',
    )
    assert.deepEqual(object.metadata, { name: 'x', labels: { a: '1', b: '2' } })
    assert.deepEqual(object.spec, { containers: [{ name: 'd', image: 'i', resources: {} }] })
    assert.deepEqual(strictErrors, ['duplicate field "metadata"', 'duplicate field "spec.containers"'])
  })

  it('prints and leaves out zero values as Go does', () => {
    assert.deepEqual(decode(kind('Deployment', 'apps/v1'), '{"spec":{"replicas":0,"paused":false,"minReadySeconds":0}}').object, {
      metadata: {},
      spec: { replicas: 0, selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} },
      status: {},
    })
    assert.deepEqual(decode(kind('Role', 'rbac.authorization.k8s.io/v1'), '{"rules":[]}').object, { metadata: {}, rules: null })
    assert.deepEqual(decode(CONFIG, '{"data":{"a":null},"binaryData":{"b":null},"immutable":null}').object, {
      metadata: {},
      data: { a: '' },
      binaryData: { b: '' },
    })
    assert.deepEqual(decode(CONFIG, 'null').object, { metadata: {} })
  })

  it('makes texts that read themselves canonical', () => {
    const { object } = decode(
      POD,
      '{"metadata":{"creationTimestamp":"2024-05-05T01:02:03.9+02:00"},"spec":{"containers":[{"name":"c","resources":{"limits":{"memory":"1024Mi","cpu":1.50}}}]}}',
    )
    assert.equal(object.metadata.creationTimestamp, '2024-05-04T23:02:03Z')
    assert.deepEqual(object.spec, { containers: [{ name: 'c', resources: { limits: { cpu: '1500m', memory: '1Gi' } } }] })
    assert.deepEqual(decode(kind('Secret'), '{"data":{"a":"YR==","b":"aGk\\n="}}').object.data, { a: 'YQ==', b: 'aGk=' })
  })

  it("refuses wrong types in Go's words", () => {
    const fails = (gvk: ReturnType<typeof kind>, text: string, message: string) =>
      assert.throws(
        () => decode(gvk, text),
        (error) => error instanceof DecodeError && error.message === message,
        text,
      )
    const spec = (text: string) => `{"spec":${text}}`
    fails(CONFIG, '[]', 'json: cannot unmarshal array into Go value of type v1.ConfigMap')
    fails(
      POD,
      spec('{"restartPolicy":1}'),
      'json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy',
    )
    fails(POD, spec('{"priority":1.0}'), 'json: cannot unmarshal number 1.0 into Go struct field PodSpec.spec.priority of type int32')
    fails(
      POD,
      spec('{"priority":3000000000}'),
      'json: cannot unmarshal number 3000000000 into Go struct field PodSpec.spec.priority of type int32',
    )
    // Fields of embedded structs are named together with the struct they come from.
    fails(
      POD,
      spec('{"volumes":[{"emptyDir":[]}]}'),
      'json: cannot unmarshal array into Go struct field Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource',
    )
    fails(
      POD,
      '{"metadata":{"creationTimestamp":1}}',
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string',
    )
    fails(kind('Secret'), '{"data":{"a":"aGk"}}', 'illegal base64 data at input byte 0')
    fails(kind('Secret'), '{"data":{"a":"aGk=x"}}', 'illegal base64 data at input byte 4')
    // An error in a type with its own decoder ends the decoding; other type errors wait for the end, where the first is reported.
    fails(
      POD,
      '{"metadata":{"name":1,"labels":2},"spec":3}',
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
    )
    fails(
      POD,
      '{"metadata":{"name":1,"creationTimestamp":"x"}}',
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    )
    fails(kind('Nope'), '{}', 'no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"')
  })

  it('refuses integers it could not keep', () => {
    assert.throws(
      () => decode(POD, '{"spec":{"activeDeadlineSeconds":9223372036854775807}}'),
      /activeDeadlineSeconds cannot be kept exactly/,
    )
    assert.throws(
      () => decode(kind('ControllerRevision', 'apps/v1'), '{"data":{"a":[9007199254740993]}}'),
      /data\.a\[0\] cannot be kept exactly/,
    )
    assert.deepEqual(decode(POD, '{"spec":{"activeDeadlineSeconds":9007199254740991}}').object.spec, {
      containers: null,
      activeDeadlineSeconds: 9007199254740991,
    })
  })

  it('reads the schemas of custom resources, without strict errors inside what decodes itself', () => {
    const schema = (text: string) => `{"spec":{"versions":[{"schema":{"openAPIV3Schema":${text}}}]}}`
    const { object, unknownFields } = decode(
      CRD,
      schema(
        '{"zz":1,"items":[{"type":"string"}],"additionalProperties":{"type":"object","nope":1},"default":null,"enum":[null,1],"not":{"additionalProperties":false}}',
      ),
    )
    assert.deepEqual(unknownFields, ['spec.versions[0].schema.openAPIV3Schema.zz'])
    assert.deepEqual((object.spec as { versions: { schema: Json }[] }).versions[0]?.schema, {
      openAPIV3Schema: {
        items: [{ type: 'string' }],
        additionalProperties: { type: 'object' },
        enum: [null, 1],
        not: { additionalProperties: false },
      },
    })
    assert.throws(() => decode(CRD, schema('{"additionalProperties":1}')), { message: 'boolean or JSON schema expected' })
    assert.throws(() => decode(CRD, schema('{"items":{"minItems":"x"}}')), {
      message:
        'json: cannot unmarshal string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items.minItems of type int64',
    })
  })

  it('shares nothing with its input and never writes to it', () => {
    const input = deepFreeze({
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { labels: { b: '1', a: '2' } },
      data: { x: { y: [1] } },
    })
    const { object } = decodeTyped(kind('ControllerRevision', 'apps/v1'), input)
    const data = object.data as { x: { y: number[] } }
    data.x.y.push(2)
    assert.deepEqual(input.data.x.y, [1])
    assert.deepEqual(Object.keys(object.metadata.labels ?? {}), ['a', 'b'])
  })

  it('survives any JSON', () => {
    const keys = fc.constantFrom(
      'metadata',
      'spec',
      'status',
      'labels',
      'containers',
      'name',
      'env',
      '__proto__',
      'constructor',
      'data',
      'items',
      'time',
    )
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom(null, true, 0, 1.5, '', 'x', '1Gi', '2024-01-01T00:00:00Z'),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(keys, tie('tree'), { maxKeys: 4 }),
      ),
    }))
    for (const gvk of [POD, CONFIG, CRD, kind('Deployment', 'apps/v1'), kind('Status')]) {
      fc.assert(
        fc.property(tree, (value) => {
          try {
            const { object } = decodeTyped(gvk, value as Json)
            assert.deepEqual(decodeTyped(gvk, object as unknown as Json).object, object)
          } catch (error) {
            assert.ok(error instanceof DecodeError, String(error))
          }
        }),
      )
    }
    assert.equal(({} as Record<string, unknown>).name, undefined)
  })
})
