import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ClusterOverridePolicy, OverridePolicy } from '../index.ts'
import { admit } from './testing.ts'

const selector = { apiVersion: 'apps/v1', kind: 'Deployment' }
const rule = (overriders: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  spec: { overrideRules: [{ overriders, ...more }] },
})
const field = (more: Record<string, unknown>) => rule({ fieldOverrider: [{ fieldPath: '/data/a', ...more }] })
const patch = (more: Record<string, unknown>) => field({ json: [{ subPath: '/x', operator: 'add', value: 1, ...more }] })
const byField = (key: string) => ({ fieldSelector: { matchExpressions: [{ key, operator: 'In', values: ['x'] }] } })

describe('an override policy', () => {
  it('selects in its own namespace; one without a namespace leaves it open', async () => {
    const content = { spec: { resourceSelectors: [selector], overrideRules: [] } }
    const own = (await admit(OverridePolicy, content)).object as OverridePolicy
    assert.deepEqual(own.spec.resourceSelectors, [{ ...selector, namespace: 'work' }])
    const wide = (await admit(ClusterOverridePolicy, content)).object as ClusterOverridePolicy
    assert.deepEqual(wide.spec.resourceSelectors, [selector])
  })

  const accepted: [string, Record<string, unknown>][] = [
    ['that changes nothing', { spec: {} }],
    [
      'of the deprecated form',
      { spec: { targetCluster: { clusterNames: ['a'] }, overriders: { plaintext: [{ path: '/x', operator: 'remove' }] } } },
    ],
    ['with an empty deprecated form beside rules', { spec: { overriders: {}, overrideRules: [] } }],
    ['of images everywhere', rule({ imageOverrider: [{ component: 'Tag', operator: 'replace', value: 'v2' }] })],
    ['of one image', rule({ imageOverrider: [{ predicate: { path: '/spec/x' }, component: 'Registry', operator: 'remove' }] })],
    [
      'of labels',
      rule({
        labelsOverrider: [{ operator: 'add', value: { a: 'b' } }],
        annotationsOverrider: [{ operator: 'add', value: { a: 'any thing' } }],
      }),
    ],
    [
      'of commands',
      rule({
        commandOverrider: [{ containerName: 'c', operator: 'add', value: ['x'] }],
        argsOverrider: [{ containerName: 'c', operator: 'remove' }],
      }),
    ],
    ['of JSON in a field', patch({})],
    ['of a whole text', patch({ subPath: '' })],
    ['of YAML in a field', field({ yaml: [{ subPath: '/x', operator: 'remove' }] })],
    ['with false for a value', patch({ value: false })],
    [
      'with changes inside fields beside rules, which say nothing there',
      { spec: { overrideRules: [], overriders: { fieldOverrider: [{ fieldPath: '/x' }] } } },
    ],
    ['by region', rule({}, { targetCluster: byField('region') })],
  ]
  for (const [name, content] of accepted)
    it(`is accepted ${name}`, async () => {
      const { schema, refused } = await admit(OverridePolicy, content)
      assert.deepEqual([...schema, ...refused], [])
    })

  const refusedBy: [string, Record<string, unknown>, RegExp][] = [
    [
      'rules and clusters of the deprecated form',
      { spec: { overrideRules: [], targetCluster: {} } },
      /^spec\.targetCluster: .*: overrideRules and targetCluster can't co-exist$/,
    ],
    [
      'rules and changes of the deprecated form',
      { spec: { overrideRules: [], overriders: { plaintext: [{ path: '/x', operator: 'remove' }] } } },
      /^spec\.overriders: .*: overrideRules and overriders can't co-exist$/,
    ],
    [
      'an unknown field of clusters',
      rule({}, { targetCluster: byField('size') }),
      /^spec\.overrideRules\[0\]\.targetCluster\.fieldSelector: .*unsupported key "size"/,
    ],
    ['an unknown field in the deprecated form', { spec: { targetCluster: byField('size') } }, /^spec\.targetCluster\.fieldSelector: /],
    [
      'an image at no pointer',
      rule({ imageOverrider: [{ predicate: { path: 'spec/x' }, component: 'Tag', operator: 'add' }] }),
      /imageOverrider\[0\]\.predicate\.path: Invalid value: "spec\/x": JSON pointer must be empty or start with a "\/"$/,
    ],
    [
      'a field at no pointer',
      rule({ fieldOverrider: [{ fieldPath: 'data', json: [{ subPath: '/x', operator: 'remove' }] }] }),
      /fieldOverrider\[0\]\.fieldPath: /,
    ],
    ['a part at no pointer', patch({ subPath: 'x' }), /fieldOverrider\[0\]\.json\[0\]\.subPath: /],
    [
      'JSON and YAML',
      field({ json: [{ subPath: '/x', operator: 'remove' }], yaml: [{ subPath: '/x', operator: 'remove' }] }),
      /FieldOverrider has both YAML and JSON set\. Only one is allowed$/,
    ],
    [
      'neither JSON nor YAML',
      field({}),
      /^spec\.overrideRules\[0\]\.overriders\.fieldOverrider\[0\]: Required value: FieldOverrider must have either JSON or YAML set$/,
    ],
    ['nothing to add', patch({ value: null }), /json\[0\]\.value: .*: value is required for add or replace operation$/],
    [
      'nothing to replace with',
      field({ yaml: [{ subPath: '/x', operator: 'replace' }] }),
      /yaml\[0\]\.value: .*: value is required for add or replace operation$/,
    ],
    ['something to remove with', patch({ operator: 'remove' }), /json\[0\]\.value: .*: value is not allowed for remove operation$/],
    [
      'a label that is none',
      rule({ labelsOverrider: [{ operator: 'add', value: { 'a b': 'c' } }] }),
      /labelsOverrider\[0\]\.value: Invalid value: "a b"/,
    ],
    [
      'a value that is none',
      rule({ labelsOverrider: [{ operator: 'add', value: { a: 'b c' } }] }),
      /labelsOverrider\[0\]\.value: Invalid value: "b c"/,
    ],
    [
      'an annotation that is none',
      rule({ annotationsOverrider: [{ operator: 'add', value: { 'a b': 'c' } }] }),
      /annotationsOverrider\[0\]\.value: Invalid value: "a b"/,
    ],
    [
      'objects of another namespace',
      { spec: { resourceSelectors: [{ ...selector, namespace: 'other' }] } },
      /^spec\.resourceSelectors\[0\]\.namespace: /,
    ],
  ]
  for (const [name, content, message] of refusedBy)
    it(`is refused with ${name}`, async () => {
      const { schema, refused } = await admit(OverridePolicy, content)
      assert.deepEqual(schema, [])
      assert.equal(refused.length, 1, refused.join('\n'))
      assert.match(refused[0] ?? '', message)
    })

  it('may select in any namespace when it has none', async () => {
    const { refused } = await admit(ClusterOverridePolicy, { spec: { resourceSelectors: [{ ...selector, namespace: 'other' }] } })
    assert.deepEqual(refused, [])
  })
})
