/** The metrics of the controllers, from the table that makes them. */
import { type DeclaredMetric, KARMADA_METRICS } from '../../fleet/metrics/declared.ts'
import { METRICS } from '../../runtime/metrics.ts'
import { code, type Page, page, table } from './markdown.ts'

export function metricsPage(): Page {
  const intro =
    'On `/metrics` of every API server of `up`, beside its own `apiserver_*`, and on the health address of `sluice controllers`. Labels are names of controllers, resources, verbs and results: their number is fixed by the program.'
  const rows = Object.entries(METRICS).map(([name, help]) => [code(name), help])
  const karmadas = Object.entries<DeclaredMetric>(KARMADA_METRICS).map(([name, { type, labels, help }]) => [
    code(name),
    type,
    labels.map(code).join(' '),
    help,
  ])
  const fleet = [
    '## Of the fleet, as Karmada names them',
    'On the hub, from `src/fleet/metrics/declared.ts`: names, types, labels and buckets are those of Karmada, so that dashboards made for it go on working. The controllers and the scheduler are one process here, so all are on one page. Passes that changed nothing are not counted as attempts. Series of a cluster go with it.',
    table(['metric', 'type', 'labels', 'meaning'], karmadas),
    'Not here, because there is nothing to tell: `pool_*` (Lua interpreters are not pooled), `karmada_scheduler_framework_extension_point_duration_seconds` and `karmada_scheduler_plugin_execution_duration_seconds` (a filter of one cluster takes less than its measurement; the steps are measured), `karmada_scheduler_estimator_*`, `federatedhpa_*`, `cronfederatedhpa_*` (kinds that are not here), `karmada_build_info`.',
  ].join('\n\n')
  return page('metrics', { title: 'Metrics', from: 'src/runtime/metrics.ts', intro }, [table(['metric', 'meaning'], rows), fleet])
}
