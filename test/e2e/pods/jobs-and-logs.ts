/** A Job's script on a volume that the user looks into, and its output with every variant of `kubectl logs`. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { eventually } from '../person.ts'
import { aClaim, aJob, aPod, claimVolume, containerOf, type Place, shell, until } from './place.ts'

export function jobsAndLogs(place: () => Place): void {
  it('a Job reads a file from a volume and writes a result that the user sees; logs -f follows it', async () => {
    const p = place()
    const at = `/notes-${p.mark}`
    const onVolume = (script: string): object => ({
      containers: [shell(script, { volumeMounts: [{ name: 'notes', mountPath: at }] })],
      volumes: [claimVolume('notes')],
    })
    await p.apply(aClaim('notes'), aJob('fetch', onVolume(`printf '1\\n2\\n' > ${at}/numbers`)))
    await p.kubectl('wait', '--for=condition=complete', 'job/fetch', '--timeout=90s')
    const directory = await p.directoryOf('notes')
    await p.shell(`echo 39 >> ${directory}/numbers`)

    // Continues only when the user says so: until then, its log is followed while it runs.
    const script = `echo "reading $(wc -l < ${at}/numbers) numbers"; while [ ! -e ${at}/go ]; do sleep 0.2; done
      total=0; while read n; do total=$((total + n)); done < ${at}/numbers; echo "total $total" | tee ${at}/result`
    await p.apply(aJob('total', onVolume(script)))
    await until(
      () => 'a pod of the job that runs',
      async () => (await p.pods('total')).some(({ status }) => status?.phase === 'Running'),
    )
    const following = p.startKubectl('logs', '-f', 'job/total')
    await eventually('the first line', () => following.said().includes('reading 3 numbers\n'))
    assert.doesNotMatch(following.said(), /total/)
    await p.shell(`touch ${directory}/go`)
    assert.equal(await following.ended, 0, following.said())
    assert.match(following.said(), /^total 42$/m)
    await p.kubectl('wait', '--for=condition=complete', 'job/total', '--timeout=90s')
    assert.equal(await p.shell(`cat ${directory}/result`), 'total 42\n')
    assert.equal(await p.kubectl('logs', 'job/total'), 'reading 3 numbers\ntotal 42\n')
  })

  it('logs know --previous, --tail, --since, --timestamps and containers', async () => {
    const p = place()
    const script =
      'if [ ! -e /state/ran ]; then : > /state/ran; echo first life; exit 3; fi; echo one; echo two; echo three; exec sleep 100000'
    await p.apply(
      aPod('talker', {
        containers: [
          shell(script, { volumeMounts: [{ name: 'state', mountPath: '/state' }] }),
          shell('echo beside; exec sleep 100000', { name: 'other' }),
        ],
        volumes: [{ name: 'state', emptyDir: {} }],
      }),
    )
    const pod = await p.podWhen('talker', (one) => containerOf(one, 'main')?.restartCount === 1 && one.status?.phase === 'Running')
    assert.equal(containerOf(pod, 'main')?.lastState?.terminated?.exitCode, 3)
    await until(
      () => 'three lines',
      async () => (await p.kubectl('logs', 'talker', '-c', 'main')).trim().split('\n').length === 3,
    )
    assert.equal(await p.kubectl('logs', 'talker', '-c', 'main', '--previous'), 'first life\n')
    assert.equal(await p.kubectl('logs', 'talker', '-c', 'main', '--tail=1'), 'three\n')
    assert.equal(await p.kubectl('logs', 'talker', '-c', 'main', '--since=1h', '--tail=2'), 'two\nthree\n')
    assert.match(
      await p.kubectl('logs', 'talker', '-c', 'main', '--timestamps', '--tail=1'),
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z three\n$/,
    )
    assert.match(await p.kubectl('logs', 'talker', '--all-containers', '--prefix'), /\[pod\/talker\/other\] beside/)
    await until(
      () => 'nothing said within the last second',
      async () => (await p.kubectl('logs', 'talker', '-c', 'main', '--since=1s')) === '',
    )
    const none = await p.tryKubectl('logs', 'talker', '-c', 'other', '--previous')
    assert.equal(none.exitCode, 1)
    assert.match(none.stderr, /previous terminated container "other" in pod "talker" not found/)
    await p.kubectl('delete', 'pod', 'talker', '--wait=false')
  })
}
