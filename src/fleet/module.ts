/** From policy to member cluster and back, on a hub: Karmada's path. */
import { karmadaAdmission } from '../kinds/karmada/admission/index.ts'
import { karmadaKinds } from '../kinds/karmada/index.ts'
import { defineModule } from '../runtime/module/module.ts'
import { clusterProxy } from './cluster-proxy/index.ts'
import { fleetControllers } from './controllers.ts'
import { workAdmission } from './execution/index.ts'
import { interpreterScriptAdmission } from './interpreter/configurable/admission.ts'
import { localMembers } from './membership/local-members.ts'
import { membersPath } from './membership/members-path.ts'
import { FLEET_METRICS } from './metrics/declared.ts'
import { FLEET_FLAGS, type FleetOptions } from './options.ts'
import { fleetServices } from './services.ts'
import { fleetChapter } from './story/chapter.ts'

const KARMADA_GROUPS = ['cluster', 'policy', 'work', 'config', 'networking', 'autoscaling', 'remedy', 'apps']
const NO_OPTIONS: FleetOptions = {}

export const fleet = defineModule({
  name: 'fleet',
  roles: ['hub'],
  needsMembers: true,
  upstreamLeases: ['karmada-controller-manager', 'karmada-scheduler'].map((name) => ({ namespace: 'karmada-system', name })),
  kinds: { hub: karmadaKinds },
  // Karmada's kinds are about the fleet, and `sluice.dev` holds our own records about it.
  neverTravel: [...KARMADA_GROUPS.map((group) => `${group}.karmada.io`), 'sluice.dev'],
  keepsWhole: (resource, { propagatable }) => propagatable.isPropagatable(resource),
  defaults: NO_OPTIONS,
  flags: FLEET_FLAGS,
  admission: (_options, role) => (role === 'hub' ? [...karmadaAdmission(), workAdmission, interpreterScriptAdmission] : []),
  subresources: ({ connectMember, clock }) => (connectMember === undefined ? [] : [clusterProxy({ connect: connectMember, clock })]),
  httpPaths: ({ members }) => (members === undefined ? [] : [membersPath(members)]),
  metrics: FLEET_METRICS,
  services: fleetServices,
  controllers: (services, options, seams) => fleetControllers(services, options, seams),
  ready: ({ ready }) => ready,
  observes: ({ observes }) => observes,
  localMembership: localMembers,
  seams: { chapters: [fleetChapter] },
})
