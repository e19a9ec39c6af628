/** The journal store on the real disk: what the simulated one stands for. */
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { open, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { contentOf, manualClock, put, record } from '../suite-harness.ts'
import { backup, restoreBackup } from './backup.ts'
import { type JournalStore, openJournalStore } from './open.ts'
import { StoreRefusedError } from './store-error.ts'

describe('journal store on the real disk', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'sluice-store-'))
  after(() => rm(root, { recursive: true }))
  const clock = manualClock()
  const start = (dir: string): Promise<JournalStore> => openJournalStore({ dir: path.join(root, dir), clock, onFatal: assert.fail })

  it('keeps everything across restarts and snapshots, in files that only the owner reads', async () => {
    const first = await start('a/b/store')
    const c = first.cluster('hub')
    await Promise.all(Array.from({ length: 300 }, (_, i) => put(c, `pods/ns/p${i}`, `é${i}`)))
    await first.snapshot()
    await Promise.all(Array.from({ length: 300 }, (_, i) => put(c, `pods/ns/p${i}`, 'x'.repeat(5000))))
    await first.snapshot()
    await put(c, 'pods/ns/p0', 'last')
    const dir = path.join(root, 'a/b/store')
    for (const name of await readdir(dir)) assert.equal((await stat(path.join(dir, name))).mode & 0o777, 0o600, name)
    assert.equal((await stat(dir)).mode & 0o777, 0o700)
    await first.close()
    const second = await start('a/b/store')
    const again = second.cluster('hub')
    assert.deepEqual([again.revision, again.count('pods/'), contentOf(again.get('pods/ns/p0'))], [602, 300, 'last'])
    assert.equal(contentOf(again.get('pods/ns/p7', 301)), 'é7')
    assert.equal(record(again, '', 301).events.length, 301)
    await second.close()
  })

  it('keeps a second start out, and says who is there', async () => {
    const first = await start('locked')
    await assert.rejects(start('locked'), (error) => {
      assert.ok(error instanceof StoreRefusedError)
      assert.match(error.message, new RegExp(`in use by process ${process.pid}`))
      return true
    })
    await first.close()
    await (await start('locked')).close()
  })

  it('backs up to a file and restores from it', async () => {
    const store = await start('source')
    await put(store.cluster('hub'), 'pods/ns/a', 'kept')
    const file = path.join(root, 'backup')
    const handle = await open(file, 'wx')
    await backup(store, async (chunk) => void (await handle.write(chunk)), clock)
    await handle.close()
    await store.close()
    await restoreBackup(file, path.join(root, 'target'), { clock })
    const back = await start('target')
    assert.deepEqual([contentOf(back.cluster('hub').get('pods/ns/a')), back.cluster('hub').revision], ['kept', 2_000_000])
    await back.close()
    await assert.rejects(restoreBackup(file, path.join(root, 'target'), { clock }), StoreRefusedError)
  })
})
