import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunState } from '../kubelet/container-machine.ts'
import { aRun, aTestbed, type CommandOutcome, commandLines, type Owner, type Testbed } from './testing.ts'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

const exitOf = (state: RunState): unknown => (state.phase === 'exited' ? [state.exitCode, state.signal] : state)
const failureOf = (state: RunState): unknown => (state.phase === 'failed' ? { ...state, atMs: undefined } : state)

for (const [who, uid] of [
  ['as we are', undefined],
  ['as somebody without rights', NOBODY],
] as const) {
  describe(`a machine of real processes, ${who}`, {
    skip: uid !== undefined && !isRoot ? 'only root can become somebody else' : false,
  }, () => {
    let testbed: Testbed
    let owner: Owner
    let count = 0
    const pod = (): string => `pod-${++count}`
    const run = async (spec: ReturnType<typeof aRun>): Promise<RunState> => {
      await owner.call('start', spec)
      return owner.call('over', spec)
    }
    before(() => {
      testbed = aTestbed()
      owner = testbed.owner(uid)
    })
    after(async () => {
      await owner.kill()
      testbed.clear()
    })

    it('may use namespaces here', async () => {
      assert.equal(await owner.call('refusal'), '')
    })

    it('runs a program once, keeps its log, and says how it ended', async () => {
      const spec = aRun(['sh', '-c', 'echo out; echo err >&2; printf "no end"; echo "$A"; exit 3'], { podUid: pod(), env: { A: 'b c' } })
      await Promise.all([owner.call('start', spec), owner.call('start', spec)])
      assert.deepEqual(exitOf(await run(spec)), [3, undefined])
      assert.equal(await owner.call('log', spec, { stream: 'Stdout' }), 'out\nno endb c\n')
      assert.equal(await owner.call('log', spec, { stream: 'Stderr' }), 'err\n')
      assert.match(await owner.call('log', spec, { timestamps: true }), /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{9}Z out$/m)
    })

    it('shows mounts where this machine has nothing, and makes nothing there', async () => {
      const podUid = pod()
      const volume: string = await owner.call('directory', podUid, 'volumes', 'v')
      await owner.call('write', volume, [{ path: 'file', text: 'from the volume\n', mode: 0o644 }])
      const rw: string = await owner.call('directory', podUid, 'volumes', 'rw')
      const script = [
        'cat /config/deep/file /etc/some-config/file /var/run/secrets/k/sa/file',
        'hostname; echo $$; pwd',
        'echo x >/data/new; echo y >/config/deep/new || echo refused',
        'echo hello >/dev/stdout; test -c /dev/null && test -r /proc/self/stat && test -d /sys/kernel && echo usual',
        'ls -d /etc/passwd; id -u',
      ].join('\n')
      const spec = aRun(['sh', '-c', script], {
        podUid,
        workingDir: '/work dir/of mine',
        mounts: [
          { source: rw, path: '/data', readOnly: false },
          { source: volume, path: '/config/deep', readOnly: true },
          { source: volume, path: '/etc/some-config', readOnly: true },
          { source: volume, path: '/var/run/secrets/k/sa', readOnly: true },
        ],
      })
      assert.deepEqual(exitOf(await run(spec)), [0, undefined])
      assert.equal(
        await owner.call('log', spec, { stream: 'Stdout' }),
        `${'from the volume\n'.repeat(3)}my-pod\n1\n/work dir/of mine\nrefused\nhello\nusual\n/etc/passwd\n${uid ?? process.getuid?.()}\n`,
      )
      assert.equal(readFileSync(path.join(rw, 'new'), 'utf8'), 'x\n')
      for (const made of ['/data/new', '/config/deep', '/etc/some-config', '/work dir']) assert.equal(existsSync(made), false, made)
    })

    it('lets commands join, with the same files, name, processes and environment', async () => {
      const podUid = pod()
      const volume: string = await owner.call('directory', podUid, 'volumes', 'v')
      const mounts = [{ source: volume, path: '/data', readOnly: false }]
      const entryPoint = { name: 'mine', program: ['false'], subcommands: { say: ['echo'] } }
      const spec = aRun(['sleep', '60'], { podUid, env: { B: 'value' }, mounts, workingDir: '/data/d', entryPoint })
      await owner.call('start', spec)
      await owner.call('running', spec)
      const script = 'pwd; hostname; echo $B; cat; tr "\\0" " " </proc/1/cmdline; id -u; echo e >&2; exit 7'
      assert.deepEqual(await owner.call<CommandOutcome>('exec', spec, ['sh', '-c', script], 'input\n'), {
        code: 7,
        stdout: `/data/d\nmy-pod\nvalue\ninput\nsleep 60 ${uid ?? process.getuid?.()}\n`,
        stderr: 'e\n',
      })
      assert.equal((await owner.call<CommandOutcome>('exec', spec, ['sh', '-c', 'kill -9 $$'])).code, 137)
      const named = await owner.call<CommandOutcome>('exec', spec, ['mine', 'say', 'hello'])
      assert.deepEqual([named.code, named.stdout], [0, 'hello\n'], 'the program of the image is known by its name')
      await owner.call('signal', spec, 'SIGKILL')
      assert.deepEqual(exitOf(await owner.call('over', spec)), [137, 9])
    })

    it('shows running programs the new text of a file of their pod', async () => {
      const podUid = pod()
      const file = (text: string, how = 'replace') => owner.call<string>('podFile', podUid, { name: 'hosts', text, how })
      await file('127.64.0.1\tnever\n')
      const source = await file('127.64.0.2\tfirst second\n', 'create')
      const script =
        'grep -c first /etc/hosts; until grep -q third /etc/hosts; do sleep 0.05; done; cat /etc/hosts; echo >>/etc/hosts || echo kept'
      const spec = aRun(['sh', '-c', script], { podUid, mounts: [{ source, path: '/etc/hosts', readOnly: true }] })
      await owner.call('start', spec)
      while ((await owner.call('log', spec, { stream: 'Stdout' })) !== '1\n') await sleep(20)
      await file('127.64.0.3\tthird\n')
      assert.deepEqual(exitOf(await owner.call('over', spec)), [0, undefined])
      assert.equal(await owner.call('log', spec, { stream: 'Stdout' }), '1\n127.64.0.3\tthird\nkept\n')
    })

    it('gives terminals to commands and to containers', async () => {
      const spec = aRun(['sh', '-c', 'tty; echo to the terminal >&2; sleep 60'], { podUid: pod(), tty: true, stdin: true })
      await owner.call('start', spec)
      await owner.call('running', spec)
      const script = 'tty; while test "$(stty size)" = "0 0"; do sleep 0.05; done; stty size; read line; echo "got $line"; exit 6'
      const outcome = await owner.call<CommandOutcome>('terminal', spec, ['sh', '-c', script], 'typed\n')
      assert.equal(outcome.code, 6)
      assert.match(outcome.stdout, /\/dev\/pts\/\d+\r\n[\s\S]*31 71\r\n[\s\S]*got typed\r\n/)
      // An interactive shell has its own process group, and exits with the requested code.
      const shell = await owner.call<CommandOutcome>('terminal', spec, ['sh', '-i'], 'sleep 0.1 & wait; echo by $((1 + 1)); exit 5\n')
      assert.match(shell.stdout, /by 2/)
      assert.doesNotMatch(shell.stdout, /job control|process group/)
      assert.equal(shell.code, 5, shell.stdout)
      assert.match(await owner.call('log', spec), /^\/dev\/pts\/\d+\r\nto the terminal\r\n$/)
      await owner.call('signal', spec, 'SIGKILL')
      assert.deepEqual((exitOf(await owner.call('over', spec)) as unknown[])[0], 137)
    })

    it('takes what `kubectl cp` sends: a tar of files of somebody else', async () => {
      const podUid = pod()
      const volume: string = await owner.call('directory', podUid, 'volumes', 'v')
      const spec = aRun(['sleep', '60'], { podUid, mounts: [{ source: volume, path: '/data', readOnly: false }] })
      await owner.call('start', spec)
      await owner.call('running', spec)
      const script =
        'mkdir /data/from /data/to && echo content >/data/from/file && cd /data/from && tar --owner=1234 --group=1234 -cf - file | tar -xmf - -C /data/to'
      assert.deepEqual(await owner.call<CommandOutcome>('exec', spec, ['sh', '-c', script]), { code: 0, stdout: '', stderr: '' })
      assert.equal(readFileSync(path.join(volume, 'to', 'file'), 'utf8'), 'content\n')
      await owner.call('signal', spec, 'SIGKILL')
      await owner.call('over', spec)
    })

    it('ends by signals, and leaves nobody behind', async () => {
      const polite = aRun(['sh', '-c', 'trap "echo bye; exit 5" TERM; echo up; while :; do sleep 0.1; done'], { podUid: pod() })
      await owner.call('start', polite)
      await owner.call('running', polite)
      while ((await owner.call('log', polite)) !== 'up\n') await new Promise((resolve) => setTimeout(resolve, 10))
      await owner.call('signal', polite, 'SIGTERM')
      assert.deepEqual(exitOf(await owner.call('over', polite)), [5, undefined])
      assert.equal(await owner.call('log', polite), 'up\nbye\n')
      const name = `left-behind-${process.pid}-${uid ?? 'us'}`
      const parent = aRun(['sh', '-c', `setsid sh -c 'while :; do sleep 1; done; : ${name}' & echo up; wait`], { podUid: pod() })
      await owner.call('start', parent)
      await owner.call('running', parent)
      while ((await owner.call('log', parent)) !== 'up\n') await new Promise((resolve) => setTimeout(resolve, 10))
      await owner.call('signal', parent, 'SIGKILL')
      assert.deepEqual(exitOf(await owner.call('over', parent)), [137, 9])
      assert.deepEqual(
        commandLines().filter((line) => line.includes(name) && !line.includes('testing')),
        [],
      )
    })

    it('sends a signal that came too early as soon as it can', async () => {
      const spec = aRun(['sleep', '60'], { podUid: pod() })
      await owner.call('start', spec)
      await owner.call('signal', spec, 'SIGKILL')
      assert.deepEqual(exitOf(await owner.call('over', spec)), [137, 9])
    })

    it('says what could not be started, and why', async () => {
      assert.deepEqual(failureOf(await run(aRun(['no-such-program'], { podUid: pod() }))), {
        atMs: undefined,
        phase: 'failed',
        reason: 'StartError',
        message: 'exec: "no-such-program": executable file not found in $PATH',
      })
      assert.deepEqual(failureOf(await run(aRun(['/etc/passwd'], { podUid: pod() }))), {
        atMs: undefined,
        phase: 'failed',
        reason: 'StartError',
        message: 'exec: "/etc/passwd": permission denied',
      })
      const mounts = [{ source: '/no/such/volume', path: '/data', readOnly: false }]
      assert.deepEqual(failureOf(await run(aRun(['true'], { podUid: pod(), mounts }))), {
        atMs: undefined,
        phase: 'failed',
        reason: 'CreateContainerError',
        message: '/no/such/volume is not there',
      })
    })

    it('runs in the root of an image, which stays as it is', async () => {
      const podUid = pod()
      const image: string = await owner.call('directory', podUid, 'volumes', 'image')
      await owner.call('write', image, [{ path: 'only-here/file', text: 'of the image\n', mode: 0o644 }])
      const volume: string = await owner.call('directory', podUid, 'volumes', 'v')
      const libraries = ['/bin', '/lib', '/lib64', '/usr']
        .filter((at) => existsSync(at))
        .map((at) => ({ source: at, path: at, readOnly: true }))
      const script =
        'cat /only-here/file; pwd; ls -d /home 2>/dev/null; echo made >/made; echo x >/data/x; test -c /dev/null && test -s /etc/hosts && echo usual; tail -n1 /made'
      const spec = aRun(['/bin/sh', '-c', script], {
        podUid,
        imageRoot: image,
        mounts: [...libraries, { source: volume, path: '/data', readOnly: false }],
      })
      assert.deepEqual(exitOf(await run(spec)), [0, undefined], await owner.call('log', spec))
      assert.equal(await owner.call('log', spec), 'of the image\n/\nusual\nmade\n')
      assert.equal(existsSync(path.join(image, 'made')), false)
      assert.equal(readFileSync(path.join(volume, 'x'), 'utf8'), 'x\n')
      await owner.call('remove', podUid)
      assert.equal(existsSync(path.dirname(path.dirname(volume))), false)
    })

    it('goes on without Sluice: the same processes, and no exit code lost', async () => {
      const podUid = pod()
      const stays = aRun(['sleep', '60'], { podUid, container: 'stays' })
      const ends = aRun(['sh', '-c', 'sleep 0.5; echo late; exit 42'], { podUid, container: 'ends' })
      for (const spec of [stays, ends]) await owner.call('start', spec)
      const before = await owner.call<RunState>('running', stays)
      await owner.call('running', ends)
      await owner.kill()
      await new Promise((resolve) => setTimeout(resolve, 1000))
      owner = testbed.owner(uid)
      assert.deepEqual(await owner.call('running', stays), before)
      await owner.call('start', ends)
      assert.deepEqual(exitOf(await owner.call('over', ends)), [42, undefined])
      assert.equal(await owner.call('log', ends), 'late\n')
      await owner.call('signal', stays, 'SIGKILL')
      await owner.call('over', stays)
      await owner.call('remove', podUid)
      assert.deepEqual(await owner.call('runsOf', podUid), [])
    })
  })
}
