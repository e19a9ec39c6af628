/** The figures of datasets as tables. */
import type { BindingFigures } from './data-binding.ts'
import type { BytesResult, Spent } from './data-bytes.ts'
import type { PodFigures } from './data-pods.ts'
import type { ScaleResult } from './data-scale.ts'
import { whole } from './figures.ts'

const seconds = (ms: number): string => (ms / 1000).toFixed(ms < 10_000 ? 2 : 1)
const mebibytes = (bytes: number): string => whole(bytes / 1024 ** 2)

export function bindingTable(rows: readonly BindingFigures[]): string {
  return [
    '| last pod ready → Bound | datasets | p50 (ms) | p99 (ms) | most (ms) | CPU per dataset, in all (ms) |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map(
      ({ how, datasets, p50Ms, p99Ms, mostMs, cpuMsEach }) =>
        `| ${[how, whole(datasets), ...[p50Ms, p99Ms, mostMs, cpuMsEach].map(whole)].join(' | ')} |`,
    ),
  ].join('\n')
}

export function scaleTable({ plain, growth, rest, restart }: ScaleResult): string {
  const plainCpu = plain.cpuMs / plain.count
  const rows = growth.map(({ from, to, wallMs, cpuMs, writes, passes, residentBytes }) => {
    const more = to - from
    const cells = [
      ...[`${whole(from)} → ${whole(to)}`, seconds(wallMs), (wallMs / more).toFixed(1), (cpuMs / more).toFixed(1)],
      ...[(cpuMs / more / plainCpu).toFixed(1), (writes / more).toFixed(1), (passes / more).toFixed(0), mebibytes(residentBytes)],
    ]
    return `| ${cells.join(' | ')} |`
  })
  const each = (value: number, digits: number): string => (value / plain.count).toFixed(digits)
  const lines = [
    '| datasets | time (s) | time each (ms) | CPU each (ms) | × its pods alone | writes each | passes each | resident (MiB) |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    `| ${whole(plain.count)} × the pods and Services alone | ${seconds(plain.wallMs)} | ${each(plain.wallMs, 1)} | ${plainCpu.toFixed(1)} | 1.0 | ${each(plain.writes, 1)} | ${each(plain.passes, 0)} | – |`,
    ...rows,
  ]
  if (rest !== undefined)
    lines.push(
      '',
      `At rest with ${whole(rest.datasets)} datasets, over ${rest.seconds} s: ${rest.writes} writes and ${rest.passes} passes of controllers, ${seconds(rest.cpuMs)} s of CPU (${seconds(rest.emptyCpuMs)} s without a dataset).`,
    )
  if (restart !== undefined)
    lines.push(
      '',
      `A restart with ${whole(restart.datasets)} datasets (${whole(restart.objects)} objects of these kinds): ${restart.changed} objects written, idle again after ${seconds(restart.wallMs)} s and ${seconds(restart.cpuMs)} s of CPU, ${mebibytes(restart.residentBytes)} MiB resident.`,
    )
  return lines.join('\n')
}

export function bytesTable(results: readonly BytesResult[]): string {
  return results
    .flatMap(({ shape, copy, fills, blocks, readSource, readVolume }) => {
      const megabytes = (shape.files * shape.bytesEach) / 1e6
      const rate = ({ cpuMs }: Spent): string => whole(megabytes / (cpuMs / 1000))
      const row = (what: string, spent: Spent, { base, parts = '–' }: { base: Spent; parts?: string }): string =>
        `| ${what} | ${seconds(spent.wallMs)} | ${seconds(spent.cpuMs)} | ${parts} | ${rate(spent)} | ${((spent.cpuMs * 1000) / shape.files).toFixed(0)} | ${(spent.cpuMs / base.cpuMs).toFixed(1)} | ${(spent.wallMs / base.wallMs).toFixed(1)} |`
      return [
        `${shape.name}:`,
        '',
        '| | time (s) | CPU (s) | master + worker + client | MB per CPU second | CPU per file (µs) | × CPU of the baseline | × its time |',
        '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
        row('`cp -r` from the source (baseline)', copy, { base: copy }),
        ...fills.map(({ what, figures: { wallMs, cpuMs } }) => {
          const parts = [cpuMs.master, cpuMs.worker, cpuMs.client].map(seconds).join(' + ')
          return row(`a volume filled, ${what}`, { wallMs, cpuMs: cpuMs.master + cpuMs.worker + cpuMs.client }, { base: copy, parts })
        }),
        ...blocks.map(({ what, spent }) => row(`blocks alone, warm, ${what}`, spent, { base: copy })),
        row('reading the source (baseline)', readSource, { base: readSource }),
        row('reading the volume', readVolume, { base: readSource }),
        '',
      ]
    })
    .join('\n')
}

export function podTable({ shape, directMs, firstMs, secondMs, firstCopiedBytes, secondCopiedBytes }: PodFigures): string {
  return [
    `| ${shape.name}, from the creation of a pod until it has read every byte | time (s) | copied on its node (MiB) |`,
    '| --- | ---: | ---: |',
    `| the source itself mounted (baseline) | ${seconds(directMs)} | 0 |`,
    `| the dataset, first pod of the node | ${seconds(firstMs)} | ${mebibytes(firstCopiedBytes)} |`,
    `| the dataset, second pod of the node | ${seconds(secondMs)} | ${mebibytes(secondCopiedBytes)} |`,
  ].join('\n')
}
