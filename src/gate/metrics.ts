/**
 * What dashboards and alerts ask of the gate: how many workloads wait, and for what; how many claims are bound. Counted with
 * every event, so that a scrape costs as much as there are series.
 */
import { Gauge, type Registry } from 'prom-client'
import type { Informer } from '../client/cache/informer.ts'
import type { DataSourceClaim } from '../kinds/volcano/index.ts'
import { HOLD_REASONS } from '../kinds/volcano/well-known.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { DeclaredMetrics } from '../runtime/module/module.ts'
import { HELD_REASON, NARROWED_BY } from '../runtime/seams/narrowing.ts'

const METRICS = {
  sluice_gate_held_bindings: { type: 'gauge', labels: ['reason'], help: 'Bindings that wait for data, by reason.' },
  sluice_gate_claims: { type: 'gauge', labels: ['phase'], help: 'DataSourceClaims, by phase.' },
} as const

export const GATE_METRICS: DeclaredMetrics = {
  heading: 'Gate',
  intro: 'On the hub. Reasons and phases are fixed words ([data dependencies](../operations/data-dependencies.md)).',
  declared: METRICS,
}

export interface Counted {
  claims: Informer
  bindings: Informer
}

export function registerGateMetrics(registry: Registry, { claims, bindings }: Counted): void {
  const gauge = (name: keyof typeof METRICS): Gauge =>
    new Gauge({ name, help: METRICS[name].help, labelNames: [...METRICS[name].labels], registers: [registry] })
  const held = gauge('sluice_gate_held_bindings')
  const phases = gauge('sluice_gate_claims')
  count(bindings, heldReasonOf, (reason, n) => held.set({ reason }, n))
  count(claims, phaseOf, (phase, n) => phases.set({ phase }, n))
}

/** What others hold is not counted, although its reason is in the same annotation; nor does a word that somebody makes up become a series. */
function heldReasonOf({ metadata: { annotations = {} } }: KubeObject): string | undefined {
  const reason = annotations[HELD_REASON]
  const isOurs = (annotations[NARROWED_BY] ?? '').split(',').includes('gate')
  if (reason === undefined || !isOurs) return undefined
  return (HOLD_REASONS as readonly string[]).includes(reason) ? reason : 'Other'
}

const phaseOf = (object: KubeObject): string => (object as unknown as DataSourceClaim).status?.phase ?? 'Pending'

function count(informer: Informer, seriesOf: (object: KubeObject) => string | undefined, show: (series: string, n: number) => void): void {
  const counts = new Map<string, number>()
  const add = (object: KubeObject, change: 1 | -1): void => {
    const series = seriesOf(object)
    if (series === undefined) return
    const next = (counts.get(series) ?? 0) + change
    counts.set(series, next)
    show(series, next)
  }
  informer.subscribe(({ type, object, old }) => {
    if (old !== undefined) add(old, -1)
    if (type !== 'deleted') add(object, 1)
  })
}
