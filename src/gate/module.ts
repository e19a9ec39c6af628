/**
 * Holds workloads until their data is known, and sends them where it is: DataSource is supply, DataSourceClaim demand. Runs on
 * a hub beside the fleet, which it extends through the narrowing seam.
 */
import { volcanoAdmission } from '../kinds/volcano/admission/index.ts'
import { volcanoKinds } from '../kinds/volcano/index.ts'
import { DATA_DEPENDENCY_GROUP } from '../kinds/volcano/well-known.ts'
import { defineModule } from '../runtime/module/module.ts'
import { CONSENT_DEFAULTS } from '../runtime/reference-consent.ts'
import { claimController } from './claim/controller.ts'
import { gateExplainer } from './explain/index.ts'
import { GATE_METRICS } from './metrics.ts'
import { gateNarrowing } from './narrowing/narrowing.ts'
import { GATE_FLAGS, type GateOptions } from './options.ts'
import { outputController } from './output/controller.ts'
import { seeded } from './seeded/index.ts'
import { gateServices } from './services.ts'
import { sourceController } from './source/controller.ts'
import { gateChapter } from './story/chapter.ts'
import { USER_ROLES } from './user-roles.ts'

const NO_OPTIONS: GateOptions = {}

export const gate = defineModule({
  name: 'gate',
  roles: ['hub'],
  // Without the fleet there is nobody to hold a binding, so what makes the fleet stand back makes the gate stand back, too.
  upstreamLeases: [
    ...['volcano-system', 'volcano-global'].map((namespace) => ({ namespace, name: 'volcano-global-controller-manager' })),
    ...['karmada-controller-manager', 'karmada-scheduler'].map((name) => ({ namespace: 'karmada-system', name })),
  ],
  kinds: { hub: volcanoKinds },
  userRoles: { hub: USER_ROLES },
  neverTravel: [DATA_DEPENDENCY_GROUP],
  defaults: NO_OPTIONS,
  commandDefaults: CONSENT_DEFAULTS,
  flags: GATE_FLAGS,
  admission: (_options, role) => (role === 'hub' ? volcanoAdmission() : []),
  metrics: GATE_METRICS,
  services: gateServices,
  controllers({ templates, producers, claimed, waiting }, { referenceConsent = 'open' }) {
    return [
      claimController({ templates, producers, claimed, waiting, referenceConsent }),
      sourceController(),
      outputController({ templates, producers, referenceConsent }),
    ]
  },
  seams: {
    narrowings: ({ claimed }) => [gateNarrowing({ claimed })],
    explainers: [gateExplainer],
    seeded,
    chapters: [gateChapter],
  },
})
