/**
 * `npm run bench:fleet [-- --quick] [--write] [--no-kube] [--only interpreter|scheduling|propagation] [--ground TEXT] [--profile DIR]`:
 * what the fleet costs: interpreter calls, scheduling decisions, and Deployments on their way into members, on `sluice up` and
 * on real kube-apiservers. `--ground` plays only the grounds of the last whose names contain the text. `--write` puts each
 * table that was measured whole into docs/performance.md.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startRealFleet } from '../test/fleet/real.ts'
import { missingAssets } from '../test/machine/assets.ts'
import { type Cleanup, runProgram } from '../test/machine/interrupt.ts'
import { privateProgram } from '../test/machine/program.ts'
import { type EmbeddedShape, startEmbeddedFleet } from './embedded-fleet.ts'
import { machineText, replaceBetween } from './figures.ts'
import { interpreterTable, measureInterpreter } from './interpreter.ts'
import { measurePropagation, type PropagationFigures } from './propagation.ts'
import { type PropagationRow, propagationTable } from './propagation-table.ts'
import { measureScheduling, schedulingTable } from './scheduling.ts'

const DOCUMENT = 'docs/performance.md'
const KUBE = 'real kube-apiservers, etcd without fsync, TLS'

await runProgram(async (later) => {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      'no-kube': { type: 'boolean', default: false },
      only: { type: 'string' },
      ground: { type: 'string' },
      profile: { type: 'string' },
    },
  })
  const isWanted = (part: string): boolean => values.only === undefined || values.only === part
  const publish = (part: string, table: string): void => {
    const text = `${machineText('at the end')}\n\n${table}`
    console.log(`\n${text}`)
    if (values.write) writeFileSync(DOCUMENT, replaceBetween(readFileSync(DOCUMENT, 'utf8'), `bench:fleet:${part}`, text))
  }
  if (isWanted('interpreter')) publish('interpreter', interpreterTable(measureInterpreter(values.quick ? { forMs: 100 } : {})))
  if (isWanted('scheduling'))
    publish('scheduling', schedulingTable(measureScheduling(values.quick ? { sizes: [10, 100], forMs: 200 } : {})))
  if (!isWanted('propagation')) return 0
  const rows: PropagationRow[] = []
  const wanted = { isQuick: values.quick, hasKube: !values['no-kube'], ground: values.ground, profile: values.profile }
  // After each ground: a later one that fails loses nothing.
  for await (const row of propagation(later, wanted)) {
    rows.push(row)
    console.log(JSON.stringify(row))
    publish('propagation', propagationTable(rows))
  }
  const isQuiet = rows.every(({ figures }) => figures.writesAfterRestart === 0)
  if (!isQuiet) console.log('the fleet wrote something after a restart')
  return isQuiet ? 0 : 1
})

interface Wanted {
  isQuick: boolean
  hasKube: boolean
  ground?: string
  profile?: string
}

async function* propagation(later: Cleanup, { isQuick, hasKube, ground = '', profile }: Wanted): AsyncGenerator<PropagationRow> {
  const few = isQuick ? 100 : 1000
  const program = await privateProgram()
  later(async () => program.remove())
  if (hasKube && KUBE.includes(ground)) yield* onKube(few)
  const embedded = async (shape: EmbeddedShape, count: number): Promise<PropagationFigures> => {
    const fleet = await startEmbeddedFleet(program.file, { ...shape, profile })
    try {
      return await measurePropagation(fleet.setup, count)
    } finally {
      await fleet.stop()
    }
  }
  const shapes: [string, EmbeddedShape, number][] = [
    ['sluice up, members over TLS', { members: 3, transport: 'http' }, few],
    ['sluice up, in process', { members: 10, transport: 'in-process' }, few],
    ...(isQuick
      ? []
      : ([['sluice up, in process, many', { members: 10, transport: 'in-process' }, 10_000]] as [string, EmbeddedShape, number][])),
  ]
  for (const [name, shape, count] of shapes) if (name.includes(ground)) yield { ground: name, figures: await embedded(shape, count) }
}

async function* onKube(count: number): AsyncGenerator<PropagationRow> {
  const missing = missingAssets(['kubectl'])
  if (missing !== undefined) return console.log(`no real kube-apiservers: ${missing}`)
  const undo: (() => Promise<void>)[] = []
  const fleet = await startRealFleet((step) => void undo.push(async () => step()))
  try {
    yield { ground: KUBE, figures: await measurePropagation(fleet.setup, count) }
  } finally {
    for (const step of undo.reverse()) await step()
  }
}
