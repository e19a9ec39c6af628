/** What users see while something takes time, and when it is done. */
import pc from 'picocolors'
import type { DataDir } from './data-dir.ts'
import type { Machine } from './machine.ts'
import type { Running } from './serve.ts'

export interface Progress {
  step(text: string): void
  done(): void
}

const CLEAR_LINE = '\r\u001b[2K'

/** One changing line on a terminal; nothing elsewhere, where it would only fill logs. */
export function startProgress(machine: Machine): Progress {
  let isShown = false
  return {
    step(text) {
      if (!machine.isTerminal) return
      machine.err(`${CLEAR_LINE}${pc.dim('…')} ${text}`)
      isShown = true
    },
    done() {
      if (isShown) machine.err(CLEAR_LINE)
      isShown = false
    },
  }
}

/** `hasStory`: a story follows, which ends with what to try next. */
export function describeStart(machine: Machine, dir: DataDir, running: Running, { hasStory = false } = {}): string {
  const colour = machine.isTerminal ? pc : pc.createColors(false)
  const width = Math.max(...running.clusters.map((cluster) => cluster.name.length))
  const rows = running.clusters.map((cluster) => `  ${colour.bold(cluster.name.padEnd(width))}  ${cluster.url}`)
  return [
    `${colour.green('Sluice is up')}${running.bare ? ' (bare: APIs alone, no controllers)' : ''}, data in ${dir.path}`,
    '',
    ...rows,
    '',
    `  export KUBECONFIG=${dir.kubeconfig}`,
    '  kubectl get ns                       # the hub',
    ...(running.clusters.length > 1 ? ['  kubectl --context member1 get ns     # a member'] : []),
    '',
    ...(running.podsRefusal === undefined
      ? []
      : [
          `${colour.yellow('Pods with volumes cannot run for real here, and others find no Services by name')}: ${running.podsRefusal}`,
          '',
        ]),
    ...(hasStory ? [] : ['Ctrl-C stops it; everything is kept.', '']),
  ].join('\n')
}
