/**
 * `npm run bench:data [-- --quick] [--write] [--only PART,PART] [--profile DIR]`: what datasets cost. Parts: `binding`, from their
 * last ready pod to Bound; `bytes` through the builtin cache, beside `cp -r`; `changes`, until they are seen on references;
 * `references`, many to one dataset, beside volumes by hand; `scale-in`, with hand-over and without; `scale`, thousands of datasets on
 * simulated nodes, beside the same pods alone. `--references`, `--namespaces`, `--changes`, `--mebibytes` and `--datasets` are sizes.
 * `--write` puts each table into docs/performance.md, some after each step, so that a run which is ended early has written what it
 * knows.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { buildCacheProgram } from '../test/cache/cache-program.ts'
import { type Cleanup, runProgram } from '../test/machine/interrupt.ts'
import { privateProgram } from '../test/machine/program.ts'
import { type BindingFigures, measureBinding } from './data-binding.ts'
import { type BytesResult, manyFiles, measureBytes } from './data-bytes.ts'
import { measurePods } from './data-pods.ts'
import { measureScale, nodesFor, type ScaleShape } from './data-scale.ts'
import { measureSharing } from './data-sharing.ts'
import { bindingTable, bytesTable, podTable, scaleTable } from './data-tables.ts'
import { type EmbeddedFleet, type EmbeddedShape, startEmbeddedFleet } from './embedded-fleet.ts'
import { machineText, replaceBetween } from './figures.ts'

const DOCUMENT = 'docs/performance.md'

await runProgram(async (later) => {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      only: { type: 'string' },
      datasets: { type: 'string' },
      references: { type: 'string' },
      namespaces: { type: 'string' },
      changes: { type: 'string' },
      mebibytes: { type: 'string' },
      profile: { type: 'string' },
    },
  })
  const { quick: isQuick, profile } = values
  const isWanted = (part: string): boolean => values.only === undefined || values.only.split(',').includes(part)
  const publish = (part: string, table: string): void => {
    const text = `${machineText('at the end')}\n\n${table}`
    console.log(`\n${text}`)
    if (values.write) writeFileSync(DOCUMENT, replaceBetween(readFileSync(DOCUMENT, 'utf8'), `bench:data:${part}`, text))
  }
  const program = await privateProgram()
  later(async () => program.remove())
  await buildCacheProgram(path.dirname(program.file))
  const onFleet = <T>(shape: EmbeddedShape, measure: (fleet: EmbeddedFleet) => Promise<T>): Promise<T> =>
    withFleet(program.file, { ...shape, profile }, { later, measure })

  if (isWanted('binding')) publish('binding', bindingTable(await binding(isQuick, onFleet)))
  if (isWanted('bytes')) {
    const results = await bytes(later, isQuick, profile)
    const shape = isQuick ? manyFiles(4, 4) : manyFiles(8, 32)
    const pods = await onFleet({ members: 1, transport: 'in-process', nodes: 1, processNodes: 1 }, (fleet) => measurePods(fleet, shape))
    publish('bytes', `${bytesTable(results)}\n${podTable(pods)}`)
  }
  const sharing = await measureSharing({ isWanted, publish, onFleet }, values)
  if (!isWanted('scale')) return judged(sharing)
  const most = Number(values.datasets ?? (isQuick ? 500 : 10_000))
  const shape: ScaleShape = {
    steps: [...(isQuick ? [100] : [100, 1000, 3000]).filter((step) => step < most), most],
    plain: isQuick ? 50 : 100,
    restSeconds: isQuick ? 10 : 60,
  }
  const result = await onFleet({ members: 1, transport: 'in-process', nodes: nodesFor(shape) }, (fleet) =>
    measureScale(fleet, shape, (known) => publish('scale', scaleTable(known))),
  )
  return judged(sharing + (result.rest?.writes ?? 0) + (result.restart?.changed ?? 0))
})

function judged(written: number): number {
  if (written > 0) console.log('something was written at rest or after a restart')
  return written === 0 ? 0 : 1
}

interface Ground<T> {
  later: Cleanup
  measure(fleet: EmbeddedFleet): Promise<T>
}

async function withFleet<T>(program: string, shape: EmbeddedShape, { later, measure }: Ground<T>): Promise<T> {
  const fleet = await startEmbeddedFleet(program, shape)
  let isStopped = false
  const stop = async (): Promise<void> => {
    if (isStopped) return
    isStopped = true
    await fleet.stop()
  }
  later(stop)
  try {
    return await measure(fleet)
  } finally {
    await stop()
  }
}

type OnFleet = <T>(shape: EmbeddedShape, measure: (fleet: EmbeddedFleet) => Promise<T>) => Promise<T>

function binding(isQuick: boolean, onFleet: OnFleet): Promise<BindingFigures[]> {
  return onFleet({ members: 1, transport: 'in-process', nodes: isQuick ? 2 : 10, processNodes: 1 }, (fleet) =>
    measureBinding(fleet, isQuick ? { datasets: 20, processes: 3 } : { datasets: 200, processes: 10 }),
  )
}

async function bytes(later: Cleanup, isQuick: boolean, profile: string | undefined): Promise<BytesResult[]> {
  const [large, small] = isQuick ? [manyFiles(4, 16), 500] : [manyFiles(8, 256), 10_000]
  const results: BytesResult[] = []
  for (const shape of [large, { name: `${small.toLocaleString('en')} files of 16 KiB`, files: small, bytesEach: 16 * 1024 }]) {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-bench-'))
    const remove = (): void => rmSync(folder, { recursive: true, force: true })
    later(remove)
    results.push(await measureBytes(folder, shape, { later, profile }))
    remove()
  }
  return results
}
