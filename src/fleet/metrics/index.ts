/**
 * Karmada's metrics, from what the runtime reports about passes, writes, events and queues, and from what controllers of
 * the fleet measure. A write or a pass costs a few look-ups; what can be read from caches is read at scrape time.
 */
import type { Registry } from 'prom-client'
import type { Clock } from '../../base/clock.ts'
import type { Caches } from '../../client/cache/caches.ts'
import { CLUSTERS } from '../../kinds/karmada/resources.ts'
import { groupVersion } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type { ControllerMetrics, Write } from '../../runtime/metrics.ts'
import type { Pass } from '../../runtime/workers.ts'
import type { Decided, FleetMeasures } from './measures.ts'
import { readAtScrape } from './scrape.ts'
import { createSeries, MEMBER_LABEL, type Series } from './series.ts'

export interface FleetMetrics {
  /** Receives what the runtime reports. */
  observer: Partial<ControllerMetrics>
  measures: FleetMeasures
}

const CLUSTER_SCOPED = '.cluster-scoped'
/** A controller of cluster-scoped bindings counts as the one of namespaced bindings. */
const baseOf = (controller: string): string =>
  controller.endsWith(CLUSTER_SCOPED) ? controller.slice(0, -CLUSTER_SCOPED.length) : controller

const DETECTOR = 'fleet.detector.binding'
const WORKS = 'fleet.binding.works'
const EXECUTION = 'fleet.execution'
const SCHEDULER = 'fleet.scheduler'
const EVICTION = 'fleet.failover.taint-eviction'
const PREEMPTIONS: Readonly<Record<string, string>> = { PreemptPolicySucceed: 'success', PreemptPolicyFailed: 'error' }

export function createFleetMetrics(registry: Registry, clock: Clock): FleetMetrics {
  const series = createSeries(registry)
  const preciseMs = (): number => clock.preciseMs?.() ?? clock.now()
  /** Passes in progress in which something was refused, or a warning recorded. */
  const inTrouble = new Set<string>()
  const decisions = new Map<string, Decided>()
  const queues = new Map<string, () => { depth: number; retrying: number }>()
  let caches: Caches | undefined
  let evictions: () => Iterable<string> = () => []
  readAtScrape(series, { caches: () => caches, queues, evictions: () => evictions() })

  return {
    observer: {
      watchCaches(given) {
        caches = given
        inTrouble.clear()
        decisions.clear()
      },
      watchQueue: (controller, read) => void (baseOf(controller) === SCHEDULER && queues.set(controller, read)),
      triggered(controller, { kind }, type) {
        if (baseOf(controller) !== SCHEDULER) return
        const isCluster = kind === CLUSTERS.kind
        if (!isCluster && type === 'deleted') return
        const event = isCluster ? 'ClusterChanged' : type === 'added' ? 'BindingAdd' : 'BindingUpdate'
        series.count('karmada_scheduler_queue_incoming_bindings_total', { event })
      },
      eventRecorded(controller, key, { type, reason }) {
        if (type === 'Warning') inTrouble.add(`${controller} ${key}`)
        const result = Object.hasOwn(PREEMPTIONS, reason) ? PREEMPTIONS[reason] : undefined
        if (result !== undefined) series.count('policy_preemption_total', { result })
      },
      wrote(write) {
        if (write.result === 'refused' && write.key !== undefined) inTrouble.add(`${write.controller} ${write.key}`)
        if (write.controller === EXECUTION && write.cluster !== undefined && write.target !== undefined)
          countWrite(series, write, write.target)
      },
      pass(pass) {
        const id = `${pass.controller} ${pass.key}`
        const isFailed = inTrouble.delete(id) || pass.result === 'failed'
        const decided = decisions.get(id)
        decisions.delete(id)
        if (pass.result === 'conflict') return
        if (decided !== undefined) observeAttempt(series, pass, decided)
        if (isFailed || pass.writes > 0) observePass(series, pass, isFailed ? 'error' : 'success')
      },
    },
    measures: {
      timed(what, work) {
        const startedMs = preciseMs()
        const result = work()
        const seconds = (preciseMs() - startedMs) / 1000
        if (what === 'MatchPolicy') series.observe('resource_match_policy_duration_seconds', {}, seconds)
        else series.observe('karmada_scheduler_scheduling_algorithm_duration_seconds', { schedule_step: what }, seconds)
        return result
      },
      decided: (decision) => void decisions.set(`${decision.controller} ${decision.key}`, decision),
      heartbeat: (cluster, ms) => series.observe('cluster_sync_status_duration_seconds', { [MEMBER_LABEL]: cluster }, ms / 1000),
      watchEvictions(waiting) {
        evictions = waiting
      },
    },
  }
}

function observePass(series: Series, { controller, durationMs }: Pass, result: string): void {
  const seconds = durationMs / 1000
  switch (baseOf(controller)) {
    case DETECTOR:
      series.observe('resource_apply_policy_duration_seconds', { result }, seconds)
      series.count('policy_apply_attempts_total', { result })
      break
    case WORKS:
      series.observe('binding_sync_work_duration_seconds', { result }, seconds)
      break
    case EXECUTION:
      series.observe('work_sync_workload_duration_seconds', { result }, seconds)
      break
    case EVICTION: {
      const name = controller === EVICTION ? 'binding-eviction' : 'cluster-binding-eviction'
      series.observe('eviction_processing_latency_seconds', { name }, seconds)
      series.count('eviction_processing_total', { name, result })
    }
  }
}

function observeAttempt(series: Series, { result: passed, durationMs }: Pass, { type, isSuccess }: Decided): void {
  const result = isSuccess && passed === 'done' ? 'scheduled' : 'error'
  const labels = { result, schedule_type: type }
  series.count('karmada_scheduler_schedule_attempts_total', labels)
  series.observe('karmada_scheduler_e2e_scheduling_duration_seconds', labels, durationMs / 1000)
  if (passed === 'failed') series.count('karmada_scheduler_queue_incoming_bindings_total', { event: 'ScheduleAttemptFailure' })
}

function countWrite(series: Series, { verb, result: became, cluster = '' }: Write, { group, version, kind }: Resource): void {
  const result = became === 'done' || became === 'unneeded' ? 'success' : 'error'
  const labels = { result, apiversion: groupVersion(group, version), kind, [MEMBER_LABEL]: cluster }
  if (verb === 'create') series.count('create_resource_to_cluster', { ...labels, recreate: 'false' })
  else if (verb === 'delete') series.count('delete_resource_from_cluster', labels)
  else series.count('update_resource_to_cluster', { ...labels, operationResult: became === 'done' ? 'updated' : 'none' })
}
