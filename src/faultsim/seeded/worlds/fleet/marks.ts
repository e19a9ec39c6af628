/** How objects of the fleet refer to each other, for the oracles: duplicated on purpose, so that the judge does not trust the judged. */

import type { Binding, Work } from '../../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { InvariantView } from '../../../../runtime/seams/seeded.ts'

export const WORKS = 'works.work.karmada.io'
export const BINDINGS = ['resourcebindings.work.karmada.io', 'clusterresourcebindings.work.karmada.io'] as const
/** The kinds that seeds propagate. */
export const KINDS: Readonly<Record<string, string>> = {
  ClusterRole: 'clusterroles.rbac.authorization.k8s.io',
  ConfigMap: 'configmaps',
  Deployment: 'deployments.apps',
  Job: 'jobs.batch',
  Namespace: 'namespaces',
  Service: 'services',
  StatefulSet: 'statefulsets.apps',
}

/** `namespace/name`, or the name of a cluster-scoped object. */
export const whereOf = ({ metadata: { namespace, name = '' } }: KubeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`

export const isOurs = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.['karmada.io/managed'] === 'true' && metadata.annotations?.['work.karmada.io/name'] !== undefined

export const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

/** The Work that an object in a member says it came from. */
export const workNamedBy = ({ metadata: { annotations = {} } }: KubeObject): string =>
  `${annotations['work.karmada.io/namespace']}/${annotations['work.karmada.io/name']}`

export const clusterOfWork = ({ metadata: { namespace = '' } }: KubeObject): string => namespace.replace(/^karmada-es-/, '')

export const manifestsOf = ({ spec }: Work): readonly KubeObject[] => (spec.workload?.manifests ?? []) as unknown[] as readonly KubeObject[]

/** The member's object for a manifest, whoever created it. */
export const inMember = (member: InvariantView, manifest: KubeObject): KubeObject | undefined =>
  member.get(KINDS[manifest.kind] ?? manifest.kind, whereOf(manifest))

export const mayOverwrite = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.['work.karmada.io/conflict-resolution'] === 'overwrite'

/** The binding that a Work was created for; undefined when it is gone, or never existed. */
export function bindingOf(hub: InvariantView, { metadata: { annotations = {} } }: KubeObject): Binding | undefined {
  const clusterScoped = annotations['clusterresourcebinding.karmada.io/name']
  if (clusterScoped !== undefined) return hub.get(BINDINGS[1], clusterScoped) as Binding | undefined
  const name = annotations['resourcebinding.karmada.io/name']
  const namespace = annotations['resourcebinding.karmada.io/namespace']
  return name === undefined ? undefined : (hub.get(BINDINGS[0], `${namespace}/${name}`) as Binding | undefined)
}

/** Where a binding's object should be. */
export const targetsOf = ({ spec }: Binding): ReadonlyMap<string, number | undefined> =>
  new Map([
    ...(spec.requiredBy ?? []).flatMap(({ clusters = [] }) => clusters).map(({ name, replicas }) => [name, replicas] as const),
    ...(spec.clusters ?? []).map(({ name, replicas }) => [name, replicas] as const),
  ])
