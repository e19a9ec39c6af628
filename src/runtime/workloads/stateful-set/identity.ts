/**
 * The identity of the pods of a StatefulSet or AdvancedStatefulSet: their names, labels, hosts and claims. The name
 * determines it: `web-3` is the pod of `web` with ordinal 3, whoever created it.
 */
import type { PersistentVolumeClaim, Pod, PodTemplateSpec, Volume } from '../../../kinds/kubernetes/types.ts'
import { podFromTemplate } from '../pod/from-template.ts'
import { REVISION_LABEL } from '../revision/history.ts'
import { MAX_ORDINAL } from './ordinals.ts'
import type { StatefulWorkload } from './workload.ts'

const POD_NAME_LABEL = 'statefulset.kubernetes.io/pod-name'
const POD_INDEX_LABEL = 'apps.kubernetes.io/pod-index'
const NAME = /^(.*)-(0|[1-9][0-9]{0,9})$/

/** The set and the ordinal in the name of a pod; undefined when it has another form. */
export function parsePodName(name: string | undefined): { parent: string; ordinal: number } | undefined {
  const [, parent, digits] = NAME.exec(name ?? '') ?? []
  if (parent === undefined || digits === undefined || Number(digits) > MAX_ORDINAL) return undefined
  return { parent, ordinal: Number(digits) }
}

export const isMember = (set: StatefulWorkload, pod: Pod): boolean => parsePodName(pod.metadata.name)?.parent === set.metadata.name

/** -1 for pods that have none. */
export const ordinalOf = (pod: Pod): number => parsePodName(pod.metadata.name)?.ordinal ?? -1

/** The name of the revision the pod was created from. */
export const revisionOf = (pod: Pod): string => pod.metadata.labels?.[REVISION_LABEL] ?? ''

export interface Version {
  /** Name of the revision. */
  name: string
  template: PodTemplateSpec | undefined
}

export function newPod(set: StatefulWorkload, version: Version, ordinal: number): Pod {
  const name = `${set.metadata.name ?? ''}-${ordinal}`
  const pod = podFromTemplate({ template: version.template, owner: set, name })
  const serviceName = set.spec?.serviceName ?? ''
  const host = { hostname: name, ...(serviceName === '' ? {} : { subdomain: serviceName }) }
  const volumes = volumesOf(set, ordinal, pod.spec?.volumes)
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...identityLabels(name, ordinal), [REVISION_LABEL]: version.name } },
    spec: { ...pod.spec, ...host, ...(volumes.length > 0 ? { volumes } : {}) },
  }
}

const identityLabels = (name: string, ordinal: number): Record<string, string> => ({
  [POD_NAME_LABEL]: name,
  [POD_INDEX_LABEL]: String(ordinal),
})

/** Volumes of the template; where the set has a claim of the same name, the claim wins. */
function volumesOf(set: StatefulWorkload, ordinal: number, own: readonly Volume[] | undefined): Volume[] {
  const claims = claimTemplatesOf(set).map((template) => template.metadata.name ?? '')
  return [
    ...claims.map((name) => ({ name, persistentVolumeClaim: { claimName: claimName(set, name, ordinal) } })),
    ...(own ?? []).filter((volume) => !claims.includes(volume.name ?? '')),
  ]
}

/** The pod with its missing identity or claims restored, as a copy; undefined when nothing is missing. */
export function repaired(set: StatefulWorkload, pod: Pod): Pod | undefined {
  const { name = '', labels = {} } = pod.metadata
  const ordinal = ordinalOf(pod)
  const hasIdentity = Object.hasOwn(labels, POD_NAME_LABEL) && labels[POD_NAME_LABEL] === name
  const hasStorage = claimTemplatesOf(set).every(({ metadata }) => {
    const volume = pod.spec?.volumes?.find((one) => one.name === metadata.name)
    return volume?.persistentVolumeClaim?.claimName === claimName(set, metadata.name ?? '', ordinal)
  })
  if (hasIdentity && hasStorage) return undefined
  return {
    ...pod,
    metadata: hasIdentity ? pod.metadata : { ...pod.metadata, labels: { ...labels, ...identityLabels(name, ordinal) } },
    spec: hasStorage ? pod.spec : { ...pod.spec, volumes: volumesOf(set, ordinal, pod.spec?.volumes) },
  }
}

const claimTemplatesOf = (set: StatefulWorkload): readonly PersistentVolumeClaim[] => set.spec?.volumeClaimTemplates ?? []

const claimName = (set: StatefulWorkload, template: string, ordinal: number): string => `${claimPrefix(set, template)}-${ordinal}`

const claimPrefix = (set: StatefulWorkload, template: string): string => `${template}-${set.metadata.name ?? ''}`

/** What the names of a set's claims begin with, up to the dash before the ordinal. */
export const claimPrefixesOf = (set: StatefulWorkload): string[] =>
  claimTemplatesOf(set).map((template) => claimPrefix(set, template.metadata.name ?? ''))

/** The claims of the pod with this ordinal, as they are created. */
export function claimsOf(set: StatefulWorkload, ordinal: number): (PersistentVolumeClaim & { metadata: { name: string } })[] {
  return claimTemplatesOf(set).map((template) => ({
    ...template,
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...template.metadata,
      name: claimName(set, template.metadata.name ?? '', ordinal),
      namespace: set.metadata.namespace,
      labels: { ...template.metadata.labels, ...set.spec?.selector?.matchLabels },
    },
  }))
}
