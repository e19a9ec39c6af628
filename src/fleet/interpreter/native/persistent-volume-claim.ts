/** v1 PersistentVolumeClaim. */
import { textAt, withField } from '../../../kube/fields.ts'
import type { KindRules } from '../interpreter.ts'
import { firstPhase, phasesOf } from './phases.ts'
import { withStatus } from './status.ts'

export const persistentVolumeClaimRules: KindRules = {
  /** The member binds claims to volumes, and sets its default class on claims that name none; both are immutable. */
  retain: (desired, observed) => {
    const volume = textAt(observed, 'spec', 'volumeName') ?? ''
    const given = textAt(observed, 'spec', 'storageClassName')
    const bound = volume === '' ? desired : withField(desired, ['spec', 'volumeName'], volume)
    const needsClass = given !== undefined && textAt(desired, 'spec', 'storageClassName') === undefined
    return needsClass ? withField(bound, ['spec', 'storageClassName'], given) : bound
  },
  /** Bound unless a member says otherwise; members that have not reported anything do not count. */
  aggregate: (template, items) => withStatus(template, { phase: firstPhase(['Lost', 'Pending'], phasesOf(items)) ?? 'Bound' }),
  health: (claim) => textAt(claim, 'status', 'phase') === 'Bound',
}
