import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PodTemplateSpec } from '../../../kinds/kubernetes/types.ts'
import { HASH_LABEL, replicaSetName, templateHash, templateText } from './template.ts'

const base: PodTemplateSpec = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'one', resources: { limits: { cpu: '1' } } }], volumes: [{ name: 'v', emptyDir: {} }] },
}
const same = (a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean => templateText(a) === templateText(b)

describe('templates', () => {
  it('are the same without regard to order, to what means nothing, and to the hash', () => {
    const other = {
      spec: {
        volumes: [{ emptyDir: {}, name: 'v' }],
        nodeSelector: {},
        initContainers: [],
        containers: [{ resources: { requests: {}, limits: { cpu: '1' } }, env: [], image: 'one', name: 'main' }],
      },
      metadata: { creationTimestamp: null, annotations: {}, labels: { [HASH_LABEL]: 'abc', app: 'web' } },
    }
    assert.equal(same(base, other), true)
    assert.equal(same(undefined, { metadata: { labels: { [HASH_LABEL]: 'abc' } } }), true)
  })

  it('differ in everything that means something', () => {
    const changed: PodTemplateSpec[] = [
      { ...base, metadata: { labels: { app: 'web', tier: 'x' } } },
      { ...base, metadata: { ...base.metadata, annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } },
      { ...base, spec: { ...base.spec, terminationGracePeriodSeconds: 0 } },
      { ...base, spec: { ...base.spec, volumes: [{ name: 'v' }] } },
      { ...base, spec: { ...base.spec, containers: [{ name: 'main', image: 'one', stdin: false, command: [''] }] } },
      { ...base, spec: { ...base.spec, containers: [...(base.spec?.containers ?? [])].concat({ name: 'side' }) } },
    ]
    for (const template of changed) assert.equal(same(base, template), false, JSON.stringify(template))
  })

  it('have a hash that is known, moves with the collisions, and is a label and a name', () => {
    const text = templateText(base)
    // Pinned: if the hash changed between versions, a rollout would start where the ReplicaSet with the template is gone already.
    assert.equal(templateHash('', undefined), '65bb57b6b5')
    assert.equal(templateHash(text, undefined), templateHash(text, undefined))
    const hashes = [undefined, 0, 1, 2, 70_000].map((count) => templateHash(text, count))
    assert.equal(new Set(hashes).size, hashes.length)
    for (const hash of hashes) assert.match(hash, /^[bcdf-hj-np-tv-xz2456789]{1,10}$/)
  })

  it('name a ReplicaSet within the limit of names', () => {
    assert.equal(replicaSetName('web', 'abc'), 'web-abc')
    assert.equal(replicaSetName('x'.repeat(253), 'abcdefghij').length, 253)
  })
})
