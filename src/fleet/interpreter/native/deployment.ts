/** apps/v1 Deployment. */
import { RETAIN_REPLICAS_LABEL } from '../../../kinds/karmada/well-known.ts'
import { numberAt, withField } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { KindRules } from '../interpreter.ts'
import { aggregateCounters, type Counters, OBSERVED, reflectCounters } from './counters.ts'
import { isRolledOut, statusNumber } from './health.ts'
import { type NativeOptions, reviseField, specReplicas, templateDependencies } from './replicas.ts'

const COUNTERS: Counters = {
  always: [],
  unlessZero: ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'],
}

export const deploymentRules = (options: NativeOptions): KindRules => ({
  replicas: (deployment) => specReplicas(deployment, options),
  revise: (deployment, replicas) => reviseField(deployment, 'replicas', replicas),
  retain: retainReplicas,
  aggregate: (template, items) => aggregateCounters(template, items, { counters: COUNTERS }),
  dependencies: (deployment) => templateDependencies(deployment),
  reflect: (deployment) => {
    const reflected = reflectCounters(deployment, COUNTERS, statusNumber(deployment, OBSERVED))
    // All zeros: the member has not reported anything yet.
    return reflected === undefined || Object.keys(reflected).length === 0 ? undefined : reflected
  },
  health: isRolledOut,
})

/** A label leaves the number of replicas to the member, for an autoscaler there. */
function retainReplicas(desired: KubeObject, observed: KubeObject): KubeObject {
  if (desired.metadata.labels?.[RETAIN_REPLICAS_LABEL] !== 'true') return desired
  const replicas = numberAt(observed, 'spec', 'replicas')
  return replicas === undefined ? desired : withField(desired, ['spec', 'replicas'], replicas)
}
