import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type GoldenStep, goldenSteps } from '../../../test/conformance/recorded.ts'
import { parseJsonText } from '../../kube/json-text.ts'
import { parseYamlText } from '../../kube/yaml-text.ts'
import { DecodeError, decodeTyped } from './decode-json.ts'
import { declaredType, type FieldValidationMode, strictOutcome } from './field-validation.ts'
import { builtinKinds } from './registry.ts'

const kinds = builtinKinds({ rulesFor: () => ({}), printerFor: () => undefined })

/** The kind a collection or object path of a recorded step serves, if it is built in and no subresource. */
function servedKind(path: string): { group: string; version: string; kind: string } | undefined {
  const match = /^\/(?:api|apis\/([^/]+))\/(v\d\w*)\/(?:namespaces\/[^/]+\/)?([a-z]+)(?:\/[^/?]+)?(?:\?.*)?$/.exec(path)
  const [, group = '', version = '', plural] = match ?? []
  const definition = kinds.find((k) => k.group === group && k.plural === plural && k.versions.some((v) => v.name === version))
  return definition === undefined ? undefined : { group, version, kind: definition.kind }
}

interface Outcome {
  error?: string
  warnings: string[]
}

/** Decoding of one recorded request, worded as the answer would be. */
function decode(step: GoldenStep, gvk: { group: string; version: string; kind: string }): Outcome {
  const mode = (/[?&]fieldValidation=(\w+)/.exec(step.path)?.[1] ?? 'Warn') as FieldValidationMode
  const text = step.rawBody ?? JSON.stringify(step.body)
  const isYaml = step.headers?.['Content-Type'] === 'application/yaml'
  const cannot = (why: string) => `${gvk.kind} in version "${gvk.version}" cannot be handled as a ${gvk.kind}: ${why}`
  try {
    const parsed = isYaml ? parseYamlText(text) : { ...parseJsonText(text), strictErrors: [] }
    const typed = decodeTyped(gvk, parsed.value, parsed.details)
    const outcome = strictOutcome(mode, [...parsed.strictErrors, ...typed.strictErrors])
    return outcome.error === undefined ? outcome : { error: cannot(outcome.error), warnings: [] }
  } catch (error) {
    assert.ok(error instanceof Error)
    return { error: cannot(error.message), warnings: [] }
  }
}

const CREATED = /^(POST|PUT)$/

describe('decoding of recorded requests', () => {
  const steps = goldenSteps().filter((s) => CREATED.test(s.method ?? '') && (s.body !== undefined || s.rawBody !== undefined))

  it('warns and refuses as recorded', () => {
    const seen = { accepted: 0, refused: 0, warned: 0 }
    for (const step of steps) {
      const gvk = servedKind(step.path)
      if (gvk === undefined || (step.headers?.['Content-Type'] ?? 'application/json').startsWith('text/')) continue
      const message = String(step.responseBody?.message ?? '')
      if (/converting \(|no kind |unrecognized|Unsupported value|API version in the data|unknown format/.test(message)) continue
      const { error, warnings } = decode(step, gvk)
      if (message.includes('cannot be handled as')) {
        assert.equal(error, message, step.name)
        seen.refused++
      } else {
        assert.equal(error, undefined, step.name)
        const recorded = (step.responseHeaders?.warning ?? []).filter((w) => / field \\"/.test(w))
        assert.deepEqual(
          warnings.map((w) => `299 - ${JSON.stringify(w)}`),
          recorded,
          step.name,
        )
        if (recorded.length > 0) seen.warned++
        seen.accepted++
      }
    }
    assert.ok(seen.accepted > 600 && seen.refused >= 17 && seen.warned >= 5, JSON.stringify(seen))
  })
})

describe('field validation', () => {
  it('takes the report of the YAML decoder apart for warnings, and quotes it whole otherwise', () => {
    const { strictErrors } = parseYamlText('a: 1\na: 2\nb: 1\nb: 2')
    assert.deepEqual(strictOutcome('Warn', [...strictErrors, 'unknown field "a"']).warnings, [
      'line 2: key "a" already set in map',
      'line 4: key "b" already set in map',
      'unknown field "a"',
    ])
    assert.match(strictOutcome('Strict', strictErrors).error ?? '', /^strict decoding error: yaml: unmarshal errors:\n {2}line 2/)
    assert.deepEqual(strictOutcome('Ignore', strictErrors), { warnings: [] })
  })
})

describe('the type a body declares', () => {
  it('is read before anything else', () => {
    assert.deepEqual(declaredType({ apiVersion: 'apps/v1', kind: 'Deployment' }), { group: 'apps', version: 'v1', kind: 'Deployment' })
    assert.deepEqual(declaredType(null), { group: '', version: '', kind: '' })
    assert.deepEqual(declaredType(JSON.parse('{"__proto__":{"kind":"Pod"}}')), { group: '', version: '', kind: '' })
  })

  it("is refused in Go's words", () => {
    const fails = (text: string, message: string) =>
      assert.throws(
        () => declaredType(JSON.parse(text)),
        (error) => error instanceof DecodeError && error.message === message,
      )
    fails(
      '{"kind":1}',
      "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
    )
    fails(
      '[]',
      `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    )
    fails('{"apiVersion":"a/b/c"}', 'unexpected GroupVersion string: a/b/c')
  })
})
