/** Labels and annotations of pods that want, or have, the client of a dataset as a sidecar. All but one are Fluid's. */
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { compareStrings } from '../../kube/go-print.ts'

export const SIDECAR_LABELS = Object.freeze({
  /** Asks for it. */
  inject: 'serverless.fluid.io/inject',
  /** `false`: nothing at all is changed. */
  enable: 'fluid.io/enable-injection',
  /** It has been done. */
  done: 'done.sidecar.fluid.io/inject',
  unprivileged: 'unprivileged.sidecar.fluid.io/inject',
  /** Directories of the node that clients cache in are kept. */
  cacheDirectories: 'cachedir.sidecar.fluid.io/inject',
  /** `false`: the sidecar does not wait for its own mount. */
  checksMount: 'fuse.sidecar.poststart.fluid.io/inject',
  /** The pod's containers wait for the mount themselves. */
  appChecksMount: 'app.poststart.fluid.io/inject',
})

export const SIDECAR_ANNOTATIONS = Object.freeze({
  /** `unprivileged` or `default`. */
  platform: 'serverless.fluid.io/platform',
  /** `fixed`: all pods of a node share one directory. */
  hostPathMode: 'default.fuse-sidecar.fluid.io/host-mount-path-mode',
  scrape: 'prometheus.fuse.fluid.io/scrape',
  /** Namespaces, separated by commas: the pod's hosts file has the names of their Services too. */
  resolves: 'sluice.dev/resolves-namespaces',
})

export const MANAGED_BY = { key: 'fluid.io/managed-by', value: 'fluid' } as const

const NAME_PREFIX = 'dataset-name.sidecar.fluid.io/'
const NAMESPACE_PREFIX = 'dataset-namespace.sidecar.fluid.io/'

export const datasetLabels = (container: string, { namespace, name }: { namespace: string; name: string }): Record<string, string> => ({
  [`${NAME_PREFIX}${container}`]: name,
  [`${NAMESPACE_PREFIX}${container}`]: namespace,
})

/**
 * What its labels say: which container is the client of which dataset, in the order of the containers' names. The dataset is always one
 * of the pod's namespace; anybody may write labels, so one that names another namespace says nothing.
 */
export function sidecarsOf({ metadata: { labels = {}, namespace = '' } }: Pod): { container: string; namespace: string; name: string }[] {
  if (labels[SIDECAR_LABELS.done] !== 'true') return []
  return Object.entries(labels)
    .filter(([key]) => key.startsWith(NAME_PREFIX))
    .map(([key, name]) => ({ container: key.slice(NAME_PREFIX.length), namespace, name }))
    .filter(({ container }) => (labels[`${NAMESPACE_PREFIX}${container}`] ?? namespace) === namespace)
    .sort((a, b) => compareStrings(a.container, b.container))
}
