import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { aRun, isOver, until } from '../../src/minicluster/process/testing.ts'
import { recordedKubectl } from '../machine/assets.ts'
import { type CommandResult, runCommand } from '../machine/run-command.ts'
import { addPod, aPodPlace, type PodPlace } from './pod-place.ts'

const kubectlPath = recordedKubectl()?.path

describe('kubectl and pods that run here', {
  skip: kubectlPath === undefined ? 'no kubectl (scripts/kube-assets/build makes it)' : false,
}, () => {
  let place: PodPlace
  before(async () => {
    place = await aPodPlace()
  })
  after(async () => {
    await place.close()
    assert.deepEqual(place.errors, [])
  })
  const run = (args: readonly string[], input?: string): Promise<CommandResult> =>
    runCommand(kubectlPath ?? '', ['--kubeconfig', place.kubeconfig, ...args], {
      env: { HOME: place.testbed.directory, PATH: process.env.PATH },
      input,
      timeoutMs: 60_000,
    })
  const ok = async (...args: string[]): Promise<string> => {
    const result = await run(args)
    assert.equal(result.exitCode, 0, `${args.join(' ')}: ${result.stderr}`)
    return result.stdout
  }

  it('exec: output, errors, input, exit code', async () => {
    await place.runPod('exec', { main: ['sleep', '120'] }, { env: { NAME: 'value' } })
    assert.equal(await ok('exec', 'exec', '--', 'sh', '-c', 'echo $NAME; hostname'), 'value\nmy-pod\n')
    assert.deepEqual(await run(['exec', 'exec', '--', 'sh', '-c', 'echo e >&2; exit 7']), {
      exitCode: 7,
      stdout: '',
      stderr: 'e\ncommand terminated with exit code 7\n',
    })
    assert.deepEqual(await run(['exec', '-i', 'exec', '--', 'cat'], 'said\nto it'), { exitCode: 0, stdout: 'said\nto it', stderr: '' })
    assert.equal((await run(['exec', 'exec', '--', 'cat'], 'not meant')).stdout, '')
  })

  it('exec with a terminal: one output, a size, an exit code', async () => {
    await place.runPod('terminal', { main: ['sleep', '120'] })
    // kubectl requests a terminal only where it has one itself.
    const command = `'${kubectlPath}' --kubeconfig '${place.kubeconfig}' exec -it terminal -- sh -c 'tty; while test "$(stty size)" = "0 0"; do sleep 0.1; done; stty size; echo err >&2; read line; echo "got $line"; exit 9'`
    const result = await runCommand('script', ['-qefc', `stty rows 33 cols 77; ${command}`, '/dev/null'], {
      env: { HOME: place.testbed.directory, PATH: process.env.PATH, SHELL: '/bin/sh', TERM: 'xterm' },
      input: 'typed\n',
      timeoutMs: 60_000,
    })
    assert.equal(result.exitCode, 9, result.stdout)
    assert.match(result.stdout, /\/dev\/pts\/\d+\r/)
    assert.match(result.stdout, /33 77\r/)
    assert.match(result.stdout, /err\r[\s\S]*got typed\r/)
    assert.match(result.stdout, /command terminated with exit code 9/)
  })

  it('cp: both ways, files and directories', async () => {
    const volume = path.join(place.testbed.directory, 'volume')
    mkdirSync(volume)
    await place.runPod('cp', { main: ['sleep', '120'] }, { mounts: [{ source: volume, path: '/data', readOnly: false }] })
    const from = path.join(place.testbed.directory, 'from')
    mkdirSync(path.join(from, 'deep'), { recursive: true })
    const content = randomBytes(3 * 1024 * 1024)
    writeFileSync(path.join(from, 'deep', 'large'), content)
    writeFileSync(path.join(from, 'small'), 'text')
    await ok('cp', from, 'cp:/data/there')
    assert.deepEqual(readFileSync(path.join(volume, 'there', 'deep', 'large')), content)
    const back = path.join(place.testbed.directory, 'back')
    await ok('cp', 'cp:/data/there', back)
    assert.deepEqual(readFileSync(path.join(back, 'deep', 'large')), content)
    assert.equal(readFileSync(path.join(back, 'small'), 'utf8'), 'text')
    assert.equal(existsSync('/data/there'), false)
  })

  it('logs: all, tail, since, limit, times, a container, previous', async () => {
    const uid = await place.runPod('logs', { main: ['sh', '-c', 'for i in 1 2 3; do echo line $i; done'], other: ['echo', 'of the other'] })
    const read = (...args: string[]): Promise<string> => ok('logs', 'logs', '-c', 'main', ...args)
    assert.equal(await read(), 'line 1\nline 2\nline 3\n')
    assert.equal(await read('--tail', '2'), 'line 2\nline 3\n')
    assert.equal(await read('--tail', '0'), '')
    assert.equal(await read('--limit-bytes', '9'), 'line 1\nli')
    assert.equal(await read('--since', '1h'), 'line 1\nline 2\nline 3\n')
    assert.equal(await read('--since-time', new Date(Date.now() + 60_000).toISOString().replace(/\.\d+/, '')), '')
    assert.match(await read('--timestamps', '--tail', '1'), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z line 3\n$/)
    assert.equal(await ok('logs', 'logs', '-c', 'other'), 'of the other\n')
    const before = await run(['logs', 'logs', '-c', 'main', '--previous'])
    assert.match(before.stderr, /previous terminated container "main" in pod "logs" not found/)
    const second = aRun(['echo', 'second attempt'], { podUid: uid, attempt: 1 })
    await place.machine.start(second)
    await until(place.machine, second, isOver)
    assert.equal(await read(), 'second attempt\n')
    assert.equal(await read('--previous'), 'line 1\nline 2\nline 3\n')
  })

  it('logs -f: until the program ends', async () => {
    await place.runPod('follow', { main: ['sh', '-c', 'echo first; sleep 1; echo second; sleep 0.3; printf third'] })
    assert.equal(await ok('logs', '-f', 'follow', '--tail', '5'), 'first\nsecond\nthird')
  })

  it('attach: the input and output of the program itself', async () => {
    await place.runPod('attach', { main: ['sh', '-c', 'read line; echo "got $line"; sleep 0.2; exit 0'] }, { stdin: true })
    const result = await run(['attach', '-i', 'attach'], 'hello\n')
    assert.match(result.stdout, /^got hello$/m, result.stderr)
  })

  it('says why it cannot reach into a pod', async () => {
    await addPod(place.server, { name: 'played', node: 'played', containers: ['main'] })
    await addPod(place.server, { name: 'nowhere', node: 'bare', containers: ['main'] })
    await addPod(place.server, { name: 'waiting', node: 'real', containers: ['main'] })
    assert.match((await run(['logs', 'played'])).stderr, /BadRequest.*pod "played" is simulated.*sluice\.dev\/run: process/)
    assert.match((await run(['exec', 'played', '--', 'ls'])).stderr, /pod "played" is simulated.*up --image/)
    assert.match((await run(['logs', 'waiting'])).stderr, /container "main" in pod "waiting" is waiting to start: ContainerCreating/)
    assert.match((await run(['exec', 'waiting', '--', 'ls'])).stderr, /container not found \("main"\)/)
    assert.match((await run(['exec', 'nowhere', '--', 'ls'])).stderr, /node bare serves neither logs nor commands/)
    const spdy = await runCommand(kubectlPath ?? '', ['--kubeconfig', place.kubeconfig, 'exec', 'exec', '--', 'ls'], {
      env: { HOME: place.testbed.directory, KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false' },
    })
    assert.match(spdy.stderr, /use kubectl 1\.30 or newer/)
  })
})
