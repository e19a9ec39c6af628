import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { KubeconfigError } from '../credentials.ts'
import { hostOfThisMachine } from './host.ts'

describe('the host of kubeconfigs', () => {
  const host = hostOfThisMachine()
  let directory = ''
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'sluice-host-'))
  })
  after(() => rm(directory, { recursive: true, force: true }))

  it('reads files, and names those it cannot read', async () => {
    const file = path.join(directory, 'a')
    await writeFile(file, 'text')
    assert.equal(host.readFile(host.resolvePath(path.join(directory, 'config'), 'a')), 'text')
    assert.throws(
      () => host.readFile('/nowhere/b'),
      (error) => error instanceof KubeconfigError && /\/nowhere\/b cannot be read/.test(error.message),
    )
  })

  it('runs plug-ins without a shell: arguments arrive as they are', async () => {
    const script = 'process.stdout.write(JSON.stringify([process.argv.slice(1), process.env.EXTRA]))'
    const printed = await host.runPlugin(process.execPath, ['-e', script, '$(touch x)', '; echo "no"', '*'], { EXTRA: 'given' })
    assert.deepEqual(JSON.parse(printed), [['$(touch x)', '; echo "no"', '*'], 'given'])
  })

  it('says why a plug-in failed', async () => {
    const fails = host.runPlugin(process.execPath, ['-e', 'console.error("log in first"); process.exit(3)'], {})
    await assert.rejects(fails, (error) => error instanceof KubeconfigError && /log in first/.test(error.message))
    await assert.rejects(host.runPlugin('/nowhere/plug-in', [], {}), /\/nowhere\/plug-in failed/)
  })
})
