/** The series of the declared metrics, by name. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { type DeclaredMetric, KARMADA_METRICS, type KarmadaMetric } from './declared.ts'

export type Labels = Readonly<Record<string, string>>

export interface Series {
  count(name: KarmadaMetric, labels: Labels): void
  observe(name: KarmadaMetric, labels: Labels, seconds: number): void
  /** Replaces all values of a gauge; `read` is called at scrape time. */
  read(name: KarmadaMetric, read: () => Iterable<readonly [Labels, number]>): void
  /** Which clusters have counters or histograms. */
  clusters(): Iterable<string>
  /** Stops exposing the series of a cluster. */
  forget(cluster: string): void
}

export const MEMBER_LABEL = 'member_cluster'

export function createSeries(registry: Registry): Series {
  const counters = new Map<string, Counter>()
  const histograms = new Map<string, Histogram>()
  const readers = new Map<string, () => Iterable<readonly [Labels, number]>>()
  const ofCluster = new Map<string, Map<string, () => void>>()
  for (const [name, { type, help, labels, buckets }] of Object.entries<DeclaredMetric>(KARMADA_METRICS)) {
    const options = { name, help, labelNames: [...labels], registers: [registry] }
    if (type === 'counter') counters.set(name, new Counter(options))
    else if (type === 'histogram')
      histograms.set(name, new Histogram({ ...options, ...(buckets === undefined ? {} : { buckets: [...buckets] }) }))
    else
      new Gauge({
        ...options,
        collect() {
          this.reset()
          for (const [of, value] of readers.get(name)?.() ?? []) this.set({ ...of }, value)
        },
      })
  }
  function note(name: string, labels: Labels, remove: () => void): void {
    const cluster = labels[MEMBER_LABEL]
    if (cluster === undefined) return
    const known = ofCluster.get(cluster) ?? new Map<string, () => void>()
    ofCluster.set(cluster, known.set(`${name} ${JSON.stringify(labels)}`, remove))
  }
  return {
    count(name, labels) {
      const counter = counters.get(name)
      counter?.inc({ ...labels })
      note(name, labels, () => counter?.remove({ ...labels }))
    },
    observe(name, labels, seconds) {
      const histogram = histograms.get(name)
      histogram?.observe({ ...labels }, seconds)
      note(name, labels, () => histogram?.remove({ ...labels }))
    },
    read: (name, read) => void readers.set(name, read),
    clusters: () => ofCluster.keys(),
    forget(cluster) {
      for (const remove of ofCluster.get(cluster)?.values() ?? []) remove()
      ofCluster.delete(cluster)
    },
  }
}
