/** The figures of references and of fewer workers as tables. */
import type { ChangesResult, Waits } from './data-changes.ts'
import type { ReferenceResult } from './data-references.ts'
import type { ScaleInFigures } from './data-scale-in.ts'
import { whole } from './figures.ts'

const seconds = (ms: number): string => (ms / 1000).toFixed(ms < 10_000 ? 2 : 1)
const KIB = 1024

export function changesTable({ references, changes, original, onward, inAll, cpuMsEach }: ChangesResult): string {
  const row = (what: string, { p50Ms, p99Ms, mostMs }: Waits): string => {
    const times = [(p50Ms / original.p50Ms).toFixed(1), (p99Ms / original.p99Ms).toFixed(1)]
    return `| ${[what, ...[p50Ms, p99Ms, mostMs].map((ms) => ms.toFixed(1)), ...times].join(' | ')} |`
  }
  return [
    `| ${whole(changes)} changes, ${references} references | p50 (ms) | p99 (ms) | most (ms) | p50 × | p99 × |`,
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    row('changed by a client → seen on the dataset itself (baseline)', original),
    row('seen on the dataset → seen on a reference', onward),
    row('changed by a client → seen on a reference', inAll),
    '',
    `A change cost ${whole(cpuMsEach)} ms of CPU, ${(cpuMsEach / (references + 1)).toFixed(1)} ms for each dataset that shows it.`,
  ].join('\n')
}

export function referencesTable({ namespaces, plain, growth, change, rest, restart }: ReferenceResult): string {
  const plainCpu = plain.cpuMs / plain.count
  const rows = growth.map(({ from, to, wallMs, cpuMs, written, listWritten, passes, residentBytes }, i) => {
    const more = to - from
    const memory = residentBytes - (growth[i - 1]?.residentBytes ?? Number.NaN)
    const cells = [
      ...[`${whole(from)} → ${whole(to)}`, seconds(wallMs), (wallMs / more).toFixed(1), (cpuMs / more).toFixed(1)],
      ...[(cpuMs / more / plainCpu).toFixed(1), (written / more).toFixed(1), String(listWritten), (passes / more).toFixed(0)],
      Number.isNaN(memory) ? '–' : whole(memory / more / KIB),
    ]
    return `| ${cells.join(' | ')} |`
  })
  const lines = [
    `| references, in ${namespaces} namespaces | all bound after (s) | time each (ms) | CPU each (ms) | × a volume and claim | writes each | writes of the list | passes each | memory each (KiB) |`,
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    `| ${whole(plain.count)} volumes and claims by hand (baseline) | ${seconds(plain.wallMs)} | ${(plain.wallMs / plain.count).toFixed(1)} | ${plainCpu.toFixed(1)} | 1.0 | – | – | – | – |`,
    ...rows,
  ]
  if (change !== undefined) {
    const { references, changes, cpuMs, writesEach, originalWrites, otherWrites, firstMs, middleMs, lastMs } = change
    const each = cpuMs / changes / references
    lines.push(
      '',
      `A change of the original with ${whole(references)} references, ${changes} times: ${writesEach.toFixed(3)} writes of each reference by each change, ${(originalWrites / changes).toFixed(1)} of the original, ${(otherWrites / changes).toFixed(1)} of anything else; seen on the first reference after ${whole(firstMs)} ms, on the middle one after ${whole(middleMs)} ms, on the last after ${whole(lastMs)} ms; ${each.toFixed(2)} ms of CPU per reference, ${(each / plain.cpuMsPerWrite).toFixed(1)} × that of a write by hand.`,
    )
  }
  const count = whole(growth.at(-1)?.to ?? 0)
  if (rest !== undefined)
    lines.push(
      '',
      `At rest with ${count} references, over ${rest.seconds} s: ${rest.writes} writes and ${rest.passes} passes of controllers, ${seconds(rest.cpuMs)} s of CPU.`,
    )
  if (restart !== undefined)
    lines.push(
      '',
      `A restart with ${count} references (${whole(restart.objects)} objects): ${restart.changed} objects written, idle again after ${seconds(restart.wallMs)} s and ${seconds(restart.cpuMs)} s of CPU, ${whole(restart.residentBytes / KIB ** 2)} MiB resident.`,
    )
  return lines.join('\n')
}

export function scaleInTable(all: readonly ScaleInFigures[]): string {
  const mebibytes = (bytes: number): string => whole(bytes / KIB ** 2)
  const [first] = all
  const rows = all.map(({ what, wallMs, cpuMs, movedBytes, staysBytes, sourceBytes, bytes }) => {
    const again = sourceBytes.during + sourceBytes.after
    const cells = [
      ...[what, seconds(wallMs), seconds(cpuMs.cache), seconds(cpuMs.sluice), mebibytes(movedBytes)],
      ...[movedBytes === 0 ? '–' : whole(movedBytes / 1e6 / (wallMs / 1000)), mebibytes(staysBytes.before)],
      ...[mebibytes(again), `${((100 * (bytes - again)) / bytes).toFixed(0)} %`],
    ]
    return `| ${cells.join(' | ')} |`
  })
  const reads = all.map(({ what, reads: { before, during }, everyBlockMs }) => {
    const cells = [
      ...[what, `${whole(during.reads)} (${during.failed})`, before.p50Ms.toFixed(1), during.p50Ms.toFixed(1)],
      ...[whole(before.p99Ms), whole(during.p99Ms), whole(before.slowestMs), whole(during.slowestMs)],
      ...[seconds(everyBlockMs.before), seconds(everyBlockMs.after)],
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [
    `A cache of ${mebibytes(first?.bytes ?? 0)} MiB, full, on three workers; from three to one:`,
    '',
    '| | time (s) | CPU of the cache (s) | CPU of Sluice (s) | moved (MiB) | moved, MB per second | the last worker held before (MiB) | read again from the source (MiB) | kept of the dataset |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
    '| reads of one block, at rest and meanwhile | meanwhile (failed) | p50 at rest (ms) | p50 (ms) | p99 at rest (ms) | p99 (ms) | slowest at rest (ms) | slowest (ms) | every block once before (s) | afterwards (s) |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...reads,
    '',
    ratiosText(all),
  ].join('\n')
}

/** With hand-over to without. */
function ratiosText(all: readonly ScaleInFigures[]): string {
  const ratio = (of: (one: ScaleInFigures) => number): string => {
    const meanOf = (what: ScaleInFigures['what']): number => {
      const found = all.filter((one) => one.what === what).map(of)
      return found.reduce((sum, value) => sum + value, 0) / found.length
    }
    return (meanOf('handed over') / meanOf('removed')).toFixed(2)
  }
  return [
    `Handed over to removed: time ${ratio(({ wallMs }) => wallMs)}, CPU ${ratio(({ cpuMs }) => cpuMs.cache + cpuMs.sluice)},`,
    `slowest read ${ratio(({ reads }) => reads.during.slowestMs)}, p99 ${ratio(({ reads }) => reads.during.p99Ms)},`,
    `read again from the source ${ratio(({ sourceBytes }) => sourceBytes.during + sourceBytes.after)},`,
    `every block once afterwards ${ratio(({ everyBlockMs }) => everyBlockMs.after)}.`,
  ].join(' ')
}
