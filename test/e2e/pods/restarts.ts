/** What happens to running pods when Sluice is killed, stopped and started again. In this order: each part begins where the last ended. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { it } from 'node:test'
import type { Pod } from '../../../src/kinds/kubernetes/types.ts'
import { eventually } from '../person.ts'
import { aClaim, aPod, claimVolume, containerOf, type Place, shell } from './place.ts'
import { processesOf } from './processes.ts'
import { livesOfWeb, web } from './servers.ts'

export function restarts(place: () => Place): void {
  let lives: Record<string, string>
  let directory: string

  it('pods to be found again', async () => {
    const p = place()
    const at = `/words-${p.mark}`
    const mounted = (script: string): object => ({
      containers: [shell(script, { volumeMounts: [{ name: 'words', mountPath: at }] })],
      volumes: [claimVolume('words')],
    })
    // They start no further processes, so that their processes can be identified by pid.
    const tidy = (name: string): string => `trap 'echo ${name} is tidy >> ${at}/tidy; exit 0' TERM; echo begun; tail -f /dev/null & wait`
    await p.apply(
      web,
      aClaim('words'),
      aPod('always', { terminationGracePeriodSeconds: 60, ...mounted(tidy('always')) }),
      aPod('once', { terminationGracePeriodSeconds: 60, restartPolicy: 'Never', ...mounted(tidy('once')) }),
      aPod('leaver', { restartPolicy: 'Never', ...mounted(`while [ ! -e ${at}/leave ]; do sleep 0.2; done; echo I leave; exit 7`) }),
    )
    await p.kubectl('wait', '--for=condition=Ready', 'pod/always', 'pod/once', 'pod/leaver', '--timeout=90s')
    await p.kubectl('rollout', 'status', 'deployment/web', '--timeout=120s')
    lives = await livesOfWeb(p)
    directory = await p.directoryOf('words')
  })

  it('after kill -9 and up again they are the very same processes, and an exit of the time between is known', async () => {
    const p = place()
    const restartsOfWeb = async (): Promise<unknown[]> => (await p.pods('web')).map((pod) => containerOf(pod, 'web')?.restartCount)
    const leaving = await p.get<Pod>('pods', 'leaver')
    const before = { restarts: await restartsOfWeb(), processes: processesOf(p.dir) }
    await killed(p)
    await p.shell(`touch ${directory}/leave`)
    await eventually('the end of the leaver', () => processesOf(p.dir, leaving?.metadata.uid).length === 0)
    const left = processesOf(p.dir)
    assert.deepEqual(
      left.filter((one) => !before.processes.includes(one)),
      [],
      'nothing began while nobody was there',
    )
    await p.up()
    const leaver = await p.podWhen('leaver', ({ status }) => status?.phase === 'Failed')
    assert.equal(containerOf(leaver, 'main')?.state?.terminated?.exitCode, 7)
    assert.equal(await p.kubectl('logs', 'leaver'), 'I leave\n')
    await p.kubectl('wait', '--for=condition=Ready', 'pod/always', 'pod/once', '--timeout=90s')
    await p.kubectl('rollout', 'status', 'deployment/web', '--timeout=120s')
    assert.deepEqual(await livesOfWeb(p), lives)
    assert.deepEqual({ restarts: await restartsOfWeb(), processes: processesOf(p.dir) }, { restarts: before.restarts, processes: left })
    assert.equal(await p.kubectl('exec', 'always', '--', 'echo', 'still here'), 'still here\n')
    assert.equal(await p.kubectl('logs', 'always'), 'begun\n')
  })

  it('down ends them with grace, and nothing is left running', async () => {
    const p = place()
    const down = await p.person.sluice('down', '--data-dir', p.dir)
    assert.equal(down.exitCode, 0, down.stdout + down.stderr)
    assert.deepEqual(processesOf(p.dir), [])
    assert.deepEqual((await p.shell(`sort ${directory}/tidy`)).trim().split('\n'), ['always is tidy', 'once is tidy'])
    assert.match(p.log(), /Ending \d+ pods with grace/)
  })

  it('the next start restarts them by their policy, and says why they ended; Ctrl-C ends them again', async () => {
    const p = place()
    const up = p.person.foreground('up', '--port', '0', '--data-dir', p.dir)
    await eventually('Sluice is up', () => up.said().includes('Sluice is up'), 120)
    const always = await p.podWhen('always', (pod) => containerOf(pod, 'main')?.restartCount === 1)
    const { terminated } = containerOf(always, 'main')?.lastState ?? {}
    // Whatever the program's exit code: it was terminated, so that OnFailure restarts it, too.
    assert.deepEqual([terminated?.reason, terminated?.exitCode], ['NodeShutdown', 143])
    assert.match(terminated?.message ?? '', /^ended with Sluice/)
    const once = await p.podWhen('once', ({ status }) => status?.phase === 'Failed')
    assert.equal(once.status?.reason, 'NodeShutdown')
    await p.kubectl('rollout', 'status', 'deployment/web', '--timeout=120s')
    assert.notDeepEqual(await livesOfWeb(p), lives)
    process.kill(pidOf(p), 'SIGINT')
    assert.equal(await up.ended, 0, up.said())
    assert.match(up.said(), /Ending \d+ pods with grace[\s\S]*Stopped\. Everything is kept/)
    assert.deepEqual(processesOf(p.dir), [])
  })
}

const pidOf = (p: Place): number => (JSON.parse(readFileSync(path.join(p.dir, 'run.json'), 'utf8')) as { pid: number }).pid

async function killed(p: Place): Promise<void> {
  const pid = pidOf(p)
  process.kill(pid, 'SIGKILL')
  await eventually('the end of the process', () => !existsSync(`/proc/${pid}`), 10)
}
