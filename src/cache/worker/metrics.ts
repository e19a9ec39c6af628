/** A worker's figures as Prometheus reads them. Pure. */
import type { WorkerReport } from './options.ts'

export function metricsText({ tiers, counters, blocks, epoch, handover }: WorkerReport): string {
  const lines: string[] = []
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const counter = (name: string, value: number) => lines.push(`# TYPE ${name} counter`, `${name} ${value}`)
  const gauge = (name: string, values: readonly (readonly [string, number])[]) =>
    lines.push(`# TYPE ${name} gauge`, ...values.map(([labels, value]) => `${name}${labels} ${value}`))
  for (const [name, value] of Object.entries(counters)) counter(`sluice_cache_worker_${snake(name)}_total`, value)
  for (const [name, value] of Object.entries(blocks)) counter(`sluice_cache_worker_blocks_${snake(name)}_total`, value)
  const perTier = (of: 'quotaBytes' | 'usedBytes' | 'blocks') =>
    tiers.map((tier, level) => [`{level="${level}",medium="${tier.medium}"}`, tier[of]] as const)
  gauge('sluice_cache_worker_quota_bytes', perTier('quotaBytes'))
  gauge('sluice_cache_worker_used_bytes', perTier('usedBytes'))
  gauge('sluice_cache_worker_blocks', perTier('blocks'))
  gauge('sluice_cache_worker_epoch', [['', epoch]])
  gauge('sluice_cache_worker_handover_blocks', [
    ['{result="moved"}', handover.moved.blocks],
    ['{result="dropped"}', handover.dropped.blocks],
    ['{result="left"}', handover.left.blocks],
  ])
  return `${lines.join('\n')}\n`
}
