/** v1 PersistentVolume. */
import { fieldAt, withField } from '../../../kube/fields.ts'
import type { KindRules } from '../interpreter.ts'
import { firstPhase, phasesOf } from './phases.ts'
import { withStatus } from './status.ts'

const PHASES = ['Failed', 'Pending', 'Available', 'Bound', 'Released'] as const

export const persistentVolumeRules: KindRules = {
  /** The member binds claims to volumes. */
  retain: (desired, observed) => {
    const claim = fieldAt(observed, 'spec', 'claimRef')
    return claim === undefined || claim === null ? desired : withField(desired, ['spec', 'claimRef'], claim)
  },
  aggregate: (template, items) => {
    const phase = firstPhase(PHASES, phasesOf(items, 'Pending'))
    return phase === undefined ? template : withStatus(template, { phase }, ['lastPhaseTransitionTime'])
  },
}
