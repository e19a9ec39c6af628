import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Right } from '../../admission.ts'
import { Cluster } from '../index.ts'
import { aComing, admit } from './testing.ts'

const SPEC = {
  syncMode: 'Push',
  apiEndpoint: 'https://10.0.0.1:6443',
  secretRef: { namespace: 'karmada-cluster', name: 'a' },
  impersonatorSecretRef: { namespace: 'karmada-cluster', name: 'a-impersonator' },
}

/** What a write is refused for, of an author who may read these Secrets and nothing else. */
async function refusals(
  spec: object,
  { readable, old, metadata }: { readable: readonly string[]; old?: object; metadata?: object },
): Promise<string[]> {
  const asked: string[] = []
  const may = ({ verb, group, resource, namespace, name }: Right): boolean => {
    asked.push(`${verb} ${group}/${resource} ${namespace}/${name}`)
    return readable.includes(`${namespace}/${name}`)
  }
  const { refused } = await admit(
    Cluster,
    { spec },
    { may, metadata, old: old === undefined ? undefined : aComing(Cluster, { spec: old }) },
  )
  for (const question of asked) assert.match(question, /^get \/secrets karmada-cluster\/|^get \/secrets kube-system\//)
  return refused
}

const BOTH = ['karmada-cluster/a', 'karmada-cluster/a-impersonator']
const whose = (name: string): string => `only who may read Secret karmada-cluster/${name} may decide where its token is sent`

describe('where the tokens of Secrets are sent', () => {
  it('is for those who may read them to say', async () => {
    assert.deepEqual(await refusals(SPEC, { readable: BOTH }), [])
    assert.deepEqual(await refusals(SPEC, { readable: [] }), [
      `spec.secretRef: Forbidden: ${whose('a')}`,
      `spec.impersonatorSecretRef: Forbidden: ${whose('a-impersonator')}`,
    ])
    assert.deepEqual(await refusals(SPEC, { readable: BOTH.slice(0, 1) }), [
      `spec.impersonatorSecretRef: Forbidden: ${whose('a-impersonator')}`,
    ])
    assert.deepEqual(await refusals(SPEC, { readable: BOTH.slice(1) }), [`spec.secretRef: Forbidden: ${whose('a')}`])
  })

  it('matters for Secrets of any namespace, and not where there are none', async () => {
    const { impersonatorSecretRef: _, ...own } = SPEC
    const elsewhere = { ...own, secretRef: { namespace: 'kube-system', name: 'token' } }
    assert.match((await refusals(elsewhere, { readable: BOTH })).join(), /Secret kube-system\/token/)
    assert.deepEqual(await refusals({ syncMode: 'Pull' }, { readable: [] }), [])
    assert.deepEqual(await refusals({ syncMode: 'Push', apiEndpoint: SPEC.apiEndpoint }, { readable: [] }), [])
  })

  const changes: [string, object][] = [
    ['the address', { apiEndpoint: 'https://attacker.example' }],
    ['the proxy', { proxyURL: 'http://attacker.example' }],
    ['what the proxy is told', { proxyHeader: { 'X-To': 'attacker.example' } }],
    ['the check of its certificate', { insecureSkipTLSVerification: true }],
    ['the Secret', { secretRef: { namespace: 'karmada-cluster', name: 'b' } }],
    ['the Secret for users', { impersonatorSecretRef: { namespace: 'karmada-cluster', name: 'b' } }],
    ['who connects to whom', { syncMode: 'Pull' }],
  ]
  for (const [what, change] of changes)
    it(`is decided by ${what}, also while the cluster is being deleted`, async () => {
      const spec = { ...SPEC, ...change }
      assert.notDeepEqual(await refusals(spec, { readable: [], old: SPEC }), [])
      const metadata = { deletionTimestamp: '2025-06-01T00:00:00Z' }
      assert.notDeepEqual(await refusals(spec, { readable: [], old: SPEC, metadata }), [])
      assert.deepEqual(await refusals(spec, { readable: [...BOTH, 'karmada-cluster/b'], old: SPEC }), [])
      assert.notDeepEqual(await refusals(SPEC, { readable: [], old: spec }), [], 'and back')
    })

  it('is not decided by anything else', async () => {
    const others = {
      region: 'east',
      provider: 'p',
      zones: ['a'],
      taints: [{ key: 'a', effect: 'NoSchedule' }],
      id: 'x',
      resourceModels: [],
    }
    assert.deepEqual(await refusals({ ...SPEC, ...others }, { readable: [], old: SPEC }), [])
    const known = new Set([...Object.keys(others), 'zone', ...Object.keys(SPEC), ...changes.flatMap(([, change]) => Object.keys(change))])
    const fields = Object.keys(Cluster.definition.versions[0]?.schema?.properties?.spec?.properties ?? {})
    assert.deepEqual(
      fields.filter((field) => !known.has(field)),
      [],
      'every field of a Cluster is one or the other',
    )
  })
})
