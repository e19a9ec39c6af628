/**
 * The copies themselves: ConfigMaps without what namespaces keep to themselves, and a DaemonSet that never runs, whose template is what a sidecar is
 * made from. They belong to all references of their namespace to one original, and go with the last. Pure.
 */
import type { CacheRuntimeClass, Dataset } from '../../../kinds/fluid/index.ts'
import { mirrorHash, mirrorName, type Original } from '../../../kinds/fluid/reference.ts'
import { LABELS } from '../../../kinds/fluid/well-known.ts'
import { CONFIG_MAPS, DAEMON_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { ConfigMap, DaemonSet, PodSpec } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from '../../../kube/meta.ts'
import type { Resource } from '../../../kube/resource.ts'
import { CLASS_ANNOTATIONS } from '../../engines/cache/pod-template.ts'
import { canonical } from '../../runtime/canonical.ts'
import { MIRROR_OF, MIRROR_SOURCE, type Mirror, renamed } from './mirror.ts'
import { CONFIGURATIONS, sharedConfig } from './shared-config.ts'

export interface Copy {
  resource: Resource
  object: KubeObject
}

interface CopyInput {
  original: Original
  source: NonNullable<Mirror['source']>
  /** References of one namespace, all of which the copies belong to. */
  owners: readonly Dataset[]
}

/** ConfigMaps first, so that the template never names what is missing. */
export function copiesOf({ original, source, owners }: CopyInput): Copy[] {
  const metadataOf = ({ metadata }: KubeObject): ObjectMeta => ({
    namespace: owners[0]?.metadata.namespace,
    name: mirrorName(metadata.name ?? '', original),
    labels: { [MIRROR_OF]: mirrorHash(original) },
    annotations: { [MIRROR_SOURCE]: `${original.namespace}/${original.name}` },
    ownerReferences: owners.map(ownerReference).sort((a, b) => (a.uid < b.uid ? -1 : 1)),
  })
  const names = new Set(source.configMaps.map(({ metadata }) => metadata.name ?? ''))
  return [
    ...source.configMaps.map((map) => ({ resource: CONFIG_MAPS, object: configMapCopy(map, metadataOf(map), source.runtimeClass) })),
    { resource: DAEMON_SETS, object: templateCopy(source, metadataOf(source.template), { names, original }) },
  ]
}

const ownerReference = ({ apiVersion, kind, metadata: { name = '', uid = '' } }: Dataset): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
})

function configMapCopy({ data = {}, binaryData }: ConfigMap, metadata: ObjectMeta, runtimeClass: CacheRuntimeClass | undefined): ConfigMap {
  const texts = Object.entries(data).flatMap(([key, text]): [string, string][] => {
    const shown = CONFIGURATIONS.has(key) ? sharedConfig(text, runtimeClass) : text
    return shown === undefined ? [] : [[key, shown]]
  })
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: Object.fromEntries(texts),
    ...(binaryData === undefined ? {} : { binaryData }),
  }
}

/** How such a client works as a sidecar: what the class says. Annotations of its pods are their owner's business. */
function formOf(runtimeClass: CacheRuntimeClass | undefined): { annotations?: Record<string, string> } {
  const form = runtimeClass?.topology?.client?.template?.metadata?.annotations?.[CLASS_ANNOTATIONS.sidecarFiles]
  return form === undefined ? {} : { annotations: { [CLASS_ANNOTATIONS.sidecarFiles]: form } }
}

interface Renaming {
  names: ReadonlySet<string>
  original: Original
}

function templateCopy(
  { template: { spec }, runtimeClass }: CopyInput['source'],
  metadata: ObjectMeta,
  { names, original }: Renaming,
): DaemonSet {
  const labels = { [MIRROR_OF]: mirrorHash(original) }
  const {
    imagePullSecrets: _,
    serviceAccountName: _name,
    serviceAccount: _account,
    ...pod
  } = (spec?.template?.spec ?? {}) as PodSpec & {
    serviceAccount?: string
  }
  const set: DaemonSet = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata,
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, ...formOf(runtimeClass) },
        spec: { ...renamed(pod, names, original), nodeSelector: { ...pod.nodeSelector, [LABELS.fuseBalloon]: 'true' } },
      },
      updateStrategy: { type: 'OnDelete' },
    },
  }
  return canonical(DAEMON_SETS, set)
}
