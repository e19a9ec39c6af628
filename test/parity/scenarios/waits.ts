/** What scenarios wait for: the settled states of workloads, as `kubectl rollout status` and `kubectl wait` see them. */
import { DAEMON_SETS, DEPLOYMENTS, JOBS, PODS, REPLICA_SETS, STATEFUL_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Pod } from '../../../src/kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import type { Stage } from '../scenario.ts'

interface Counted extends KubeObject {
  spec?: { replicas?: number }
  status?: Record<string, unknown>
}

/** Waits until the object's controller has seen its spec and the check holds for it. */
export async function seen<T extends KubeObject>(
  stage: Stage,
  resource: Resource<T>,
  name: string,
  check: (object: T) => boolean = () => true,
): Promise<T> {
  let last: T | undefined
  await stage.until(`${resource.kind} ${name}`, async () => {
    last = await stage.get(resource, name)
    const { status, metadata } = (last ?? { metadata: {} }) as Counted
    return last !== undefined && Number(status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) && check(last)
  })
  return last as T
}

export const rolledOut = (stage: Stage, name: string) =>
  seen(stage, DEPLOYMENTS, name, ({ spec, status = {} }) => {
    const wanted = spec?.replicas ?? 0
    return [status.replicas, status.updatedReplicas, status.availableReplicas].every((count) => (count ?? 0) === wanted)
  })

export const isUp = (stage: Stage, name: string) =>
  seen(stage, REPLICA_SETS, name, ({ spec, status = { replicas: 0 } }) =>
    [status.replicas, status.availableReplicas].every((count) => (count ?? 0) === spec?.replicas),
  )

export const setIsUp = (stage: Stage, name: string) =>
  seen(stage, STATEFUL_SETS, name, ({ spec, status = { replicas: 0 } }) =>
    [status.replicas, status.availableReplicas, status.readyReplicas].every((count) => (count ?? 0) === spec?.replicas),
  )

export const setIsUpdated = (stage: Stage, name: string) =>
  seen(stage, STATEFUL_SETS, name, ({ spec, status = { replicas: 0 } }) =>
    [status.replicas, status.availableReplicas, status.updatedReplicas].every((count) => (count ?? 0) === spec?.replicas),
  )

export const daemonsAreUp = (stage: Stage, name: string) =>
  seen(stage, DAEMON_SETS, name, ({ status }) => {
    const wanted = status?.desiredNumberScheduled
    return status?.numberAvailable === wanted && status?.updatedNumberScheduled === wanted && status?.currentNumberScheduled === wanted
  })

const livePods = async (stage: Stage, selector?: string): Promise<Pod[]> =>
  (await stage.list(PODS, selector)).filter(({ metadata }) => metadata.deletionTimestamp === undefined)

const byName = (a: Pod, b: Pod): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)

/** Waits for exactly so many pods in this phase that nobody deletes; in the order of their names. */
export async function podsIn(
  stage: Stage,
  count: number,
  phase: 'Running' | 'Pending' | 'Failed' | 'Succeeded',
  selector?: string,
): Promise<Pod[]> {
  let found: Pod[] = []
  await stage.until(`${count} pods ${phase}`, async () => {
    found = (await livePods(stage, selector)).filter(({ status }) => status?.phase === phase)
    return found.length === count
  })
  return found.sort(byName)
}

export const gone = (stage: Stage, resource: Resource, name: string) =>
  stage.until(`${resource.kind} ${name} is gone`, async () => (await stage.get(resource, name)) === undefined)

/** Until the job has this condition. */
export const jobIs = (stage: Stage, name: string, type: 'Complete' | 'Failed' | 'Suspended') =>
  stage.until(`job ${name} is ${type}`, async () => {
    const { status } = (await stage.get(JOBS, name)) ?? {}
    return status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true
  })

/** Replaces the image of a workload's first container. */
export function setImage(workload: { spec?: { template?: { spec?: { containers?: { image?: string }[] } } } }, image: string): void {
  const [container] = workload.spec?.template?.spec?.containers ?? []
  if (container !== undefined) container.image = image
}
