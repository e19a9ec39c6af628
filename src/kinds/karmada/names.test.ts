import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { checkDns1123Subdomain, checkQualifiedName } from '../../kube/names.ts'
import { bindingName, bindingReferenceKey, clusterOfExecutionNamespace, executionNamespace, fnv32a, safeEncode, workName } from './names.ts'

describe('generated names', () => {
  it('hashes with FNV-1a of 32 bits, over bytes and not characters', () => {
    assert.equal(fnv32a(''), 0x811c9dc5)
    assert.equal(fnv32a('a'), 0xe40c292c)
    assert.equal(fnv32a('foobar'), 0xbf9cf968)
    assert.notEqual(fnv32a('é'), fnv32a('\u00e9'.normalize('NFD')))
  })

  it('encodes digits with the letters that make no words', () => {
    assert.equal(safeEncode('0123456789'), '456789bcdf')
    assert.equal(safeEncode(''), '')
  })

  for (const [kind, name, namespace, expected] of [
    ['Deployment', 'nginx', 'default', 'nginx-687f7fb96f'],
    ['Pod', 'pod', 'default', 'pod-6f9995dd4b'],
    ['ClusterRole', 'system:foo', '', 'system.foo-5f7d88f69'],
    ['Namespace', 'foo', '', 'foo-5dbdc7b59c'],
  ] as const)
    it(`names the Work of ${kind} ${namespace}/${name} ${expected}`, () => assert.equal(workName(kind, name, namespace), expected))

  it('names a binding by name and kind, in lower case and without colons', () => {
    assert.equal(bindingName('Deployment', 'nginx'), 'nginx-deployment')
    assert.equal(bindingName('ClusterRole', 'system:Foo'), 'system.foo-clusterrole')
  })

  it('gives a binding a key for labels', () => {
    assert.equal(bindingReferenceKey('default', 'nginx-deployment'), '5bdc5c4dcf')
    assert.notEqual(bindingReferenceKey('', 'nginx-deployment'), bindingReferenceKey('default', 'nginx-deployment'))
  })

  it('knows the cluster of an execution namespace, and no cluster for any other', () => {
    assert.equal(executionNamespace('member1'), 'karmada-es-member1')
    assert.equal(clusterOfExecutionNamespace('karmada-es-member1'), 'member1')
    assert.equal(clusterOfExecutionNamespace('karmada-es-'), undefined)
    assert.equal(clusterOfExecutionNamespace('default'), undefined)
  })

  const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$/)
  const kind = fc.stringMatching(/^[A-Z][A-Za-z]{0,20}$/)

  it('makes names that the API accepts, the same each time', () => {
    fc.assert(
      fc.property(kind, name, fc.option(name, { nil: undefined }), (kind, name, namespace) => {
        assert.deepEqual(checkDns1123Subdomain(workName(kind, name, namespace)), [])
        assert.deepEqual(checkDns1123Subdomain(bindingName(kind, name)), [])
        assert.deepEqual(checkQualifiedName(`example.com/depended-by-${bindingReferenceKey(namespace, name)}`), [])
        assert.equal(workName(kind, name, namespace), workName(kind.toUpperCase(), name.replaceAll('.', ':'), namespace))
        assert.equal(clusterOfExecutionNamespace(executionNamespace(name)), name)
      }),
    )
  })
})
