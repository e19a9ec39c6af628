/** What the rooms of the fleet are given: made once per process by who puts them together. */
import type { Members } from '../client/members.ts'
import type { Interpreter } from './interpreter/interpreter.ts'
import type { FleetMeasures } from './metrics/measures.ts'
import type { Templates } from './templates.ts'

export interface FleetSurroundings {
  templates: Templates
  members: Members
  interpreter: Interpreter
  /** Where what is done is counted (default: nowhere). */
  measures?: FleetMeasures
}
