import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Image, overrideImage, parseImage, printImage } from './image.ts'

const SHA = `sha256:${'50d858e0985ecc7f60418aaf0cc5ab587f42c2570a884095a9e8ccacd0f6545c'}`
const image = (fields: Partial<Image>): Image => ({ registry: '', repository: '', tag: '', digest: '', ...fields })

describe('the parts of an image', () => {
  const cases: [string, Image][] = [
    ['nginx', image({ repository: 'nginx' })],
    ['nginx:1.19', image({ repository: 'nginx', tag: '1.19' })],
    ['library/nginx', image({ repository: 'library/nginx' })],
    ['registry.example/karmada/agent:v1', image({ registry: 'registry.example', repository: 'karmada/agent', tag: 'v1' })],
    ['registry.example:10443/agent', image({ registry: 'registry.example:10443', repository: 'agent' })],
    ['localhost/agent', image({ registry: 'localhost', repository: 'agent' })],
    ['host:5000/a/b/c:t', image({ registry: 'host:5000', repository: 'a/b/c', tag: 't' })],
    ['[fd00::1]:5000/agent', image({ registry: '[fd00::1]:5000', repository: 'agent' })],
    [`nginx@${SHA}`, image({ repository: 'nginx', digest: SHA })],
    [`host.example/nginx@${SHA}`, image({ registry: 'host.example', repository: 'nginx', digest: SHA })],
  ]
  for (const [text, wanted] of cases) {
    it(text, () => {
      assert.deepEqual(parseImage(text), wanted)
      assert.equal(printImage(wanted), text)
    })
  }

  it('of a tag and a digest the tag stays', () => assert.deepEqual(parseImage(`nginx:1@${SHA}`), image({ repository: 'nginx', tag: '1' })))

  it('the host does not count for how long a name may be', () => {
    const path = 'a'.repeat(255)
    assert.deepEqual(parseImage(`host.example/${path}`), image({ registry: 'host.example', repository: path }))
    assert.deepEqual(parseImage(`library/${path}`), image({ repository: `library/${path}` }))
    assert.throws(() => parseImage(`a_b/${path}`), /is not the name of an image$/)
  })

  const wrongDigests = [`sha256:${'a'.repeat(63)}`, `sha256:${'A'.repeat(64)}`, `sha1:${'a'.repeat(40)}`, `sha512:${'a'.repeat(64)}`]
  for (const digest of wrongDigests)
    for (const text of [`nginx@${digest}`, `nginx:1@${digest}`])
      it(`${text.slice(0, 20)}… is none`, () => assert.throws(() => parseImage(text), /is not the name of an image$/))

  it('longer digests are digests', () => {
    const digest = `sha512:${'0a'.repeat(64)}`
    assert.deepEqual(parseImage(`nginx@${digest}`), image({ repository: 'nginx', digest }))
  })

  for (const text of ['', 'Nginx', 'a b', 'nginx:', 'nginx@sha256:12', '/nginx', 'nginx/', `${'a'.repeat(256)}`, 'x'.repeat(10_000)]) {
    it(`${JSON.stringify(text.slice(0, 20))} is none`, () => assert.throws(() => parseImage(text), /is not the name of an image$/))
  }
})

describe('an image that is overridden', () => {
  const full = 'registry.example:443/shop/web:v1'
  const cases: [string, string, Parameters<typeof overrideImage>[1], string][] = [
    ['another registry', full, { component: 'Registry', operator: 'replace', value: 'mirror.example' }, 'mirror.example/shop/web:v1'],
    [
      'a registry where there was none',
      'shop/web:v1',
      { component: 'Registry', operator: 'add', value: 'mirror.example' },
      'mirror.example/shop/web:v1',
    ],
    ['a longer registry', 'reg.example/web', { component: 'Registry', operator: 'add', value: ':5000' }, 'reg.example:5000/web'],
    ['no registry', full, { component: 'Registry', operator: 'remove' }, 'shop/web:v1'],
    ['another repository', full, { component: 'Repository', operator: 'replace', value: 'store/web' }, 'registry.example:443/store/web:v1'],
    ['a longer repository', full, { component: 'Repository', operator: 'add', value: '-debug' }, 'registry.example:443/shop/web-debug:v1'],
    ['no repository', full, { component: 'Repository', operator: 'remove' }, 'registry.example:443/:v1'],
    ['another tag', full, { component: 'Tag', operator: 'replace', value: 'v2' }, 'registry.example:443/shop/web:v2'],
    ['a longer tag', full, { component: 'Tag', operator: 'add', value: '-alpine' }, 'registry.example:443/shop/web:v1-alpine'],
    ['a tag where there was none', 'web', { component: 'Tag', operator: 'add', value: 'v2' }, 'web:v2'],
    ['no tag', full, { component: 'Tag', operator: 'remove' }, 'registry.example:443/shop/web'],
    ['a digest for a tag', 'web:v1', { component: 'Tag', operator: 'replace', value: SHA }, `web@${SHA}`],
    ['a tag for a digest', `web@${SHA}`, { component: 'Tag', operator: 'replace', value: 'v2' }, 'web:v2'],
    ['no digest', `web@${SHA}`, { component: 'Tag', operator: 'remove' }, 'web'],
    ['what is no tag changes nothing', 'web:v1', { component: 'Tag', operator: 'replace', value: 'a b' }, 'web:v1'],
    ['a digest cannot be made longer by what is none', `web@${SHA}`, { component: 'Tag', operator: 'add', value: '-x' }, `web@${SHA}`],
    [
      'another registry keeps the digest',
      `web@${SHA}`,
      { component: 'Registry', operator: 'replace', value: 'm.example' },
      `m.example/web@${SHA}`,
    ],
  ]
  for (const [name, before, change, after] of cases) it(name, () => assert.equal(overrideImage(before, change), after))

  it('is what it was after a replacement by the same part', () => {
    const name = fc.stringMatching(/^[a-z0-9]{1,5}(-[a-z0-9]{1,3})?$/)
    const registry = fc.constantFrom('', 'a.example', 'host:5000', 'localhost')
    fc.assert(
      fc.property(registry, fc.array(name, { minLength: 1, maxLength: 3 }), fc.option(name, { nil: '' }), (host, parts, tag) => {
        const given = image({ registry: host, repository: parts.join('/'), tag })
        const text = printImage(given)
        assert.deepEqual(parseImage(text), given)
        assert.equal(overrideImage(text, { component: 'Registry', operator: 'replace', value: host }), text)
        assert.equal(overrideImage(text, { component: 'Repository', operator: 'replace', value: given.repository }), text)
        if (tag !== '') assert.equal(overrideImage(text, { component: 'Tag', operator: 'replace', value: tag }), text)
      }),
    )
  })
})
