import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { machineProcesses } from './lock.ts'

describe('the processes of this machine', { skip: existsSync('/proc/self/stat') ? false : 'there is no /proc here' }, () => {
  it('are gone when they are dead, even while their parent has not buried them', async () => {
    // The shell leaves a child to a program that never waits for it. The child ends when its input does, and that is only
    // after the shell has become that program: a shell would have reaped it.
    const script = 'exec 3<&0; (read _ <&3) & echo $!; exec sleep 60'
    const parent = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] })
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
    }
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer]
      const pid = Number(line.toString())
      await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8').trim() === 'sleep')
      parent.stdin.end()
      await until(() => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] === 'Z')
      assert.equal(machineProcesses().find(pid), undefined)
      assert.notEqual(machineProcesses().find(parent.pid ?? 0), undefined)
    } finally {
      parent.kill('SIGKILL')
    }
  })
})
