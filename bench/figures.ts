/** What was measured, and how it is formatted as a table. */
import os from 'node:os'

export const whole = (value: number): string => Math.round(value).toLocaleString('en')

/** The machine, and its other load, when the figures were taken. */
export function machineText(when: 'at the beginning' | 'at the end'): string {
  const [cpu] = os.cpus()
  return `Node ${process.version}, ${os.availableParallelism()} × ${cpu?.model.split(' ').slice(0, 2).join(' ')}, load average ${os.loadavg()[0]?.toFixed(1)} ${when}.`
}

export interface Figure {
  /** Number of stored objects when it was measured. */
  scale: number
  what: string
  unit: 'per second' | 'ms' | 'MiB' | 'ms of CPU'
  /** By server; the median of all rounds. */
  values: Record<string, number[]>
}

/** Above 1 is always good, whether more or less is better: "how many times better we are". */
function ratio(figure: Figure, ours: string, theirs: string): number | undefined {
  const [a, b] = [medianOf(figure, ours), medianOf(figure, theirs)]
  if (a === undefined || b === undefined || a === 0 || b === 0) return undefined
  return figure.unit === 'per second' ? a / b : b / a
}

function medianOf(figure: Figure, server: string): number | undefined {
  const sorted = [...(figure.values[server] ?? [])].sort((a, b) => a - b)
  if (sorted.length === 0) return undefined
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

export class Figures {
  readonly all: Figure[] = []

  add(scale: number, what: string, unit: Figure['unit'], server: string, values: readonly number[]): void {
    let figure = this.all.find((one) => one.scale === scale && one.what === what)
    if (figure === undefined) {
      figure = { scale, what, unit, values: {} }
      this.all.push(figure)
    }
    figure.values[server] = [...(figure.values[server] ?? []), ...values]
  }
}

const shown = (value: number | undefined): string =>
  value === undefined ? '–' : value >= 100 ? String(Math.round(value)) : value >= 10 ? value.toFixed(1) : value.toFixed(2)

/** One row per figure, one column per number of stored objects; each cell ours / theirs / ratio. */
export function markdown(figures: readonly Figure[], servers: readonly string[]): string {
  const scales = [...new Set(figures.map((figure) => figure.scale))].sort((a, b) => a - b)
  const rows = [...new Set(figures.map((figure) => figure.what))]
  const [ours = '', theirs] = servers
  const columns = scales.flatMap((scale) => {
    const title = scale === 0 ? 'empty' : `${scale.toLocaleString('en')} objects`
    return theirs === undefined ? [title] : [title, 'theirs', '×']
  })
  const lines = [`| | unit | ${columns.join(' | ')} |`, `| --- | --- | ${columns.map(() => '---:').join(' | ')} |`]
  for (const what of rows) {
    const of = figures.filter((figure) => figure.what === what)
    const cells = scales.flatMap((scale) => {
      const figure = of.find((one) => one.scale === scale)
      const mine = shown(figure && medianOf(figure, ours))
      if (theirs === undefined) return [mine]
      const times = figure && ratio(figure, ours, theirs)
      return [mine, shown(figure && medianOf(figure, theirs)), times === undefined ? '–' : times.toFixed(2)]
    })
    lines.push(`| ${what} | ${of[0]?.unit ?? ''} | ${cells.join(' | ')} |`)
  }
  return lines.join('\n')
}

/** The text between the two marks of a file is replaced. */
export function replaceBetween(text: string, name: string, content: string): string {
  const [from, to] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`]
  const start = text.indexOf(from)
  const end = text.indexOf(to)
  if (start < 0 || end < start) throw new Error(`there is no place for ${name}: the marks ${from} and ${to} are missing`)
  return `${text.slice(0, start + from.length)}\n${content}\n${text.slice(end)}`
}
