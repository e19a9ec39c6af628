import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { machineProcesses } from './lock.ts'

describe('the processes of this machine', { skip: existsSync('/proc/self/stat') ? false : 'there is no /proc here' }, () => {
  it('are gone when they are dead, even while their parent has not buried them', async () => {
    // The shell leaves a child to a program that never waits for it.
    const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer]
      const pid = Number(line.toString())
      const stateOf = (): string => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] ?? ''
      while (stateOf() !== 'Z') await new Promise((resolve) => setImmediate(resolve))
      assert.equal(machineProcesses().find(pid), undefined)
      assert.notEqual(machineProcesses().find(parent.pid ?? 0), undefined)
    } finally {
      parent.kill('SIGKILL')
    }
  })
})
