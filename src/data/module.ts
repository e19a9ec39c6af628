/**
 * Datasets and the caches that hold them, with Fluid's kinds: in each member, a Dataset is bound to the runtime of its name, gets
 * a volume and a claim, and pods that mount the claim read the data from the cache. The kinds are served on the hub as well, so
 * that policies carry datasets to members like any other object.
 */
import { fluidAdmission } from '../kinds/fluid/admission/index.ts'
import { fluidKinds } from '../kinds/fluid/index.ts'
import { defineModule } from '../runtime/module/module.ts'
import { OWN_VERSION } from '../runtime/own-image.ts'
import { accessController } from './access/controller.ts'
import { advancedStatefulSet } from './advanced-stateful-set/controller.ts'
import { builtinClassController } from './builtin-class/controller.ts'
import { fluidCsiDriver } from './csi/driver.ts'
import { inlineVolumes } from './csi/inline-volumes.ts'
import { datasetController } from './dataset/controller.ts'
import { ENGINES } from './engines/index.ts'
import { dataExplainer } from './explain/index.ts'
import { datasetLocality } from './locality/admission.ts'
import { DATA_METRICS, dataMetrics } from './metrics.ts'
import { nodeController } from './node/controller.ts'
import { cacheNodeData } from './node/kept-directories.ts'
import { operationControllers } from './operation/index.ts'
import { DATA_DEFAULTS, DATA_FLAGS, type DataOptions } from './options.ts'
import { datasetOverview } from './overview/datasets.ts'
import { mayReferBy } from './reference/consent.ts'
import { referenceControllers } from './reference/index.ts'
import { runtimeControllers } from './runtime/index.ts'
import { seeded } from './seeded/index.ts'
import { datasetSidecar } from './sidecar/admission.ts'
import { sidecarEnd } from './sidecar/end/controller.ts'
import { sidecarScripts } from './sidecar/scripts/controller.ts'
import { dataChapter } from './story/chapter.ts'
import { USER_ROLES } from './user-roles.ts'
import { volumeController } from './volume/controller.ts'

const NO_OPTIONS: DataOptions = {}
const UPSTREAM = ['dataset', 'alluxio', 'juicefs', 'jindo', 'thin', 'cache', 'webhook', 'fluidapp']

export const data = defineModule({
  name: 'data',
  roles: ['member'],
  upstreamLeases: UPSTREAM.map((name) => ({ namespace: 'fluid-system', name: `${name}.data.fluid.io` })),
  kinds: { hub: fluidKinds, member: fluidKinds },
  userRoles: { hub: USER_ROLES, member: USER_ROLES },
  defaults: NO_OPTIONS,
  commandDefaults: DATA_DEFAULTS,
  flags: DATA_FLAGS,
  admission: ({ hostPathPrefixes = 'all', referenceConsent = 'open' }) =>
    fluidAdmission({ hostPathPrefixes, mayRefer: mayReferBy(referenceConsent) }),
  metrics: DATA_METRICS,
  services({ clock, random, caches, registry }) {
    if (registry !== undefined) dataMetrics(registry, caches)
    return { clock, random }
  },
  controllers(
    { clock, random },
    { hostPathPrefixes = 'all', translates = true, allowsPrivateAddresses = true, referenceConsent = 'open' },
  ) {
    const options = { translates, hostPathPrefixes, version: OWN_VERSION }
    return [
      builtinClassController({ version: OWN_VERSION, allowsPrivateAddresses }),
      advancedStatefulSet,
      datasetController({ engines: ENGINES, options, clock, referenceConsent }),
      ...referenceControllers({ referenceConsent, engines: ENGINES, options }),
      ...runtimeControllers({ engines: ENGINES, options, random, clock }),
      ...operationControllers,
      volumeController(),
      accessController,
      sidecarScripts,
      sidecarEnd({ clock }),
      nodeController({}),
    ]
  },
  seams: {
    csiDrivers: (_services, { hostPathPrefixes = 'all' }) => [fluidCsiDriver({ hostPathPrefixes })],
    nodeData: [cacheNodeData],
    // On Kubernetes no webhook is asked about every pod for this: kubelets refuse inline volumes of a driver that declares none.
    podAdmissions: ({ sidecarMode, translates = true }) => [
      datasetLocality(),
      datasetSidecar({ mode: sidecarMode }),
      ...(translates ? [inlineVolumes] : []),
    ],
    explainers: [dataExplainer],
    overviews: [datasetOverview],
    seeded,
    chapters: [dataChapter],
  },
})
