/**
 * Brings the manifests of a Work into its member, keeps them there, and reports their status back. Sole writer of: the
 * objects in members that came from the Work, and the Work's status (conditions Dispatching and Applied, manifestStatuses).
 * Runs again when the Work changes, when the member's object does (drift is repaired, deleted objects are created again,
 * status is reported), when a namespace that something waits for appears, and when the cluster becomes ready or serves
 * other APIs. Deletion: the objects are deleted, or released where they are to be preserved; then the finalizer is removed.
 */
import { deepEqual } from '../../base/json.ts'
import type { Client } from '../../client/client.ts'
import { BINDING_KINDS } from '../../kinds/karmada/binding-kinds.ts'
import type { Binding, Cluster, Work } from '../../kinds/karmada/index.ts'
import { clusterOfExecutionNamespace, executionNamespace } from '../../kinds/karmada/names.ts'
import { CLUSTERS, WORKS } from '../../kinds/karmada/resources.ts'
import { CLUSTER_READY, WORK_APPLIED } from '../../kinds/karmada/well-known.ts'
import { EVERY_RESOURCE, NAMESPACES } from '../../kinds/kubernetes/resources.ts'
import { isConditionTrue } from '../../kube/conditions.ts'
import { type ObjectRef, refOf } from '../../kube/object-reference.ts'
import { keyOfResource } from '../../kube/resource.ts'
import { type Controller, defineController, indexOf, type Reader, type Signal, via } from '../../runtime/controller.ts'
import { purgedFirst } from '../binding/index.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'
import { createStillCurrent } from '../still-current.ts'
import { manifestsOf, workOf } from './manifest.ts'
import { createMemberKinds } from './member-kinds.ts'
import { createMemory, type Memory } from './memory.ts'
import { type Observed, observeWork } from './observe.ts'
import { plan } from './plan.ts'
import { conditionOf } from './status.ts'
import { liveObject } from './verdict.ts'

const REFUSED_IN = 'refused-in-namespace'
/** Passes mostly wait for members; a slow member must not hold up the others. */
const CONCURRENCY = 64

export function execution({ interpreter }: { interpreter: Interpreter }): Controller {
  const memory = createMemory()
  const kinds = createMemberKinds()
  const isStillCurrent = createStillCurrent(WORKS)
  return defineController<Observed, Work>({
    name: 'fleet.execution',
    component: 'execution-controller',
    for: WORKS,
    isRelevantUpdate: isNewToPlace,
    watches: [via(CLUSTERS, ({ metadata }, read) => worksOf(metadata.name ?? '', read), { isRelevantUpdate: isOtherToReach })],
    signals: [ruleChanges(interpreter, memory)],
    indexes: [indexOf(WORKS, REFUSED_IN, namespacesRefusedIn)],
    keysForFollowed({ cluster, resource, object }, read) {
      if (cluster === undefined) return []
      const work = workOf(object)
      const own = work?.namespace === executionNamespace(cluster) ? [work] : []
      if (keyOfResource(resource) !== keyOfResource(NAMESPACES)) return own
      const waiting = read.byIndex(WORKS, REFUSED_IN, `${executionNamespace(cluster)}/${object.metadata.name}`)
      return [...own, ...waiting.map(refOf)]
    },
    keysForMember(cluster, read) {
      kinds.forget(cluster)
      return worksOf(cluster, read)
    },
    writes: [
      { resource: WORKS, verbs: ['patch'] },
      { resource: WORKS, subresource: 'status', verbs: ['patch'] },
      { resource: EVERY_RESOURCE, verbs: ['create', 'update', 'patch', 'delete'], in: 'members' },
    ],
    reads: [
      { resource: WORKS, verbs: ['get', 'list'] },
      ...BINDING_KINDS.map(({ resource }) => ({ resource, verbs: ['get' as const] })),
      { resource: EVERY_RESOURCE, verbs: ['get', 'list', 'watch'], in: 'members' },
    ],
    concurrency: CONCURRENCY,
    rank: (key, read) => rankOf(read.get(WORKS, key.namespace, key.name)),
    observe: (ref, work, read, client) =>
      observeWork(ref, work, read, {
        interpreter,
        kinds,
        memory,
        isCurrent: (seen) => isStillCurrent(seen, client),
        mustEndFirst: (seen) => isPurgedDirectly(seen, client),
      }),
    plan,
  })
}

const worksOf = (cluster: string, read: Reader): ObjectRef[] => read.list(WORKS, executionNamespace(cluster)).map(refOf)

/** Asked of the server: a cache may show that the Work is being deleted, but not yet why. */
async function isPurgedDirectly(work: Work, client: Client): Promise<boolean> {
  const cluster = clusterOfExecutionNamespace(work.metadata.namespace ?? '') ?? ''
  for (const { resource, namedBy } of BINDING_KINDS) {
    const ref = namedBy(work)
    const binding = ref === undefined ? undefined : ((await liveObject(client, resource, ref)) as Binding | undefined)
    if (binding !== undefined && purgedFirst(binding.spec).includes(cluster)) return true
  }
  return false
}

/** Its own status writes are not relevant, except a refusal, which is retried later. */
function isNewToPlace(old: Work, work: Work): boolean {
  const essence = ({ metadata, spec }: Work): unknown => [metadata.deletionTimestamp, metadata.finalizers, metadata.labels, spec]
  const appliedOf = (one: Work): unknown => conditionOf(one, WORK_APPLIED)?.status
  return appliedOf(old) !== appliedOf(work) || !deepEqual(essence(old), essence(work))
}

function isOtherToReach(old: Cluster, cluster: Cluster): boolean {
  const essence = ({ metadata, status }: Cluster): unknown => [
    metadata.deletionTimestamp,
    isConditionTrue(status?.conditions, CLUSTER_READY),
    status?.apiEnablements,
  ]
  return !deepEqual(essence(old), essence(cluster))
}

/** The namespaces that a refused Work may be waiting for. */
function namespacesRefusedIn(work: Work): string[] {
  if (conditionOf(work, WORK_APPLIED)?.status !== 'False') return []
  const namespaces = manifestsOf(work).flatMap(({ metadata }) => metadata?.namespace ?? [])
  return [...new Set(namespaces)].map((namespace) => `${work.metadata.namespace}/${namespace}`)
}

/** Works that others wait for go first. */
function rankOf(work: Work | undefined): number {
  const kinds = work === undefined ? [] : manifestsOf(work).map(({ kind }) => kind)
  if (kinds.includes('Namespace')) return 2
  return kinds.includes('CustomResourceDefinition') ? 1 : 0
}

const ruleChanges = (interpreter: Interpreter, memory: Memory): Signal => ({
  subscribe: (enqueue) =>
    interpreter.onChange((changed) => {
      for (const ref of memory.withKinds(changed)) enqueue(ref, 'low')
    }),
})
