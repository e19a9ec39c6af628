/** A directory of many files: filled, read, read again, changed, and a worker that leaves. Each builds on the one before. */
import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { it } from 'node:test'
import { bytesText } from '../../../src/cache/master/report.ts'
import { revision, type WorkerFigures, workerFigures } from './cache-figures.ts'
import { differences, fillDirectory, randomBytes, SUM_ALL, type Sums, sumOf, sumsIn } from './contents.ts'
import { dataset, pod, runtime } from './manifests.ts'
import { fingerprint, generations } from './node-files.ts'
import type { Scene } from './scene.ts'

const MEMBER = 'member1'
const NAME = 'files'

export function directoryStories(scene: () => Scene): void {
  let sums: Sums
  let directory = ''
  let node = ''
  const desk = () => scene().desk
  const nodeOf = (name: string): Promise<string> => desk().field(MEMBER, `pod/${name}`, '.spec.nodeName')
  const here = () => ({ dataDir: desk().dir, member: MEMBER, node, dataset: NAME })
  const figures = (): Promise<WorkerFigures[]> => Promise.all([0, 1].map((i) => workerFigures(desk(), MEMBER, `${NAME}-worker-${i}`)))

  it('a directory is mounted, filled and read from a pod, every checksum right', async (t) => {
    const { files, bytes } = scene().amount
    directory = desk().directory('source')
    sums = fillDirectory(desk(), directory, { files, bytes })
    const quota = `${Math.ceil((bytes * 2) / 2 ** 20)}Mi`
    await desk().apply(
      MEMBER,
      dataset(NAME, [{ mountPoint: `local://${directory}`, name: NAME, path: '/' }], { quota: '', placement: 'Exclusive' }),
      runtime(NAME, { replicas: 2, quota }),
      // It stays: a node keeps files for as long as a pod there uses them.
      pod('first', NAME, `${SUM_ALL} && echo all && exec sleep infinity`),
    )
    await desk().until(MEMBER, 'pod/first', '.status.phase', 'Running')
    const log = await desk().sees('the sums', () => desk().kubectl(MEMBER, 'logs', 'first'), /^all$/m)
    assert.deepEqual(differences(sumsIn(log), sums), [])
    node = await nodeOf('first')
    t.diagnostic(`${sums.size} files, ${bytesText(bytes)}`)
  })

  it('kubectl and sluice why show how large it is, and that all of it is cached', async () => {
    await desk().until(MEMBER, `dataset/${NAME}`, '.status.cacheStates.cachedPercentage', '100.0%')
    const table = await desk().kubectl(MEMBER, 'get', 'dataset', NAME, '-o', 'wide')
    const total = bytesText(scene().amount.bytes)
    assert.match(table, /^NAME +UFS TOTAL SIZE +CACHED +CACHE CAPACITY +CACHED PERCENTAGE +PHASE +HCFS URL +TOTAL FILES/)
    assert.match(table, new RegExp(`^${NAME} +${total.slice(0, 4)}\\S+ +\\S+ +\\S+ +100\\.0% +Bound +${sums.size} `, 'm'))
    const why = await desk().why(MEMBER, `dataset/${NAME}`)
    assert.match(why, /█{20} 100\.0% cached/)
    assert.match(why, /✓ it is Bound: pods of namespace default mount it with the claim files/)
  })

  it('a second pod on the node starts without copying', async () => {
    const [generation = '', ...more] = generations(here())
    assert.deepEqual(more, [])
    const before = { files: fingerprint(generation), figures: await figures(), revision: await revision(desk(), MEMBER, NAME) }
    await desk().apply(MEMBER, pod('second', NAME, SUM_ALL, { node }))
    assert.deepEqual(differences(sumsIn(await desk().printed(MEMBER, 'second')), sums), [])
    assert.deepEqual(generations(here()), [generation])
    // No file was written, no block was asked for, nothing was listed anew.
    assert.deepEqual({ files: fingerprint(generation), figures: await figures(), revision: await revision(desk(), MEMBER, NAME) }, before)
  })

  it('files that change at their source are whole, old or new; the next pod sees the new ones', async () => {
    const [replaced, rewritten] = [...sums.keys()] as [string, string]
    const changed = new Map([replaced, rewritten].map((name) => [name, randomBytes(3_000_000)]))
    const old = new Map(sums)
    const before = generations(here())
    const watched = `${replaced} ${rewritten}`
    await desk().apply(MEMBER, pod('keeper', NAME, `while [ ! -e stop ]; do sha256sum ${watched}; done`, { node }))
    await desk().until(MEMBER, 'pod/keeper', '.status.phase', 'Running')
    for (const [name, bytes] of changed) {
      const file = path.join(directory, name)
      if (name === replaced) {
        desk().write(`${file}.new`, bytes)
        renameSync(`${file}.new`, file)
      } else writeFileSync(file, bytes)
      sums.set(name, sumOf(bytes))
    }
    const isNew = (one: string): boolean => !before.includes(one)
    let looks = 0
    for (let isSeen = false; !isSeen; ) {
      const isReady = generations(here()).some(isNew)
      const name = `looker-${looks++}`
      await desk().apply(MEMBER, pod(name, NAME, SUM_ALL, { node }))
      const found = sumsIn(await desk().printed(MEMBER, name))
      for (const file of changed.keys())
        assert.ok([old.get(file), sums.get(file)].includes(found.get(file)), `${file} is neither the old nor the new one`)
      isSeen = differences(found, sums).length === 0
      assert.ok(
        isSeen || !isReady || looks < 20,
        `there is a new generation, and pods do not get it: ${differences(found, sums).join(', ')}`,
      )
    }
    // Whoever had the old files keeps them.
    const lines = (await desk().kubectl(MEMBER, 'logs', 'keeper')).split('\n').filter((line) => line !== '')
    assert.ok(lines.length > 2)
    for (const line of lines) {
      const [sum = '', file = ''] = line.split('  ')
      assert.equal(sum, old.get(file), `${file} of a pod that runs`)
    }
    await desk().kubectl(MEMBER, 'delete', 'pod', 'keeper', 'first', '--wait=false')
  })

  it('a worker that is decommissioned hands its blocks over, and the source is not read again for them', async (t) => {
    const leaving = `${NAME}-worker-1`
    const said = await desk().kubectl(MEMBER, 'exec', leaving, '--', 'sluice', 'cache', 'decommission', leaving)
    const last = said.split('\n').at(-1) ?? ''
    const { state, moved, dropped, left } = JSON.parse(last) as { state: string; moved: number; dropped: number; left: number }
    t.diagnostic(`${bytesText(moved)} moved, ${bytesText(dropped)} dropped, ${bytesText(left)} left`)
    assert.deepEqual([state, left], ['gone', 0])
    assert.ok(moved > 0, last)
    const [staying, gone] = (await figures()) as [WorkerFigures, WorkerFigures]
    assert.ok(staying.takenBytes >= moved, `${staying.takenBytes} of ${moved} bytes have arrived`)
    const nodes = (await desk().kubectl(MEMBER, 'get', 'nodes', '-l', 'type!=kwok', '-o', 'name'))
      .split('\n')
      .map((name) => name.replace('node/', ''))
    const other = nodes.find((name) => name.includes('-process-') && name !== node)
    assert.ok(other !== undefined, nodes.join(' '))
    await desk().apply(MEMBER, pod('afterwards', NAME, SUM_ALL, { node: other }))
    assert.deepEqual(differences(sumsIn(await desk().printed(MEMBER, 'afterwards')), sums), [])
    const [later, goneLater] = (await figures()) as [WorkerFigures, WorkerFigures]
    assert.ok(later.asked + later.direct > staying.asked + staying.direct, 'nothing was read from the worker that stays')
    assert.ok(
      later.sourceBytes - staying.sourceBytes <= dropped,
      `${later.sourceBytes - staying.sourceBytes} bytes were read from the source again`,
    )
    assert.deepEqual(goneLater, gone, 'the worker that has left was asked')
    const nobody = await desk().tries(MEMBER, 'exec', `${NAME}-master-0`, '--', 'sluice', 'cache', 'decommission', 'nobody')
    assert.match(nobody.stderr, /^there is no worker nobody, or it has not been heard of for a while$/m)
  })
}
