/** The report as Prometheus reads it. Pure; values of labels are escaped, because names of mounts come from tenants. */
import type { Members } from './members.ts'
import { sorted } from './members.ts'
import type { Report } from './report.ts'

type Labels = Readonly<Record<string, string>>

export function metricsText(report: Report, members: Members): string {
  const lines: string[] = []
  const metric = (name: string, help: string, type: 'gauge' | 'counter', values: readonly (readonly [Labels, number])[]) => {
    lines.push(`# HELP sluice_cache_${name} ${help}`, `# TYPE sluice_cache_${name} ${type}`)
    for (const [labels, value] of values) lines.push(`sluice_cache_${name}${labelText(labels)} ${value}`)
  }
  metric('files', 'Files of the dataset.', 'gauge', [[{}, report.files]])
  metric('source_bytes', 'Bytes of the dataset at its sources.', 'gauge', [[{}, report.ufsTotalBytes]])
  metric('inventory_complete', 'Whether the first listing of every mount has ended.', 'gauge', [[{}, report.isComplete ? 1 : 0]])
  metric('epoch', 'Epoch of the membership.', 'gauge', [[{}, report.epoch]])
  metric(
    'cached_bytes',
    'Bytes that a worker holds.',
    'gauge',
    report.workers.map(({ pod, node, cachedBytes }) => [{ pod, node }, cachedBytes]),
  )
  metric(
    'capacity_bytes',
    'Quota of a worker.',
    'gauge',
    report.workers.map(({ pod, node, capacityBytes }) => [{ pod, node }, capacityBytes]),
  )
  metric(
    'worker_serving',
    'Whether a worker owns blocks.',
    'gauge',
    report.workers.map(({ pod, state }) => [{ pod }, state === 'serving' ? 1 : 0]),
  )
  metric(
    'mount_files',
    'Files of a mount.',
    'gauge',
    report.mounts.map(({ path, files }) => [{ path }, files]),
  )
  metric(
    'mount_failed',
    'Whether the last listing of a mount failed.',
    'gauge',
    report.mounts.map(({ path, state }) => [{ path }, state === 'failed' ? 1 : 0]),
  )
  const counters = sorted(members).flatMap(({ name, beat }) =>
    [...(beat?.counters ?? [])].map(([counter, value]) => [{ pod: name, counter }, value] as const),
  )
  metric('worker_count', 'Counters of a worker since its start.', 'counter', counters)
  return `${lines.join('\n')}\n`
}

function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (at) => (at === '\n' ? '\\n' : `\\${at}`))}"`,
  )
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}
