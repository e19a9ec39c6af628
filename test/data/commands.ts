/** What the commands of caches answer in a story, and how often they were run: those of the story's own class and of `builtin`. */

import type { CommandCall, CommandOutcome } from '../../src/faultsim/world/commands.ts'
import type { WorldCluster } from '../../src/faultsim/world/index.ts'

export interface Answers {
  /** Paths in the dataset that are mounted (default `/one`), or anything else that the command answers. */
  mounted?: readonly string[] | CommandOutcome
  report?: CommandOutcome
}

export const FIGURES = {
  ...{ cached: '1.00GiB', cachedPercentage: '50.0%', cacheCapacity: '4.00GiB', cacheHitRatio: '0.0%' },
  ...{ ufsTotal: '2.00GiB', fileNum: '17' },
}

export const isOf = (what: 'mount' | 'report', { command }: Pick<CommandCall, 'command'>): boolean =>
  (what === 'mount' ? ['mount', 'mount-ufs'] : ['report', 'report-summary']).includes(command.at(-1) ?? '')

export function answering({ commands }: WorldCluster, { mounted = ['/one'], report }: Answers = {}): void {
  const isPaths = (value: readonly string[] | CommandOutcome): value is readonly string[] => Array.isArray(value)
  const mount = isPaths(mounted) ? { stdout: JSON.stringify({ mounted }) } : mounted
  commands.script((call) => {
    if (isOf('mount', call)) return mount
    return isOf('report', call) ? (report ?? { stdout: JSON.stringify(FIGURES) }) : undefined
  })
}

/** The pods in which a command was run, in order. */
export const ranIn = ({ commands }: WorldCluster, what: 'mount' | 'report'): string[] =>
  commands.calls.filter((call) => isOf(what, call)).map(({ pod }) => pod)
