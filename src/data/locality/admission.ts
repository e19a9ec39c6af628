/**
 * Where pods that use datasets should run: on the nodes that have the data, or near them. Only pods that ask for it by a label
 * are looked at. Such a pod is created as the plugins want it, or refused with the reason; never half of it.
 */
import type { AdmissionReader } from '../../kinds/admission.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'
import { forbiddenError } from '../../kube/status.ts'
import type { PodAdmission } from '../../runtime/seams/pod-admission.ts'
import { datasetUsageInjector } from './dataset-usage-injector.ts'
import { mountPropagationInjector } from './mount-propagation-injector.ts'
import { nodeAffinityWithCache } from './node-affinity-with-cache.ts'
import { type PodPlugin, withChanges } from './pod-change.ts'
import { DATASET_READS, datasetsOf } from './pod-datasets.ts'
import { preferNodesWithoutCache } from './prefer-nodes-without-cache.ts'
import { requireNodeWithFuse } from './require-node-with-fuse.ts'
import { DEFAULT_LOCALITY, localityProblem, type TieredLocality } from './tiered-locality.ts'

export interface DatasetLocalityOptions {
  /** How near pods should and must be (default: the node, then the zone, then the region). */
  locality?: TieredLocality
}

/** The label that asks for it. */
const SERVERFUL = 'fuse.serverful.fluid.io/inject'
/** Labels, any of which asks for a sidecar instead; that wins. */
const SERVERLESS = ['serverless.fluid.io/inject', 'fuse.sidecar.fluid.io/inject']

export function datasetLocality({ locality = DEFAULT_LOCALITY }: DatasetLocalityOptions = {}): PodAdmission {
  const problem = localityProblem(locality)
  if (problem !== undefined) throw new Error(problem)
  const plugins = {
    withDatasets: [requireNodeWithFuse, nodeAffinityWithCache(locality), mountPropagationInjector, datasetUsageInjector],
    withoutDatasets: [preferNodesWithoutCache],
  }
  return {
    name: 'DatasetLocality',
    about: 'Sends a new pod that asks for it to the nodes that cache its datasets, or near them, and one without datasets elsewhere.',
    reads: DATASET_READS,
    label: { key: SERVERFUL, value: 'true' },
    // It asked to be near its data: elsewhere it would run, but not as its author was promised.
    failurePolicy: 'Fail',
    mutate(pod, namespace, { read, warn }) {
      if (!isAsked(pod)) return
      const placed = placedPod({ pod, namespace, read }, plugins)
      if (placed.error !== undefined) throw forbiddenError({ group: '', resource: 'pods' }, shownName(pod), placed.error)
      pod.metadata = placed.value.pod.metadata
      pod.spec = placed.value.pod.spec
      for (const warning of placed.value.warnings) warn(warning)
    },
  }
}

function isAsked({ metadata: { labels = {} } }: Pod): boolean {
  if (labels['fluid.io/enable-injection'] === 'false' || labels['done.sidecar.fluid.io/inject'] === 'true') return false
  return labels[SERVERFUL] === 'true' && !SERVERLESS.some((label) => labels[label] === 'true')
}

interface Asked {
  pod: Pod
  namespace: string
  read: AdmissionReader
}

interface Plugins {
  withDatasets: readonly PodPlugin[]
  withoutDatasets: readonly PodPlugin[]
}

function placedPod({ pod, namespace, read }: Asked, plugins: Plugins): Parsed<{ pod: Pod; warnings: string[] }> {
  const datasets = datasetsOf(pod, namespace, read)
  if (datasets.error !== undefined) return unparsed(datasets.error)
  const chosen = datasets.value.length > 0 ? plugins.withDatasets : plugins.withoutDatasets
  const changes = chosen.map((plugin) => plugin.changeOf(pod, datasets.value))
  const placed = withChanges(pod, changes)
  if (placed.error !== undefined) return unparsed(placed.error)
  return parsed({ pod: placed.value, warnings: changes.flatMap(({ warnings = [] }) => warnings) })
}

const shownName = ({ metadata: { name, generateName } }: Pod): string =>
  [name, generateName].find((text) => text !== undefined && text !== '') ?? 'Unknown'
