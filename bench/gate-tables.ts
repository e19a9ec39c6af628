/** The figures of the gate as tables. */
import { whole } from './figures.ts'
import type { Binder, BindingFigures, TriggerFigures } from './gate-binding.ts'
import type { LoadFigures, ReleaseFigures, RestartFigures } from './gate-release.ts'

export interface BindingRow {
  claims: number
  sources: 'each its own' | 'one'
  /** By who binds; the medians of all rounds. */
  figures: Readonly<Record<Binder, BindingFigures>>
}

const number = (value: number): string => value.toLocaleString('en')
const times = (theirs: number, ours: number): string => `${(theirs / ours).toFixed(1)} ×`

/** CPU of binding one claim: without the load itself. */
export const cpuPerClaim = ({ claims, figures }: BindingRow, binder: 'gate' | 'baseline'): number =>
  (figures[binder].cpuMs - figures.nobody.cpuMs) / claims

const timePerClaim = ({ claims, figures }: BindingRow, binder: 'gate' | 'baseline'): number =>
  (figures[binder].wallMs - figures.nobody.wallMs) / claims

const writesOf = ({ counts: { writes } }: BindingFigures): number => writes.claims + writes.sources + writes.others

export function bindingTable(rows: readonly BindingRow[]): string {
  const line = (what: string, of: (row: BindingRow) => string): string => `| ${what} | ${rows.map(of).join(' | ')} |`
  const each = (of: (figures: BindingFigures) => number, binder: 'gate' | 'baseline') => (row: BindingRow) =>
    (of(row.figures[binder]) / row.claims).toFixed(2)
  const lines = (binder: 'gate' | 'baseline', name: string): string[] => [
    line(`${name}: CPU per claim (ms)`, (row) => cpuPerClaim(row, binder).toFixed(2)),
    line(`${name}: time per claim (ms)`, (row) => timePerClaim(row, binder).toFixed(2)),
    line(
      `${name}: writes on the claim, per claim`,
      each(({ counts }) => counts.writes.claims, binder),
    ),
    line(
      `${name}: writes on sources, per claim`,
      each(({ counts }) => counts.writes.sources, binder),
    ),
    line(
      `${name}: events, per claim`,
      each(({ counts }) => counts.writes.events, binder),
    ),
    line(
      `${name}: reads of the server, per claim`,
      each(({ counts }) => counts.reads, binder),
    ),
  ]
  const restarts = ({ figures }: BindingRow): BindingFigures['restart'] => figures.gate.restart
  return [
    `| claims × sources | ${rows.map(({ claims, sources }) => `${number(claims)} × ${sources === 'one' ? 1 : number(claims)}`).join(' | ')} |`,
    `| --- | ${rows.map(() => '---:').join(' | ')} |`,
    line('the load alone: CPU per claim (ms)', ({ claims, figures }) => (figures.nobody.cpuMs / claims).toFixed(2)),
    ...lines('gate', 'gate'),
    line('gate: writes after a restart', (row) => String(restarts(row)?.writes ?? Number.NaN)),
    line('gate: CPU of a restart, per claim (ms)', (row) => ((restarts(row)?.cpuMs ?? Number.NaN) / row.claims).toFixed(2)),
    ...lines('baseline', 'baseline'),
    line('baseline : gate, CPU', (row) => times(cpuPerClaim(row, 'baseline'), cpuPerClaim(row, 'gate'))),
    line('baseline : gate, time', (row) => times(timePerClaim(row, 'baseline'), timePerClaim(row, 'gate'))),
    line('baseline : gate, writes without events', (row) => times(writesOf(row.figures.baseline), writesOf(row.figures.gate))),
  ].join('\n')
}

export function triggerTable(triggers: Readonly<Record<'gate' | 'baseline', readonly TriggerFigures[]>>): string {
  const rows = (name: 'gate' | 'baseline'): string[] =>
    triggers[name].map(({ pending, unwanted, wanted }) => {
      const cells = [unwanted, wanted].flatMap(({ passes, cpuMs }) => [number(passes), whole(cpuMs)])
      return `| ${name}, ${number(pending)} claims wait | ${cells.join(' | ')} |`
    })
  return [
    '| one more source | nobody wants it: passes | CPU (ms) | one claim wants it: passes | CPU (ms) |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows('gate'),
    ...rows('baseline'),
  ].join('\n')
}

export interface ReleaseResult {
  rounds: readonly ReleaseFigures[]
  alone: { releaseMs: number; appliedMs: number }
  pairs: { count: number; figures: LoadFigures }
  restart: RestartFigures
}

const sumOf = ({ claims, sources, bindings, others }: LoadFigures['writes']): number => claims + sources + bindings + others

export function releaseTable({ rounds, alone, restart }: ReleaseResult): string {
  const line = (what: string, of: (figures: ReleaseFigures) => readonly (number | undefined)[], digits = 2): string => {
    const columns = [0, 1, 2].map((i) => meanOf(rounds.map((figures) => of(figures)[i])))
    return `| ${what} | ${columns.map((value) => (value === undefined ? '–' : value.toFixed(digits))).join(' | ')} |`
  }
  const each = (what: string, of: (figures: LoadFigures) => number): string =>
    line(what, ({ workloads, without, held, released }) => {
      const [a, b] = [of(without), of(held) + of(released)].map((value) => value / workloads) as [number, number]
      return [a, b, b - a]
    })
  const [first] = rounds
  const released = (of: (figures: ReleaseFigures) => number): string => whole(meanOf(rounds.map(of)) ?? Number.NaN)
  return [
    `| ${number(first?.workloads ?? 0)} workloads, each | without claims | with claims | more |`,
    '| --- | ---: | ---: | ---: |',
    each('CPU (ms)', ({ cpuMs }) => cpuMs),
    each('time (ms)', ({ wallMs }) => wallMs),
    each('writes on its binding', ({ writes }) => writes.bindings),
    each('writes on its claim', ({ writes }) => writes.claims),
    each('writes on the source', ({ writes }) => writes.sources),
    each('other writes on the hub', ({ writes }) => writes.others),
    each('writes on the hub, together', ({ writes }) => sumOf(writes)),
    each('events', ({ events }) => events),
    '',
    '| from creating the source | ms |',
    '| --- | ---: |',
    `| to the first release of ${number(first?.workloads ?? 0)} | ${released(({ firstReleaseMs }) => firstReleaseMs)} |`,
    `| to the last | ${released(({ lastReleaseMs }) => lastReleaseMs)} |`,
    `| to the release of one that waits alone | ${whole(alone.releaseMs)} |`,
    `| until that one is applied in its cluster | ${whole(alone.appliedMs)} |`,
    '',
    `A restart with ${number(restart.claims)} claims, ${number(restart.sources)} sources and ${number(restart.bindings)} bindings, of which ${number(restart.stillHeld)} are held: ${restart.writes} writes.`,
  ].join('\n')
}

function meanOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length
}
