/** The propagation figures as a table, one column for each setup. */
import { whole } from './figures.ts'
import type { PropagationFigures } from './propagation.ts'

export interface PropagationRow {
  ground: string
  figures: PropagationFigures
}

const MEBIBYTE = 1024 * 1024

export function propagationTable(rows: readonly PropagationRow[]): string {
  const sum = (parts: Readonly<Record<string, number>>): number => Object.values(parts).reduce((total, one) => total + one, 0)
  const each = (parts: Readonly<Record<string, number>>, scale: number): string => {
    const names = Object.keys(parts)
    const detail = names.length < 2 ? '' : ` (${names.map((name) => `${name} ${whole((parts[name] ?? 0) / scale)}`).join(', ')})`
    return `${whole(sum(parts) / scale)}${detail}`
  }
  const line = (what: string, of: (figures: PropagationFigures) => string): string =>
    `| ${what} | ${rows.map(({ figures }) => of(figures)).join(' | ')} |`
  return [
    `| Deployments × members | ${rows.map(({ figures }) => `${figures.deployments.toLocaleString('en')} × ${figures.members}`).join(' | ')} |`,
    `| --- | ${rows.map(() => '---:').join(' | ')} |`,
    `| ground | ${rows.map(({ ground }) => ground).join(' | ')} |`,
    line('until every member has every one (s)', ({ wallMs }) => (wallMs / 1000).toFixed(1)),
    line('CPU until all is at rest (s)', ({ cpuMs }) => each(cpuMs, 1000)),
    line('of one, from its creation, p50 (ms)', ({ p50Ms }) => whole(p50Ms)),
    line('of one, p99 (ms)', ({ p99Ms }) => whole(p99Ms)),
    line('of one alone (ms)', ({ aloneMs }) => whole(aloneMs)),
    line('writes on the hub per Deployment, events aside', ({ writesPerObject }) => writesPerObject.toFixed(1)),
    line('events on the hub per Deployment', ({ eventsPerObject }) => eventsPerObject.toFixed(1)),
    line('resident memory (MiB)', ({ residentBytes }) => each(residentBytes, MEBIBYTE)),
    line('writes after a restart', ({ writesAfterRestart }) => String(writesAfterRestart)),
  ].join('\n')
}
