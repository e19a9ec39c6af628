import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ResourceBinding } from '../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { aDeployment } from '../../detector/testing.ts'
import { dependenciesOf, dependenciesText } from '../references.ts'
import { type Observed, plan } from './controller.ts'

const ANNOTATION = 'resourcebinding.karmada.io/dependencies'
const UNKNOWN = 'sluice.dev/dependencies-unknown'
const FINALIZER = 'karmada.io/binding-dependencies-distributor'
const OTHER = 'karmada.io/binding-controller'
const REFERENCES = [{ apiVersion: 'v1', kind: 'Secret', namespace: 'default', name: 'key' }]
const TEXT = dependenciesText(REFERENCES)

const binding = (metadata: KubeObject['metadata'], propagateDeps = true): ResourceBinding =>
  ({
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { name: 'web-deployment', namespace: 'default', finalizers: [OTHER], ...metadata },
    spec: { propagateDeps, resource: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
  }) as ResourceBinding

const seen = (of: ResourceBinding | undefined, more: Partial<Observed> = {}): Observed => ({
  binding: of,
  template: aDeployment('default/web'),
  answer: { references: REFERENCES },
  isMentioned: false,
  ...more,
})

describe('the plan for the list of dependencies', () => {
  const listed = { annotations: { [ANNOTATION]: TEXT }, finalizers: [OTHER, FINALIZER] }
  const going = { ...listed, deletionTimestamp: 'now' }
  const table: [string, Observed, unknown][] = [
    ['there is no binding', seen(undefined), []],
    [
      'it is listed, in one write with the finalizer',
      seen(binding({})),
      [{ annotations: { [ANNOTATION]: TEXT }, finalizers: [OTHER, FINALIZER] }],
    ],
    ['it is as it should be', seen(binding(listed)), []],
    ['the list changes', seen(binding({ ...listed, annotations: { [ANNOTATION]: '[]' } })), [{ annotations: { [ANNOTATION]: TEXT } }]],
    ['nothing is known of the template', seen(binding({}), { template: undefined, answer: undefined }), []],
    ['the rule fails', seen(binding(listed), { answer: { failed: 'no' } }), [{ annotations: { [UNKNOWN]: 'no' } }]],
    ['the rule still fails', seen(binding({ ...listed, annotations: { [UNKNOWN]: 'no' } }), { answer: { failed: 'no' } }), []],
    [
      'the rule works again',
      seen(binding({ ...listed, annotations: { [ANNOTATION]: TEXT, [UNKNOWN]: 'no' } })),
      [{ annotations: { [UNKNOWN]: null } }],
    ],
    [
      'nothing is to follow any more, but somebody still does',
      seen(binding(listed, false), { isMentioned: true }),
      [{ annotations: { [ANNOTATION]: null, [UNKNOWN]: null } }],
    ],
    ['nobody follows any more', seen(binding({ finalizers: [OTHER, FINALIZER] }, false)), [{ finalizers: [OTHER] }]],
    ['it goes, and somebody still follows', seen(binding(going), { isMentioned: true }), []],
    ['it goes, and nobody follows', seen(binding(going)), [{ finalizers: [OTHER] }]],
    ['it goes without us', seen(binding({ deletionTimestamp: 'now' })), []],
  ]
  for (const [name, observed, expected] of table)
    it(name, () =>
      assert.deepEqual(
        plan(observed).actions.map((action) => 'patch' in action && action.patch.metadata),
        expected,
      ),
    )
})

describe('the annotation', () => {
  const read = (text: string | undefined) =>
    dependenciesOf({ ...aDeployment('default/web'), metadata: text === undefined ? {} : { annotations: { [ANNOTATION]: text } } })
  const selector = { matchLabels: { a: 'b' } }
  const table: [string, string | undefined, unknown][] = [
    ['is not there', undefined, []],
    ['was written by us', TEXT, REFERENCES],
    [
      'means by labels',
      '[{"apiVersion":"v1","kind":"Secret","labelSelector":{"matchLabels":{"a":"b"}}}]',
      [{ apiVersion: 'v1', kind: 'Secret', labelSelector: selector }],
    ],
    ['is no JSON', '[{', []],
    ['is no list', '{"apiVersion":"v1"}', []],
    ['has entries that mean nothing', '[1,null,{"kind":"Secret"},{"apiVersion":"v1","kind":"Secret"}]', []],
  ]
  for (const [name, text, expected] of table) it(name, () => assert.deepEqual(read(text), expected))
})
