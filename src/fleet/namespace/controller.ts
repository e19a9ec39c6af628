/**
 * Gives every cluster the namespaces of the hub: a Work for each pair. Sole writer of: Works owned by a Namespace (their
 * status aside). Runs again when the namespace changes, when a cluster is added, removed or gets other traits that a
 * ClusterOverridePolicy could select by, when its execution namespace appears, and when a Work was changed or is gone.
 * Deletion: the Works are owned by the Namespace, so the garbage collector deletes them, and with them the namespaces in
 * the members. A namespace that is excluded later stays in the members: removing it would remove its contents.
 */
import { messageOf } from '../../base/error-text.ts'
import { deepEqual } from '../../base/json.ts'
import type { Cluster, ClusterOverridePolicy, Work } from '../../kinds/karmada/index.ts'
import { clusterOfExecutionNamespace, executionNamespace } from '../../kinds/karmada/names.ts'
import { implicitPriorityOf } from '../../kinds/karmada/resource-selector-match.ts'
import { CLUSTER_OVERRIDE_POLICIES, CLUSTERS, WORKS } from '../../kinds/karmada/resources.ts'
import { NAMESPACES } from '../../kinds/kubernetes/resources.ts'
import type { Namespace } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ObjectRef } from '../../kube/object-reference.ts'
import {
  type Action,
  type Controller,
  defineController,
  type KeyedEvent,
  NOTHING_TO_DO,
  type Plan,
  type Reader,
  via,
} from '../../runtime/controller.ts'
import { isSynced } from './is-synced.ts'
import { changeOf, type Overridden, ownerOf, workFor, workNameOf } from './work.ts'

/** Given the policies that may select an object, what a cluster gets of it. Throws when one of them cannot be applied. */
export type ApplyOverrides = (of: {
  template: KubeObject
  clusterPolicies: readonly ClusterOverridePolicy[]
  policies: readonly never[]
}) => (object: KubeObject, cluster: Cluster) => Overridden

export interface NamespaceDeps {
  applyOverrides: ApplyOverrides
  /** Names that are not synced, as regular expressions (default `kube-.*`). */
  skippedNamespaces?: readonly string[]
}

interface Target {
  cluster: string
  live: Work | undefined
  /** What the policies make of the namespace for this cluster, or why they cannot be applied. */
  overridden: Overridden | { failure: string }
}

interface Observed {
  namespace: Namespace | undefined
  targets: readonly Target[]
}

const CONCURRENCY = 8

export function namespaceSync({ applyOverrides, skippedNamespaces }: NamespaceDeps): Controller {
  const isWanted = isSynced(skippedNamespaces)
  let hasBegun = false
  /** Before the first pass every namespace is queued already. */
  const everyNamespace = (read: Reader): ObjectRef[] => (hasBegun ? read.list(NAMESPACES).filter(isWanted).map(refOf) : [])

  function observe(_ref: ObjectRef, namespace: Namespace | undefined, read: Reader): Observed {
    hasBegun = true
    if (namespace === undefined || !isWanted(namespace) || isGoing(namespace)) return { namespace: undefined, targets: [] }
    const template: KubeObject = { ...namespace, apiVersion: 'v1', kind: 'Namespace' }
    const clusterPolicies = read.list(CLUSTER_OVERRIDE_POLICIES).filter((policy) => means(policy, template))
    const override = applyOverrides({ template, clusterPolicies, policies: [] })
    const clusters = read.list(CLUSTERS).filter((cluster) => canReceive(cluster, read))
    return { namespace, targets: clusters.map((cluster) => targetOf(cluster, { template, override, read })) }
  }

  return defineController<Observed, Namespace>({
    name: 'fleet.namespace',
    component: 'namespace-sync-controller',
    for: NAMESPACES,
    isRelevant: isWanted,
    isRelevantUpdate: (old, namespace) => isGoing(old) !== isGoing(namespace) || !deepEqual(marksOf(old), marksOf(namespace)),
    watches: [
      via(CLUSTERS, (_cluster, read) => everyNamespace(read), {
        isRelevantUpdate: (old, cluster) => isGoing(old) !== isGoing(cluster) || !deepEqual(traitsOf(old), traitsOf(cluster)),
      }),
      via(
        NAMESPACES,
        ({ metadata: { name = '' } }, read) => (clusterOfExecutionNamespace(name) === undefined ? [] : everyNamespace(read)),
        {
          isRelevantUpdate: (old, namespace) => isGoing(old) !== isGoing(namespace),
        },
      ),
      via(CLUSTER_OVERRIDE_POLICIES, (policy, read) => (hasBegun ? namespacesMeant(policy, read) : [])),
      via(WORKS, namespacesOf, { isRelevantUpdate: (old, work) => !deepEqual(essenceOf(old), essenceOf(work)) }),
    ],
    writes: [{ resource: WORKS, verbs: ['create', 'patch'] }],
    concurrency: CONCURRENCY,
    observe,
    plan,
  })
}

