import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { containerCommand, type EntryPoint, entryPointOf, inContainer, repositoryOf } from './entry-point.ts'

const OURS: EntryPoint = { name: 'sluice', program: ['node', 'sluice.mjs'], subcommands: { cache: ['node', 'cache.mjs'] } }
const POINTS = new Map([['sluice.dev/sluice', OURS]])

describe('an image with an entry point here', () => {
  const images: [string, boolean][] = [
    ['sluice.dev/sluice', true],
    ['sluice.dev/sluice:0.1.0', true],
    ['sluice.dev/sluice@sha256:abc', true],
    ['sluice.dev/sluice:0.1.0@sha256:abc', true],
    ['sluice.dev:5000/sluice:1', false],
    ['sluice.dev/sluice/more', false],
    ['example.com/sluice.dev/sluice', false],
    ['sluice', false],
    ['', false],
  ]
  for (const [image, isOurs] of images)
    it(`${JSON.stringify(image)}: ${isOurs ? 'yes' : 'no'}`, () => assert.equal(entryPointOf(image, POINTS), isOurs ? OURS : undefined))

  it('is named by its repository; the port of a registry is no tag', () => {
    assert.equal(repositoryOf('localhost:5000/a/b'), 'localhost:5000/a/b')
    assert.equal(repositoryOf('localhost:5000/a/b:v1'), 'localhost:5000/a/b')
    assert.equal(entryPointOf('constructor', POINTS), undefined)
    assert.equal(entryPointOf('sluice.dev/sluice', undefined), undefined)
  })

  const commands: [what: string, command: string[], args: string[], runs: string[]][] = [
    ['nothing', [], [], ['node', 'sluice.mjs']],
    ['arguments alone', [], ['up', '--bare'], ['node', 'sluice.mjs', 'up', '--bare']],
    ['a subcommand in the arguments', [], ['cache', 'worker'], ['node', 'cache.mjs', 'worker']],
    ['a subcommand in the command', ['sluice', 'cache', 'worker'], ['-v'], ['node', 'cache.mjs', 'worker', '-v']],
    ['its name alone', ['sluice'], ['cache'], ['node', 'cache.mjs']],
    ['something of every object', ['sluice', 'constructor'], [], ['node', 'sluice.mjs', 'constructor']],
    ['a program of this machine', ['sh', '-c', 'sluice cache'], [], ['sh', '-c', 'sluice cache']],
  ]
  for (const [what, command, args, runs] of commands)
    it(`runs for ${what}: ${runs.join(' ')}`, () => assert.deepEqual(containerCommand(OURS, command, args), runs))

  it('is known to commands that are run in it later, and to no other container', () => {
    assert.deepEqual(inContainer(OURS, ['sluice', 'cache', 'report']), ['node', 'cache.mjs', 'report'])
    assert.deepEqual(inContainer(OURS, ['ls', '-l']), ['ls', '-l'])
    assert.deepEqual(inContainer(undefined, ['sluice', 'cache']), ['sluice', 'cache'])
  })
})
