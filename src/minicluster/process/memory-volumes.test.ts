import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { RunState } from '../kubelet/container-machine.ts'
import { aRun, aTestbed, type CommandOutcome, commandLines, type Owner, type Testbed } from './testing.ts'

const NOBODY = 65_534
const MEBIBYTE = 1024 * 1024
const isRoot = process.getuid?.() === 0

describe('volumes in memory', () => {
  let testbed: Testbed
  before(() => {
    testbed = aTestbed()
  })
  const owners = new Set<Owner>()
  const anOwner = (uid: number | undefined): Owner => {
    const owner = testbed.owner(uid)
    owners.add(owner)
    return owner
  }
  const end = async (owner: Owner): Promise<void> => {
    owners.delete(owner)
    await owner.kill()
  }
  after(async () => {
    for (const owner of owners) await end(owner)
    testbed.clear()
  })
  const holders = (): string[] => commandLines().filter((line) => line.includes('sluice-memory') && line.includes(testbed.directory))
  const own = (): string[] =>
    readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(path.basename(testbed.directory)))

  for (const [who, uid] of [
    ['as we are', undefined],
    ['as somebody without rights', NOBODY],
  ] as const) {
    const skip = uid !== undefined && !isRoot ? 'only root can become somebody else' : false
    it(`are one tmpfs for all containers of a pod, with a limit, and leave nothing: ${who}`, { skip }, async (t) => {
      let owner = anOwner(uid)
      if ((await owner.call('refusal')) !== '') return t.skip('no namespaces here')
      const [podUid, other] = ['memory', 'other']
      const volume = await owner.call<{ path: string; refusal?: string }>('memory', podUid, 'v', MEBIBYTE)
      assert.equal(volume.refusal, undefined)
      await Promise.all([owner.call('memory', podUid, 'v', MEBIBYTE), owner.call('memory', podUid, 'w', MEBIBYTE)])
      // One that starts another program shows as two until that has begun.
      await left(1, holders)
      const sub = await owner.call<string>('inside', volume.path, 'a/b')
      assert.equal(sub, path.join(volume.path, 'a/b'))
      await assert.rejects(owner.call('inside', volume.path, 'a/../../x'), /no path inside/)
      const mounts = [
        { source: volume.path, path: '/cache', readOnly: false },
        { source: sub, path: '/sub', readOnly: false },
        { source: volume.path, path: '/fixed', readOnly: true },
      ]
      const run = async (container: string, script: string): Promise<[RunState, string]> => {
        const spec = aRun(['sh', '-c', script], { podUid, container, mounts })
        await owner.call('start', spec)
        return [await owner.call<RunState>('over', spec), await owner.call<string>('log', spec)]
      }
      const [first, log] = await run(
        'first',
        'echo one >/cache/x; echo two >/sub/y; head -c 2097152 /dev/zero >/cache/big || rm /cache/big; echo no >/fixed/z || stat -f -c %T /cache; id -u',
      )
      assert.equal(first.phase === 'exited' && first.exitCode, 0, log)
      // What it prints and what it complains of come on two ways, so their order says nothing.
      assert.match(log, /No space left/)
      assert.match(log, /^tmpfs$/m)
      assert.match(log, new RegExp(`^${uid ?? process.getuid?.()}$`, 'm'))
      const sleeper = aRun(['sleep', '60'], { podUid, container: 'sleeper', mounts })
      await owner.call('start', sleeper)
      await owner.call('running', sleeper)
      // Nothing of it is on disk or among this machine's mounts.
      assert.deepEqual([readdirSync(volume.path), own()], [[], []])
      await owner.call('memory', other, 'v')
      await end(owner)
      owner = anOwner(uid)
      assert.match((await run('second', 'cat /cache/x /cache/a/b/y'))[1], /^one\ntwo\n$/)
      const seen = await owner.call<CommandOutcome>('exec', sleeper, ['cat', '/sub/y'])
      assert.deepEqual([seen.code, seen.stdout], [0, 'two\n'])
      await owner.call('releaseMemory', podUid)
      assert.equal(holders().length, 2, 'what a program uses is not taken away')
      await owner.call('releaseIdle')
      await left(1, holders)
      await owner.call('signal', sleeper, 'SIGKILL')
      await owner.call('over', sleeper)
      await owner.call('releaseIdle')
      await left(0, holders)
      // A container that runs again after that gets the volume again, empty.
      await owner.call('inside', volume.path, 'a/b')
      assert.equal((await run('third', 'ls /cache; stat -f -c %T /cache'))[1], 'a\ntmpfs\n')
      for (const uid of [podUid, other]) await owner.call('remove', uid)
      await left(0, holders)
      assert.equal(existsSync(volume.path), false)
      await end(owner)
    })
  }
})

/** A killed process takes a moment to go. */
async function left(count: number, list: () => string[]): Promise<void> {
  for (let tries = 0; list().length > count; tries++) {
    assert.ok(tries < 500, list().join('\n'))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  assert.equal(list().length, count)
}
