/** v1 PersistentVolumeClaim. */
import { textAt, withField } from '../../fields.ts'
import type { KindRules } from '../interpreter.ts'
import { firstPhase, phasesOf } from './phases.ts'
import { withStatus } from './status.ts'

export const persistentVolumeClaimRules: KindRules = {
  /** The member binds claims to volumes. */
  retain: (desired, observed) => {
    const volume = textAt(observed, 'spec', 'volumeName') ?? ''
    return volume === '' ? desired : withField(desired, ['spec', 'volumeName'], volume)
  },
  /** Bound unless a member says otherwise; members that have not told anything do not speak. */
  aggregate: (template, items) => withStatus(template, { phase: firstPhase(['Lost', 'Pending'], phasesOf(items)) ?? 'Bound' }),
  health: (claim) => textAt(claim, 'status', 'phase') === 'Bound',
}
