/**
 * A backup during writes, restored into a new directory: it must hold the complete state at one moment of the history, and
 * revisions must continue beyond everything that was handed out.
 */
import { spawn, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { openJournalStore } from '../../src/store/index.ts'
import type { Violation } from './ledger.ts'
import type { Scene } from './scene.ts'
import { seenObject, type WatchedObject } from './watcher.ts'

export interface BackupCheck {
  program: string
  dataDir: string
  folder: string
  number: number
  scenes: readonly Scene[]
}

const realClock = {
  now: () => Date.now(),
  after(delayMs: number, callback: () => void) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

export async function checkBackup(check: BackupCheck): Promise<Violation[]> {
  const file = path.join(check.folder, `backup-${check.number}`)
  const restored = path.join(check.folder, `restored-${check.number}`)
  // Everything acknowledged before the backup began must be in it.
  const before = check.scenes.map((scene) => scene.ledger.newest)
  await run(check.program, ['backup', '--data-dir', check.dataDir, file])
  const after = check.scenes.map((scene) => scene.ledger.newest)
  const made = spawnSync(process.execPath, [check.program, 'restore', file, '--data-dir', restored], { encoding: 'utf8' })
  if (made.status !== 0) return [{ kind: 'lost', text: `the backup cannot be restored: ${made.stderr}` }]
  const store = await openJournalStore({ dir: path.join(restored, 'store'), clock: realClock, onFatal: (error) => console.error(error) })
  const found: Violation[] = []
  for (const [i, scene] of check.scenes.entries()) {
    const cluster = store.cluster(scene.ledger.name)
    const objects = ['configmaps', 'secrets'].flatMap((resource) =>
      cluster.range(`${resource}/`).versions.map((version) => seenObject(resource, version.object() as WatchedObject)),
    )
    scene.ledger.expectMoment({
      objects: objects.filter((object) => object.value !== ''),
      from: before[i] ?? 0,
      name: `backup ${check.number}`,
    })
    if (cluster.revision <= (after[i] ?? 0))
      found.push({
        kind: 'reused',
        text: `${scene.ledger.name}: the restored store is at revision ${cluster.revision}, and ${after[i]} was handed out`,
      })
  }
  await store.close()
  rmSync(file)
  rmSync(restored, { recursive: true })
  return found
}

function run(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`sluice ${args[0]} failed: ${said}`))))
  })
}
