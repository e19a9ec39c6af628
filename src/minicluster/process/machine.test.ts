import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { ProcessMachine } from './machine.ts'
import { aGround, aRun, execIn, type Ground, isOver, isRunning, logOf, until } from './testing.ts'

describe('a machine of real processes', () => {
  let ground: Ground
  let machine: ProcessMachine
  before(() => {
    ground = aGround()
    machine = ground.open()
  })
  after(() => {
    machine.close()
    ground.clear()
  })
  let count = 0
  const pod = (): string => `pod-${++count}`

  it('runs a program, keeps its log, and says how it ended', async () => {
    const run = aRun(['sh', '-c', 'echo out; echo err >&2; printf "no end"; echo "$A"; exit 3'], { podUid: pod(), env: { A: 'b c' } })
    await machine.start(run)
    await machine.start(run)
    const state = await until(machine, run, isOver)
    assert.equal(state.phase === 'exited' && state.exitCode, 3)
    assert.equal(await logOf(machine, run, { stream: 'Stdout' }), 'out\nno endb c\n')
    assert.equal(await logOf(machine, run, { stream: 'Stderr' }), 'err\n')
    assert.match(await logOf(machine, run, { timestamps: true }), /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{9}Z out$/m)
  })

  it('sees the mounts, its name and only its own processes', async () => {
    const podUid = pod()
    const volume = await machine.directory(podUid, 'volumes', 'v')
    writeFileSync(path.join(volume, 'file'), 'from the volume')
    const script =
      'cat /data/deep/file /etc/some-config/file; echo; hostname; echo $$; echo x >/data/deep/new; (echo y >/etc/some-config/new) 2>&1; cd /var/run/secrets/k/sa && cat file; ls /proc/self/fd >/dev/null && echo hello >/dev/stdout'
    const run = aRun(['sh', '-c', script], {
      podUid,
      mounts: [
        { source: volume, path: '/data/deep', readOnly: false },
        { source: volume, path: '/etc/some-config', readOnly: true },
        { source: volume, path: '/var/run/secrets/k/sa', readOnly: true },
      ],
    })
    await machine.start(run)
    const state = await until(machine, run, isOver)
    assert.equal(
      await logOf(machine, run),
      'from the volumefrom the volume\nmy-pod\n1\nsh: 1: cannot create /etc/some-config/new: Read-only file system\nfrom the volumehello\n',
    )
    assert.equal(state.phase, 'exited')
    assert.equal(readFileSync(path.join(volume, 'new'), 'utf8'), 'x\n')
    assert.equal(existsSync('/data/deep'), false)
    assert.equal(existsSync('/etc/some-config'), false)
  })

  it('lets commands join', async () => {
    const podUid = pod()
    const volume = await machine.directory(podUid, 'volumes', 'v')
    mkdirSync(path.join(volume, 'd'))
    const run = aRun(['sleep', '60'], {
      podUid,
      env: { B: 'value' },
      mounts: [{ source: volume, path: '/data', readOnly: false }],
      workingDir: '/data/d',
    })
    await machine.start(run)
    await until(machine, run, isRunning)
    assert.deepEqual(
      await execIn(
        machine,
        run,
        ['sh', '-c', 'pwd; hostname; echo $B; cat; cat /proc/1/cmdline | tr "\\0" " "; echo e >&2; exit 7'],
        'input\n',
      ),
      {
        code: 7,
        stdout: '/data/d\nmy-pod\nvalue\ninput\nsleep 60 ',
        stderr: 'e\n',
      },
    )
    await machine.signal(run, 'SIGKILL')
    const state = await until(machine, run, isOver)
    assert.deepEqual(state.phase === 'exited' && [state.exitCode, state.signal], [137, 9])
  })

  it('says what could not be started', async () => {
    const run = aRun(['no-such-program'], { podUid: pod() })
    await machine.start(run)
    assert.deepEqual(await until(machine, run, isOver), {
      phase: 'failed',
      reason: 'StartError',
      message: 'exec: "no-such-program": executable file not found in $PATH',
    })
  })
})
