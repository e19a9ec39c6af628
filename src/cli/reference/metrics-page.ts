/** The metrics of the controllers, from the tables that define them. */
import { MODULES } from '../../modules.ts'
import { METRICS } from '../../runtime/metrics.ts'
import type { DeclaredMetrics, Module } from '../../runtime/module/module.ts'
import { code, type Page, page, table } from './markdown.ts'

export function metricsPage(modules: readonly Module[] = MODULES): Page {
  const intro =
    'On `/metrics` of every API server of `up`, beside its own `apiserver_*`, and on the health address of `sluice controllers`. Labels are names of controllers, resources, verbs and results: their number is fixed by the program.'
  const rows = Object.entries(METRICS).map(([name, help]) => [code(name), help])
  const sections = modules.flatMap(({ metrics }) => (metrics === undefined ? [] : [section(metrics)]))
  return page('metrics', { title: 'Metrics', from: 'src/runtime/metrics.ts', intro }, [table(['metric', 'meaning'], rows), ...sections])
}

function section({ heading, intro, declared, outro }: DeclaredMetrics): string {
  const rows = Object.entries(declared).map(([name, { type, labels, help }]) => [code(name), type, labels.map(code).join(' '), help])
  return [`## ${heading}`, intro, table(['metric', 'type', 'labels', 'meaning'], rows), ...(outro === undefined ? [] : [outro])].join(
    '\n\n',
  )
}
