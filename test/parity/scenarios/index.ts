/** All scenarios, by what they are about. */
import type { Scenario } from '../scenario.ts'
import { DEPLOYMENT_SCENARIOS } from './deployments.ts'

export const SCENARIOS: readonly Scenario[] = [...DEPLOYMENT_SCENARIOS]
