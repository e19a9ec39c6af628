/** Turns an API server into a cluster: the controllers of workloads, nodes, storage and network, and nodes to run pods on. */
import { defineModule } from '../runtime/module/module.ts'
import { runPlacement } from './admission/run-placement.ts'
import { miniclusterControllers } from './controllers.ts'
import { keptNodes, settingsFrom } from './node-settings.ts'
import { DECLARED_OPTIONS, DEFAULT_OPTIONS, MINICLUSTER_FLAGS } from './options.ts'
import { processHost } from './process/host.ts'

export const minicluster = defineModule({
  name: 'minicluster',
  roles: ['member'],
  upstreamLeases: ['kube-controller-manager', 'kube-scheduler'].map((name) => ({ namespace: 'kube-system', name })),
  defaults: DEFAULT_OPTIONS,
  declaredWith: DECLARED_OPTIONS,
  flags: MINICLUSTER_FLAGS,
  kept: {
    key: 'nodes',
    restore: (options, kept, random) => ({ ...options, nodes: settingsFrom(keptNodes(kept), random) }),
    value: ({ nodes }) => nodes,
  },
  runsProcesses: ({ nodes }) => nodes.process.count > 0,
  // What only a host brings is a service, so that its controllers are declared wherever the module is listed.
  services: ({ clusterCache }, { kubelet, volumes }) => ({ clusterCache, kubelet, volumes }),
  controllers: miniclusterControllers,
  host: processHost,
  seams: { podAdmissions: ({ run }) => [runPlacement(run)] },
})
