/** The metrics of the controllers, from the table that makes them. */
import { METRICS } from '../../runtime/metrics.ts'
import { code, type Page, page, table } from './markdown.ts'

export function metricsPage(): Page {
  const intro =
    'On `/metrics` of every API server of `up`, beside its own `apiserver_*`, and on the health address of `sluice controllers`. Labels are names of controllers, resources, verbs and results: their number is fixed by the program.'
  const rows = Object.entries(METRICS).map(([name, help]) => [code(name), help])
  return page('metrics', { title: 'Metrics', from: 'src/runtime/metrics.ts', intro }, [table(['metric', 'meaning'], rows)])
}
