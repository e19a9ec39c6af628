/** What controllers of the fleet report about their work beyond what the runtime sees. All of it may be left out. */

export type ScheduleStep = 'Filter' | 'Score' | 'Select' | 'AssignReplicas'
export type TimedWork = ScheduleStep | 'MatchPolicy'

export interface Decided {
  controller: string
  key: string
  /** Why it was decided: because its replicas changed, or for any other reason. */
  type: 'ScaleSchedule' | 'ReconcileSchedule'
  isSuccess: boolean
}

export interface FleetMeasures {
  /** Does the work and notes how long it took. */
  timed<T>(what: TimedWork, work: () => T): T
  /** The attempt ends with the pass in which this was decided. */
  decided(decision: Decided): void
  heartbeat(cluster: string, durationMs: number): void
  /** Bindings that wait for their turn to be evicted: `<plural> <namespace>/<name>`. Read when somebody scrapes. */
  watchEvictions(waiting: () => Iterable<string>): void
}

/** Does the work, and notes nothing. */
export const untimed: FleetMeasures['timed'] = (_what, work) => work()
