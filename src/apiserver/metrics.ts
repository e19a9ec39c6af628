/** /metrics in the Prometheus text format, with the names that dashboards for kube-apiserver already know. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ApiResponse } from '../kube/http.ts'
import type { RequestInfo } from '../kube/request-info.ts'

export interface ServerMetrics {
  registry: Registry
  observe(info: RequestInfo, status: number, tookMs: number): void
  serve(): Promise<ApiResponse>
}

const LATENCY_BUCKETS_SECONDS = [0.001, 0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 5, 10, 30, 60]

export interface MetricsSources {
  inFlight(): number
  watches(): number
  revision(): number
  /** Whether a request names something that is served. */
  isServed(info: RequestInfo): boolean
}

/** Verbs of resources; a client may make up methods, which must not become series. */
const VERBS = new Set(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'])

export function createMetrics(sources: MetricsSources): ServerMetrics {
  const registry = new Registry()
  const labels = ['verb', 'group', 'version', 'resource', 'subresource', 'code'] as const
  const requests = new Counter({ name: 'apiserver_request_total', help: 'Requests served.', labelNames: labels, registers: [registry] })
  const latency = new Histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'Time to answer (for a watch: to begin answering).',
    labelNames: ['verb', 'group', 'version', 'resource', 'subresource'] as const,
    buckets: LATENCY_BUCKETS_SECONDS,
    registers: [registry],
  })
  gauge('apiserver_current_inflight_requests', 'Requests under way.', sources.inFlight)
  gauge('apiserver_registered_watchers', 'Watches open.', sources.watches)
  gauge('sluice_store_revision', 'Newest revision of this cluster.', sources.revision)

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  }

  /** Looked up once: the registry finds a series by sorting and joining its labels. */
  const series = new Map<string, { count(): void; took(seconds: number): void }>()
  function seriesOf(
    of: Record<Exclude<(typeof labels)[number], 'code'>, string>,
    code: string,
  ): { count(): void; took(seconds: number): void } {
    const key = `${of.verb} ${of.group} ${of.version} ${of.resource} ${of.subresource} ${code}`
    const known = series.get(key)
    if (known !== undefined) return known
    const counter = requests.labels({ ...of, code })
    const histogram = latency.labels(of)
    const found = { count: () => counter.inc(), took: (seconds: number) => histogram.observe(seconds) }
    series.set(key, found)
    return found
  }

  return {
    registry,
    observe(info, status, tookMs) {
      // Only what exists becomes a label: clients cannot create series by requesting things that do not exist.
      const verb = info.isResource && VERBS.has(info.verb) ? info.verb : 'other'
      const of =
        info.isResource && sources.isServed(info)
          ? { verb, group: info.group, version: info.version, resource: info.resource, subresource: info.subresource }
          : { verb, group: '', version: '', resource: '', subresource: '' }
      const { count, took } = seriesOf(of, String(status))
      count()
      took(tookMs / 1000)
    },
    async serve() {
      return {
        status: 200,
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores' },
        body: Buffer.from(await registry.metrics()),
      }
    },
  }
}
