/** Why something is where it is, for people and machines. */
export type { ClusterLink, Explanation, State } from './chain.ts'
export { explainObject } from './explain-object.ts'
export { explain } from './explanation.ts'
export type { ExplainInput } from './input.ts'
