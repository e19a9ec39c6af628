/** Sluice is killed while a volume fills, started again, and ended: nothing is left of it. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { it } from 'node:test'
import { eventually } from '../person.ts'
import { randomBytes, SUM_ALL, sumOf, sumsIn } from './contents.ts'
import { FILM_BYTES } from './film.ts'
import { mountsOf, processesOf } from './leftovers.ts'
import { dataset, pod, runtime } from './manifests.ts'
import type { Scene, SharedDataset } from './scene.ts'
import { lastSharingStories } from './sharing-stories.ts'

const MEMBER = 'member1'

/** `sharing`: what other stories have left for the end. */
export function endingStories(scene: () => Scene, sharing: readonly SharedDataset[]): void {
  const desk = () => scene().desk

  it('Sluice is killed while a volume fills; after its next start the pod gets its files', async () => {
    const { web } = scene()
    const content = randomBytes(FILM_BYTES)
    web.change(content)
    web.hold()
    await desk().apply(
      MEMBER,
      dataset('held', [{ mountPoint: web.url, name: 'film', path: '/' }], { quota: '' }),
      runtime('held', { replicas: 1, quota: '64Mi', isMemory: true }),
      pod('patient', 'held', SUM_ALL),
    )
    await desk().sees(
      'the pod',
      () => desk().field(MEMBER, 'pod/patient', '.status.containerStatuses[0].state.waiting.message'),
      /4\.0 of 12\.0 MiB/,
    )
    assert.ok(web.isHolding)
    const pid = desk().pid()
    process.kill(pid, 'SIGKILL')
    await eventually('the end of the process', () => !existsSync(`/proc/${pid}`), 10)
    await desk().up('--dataset-sidecar', 'container')
    web.letGo()
    assert.deepEqual([...sumsIn(await desk().printed(MEMBER, 'patient'))], [['film', sumOf(content)]])
    await desk().sees('all datasets', () => desk().field(MEMBER, 'datasets', '.items[*].status.phase'), /^(Bound ?)+$/)
  })

  lastSharingStories(scene, sharing)

  it('sluice down leaves no process, no mount, no tmpfs, and nothing outside its directory', async () => {
    const { dir, person } = desk()
    assert.ok(processesOf(dir).length > 5, 'the processes of pods were not found')
    await desk().sluice('down', '--data-dir', dir)
    assert.deepEqual(processesOf(dir), [])
    assert.deepEqual(mountsOf(dir), [])
    assert.deepEqual(readdirSync(person.file('tmp')), [])
    assert.deepEqual(
      readdirSync(person.home).filter((name) => !OWN.has(name)),
      [],
    )
    assert.doesNotMatch(readFileSync(path.join(dir, 'log'), 'utf8'), /\n {4}at /)
  })
}

/** What the person and the stories themselves have made; kubectl keeps its discovery cache in the home directory. */
const OWN = new Set(['bin', 'tmp', 'data', 'source', 'later', 'written', 'shared', 'reels', 's3', '.kube'])
