/** Commands that users run in a container: exec with its exit code, input and terminal, and files copied both ways. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { eventually } from '../person.ts'
import { aPod, type Place, shell } from './place.ts'

export function commandsInPods(place: () => Place): void {
  it('exec gives back exit codes and both outputs, takes input, and sees what the container sees', async () => {
    const p = place()
    const env = [
      { name: 'WHO', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'GREETING', value: 'I am $(WHO)' },
    ]
    await p.apply(aPod('guest', { containers: [shell('exec sleep 100000', { env })] }))
    const pod = await p.running('guest')
    assert.match(pod.spec?.nodeName ?? '', /^member1-process-/)
    assert.match(pod.status?.podIP ?? '', /^127\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./)
    const ended = await p.tryKubectl('exec', 'guest', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7')
    assert.deepEqual([ended.exitCode, ended.stdout], [7, 'out\n'])
    assert.match(ended.stderr, /^err\n/)
    const piped = await p.person.runWith('a line\n', 'kubectl', ...p.access(), 'exec', '-i', 'guest', '--', 'tr', 'a-z', 'A-Z')
    assert.deepEqual([piped.exitCode, piped.stdout], [0, 'A LINE\n'])
    assert.equal(await p.kubectl('exec', 'guest', '--', 'sh', '-c', 'echo $GREETING, $HOSTNAME'), 'I am guest, guest\n')
    assert.equal(await p.kubectl('exec', 'guest', '--', 'cat', '/var/run/secrets/kubernetes.io/serviceaccount/namespace'), 'default')
    const none = await p.tryKubectl('exec', 'guest', '--', `no-such-${p.mark}`)
    // With a directory in PATH that may not be entered it is 126, as in a shell.
    assert.ok(none.exitCode === 127 || none.exitCode === 126, `${none.exitCode}`)
    assert.match(none.stderr, /no-such-.*: (No such file|Permission denied|.*not found)/)
  })

  it('exec -it opens a shell', async (t) => {
    if (spawnSync('script', ['--version']).status !== 0) return t.skip('no `script` here to be the terminal')
    const p = place()
    await p.apply(aPod('desk', { containers: [shell('exec sleep 100000')] }))
    await p.running('desk')
    const line = ['kubectl', ...p.access(), 'exec', '-it', 'desk', '--', 'sh'].join(' ')
    const typed = p.person.start('script', '-qefc', line, '/dev/null')
    await eventually('a prompt', () => /[#$] $/.test(typed.said()))
    typed.child.stdin.write('test -t 0 && echo a $((1 + 1))nd terminal\n')
    await eventually('an answer', () => typed.said().includes('a 2nd terminal'))
    typed.child.stdin.write('exit 5\n')
    assert.equal(await typed.ended, 5, typed.said())
  })

  it('cp copies files and directories both ways', async () => {
    const p = place()
    const mounted = shell('exec sleep 100000', { volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }] })
    await p.apply(aPod('box', { containers: [mounted], volumes: [{ name: 'scratch', emptyDir: {} }] }))
    await p.running('box')
    await p.shell('mkdir -p tree/deep && seq 1 50000 > tree/numbers && echo deep > tree/deep/file')
    await p.kubectl('cp', 'tree', 'box:/scratch/tree')
    assert.equal(
      await p.kubectl('exec', 'box', '--', 'sh', '-c', 'cat /scratch/tree/deep/file; wc -l < /scratch/tree/numbers'),
      'deep\n50000\n',
    )
    await p.kubectl('cp', 'box:/scratch/tree', 'back')
    await p.shell('diff -r tree back && rm -r tree back')
  })
}
