/** What scenarios wait for: the settled states of workloads, as `kubectl rollout status` and `kubectl wait` see them. */
import { DAEMON_SETS, DEPLOYMENTS, JOBS, PODS, REPLICA_SETS, STATEFUL_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Pod } from '../../../src/kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import type { Testbed } from '../scenario.ts'

interface Counted extends KubeObject {
  spec?: { replicas?: number }
  status?: Record<string, unknown>
}

/** Waits until the object's controller has observed its spec and the check holds for it. */
export async function seen<T extends KubeObject>(
  testbed: Testbed,
  resource: Resource<T>,
  name: string,
  check: (object: T) => boolean = () => true,
): Promise<T> {
  let last: T | undefined
  await testbed.until(`${resource.kind} ${name}`, async () => {
    last = await testbed.get(resource, name)
    const { status, metadata } = (last ?? { metadata: {} }) as Counted
    return last !== undefined && Number(status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) && check(last)
  })
  return last as T
}

export const rolledOut = (testbed: Testbed, name: string) =>
  seen(testbed, DEPLOYMENTS, name, ({ spec, status = {} }) => {
    const wanted = spec?.replicas ?? 0
    return [status.replicas, status.updatedReplicas, status.availableReplicas].every((count) => (count ?? 0) === wanted)
  })

export const isUp = (testbed: Testbed, name: string) =>
  seen(testbed, REPLICA_SETS, name, ({ spec, status = { replicas: 0 } }) =>
    [status.replicas, status.availableReplicas].every((count) => (count ?? 0) === spec?.replicas),
  )

export const setIsUp = (testbed: Testbed, name: string) =>
  seen(testbed, STATEFUL_SETS, name, ({ spec, status = { replicas: 0 } }) =>
    [status.replicas, status.availableReplicas, status.readyReplicas].every((count) => (count ?? 0) === spec?.replicas),
  )

export const setIsUpdated = (testbed: Testbed, name: string) =>
  seen(testbed, STATEFUL_SETS, name, ({ spec, status = { replicas: 0 } }) =>
    [status.replicas, status.availableReplicas, status.updatedReplicas].every((count) => (count ?? 0) === spec?.replicas),
  )

export const daemonsAreUp = (testbed: Testbed, name: string) =>
  seen(testbed, DAEMON_SETS, name, ({ status }) => {
    const wanted = status?.desiredNumberScheduled
    return status?.numberAvailable === wanted && status?.updatedNumberScheduled === wanted && status?.currentNumberScheduled === wanted
  })

const livePods = async (testbed: Testbed, selector?: string): Promise<Pod[]> =>
  (await testbed.list(PODS, selector)).filter(({ metadata }) => metadata.deletionTimestamp === undefined)

const byName = (a: Pod, b: Pod): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)

/** Waits for exactly this many pods in this phase that are not being deleted; in the order of their names. */
export async function podsIn(
  testbed: Testbed,
  count: number,
  phase: 'Running' | 'Pending' | 'Failed' | 'Succeeded',
  selector?: string,
): Promise<Pod[]> {
  let found: Pod[] = []
  await testbed.until(`${count} pods ${phase}`, async () => {
    found = (await livePods(testbed, selector)).filter(({ status }) => status?.phase === phase)
    return found.length === count
  })
  return found.sort(byName)
}

export const gone = (testbed: Testbed, resource: Resource, name: string) =>
  testbed.until(`${resource.kind} ${name} is gone`, async () => (await testbed.get(resource, name)) === undefined)

/** Until the job has this condition. */
export const jobIs = (testbed: Testbed, name: string, type: 'Complete' | 'Failed' | 'Suspended') =>
  testbed.until(`job ${name} is ${type}`, async () => {
    const { status } = (await testbed.get(JOBS, name)) ?? {}
    return status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true
  })

/** Replaces the image of a workload's first container. */
export function setImage(workload: { spec?: { template?: { spec?: { containers?: { image?: string }[] } } } }, image: string): void {
  const [container] = workload.spec?.template?.spec?.containers ?? []
  if (container !== undefined) container.image = image
}
