/**
 * `node scripts/run.mjs bench/operations.ts [--quick] [--write]`: what moving bytes by data operations costs, beside `cp -r` and
 * reading the source in the same run: a load into an empty cache, and a migration from directory to directory, of few large files
 * and of many small ones. CPU is of all programs together. `--write` puts the table into docs/performance.md.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Cleanup, runProgram } from '../test/machine/interrupt.ts'
import { assertSame, copied, type FilesShape, makeFiles, manyFiles, middle, readAll, run, type Spent } from './data-bytes.ts'
import { CacheScene, WORKER_NODE } from './data-bytes-scene.ts'
import { machineText, replaceBetween } from './figures.ts'

const DOCUMENT = 'docs/performance.md'
const ROUNDS = 3
const MIB = 1024 * 1024

interface Measured {
  shape: FilesShape
  read: Spent
  copy: Spent
  load: Spent
  migrate: Spent
  /** The same once more, when everything is there. */
  again: Spent
}

await runProgram(async (later) => {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, write: { type: 'boolean', default: false } } })
  const [large, small] = values.quick ? [manyFiles(4, 16), 500] : [manyFiles(8, 128), 5000]
  const results: Measured[] = []
  for (const shape of [large, { name: `${small.toLocaleString('en')} files of 16 KiB`, files: small, bytesEach: 16 * 1024 }]) {
    const result = await measure(shape, later)
    console.log(tableOf([result]))
    results.push(result)
  }
  const text = `${machineText('at the end')}\n\n${tableOf(results)}`
  console.log(text)
  if (values.write) writeFileSync(DOCUMENT, replaceBetween(readFileSync(DOCUMENT, 'utf8'), 'bench:operations', text))
  return 0
})

async function measure(shape: FilesShape, later: Cleanup): Promise<Measured> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-bench-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  later(remove)
  const source = path.join(folder, 'source')
  makeFiles(source, shape)
  const scene = await CacheScene.open({ folder, source, quotaBytes: Math.ceil(shape.files * shape.bytesEach * 1.5) + 64 * MIB })
  later(() => scene.close())
  const spent: Record<'read' | 'copy' | 'load' | 'migrate' | 'again', Spent[]> = { read: [], copy: [], load: [], migrate: [], again: [] }
  // The first copy is for the page cache.
  await copied(source, path.join(folder, 'copy'))
  for (let round = 0; round < ROUNDS; round++) {
    spent.read.push(await readAll(source))
    spent.copy.push(await copied(source, path.join(folder, 'copy')))
    const target = path.join(folder, 'target')
    mkdirSync(target)
    const migrated = () => run(process.execPath, [scene.program, 'migrate'], environmentOf(source, target))
    spent.migrate.push(await migrated())
    spent.again.push(await migrated())
    assertSame(source, target)
    rmSync(target, { recursive: true })
    spent.load.push(await loaded(scene))
  }
  await scene.close()
  remove()
  const [read, copy, load, migrate, again] = [spent.read, spent.copy, spent.load, spent.migrate, spent.again].map(middle)
  if (!read || !copy || !load || !migrate || !again) throw new Error('nothing was measured')
  return { shape, read, copy, load, migrate, again }
}

function environmentOf(from: string, to: string): NodeJS.ProcessEnv {
  return {
    SLUICE_MIGRATE_FROM: JSON.stringify({ uri: 'local:///from', path: from }),
    SLUICE_MIGRATE_TO: JSON.stringify({ uri: 'local:///to', path: to }),
    SLUICE_PORT: '0',
    POD_IP: '127.0.0.1',
  }
}

/** Into an empty cache. What the programs of the cache spent counts as well, but not their start. */
async function loaded(scene: CacheScene): Promise<Spent> {
  await scene.start()
  const cpu = (): number => scene.cpu('master') + scene.cpu('worker')
  const before = cpu()
  const own = await run(
    process.execPath,
    [scene.program, 'load'],
    scene.environment(WORKER_NODE, { SLUICE_PORT: '0', POD_IP: '127.0.0.1' }),
  )
  const all = { wallMs: own.wallMs, cpuMs: own.cpuMs + cpu() - before }
  await scene.stop()
  return all
}

function tableOf(results: readonly Measured[]): string {
  return results
    .flatMap(({ shape, read, copy, load, migrate, again }) => {
      const gigabytes = (shape.files * shape.bytesEach) / 1e9
      const row = (what: string, { wallMs, cpuMs }: Spent, base: Spent): string =>
        `| ${what} | ${(wallMs / 1000).toFixed(2)} | ${(cpuMs / 1000).toFixed(2)} | ${(cpuMs / 1000 / gigabytes).toFixed(2)} | ${(base.wallMs / wallMs).toFixed(2)} | ${(base.cpuMs / cpuMs).toFixed(2)} |`
      return [
        `${shape.name}:`,
        '',
        '| | time (s) | CPU (s) | CPU (s) per GB | speed, of the first in its group | the same per CPU second |',
        '| --- | ---: | ---: | ---: | ---: | ---: |',
        row('reading the source', read, read),
        row('load into an empty cache', load, read),
        row('`cp -r`', copy, copy),
        row('load into an empty cache', load, copy),
        row('migrate, one copy at a time', migrate, copy),
        row('migrate again: all is there', again, copy),
        '',
      ]
    })
    .join('\n')
    .trimEnd()
}
