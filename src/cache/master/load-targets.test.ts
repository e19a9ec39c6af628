import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { HttpError } from '../http/errors.ts'
import { choose, matches, targetsOf } from './load-targets.ts'
import { fakeInventory } from './testing.ts'

const inventory = fakeInventory(Buffer.alloc(32, 3))
for (const path of ['/a/1.jpg', '/a/2.png', '/a/b/3.jpg', '/c/4.jpg', '/c/[x]*?', '/top']) inventory.put(path, 10)

function chosen(...targets: [path: string, replicas?: number][]) {
  const choice = choose(targetsOf(targets.map(([path, replicas]) => ({ path, replicas }))), inventory, 1)
  const files = [...choice.files()].flatMap((file) => (file === undefined ? [] : [`${file.path} ${choice.replicasOf(file)}`]))
  return { files: files.sort(), missing: choice.missing() }
}

describe('what a load asks for', () => {
  const ALL = ['/a/1.jpg 1', '/a/2.png 1', '/a/b/3.jpg 1', '/c/4.jpg 1', '/c/[x]*? 1', '/top 1']
  const CASES: [string, [string, number?][], { files: string[]; missing?: string[] }][] = [
    ['nothing said means everything', [], { files: ALL }],
    ['the root', [['/']], { files: ALL }],
    ['a directory, with or without a slash', [['/a/']], { files: ALL.slice(0, 3) }],
    ['a file', [['/a/1.jpg', 2]], { files: ['/a/1.jpg 2'] }],
    ['what is missing, beside what is not', [['/nothing'], ['/top'], ['/a/1']], { files: ['/top 1'], missing: ['/nothing', '/a/1'] }],
    [
      'the larger number of copies',
      [
        ['/a', 2],
        ['/a/b', 3],
        ['/a', 1],
      ],
      { files: ['/a/1.jpg 2', '/a/2.png 2', '/a/b/3.jpg 3'] },
    ],
    ['one within another, once', [['/a/b'], ['/a'], ['/a']], { files: ALL.slice(0, 3) }],
    ['a wildcard within a name', [['/a/*.jpg']], { files: ['/a/1.jpg 1'] }],
    ['one character', [['/?/?.jpg']], { files: ['/a/1.jpg 1', '/c/4.jpg 1'] }],
    ['any number of directories', [['/**/*.jpg']], { files: ['/a/1.jpg 1', '/a/b/3.jpg 1', '/c/4.jpg 1'] }],
    ['a directory by a wildcard, with what is below', [['/*/b']], { files: ['/a/b/3.jpg 1'] }],
    ['a wildcard that nothing matches', [['/a/*.gif']], { files: [], missing: ['/a/*.gif'] }],
    ['a file of just that name', [['/c/[x]*?']], { files: ['/c/[x]*? 1'] }],
  ]
  for (const [what, targets, { files, missing = [] }] of CASES)
    it(`can be ${what}`, () => assert.deepEqual(chosen(...targets), { files: [...files].sort(), missing }))

  for (const bad of [
    5,
    [{}],
    [{ path: 'a' }],
    [{ path: '/a/../b' }],
    [{ path: '/a', replicas: -1 }],
    Array.from({ length: 257 }, () => ({ path: '/a' })),
  ])
    it(`is refused: ${JSON.stringify(bad).slice(0, 40)}`, () => assert.throws(() => targetsOf(bad), HttpError))

  it('may not be many patterns', () => {
    const many = Array.from({ length: 33 }, (_, i) => ({ path: `/a/*${i}` }))
    assert.throws(() => choose(targetsOf(many), inventory, 1), HttpError)
  })

  it('is matched as the same regular expression would, however hostile the pattern is', () => {
    const segment = fc.stringMatching(/^[ab*?]{1,6}$/)
    const pattern = fc.array(fc.oneof(segment, fc.constant('**')), { minLength: 1, maxLength: 5 })
    const path = fc.array(fc.stringMatching(/^[ab]{1,5}$/), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(pattern, path, (wanted, given) => {
        assert.equal(matches(wanted, given), expressionOf(wanted).test(`${given.join('/')}/`), `${wanted.join('/')} ${given.join('/')}`)
      }),
      { numRuns: 500 },
    )
    assert.equal(matches(['*a'.repeat(100)], ['a'.repeat(200).concat('b')]), false)
    assert.equal(
      matches(
        Array.from({ length: 60 }, () => '**').concat('x'),
        Array.from({ length: 60 }, () => 'y'),
      ),
      false,
    )
  })
})

const expressionOf = (segments: readonly string[]): RegExp =>
  new RegExp(
    `^${segments.map((one) => (one === '**' ? '([^/]+/)*' : `${one.replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}/`)).join('')}([^/]+/)*$`,
  )
