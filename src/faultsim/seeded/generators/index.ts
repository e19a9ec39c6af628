/** What users do in a composed world. One file and one line each. */
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { claims, claimUsers } from './claim.ts'
import { daemonSets } from './daemon-set.ts'
import { deployments } from './deployment.ts'
import { jobs } from './job.ts'
import { namespaces } from './namespace.ts'
import { services } from './service.ts'
import { statefulSets } from './stateful-set.ts'

export const GENERATORS: readonly Generator[] = [deployments, statefulSets, daemonSets, jobs, services, namespaces, claims, claimUsers]
