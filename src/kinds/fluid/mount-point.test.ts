import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { optionsOfMount } from './mount-options.ts'
import { isNative, type MountPoint, parseMountPoint, pathOfMount } from './mount-point.ts'
import { cleanPath, isBelow, pathProblem } from './paths.ts'

const READ: [string, MountPoint][] = [
  ['local:///data/images/', { kind: 'local', path: '/data/images' }],
  ['local:////data//./x', { kind: 'local', path: '/data/x' }],
  ['pvc://claim', { kind: 'pvc', claim: 'claim', subPath: '' }],
  ['pvc://claim.v1/a//b/', { kind: 'pvc', claim: 'claim.v1', subPath: 'a/b' }],
  ['dataset://data/images', { kind: 'dataset', namespace: 'data', name: 'images', subPath: '' }],
  ['dataset://data/images/train/1', { kind: 'dataset', namespace: 'data', name: 'images', subPath: 'train/1' }],
  ['s3://lake/a/../b//', { kind: 's3', bucket: 'lake', prefix: 'a/../b//' }],
  ['S3://lake', { kind: 's3', bucket: 'lake', prefix: '' }],
  ['s3n://lake/x', { kind: 's3', bucket: 'lake', prefix: 'x' }],
  ['https://example.com/a?b', { kind: 'web', url: 'https://example.com/a?b' }],
  ['http://[::1]:80/', { kind: 'web', url: 'http://[::1]:80/' }],
  ['hdfs://namenode:8020/x', { kind: 'other', scheme: 'hdfs' }],
  ['juicefs:///', { kind: 'other', scheme: 'juicefs' }],
  ['10.0.0.1:/exported/path', { kind: 'other', scheme: '' }],
]

const WRONG: [string, string][] = [
  ['', '"" begins or ends with white space: remove it'],
  [' s3://lake', '" s3://lake" begins or ends with white space: remove it'],
  ['s3://la\nke', '"s3://la\\nke" contains a control character: remove it'],
  ['local://data', '"local://data" is not absolute: write local:/// and the path, for example local:///data/images'],
  ['local:///data/../etc', '"/data/../etc" contains "..": write the path without it'],
  ['pvc://', '"pvc://" names no claim: write pvc:// and the name of a claim of this namespace, for example pvc://images/train'],
  ['pvc:///x', '"pvc:///x" names no claim: write pvc:// and the name of a claim of this namespace, for example pvc://images/train'],
  ['pvc://a/../b', '"../b" contains "..": write the path without it'],
  [
    'dataset://images',
    '"dataset://images" names no dataset: write dataset://, its namespace and its name, for example dataset://data/images',
  ],
  ['dataset://a//b', '"dataset://a//b" names no dataset: write dataset://, its namespace and its name, for example dataset://data/images'],
  ['s3:///x', '"s3:///x" names no bucket: write s3://, the bucket and a prefix, for example s3://lake/images'],
  ['https://', '"https://" is no address: write for example https://example.com/images'],
  [`s3://${'x'.repeat(5000)}`, `"s3://${'x'.repeat(75)}"… has more than 4096 characters: shorten it`],
]

describe('a mount point', () => {
  for (const [text, value] of READ) it(`${text} is read`, () => assert.deepEqual(parseMountPoint(text), { value }))
  for (const [text, error] of WRONG)
    it(`${JSON.stringify(text.slice(0, 40))} is not`, () => assert.deepEqual(parseMountPoint(text), { error }))

  it('is never a way out of its directory', () => {
    const piece = fc.oneof(fc.constantFrom('..', '.', '', 'a', '...', '%2e%2e', '..a', '\u0000', '\\'), fc.string({ maxLength: 3 }))
    const paths = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('/'))
    fc.assert(
      fc.property(fc.constantFrom('local:///', 'pvc://c/', 'dataset://n/d/', 's3://b/', 'nfs://', ''), paths, (start, path) => {
        const { value, error } = parseMountPoint(`${start}${path}`)
        assert.equal(value === undefined, error !== undefined)
        if (value?.kind === 'local') assert.ok(value.path.startsWith('/') && !value.path.split('/').includes('..'))
        if (value?.kind === 'pvc' || value?.kind === 'dataset')
          assert.ok(!value.subPath.startsWith('/') && !value.subPath.split('/').includes('..'))
      }),
    )
  })

  it('is native if pods mount it themselves', () => {
    assert.deepEqual(
      ['local:///a', 'pvc://a', 's3://a', 'dataset://a/b', 'https://a'].map((mountPoint) => isNative({ mountPoint })),
      [true, true, false, false, false],
    )
  })
})

