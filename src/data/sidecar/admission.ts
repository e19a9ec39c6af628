/**
 * Pods that read datasets without anything on their node: those that ask for it by a label get the clients of their datasets as
 * containers of their own. Such a pod is created whole, or refused with the reason. Done once: what was injected says so.
 */
import type { AdmissionRead, AdmissionReader } from '../../kinds/admission.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { clientName } from '../../kinds/fluid/names.ts'
import { mirrorName } from '../../kinds/fluid/reference.ts'
import { DATASETS } from '../../kinds/fluid/resources.ts'
import { RUNTIME_TYPES, type RuntimeType } from '../../kinds/fluid/well-known.ts'
import { DAEMON_SETS } from '../../kinds/kubernetes/resources.ts'
import type { DaemonSet, Pod } from '../../kinds/kubernetes/types.ts'
import { findCondition } from '../../kube/conditions.ts'
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'
import { forbiddenError } from '../../kube/status.ts'
import type { PodAdmission } from '../../runtime/seams/pod-admission.ts'
import { datasetUsageInjector } from '../locality/dataset-usage-injector.ts'
import { withChanges } from '../locality/pod-change.ts'
import { DATASET_READS, datasetsOf, type PodDataset } from '../locality/pod-datasets.ts'
import { type InjectedPod, withSidecars } from './inject.ts'
import { SIDECAR_ANNOTATIONS, SIDECAR_LABELS } from './labels.ts'
import type { SidecarMode } from './mode.ts'
import type { Sidecar } from './part.ts'
import { sidecarTemplate } from './template.ts'

export interface DatasetSidecarOptions {
  /** Default: native-sidecar. */
  mode?: SidecarMode
}

const READS: readonly AdmissionRead[] = Object.freeze([...DATASET_READS, DAEMON_SETS])
/** Of metrics: who is scraped. */
const SCRAPED = ['Sidecar', 'All']

export function datasetSidecar({ mode = 'native-sidecar' }: DatasetSidecarOptions = {}): PodAdmission {
  return {
    name: 'DatasetSidecar',
    about: 'Gives a new pod that asks for it the clients of its datasets as containers of its own, so that it needs nothing on its node.',
    reads: READS,
    label: { key: SIDECAR_LABELS.inject, value: 'true' },
    // Without its sidecars it would wait for a driver that may not be there.
    failurePolicy: 'Fail',
    mutate(pod, namespace, { read, warn, newUid }) {
      if (!isAsked(pod)) return
      const name = shownName(pod)
      const unique = (): string => `${name.replace(/-+$/, '')}/${newUid()}`
      const injected = injectedPod({ pod, namespace, read }, { mode, unique })
      if (injected.error !== undefined) throw forbiddenError({ group: '', resource: 'pods' }, name, injected.error)
      pod.metadata = injected.value.pod.metadata
      pod.spec = injected.value.pod.spec
      for (const warning of injected.value.warnings) warn(warning)
    },
  }
}

const isAsked = ({ metadata: { labels = {} } }: Pod): boolean =>
  labels[SIDECAR_LABELS.inject] === 'true' && labels[SIDECAR_LABELS.enable] !== 'false' && labels[SIDECAR_LABELS.done] !== 'true'

interface Asked {
  pod: Pod
  namespace: string
  read: AdmissionReader
}

/** A pod without datasets stays as it is. */
function injectedPod({ pod, namespace, read }: Asked, { mode, unique }: { mode: SidecarMode; unique(): string }): Parsed<InjectedPod> {
  const datasets = datasetsOf(pod, namespace, read)
  if (datasets.error !== undefined) return unparsed(datasets.error)
  if (datasets.value.length === 0) return parsed({ pod, warnings: [] })
  const sidecars: Sidecar[] = []
  for (const dataset of datasets.value) {
    const sidecar = sidecarOf(dataset, { pod, namespace, read })
    if (sidecar.error !== undefined) return unparsed(sidecar.error)
    sidecars.push(sidecar.value)
  }
  const usage = withChanges(pod, [datasetUsageInjector.changeOf(pod, datasets.value)])
  if (usage.error !== undefined) return unparsed(usage.error)
  const scraped: Record<string, string> = sidecars.some(({ dataset }) => isScraped(dataset)) ? { [SIDECAR_ANNOTATIONS.scrape]: 'true' } : {}
  const { metadata } = usage.value
  return withSidecars({ ...usage.value, metadata: { ...metadata, annotations: { ...metadata.annotations, ...scraped } } }, sidecars, {
    namespace,
    mode,
    unique,
  })
}

/** Why there is no copy of a client in the namespace of a reference, as the reference says it. */
function uncopiedBecause(namespace: string, name: string, read: AdmissionReader): string | undefined {
  const reference = read.get({ group: DATASETS.group, resource: DATASETS.plural }, namespace, name) as Dataset | undefined
  const mirrored = findCondition(reference?.status?.conditions, 'Mirrored')
  return mirrored?.status === 'False' ? mirrored.message : undefined
}

function sidecarOf(dataset: PodDataset, { pod, namespace, read }: Asked): Parsed<Sidecar> {
  const { holder, runtime } = dataset
  const isForeign = holder.namespace !== namespace
  const client = clientName(runtimeTypeOf(runtime.kind), holder.name)
  const name = isForeign ? mirrorName(client, holder) : client
  const set = read.get({ group: DAEMON_SETS.group, resource: DAEMON_SETS.plural }, namespace, name) as DaemonSet | undefined
  const uncopied = isForeign ? uncopiedBecause(namespace, dataset.name, read) : undefined
  if (set === undefined && uncopied !== undefined) return unparsed(uncopied)
  if (set === undefined)
    return unparsed(
      `the DaemonSet ${name}, of which the sidecar of dataset ${dataset.name} is made, is not there: wait until the dataset is Bound, or see: sluice why dataset/${dataset.name} -n ${namespace}`,
    )
  const { labels = {}, annotations = {} } = pod.metadata
  const template = sidecarTemplate(set, {
    holder,
    isForeign,
    keepsCacheDirectories: labels[SIDECAR_LABELS.cacheDirectories] === 'true',
    keepsMetricsPorts: isScraped(dataset),
    isUnprivileged: labels[SIDECAR_LABELS.unprivileged] === 'true' || annotations[SIDECAR_ANNOTATIONS.platform] === 'unprivileged',
  })
  return template.error === undefined ? parsed({ dataset, template: template.value, isForeign }) : unparsed(template.error)
}

/** Kinds that nobody knows have their clients where most have them. */
const runtimeTypeOf = (kind: string): RuntimeType => (RUNTIME_TYPES as Readonly<Record<string, RuntimeType>>)[kind] ?? 'thin'

const isScraped = ({ runtime }: PodDataset): boolean =>
  (runtime.spec?.fuse?.metrics?.scrapeTarget ?? '').split(',').some((target) => SCRAPED.includes(target.trim()))

const shownName = ({ metadata: { name, generateName } }: Pod): string =>
  [name, generateName].find((text) => text !== undefined && text !== '') ?? 'pod'
