import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createSharedDirectories } from './shared-directories.ts'

it('a directory is not taken away from a pod that has just been given it, and goes with the last one', async () => {
  const shared = createSharedDirectories()
  const done: string[] = []
  const note = (what: string) => async (): Promise<void> => {
    await Promise.resolve()
    done.push(what)
  }
  const remove = (path: string): Promise<void> => note(`removed ${path}`)()
  await shared.use('old', '/node/a/b', note('made'))
  await Promise.all([shared.use('new', '/node/a/b/c', note('made again')), shared.leave('old', ['/node/a/b', '/node/ab'], remove)])
  assert.deepEqual(done, ['made', 'made again', 'removed /node/ab'])
  await Promise.all([shared.leave('new', ['/node/a/b/c', '/node/a/b'], remove), shared.use('next', '/node/a/b', note('made anew'))])
  assert.deepEqual(done.slice(3), ['removed /node/a/b/c', 'removed /node/a/b', 'made anew'])
})

it('what fails for one pod is no failure for the next', async () => {
  const shared = createSharedDirectories()
  const failing = shared.use('one', '/a', () => Promise.reject(new Error('no')))
  const next = shared.use('two', '/a', async () => 'fine')
  await assert.rejects(failing, /no/)
  assert.equal(await next, 'fine')
})
