/** The controllers of a minicluster, apart from housekeeping: workloads, scheduling, storage, nodes. One line each. */
import type { ClusterCache } from '../client/cache/cluster-cache.ts'
import type { Controller } from '../runtime/controller.ts'
import type { Seams } from '../runtime/seams/seams.ts'
import { placedBy } from './admission/run-placement.ts'
import { type KubeletOptions, kubeletControllers } from './kubelet/index.ts'
import { endpointSlices } from './network/endpoint-slice/controller.ts'
import { endpointSliceMirroring } from './network/endpoint-slice-mirroring/controller.ts'
import { serviceEndpoints } from './network/endpoints/controller.ts'
import { csiNodes } from './nodes/csi/controller.ts'
import { csiDriverObjects } from './nodes/csi/drivers/controller.ts'
import { nodeLifecycle } from './nodes/lifecycle/controller.ts'
import { podGarbage } from './nodes/pod-garbage/controller.ts'
import { terminatedPods } from './nodes/pod-garbage/terminated/controller.ts'
import { nodeRegistration } from './nodes/registration/controller.ts'
import { simulatedNodes } from './nodes/simulated/controller.ts'
import { taintEviction } from './nodes/taint-eviction/controller.ts'
import type { MiniclusterOptions } from './options.ts'
import { podDisruptionBudget } from './policy/pod-disruption-budget/controller.ts'
import { resourceQuota } from './policy/resource-quota/controller.ts'
import { scheduler } from './scheduler/controller.ts'
import { claimBinding } from './storage/claim/controller.ts'
import { localClass } from './storage/class/controller.ts'
import { ephemeralClaims } from './storage/ephemeral/controller.ts'
import { localProvisioning } from './storage/local/provision/controller.ts'
import { localReclaim } from './storage/local/reclaim/controller.ts'
import { type LocalVolumes, NAMED_VOLUMES } from './storage/local/volume.ts'
import { claimProtection } from './storage/protection/claim/controller.ts'
import { volumeProtection } from './storage/protection/volume/controller.ts'
import { volumePhases } from './storage/volume/controller.ts'
import { cronJobController } from './workloads/cron-job/controller.ts'
import { daemonSet } from './workloads/daemon-set/controller.ts'
import { deployment } from './workloads/deployment/controller.ts'
import { jobController } from './workloads/job/controller.ts'
import { replicaSet } from './workloads/replica-set/controller.ts'
import { statefulSet } from './workloads/stateful-set/controller.ts'
import { ttlAfterFinished } from './workloads/ttl-after-finished/controller.ts'

export interface MiniclusterServices {
  clusterCache: ClusterCache
  /** What runs the pods of process nodes; undefined: nothing does. */
  kubelet: KubeletOptions | undefined
  volumes: LocalVolumes | undefined
}

export function miniclusterControllers(services: MiniclusterServices, options: MiniclusterOptions, seams: Seams): Controller[] {
  const { clusterCache, kubelet, volumes = NAMED_VOLUMES } = services
  return [
    // Nodes.
    nodeRegistration(options.shape),
    simulatedNodes(options.stages),
    ...kubeletControllers(options.shape, kubelet, seams),
    ...(seams.csiDrivers.length === 0 ? [] : [csiNodes(seams.csiDrivers), csiDriverObjects(seams.csiDrivers)]),
    nodeLifecycle(),
    taintEviction(),
    podGarbage(),
    terminatedPods(options.terminatedPodThreshold),
    scheduler(),
    // Workloads.
    deployment,
    replicaSet,
    statefulSet,
    daemonSet({ admit: placedBy(options.run) }),
    jobController,
    ttlAfterFinished,
    cronJobController,
    // Storage.
    localClass(),
    claimBinding(),
    volumePhases(),
    localProvisioning(volumes),
    localReclaim(volumes),
    claimProtection(),
    volumeProtection(),
    ephemeralClaims(),
    // Policy.
    podDisruptionBudget,
    resourceQuota(clusterCache),
    // Network.
    endpointSlices(),
    serviceEndpoints(),
    endpointSliceMirroring(),
  ]
}
