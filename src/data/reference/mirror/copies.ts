/**
 * The copies themselves: ConfigMaps without options of mounts, and a DaemonSet that never runs, whose template is what a sidecar is
 * made from. They belong to all references of their namespace to one original, and go with the last. Pure.
 */
import { isJsonObject } from '../../../base/json.ts'
import type { Dataset, Mount } from '../../../kinds/fluid/index.ts'
import { mirrorHash, mirrorName, type Original, publicMount } from '../../../kinds/fluid/reference.ts'
import { LABELS } from '../../../kinds/fluid/well-known.ts'
import { CONFIG_MAPS, DAEMON_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { ConfigMap, DaemonSet, PodSpec } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from '../../../kube/meta.ts'
import type { Resource } from '../../../kube/resource.ts'
import { CLASS_ANNOTATIONS } from '../../engines/cache/pod-template.ts'
import { canonical } from '../../runtime/canonical.ts'
import { MIRROR_OF, MIRROR_SOURCE, type Mirror, renamed } from './mirror.ts'

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
    ...source.configMaps.map((map) => ({ resource: CONFIG_MAPS, object: configMapCopy(map, metadataOf(map)) })),
    { resource: DAEMON_SETS, object: templateCopy(source.template, metadataOf(source.template), { names, original }) },
  ]
}

const ownerReference = ({ apiVersion, kind, metadata: { name = '', uid = '' } }: Dataset): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
})

function configMapCopy({ data = {}, binaryData }: ConfigMap, metadata: ObjectMeta): ConfigMap {
  const texts = Object.entries(data).flatMap(([key, text]): [string, string][] => {
    const shown = publicText(key, text)
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

/** What programs of a cache read about their dataset. */
const CONFIGURATIONS: ReadonlySet<string> = new Set(['runtime.json', 'config.json'])

/** Without options of mounts, which can be credentials. A configuration that cannot be read stays where it is. */
function publicText(key: string, text: string): string | undefined {
  const config = parsedText(text)
  if (!isJsonObject(config)) return CONFIGURATIONS.has(key) ? undefined : text
  if (!Array.isArray(config.mounts)) return text
  const mounts = config.mounts.flatMap((mount) =>
    isJsonObject(mount) && typeof mount.mountPoint === 'string' ? [publicMount(mount as unknown as Mount)] : [],
  )
  return JSON.stringify({ ...config, mounts })
}

function parsedText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Scripts and other files are no JSON.
    return undefined
  }
}

/** How such a client works as a sidecar. Other annotations of its pods are its owner's business. */
function formOf(spec: DaemonSet['spec']): { annotations?: Record<string, string> } {
  const form = spec?.template?.metadata?.annotations?.[CLASS_ANNOTATIONS.sidecarFiles]
  return form === undefined ? {} : { annotations: { [CLASS_ANNOTATIONS.sidecarFiles]: form } }
}

interface Renaming {
  names: ReadonlySet<string>
  original: Original
}

function templateCopy({ spec }: DaemonSet, metadata: ObjectMeta, { names, original }: Renaming): DaemonSet {
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
        metadata: { labels, ...formOf(spec) },
        spec: { ...renamed(pod, names, original), nodeSelector: { ...pod.nodeSelector, [LABELS.fuseBalloon]: 'true' } },
      },
      updateStrategy: { type: 'OnDelete' },
    },
  }
  return canonical(DAEMON_SETS, set)
}