describe('the path of a mount', () => {
  const PATHS: [{ path?: string; name?: string }, string][] = [
    [{ name: 'images' }, '/images'],
    [{ name: '/images/' }, '/images'],
    [{ name: 'images', path: '/a/b/' }, '/a/b'],
    [{ name: 'images', path: 'relative' }, '/images'],
    [{ path: '/' }, '/'],
    [{}, '/'],
  ]
  for (const [mount, path] of PATHS) it(`of ${JSON.stringify(mount)} is ${path}`, () => assert.equal(pathOfMount(mount), path))
})

describe('a path', () => {
  it('is clean without empty and dotted segments', () => {
    assert.deepEqual(['/a//b/./c/', 'a/', '/', ''].map(cleanPath), ['/a/b/c', 'a', '/', ''])
  })
  it('lies below a directory by whole segments', () => {
    const cases: [string, string, boolean][] = [
      ['/a/b', '/a', true],
      ['/a', '/a/', true],
      ['/ab', '/a', false],
      ['/', '/a', false],
      ['/x', '/', true],
    ]
    for (const [path, directory, expected] of cases) assert.equal(isBelow(path, directory), expected, `${path} ${directory}`)
  })
  it('has a problem if it leads out or cannot be read', () => {
    assert.equal(pathProblem('/a/..b/c..'), undefined)
    assert.match(pathProblem('../a') ?? '', /contains "\.\."/)
    assert.match(pathProblem('a\u202e\u0085') ?? '', /control character/)
    assert.match(pathProblem('a'.repeat(4097)) ?? '', /more than 4096/)
  })
})

describe('the options of a mount', () => {
  const secret = (name: string) => ({ name, valueFrom: { secretKeyRef: { name: 's', key: name } } })

  it('win over those that all mounts share, however they are given', () => {
    const spec = { sharedOptions: { a: '1', b: '1', c: '1' }, sharedEncryptOptions: [secret('d'), secret('e')] }
    const mount = { mountPoint: 's3://x', options: { a: '2', d: '2' }, encryptOptions: [secret('b')] }
    assert.deepEqual(optionsOfMount(mount, spec), { options: { c: '1', a: '2', d: '2' }, encryptOptions: [secret('e'), secret('b')] })
  })
  it('are each given once', () => {
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'))
    const options = names.map((all) => Object.fromEntries(all.map((name) => [name, 'x'])))
    fc.assert(
      fc.property(options, names, options, names, (sharedOptions, shared, own, encrypted) => {
        const mount = {
          mountPoint: 's3://x',
          options: own,
          encryptOptions: encrypted.filter((name) => !Object.hasOwn(own, name)).map(secret),
        }
        const spec = { sharedOptions, sharedEncryptOptions: shared.filter((name) => !Object.hasOwn(sharedOptions, name)).map(secret) }
        const found = optionsOfMount(mount, spec)
        const all = [...Object.keys(found.options), ...found.encryptOptions.map(({ name }) => name)]
        assert.equal(new Set(all).size, all.length)
        for (const name of [...Object.keys(sharedOptions), ...Object.keys(own), ...encrypted]) assert.ok(all.includes(name))
      }),
    )
  })
})
