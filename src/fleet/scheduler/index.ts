/** What others use of the scheduler. */
export { scheduler } from './controller.ts'
export { DECISION_ANNOTATION, type DecisionRecord, readRecord } from './decision.ts'
export { divideByWeight, type Share, type Weighted } from './division.ts'