function plan({ namespace, targets }: Observed): Plan {
  if (namespace === undefined) return NOTHING_TO_DO
  const actions = targets.flatMap((target): Action[] => {
    const { live, cluster, overridden } = target
    if ('failure' in overridden) return []
    const wanted = workFor({ namespace, cluster, overridden, live })
    if (live === undefined) return [{ do: 'create', resource: WORKS, object: wanted }]
    // It is being deleted, or belongs to a binding or to an earlier namespace of the same name: it has to be gone first.
    if (isGoing(live) || ownerOf(live)?.uid !== namespace.metadata.uid) return []
    const patch = changeOf(live, wanted)
    return patch === undefined ? [] : [{ do: 'patch', resource: WORKS, of: live, patch }]
  })
  return { actions: actions.length === 0 ? [] : [{ do: 'batch', actions, areIndependent: true }], events: eventsOf(namespace, targets) }
}

function eventsOf(namespace: Namespace, targets: readonly Target[]): KeyedEvent[] {
  return targets.flatMap(({ cluster, overridden }): KeyedEvent[] => {
    if (!('failure' in overridden)) return []
    const message = `Apply cluster override policies for cluster(${cluster}) failed: ${overridden.failure}`
    return [{ key: cluster, of: namespace, type: 'Warning', reason: 'ApplyOverridePolicyFailed', message }]
  })
}

interface Overriding {
  template: KubeObject
  override: ReturnType<ApplyOverrides>
  read: Reader
}

function targetOf(cluster: Cluster, { template, override, read }: Overriding): Target {
  const { name = '' } = cluster.metadata
  const live = read.get(WORKS, executionNamespace(name), workNameOf(template.metadata.name ?? ''))
  try {
    return { cluster: name, live, overridden: override(template, cluster) }
  } catch (error) {
    return { cluster: name, live, overridden: { failure: messageOf(error) } }
  }
}

/** A cluster that is being deleted gets nothing more, and one without an execution namespace cannot hold Works yet. */
function canReceive(cluster: Cluster, read: Reader): boolean {
  const execution = read.get(NAMESPACES, '', executionNamespace(cluster.metadata.name ?? ''))
  return !isGoing(cluster) && execution !== undefined && !isGoing(execution)
}

function means({ spec }: ClusterOverridePolicy, namespace: KubeObject): boolean {
  const selectors = spec?.resourceSelectors ?? []
  return selectors.length === 0 || implicitPriorityOf(selectors, namespace) > 0
}

function namespacesMeant(policy: ClusterOverridePolicy, read: Reader): ObjectRef[] {
  const selectors = policy.spec?.resourceSelectors ?? []
  if (selectors.length > 0 && !selectors.some(({ kind }) => kind === 'Namespace')) return []
  const all = read.list(NAMESPACES)
  return all.filter((namespace) => means(policy, { ...namespace, apiVersion: 'v1', kind: 'Namespace' })).map(refOf)
}

const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined
const refOf = ({ metadata }: KubeObject): ObjectRef => ({ namespace: '', name: metadata.name ?? '' })
const marksOf = ({ metadata: { labels, annotations } }: KubeObject): unknown => [labels, annotations]
const traitsOf = ({ metadata, spec }: Cluster): unknown => [metadata.labels, spec?.provider, spec?.region, spec?.zone, spec?.zones]
const essenceOf = ({ metadata, spec }: Work): unknown => [metadata.deletionTimestamp, metadata.annotations, metadata.ownerReferences, spec]

/** Includes namespaces that someone else's Work contains: when that Work is gone, ours can be created. */
function namespacesOf(work: Work): ObjectRef[] {
  const manifests = (work.spec?.workload?.manifests ?? []) as unknown[] as readonly KubeObject[]
  const brought = manifests.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata?.name ?? '')
  const owner = ownerOf(work)
  return [...new Set([...brought, ...(owner === undefined ? [] : [owner.name])])].map((name) => ({ namespace: '', name }))
}
