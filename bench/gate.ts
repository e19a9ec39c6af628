/**
 * `npm run bench:gate [-- --quick] [--write] [--only binding|triggers|release] [--profile DIR]`: what the gate costs: claims on
 * sources, bound and settled, beside the algorithm of volcano-global in the same process; how many passes one more source
 * causes; and workloads that wait for a source, on `sluice up`, beside the same workloads without claims. `--write` puts each
 * table that was measured whole into docs/performance.md.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Cleanup, runProgram } from '../test/machine/interrupt.ts'
import { privateProgram } from '../test/machine/program.ts'
import { startEmbeddedFleet } from './embedded-fleet.ts'
import { machineText, replaceBetween } from './figures.ts'
import { type Binder, type BindingFigures, type BindingShape, measureBinding, measureTrigger, type TriggerFigures } from './gate-binding.ts'
import { profiled } from './gate-profile.ts'
import { heldWorkloads, loadPairs, measureAlone, measureRelease, measureRestart } from './gate-release.ts'
import { type BindingRow, bindingTable, cpuPerClaim, type ReleaseResult, releaseTable, triggerTable } from './gate-tables.ts'

const DOCUMENT = 'docs/performance.md'
const BINDERS: readonly Binder[] = ['nobody', 'gate', 'baseline']
const WARM_UP: BindingShape = { claims: 300, sources: 'each its own' }

await runProgram(async (later) => {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      only: { type: 'string' },
      profile: { type: 'string' },
    },
  })
  const { quick: isQuick, profile } = values
  const isWanted = (part: string): boolean => values.only === undefined || values.only === part
  const publish = (part: string, table: string): void => {
    const text = `${machineText('at the end')}\n\n${table}`
    console.log(`\n${text}`)
    if (values.write) writeFileSync(DOCUMENT, replaceBetween(readFileSync(DOCUMENT, 'utf8'), `bench:gate:${part}`, text))
  }
  let writesAfterRestart = 0
  if (isWanted('binding')) {
    const rows = await bindingRows(isQuick, profile)
    writesAfterRestart += rows.reduce((sum, { figures }) => sum + (figures.gate.restart?.writes ?? 0), 0)
    publish('binding', `${bindingTable(rows)}\n\n${flatness(rows)}`)
  }
  if (isWanted('triggers')) publish('triggers', triggerTable(await triggers(isQuick)))
  if (isWanted('release')) {
    const result = await release(later, { isQuick, profile })
    writesAfterRestart += result.restart.writes
    publish('release', releaseTable(result))
  }
  if (writesAfterRestart > 0) console.log('the gate wrote something after a restart')
  return writesAfterRestart === 0 ? 0 : 1
})

/** Small numbers are measured more often: the garbage of a moment is much of what they cost. */
async function bindingRows(isQuick: boolean, profile: string | undefined): Promise<BindingRow[]> {
  const shapes: [BindingShape, number][] = [
    [{ claims: 100, sources: 'each its own' }, isQuick ? 3 : 9],
    [{ claims: 1000, sources: 'each its own' }, isQuick ? 1 : 3],
    ...(isQuick ? [] : ([[{ claims: 10_000, sources: 'each its own' }, 1]] satisfies [BindingShape, number][])),
    [{ claims: 1000, sources: 'one' }, isQuick ? 1 : 3],
  ]
  for (const binder of BINDERS) for (let i = 0; i < 2; i++) await measureBinding(binder, WARM_UP)
  const rows: BindingRow[] = []
  for (const [shape, rounds] of shapes) {
    const found: Record<Binder, BindingFigures[]> = { nobody: [], gate: [], baseline: [] }
    for (let round = 0; round < rounds; round++)
      for (const binder of round % 2 === 0 ? BINDERS : [...BINDERS].reverse()) {
        const name = `${binder}-${shape.claims}-${shape.sources === 'one' ? 'one' : 'each'}`
        const figures = await profiled({ directory: profile, name }, () => measureBinding(binder, shape))
        found[binder].push(figures)
        console.log(JSON.stringify({ binder, ...shape, ...figures, counts: { ...figures.counts, passes: undefined } }))
      }
    rows.push({ ...shape, figures: { nobody: middle(found.nobody), gate: middle(found.gate), baseline: middle(found.baseline) } })
  }
  return rows
}

/** The round with the median CPU. */
function middle(rounds: readonly BindingFigures[]): BindingFigures {
  const sorted = [...rounds].sort((a, b) => a.cpuMs - b.cpuMs)
  const [found] = sorted.slice(Math.floor(sorted.length / 2))
  if (found === undefined) throw new Error('nothing was measured')
  return found
}

function flatness(rows: readonly BindingRow[]): string {
  const own = rows.filter(({ sources }) => sources !== 'one')
  const [least, most] = [own[0], own.at(-1)]
  if (least === undefined || most === undefined) return ''
  const ratio = (binder: 'gate' | 'baseline'): string => (cpuPerClaim(most, binder) / cpuPerClaim(least, binder)).toFixed(2)
  const [many, few] = [most.claims, least.claims].map((claims) => claims.toLocaleString('en'))
  return `CPU per claim, ${many} : ${few}: gate ${ratio('gate')}, baseline ${ratio('baseline')}.`
}

async function triggers(isQuick: boolean): Promise<Parameters<typeof triggerTable>[0]> {
  const found: Record<'gate' | 'baseline', TriggerFigures[]> = { gate: [], baseline: [] }
  for (const pending of isQuick ? [100, 1000] : [100, 10_000])
    for (const binder of ['gate', 'baseline'] as const) found[binder].push(await measureTrigger(binder, pending))
  return found
}

async function release(later: Cleanup, { isQuick, profile }: { isQuick: boolean; profile?: string }): Promise<ReleaseResult> {
  const [workloads, pairs, rounds, held] = isQuick ? [100, 1000, 1, 20] : [1000, 10_000, 2, 100]
  const program = await privateProgram()
  later(async () => program.remove())
  const fleet = await startEmbeddedFleet(program.file, { members: 3, transport: 'in-process', profile })
  later(() => fleet.stop())
  await measureRelease(fleet.setup, 50, 'warm-up')
  const figures = { count: pairs, figures: await loadPairs(fleet.setup, pairs) }
  console.log(JSON.stringify({ pairs: figures }))
  const measured: ReleaseResult['rounds'][number][] = []
  for (let round = 0; round < rounds; round++) {
    measured.push(await measureRelease(fleet.setup, workloads, String(round)))
    console.log(JSON.stringify(measured.at(-1)))
  }
  const alone = await measureAlone(fleet.setup, 'last')
  const waiting = await heldWorkloads(fleet.setup, held, 'waiting')
  waiting.followed.stop()
  return { rounds: measured, alone, pairs: figures, restart: await measureRestart(fleet.setup, held) }
}
