/** What controllers of the fleet report about their work beyond what the runtime observes. All of it is optional. */

export type ScheduleStep = 'Filter' | 'Score' | 'Select' | 'AssignReplicas'
export type TimedWork = ScheduleStep | 'MatchPolicy'

export interface Decided {
  controller: string
  key: string
  /** Why it was scheduled: because its replicas changed, or for any other reason. */
  type: 'ScaleSchedule' | 'ReconcileSchedule'
  isSuccess: boolean
}

export interface FleetMeasures {
  /** Runs the work and records how long it took. */
  timed<T>(what: TimedWork, work: () => T): T
  /** The attempt ends with the pass in which this was decided. */
  decided(decision: Decided): void
  heartbeat(cluster: string, durationMs: number): void
  /** Bindings that wait for their turn to be evicted: `<plural> <namespace>/<name>`. Read at scrape time. */
  watchEvictions(waiting: () => Iterable<string>): void
}

/** Runs the work, and records nothing. */
export const untimed: FleetMeasures['timed'] = (_what, work) => work()
