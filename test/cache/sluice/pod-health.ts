/** Whether the pods of the caches are as they should be: which are not ready, and which containers ended in another way than by -9. */
import type { Pod } from '../../../src/kinds/kubernetes/types.ts'
import type { DatasetPlan } from './manifests.ts'

const KILLED = 137
const COMPONENTS = ['master', 'worker', 'client', 'fuse']

const isOfCache = ({ metadata }: Pod, plans: readonly DatasetPlan[]): boolean =>
  plans.some(({ name }) => COMPONENTS.some((component) => metadata.name?.startsWith(`${name}-${component}`)))

export const cachePods = (pods: readonly Pod[], plans: readonly DatasetPlan[]): Pod[] => pods.filter((pod) => isOfCache(pod, plans))

export const isReady = ({ status }: Pod): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True')

/** Runs that ended by themselves, each with a key of its own. */
export const endsOfItself = (pods: readonly Pod[]): { key: string; text: string }[] =>
  pods.flatMap(({ metadata, status }) =>
    (status?.containerStatuses ?? []).flatMap(({ restartCount, state, lastState }) =>
      [state?.terminated, lastState?.terminated].flatMap((end) =>
        end === undefined || end.exitCode === KILLED
          ? []
          : [{ key: `${metadata.uid} ${end.containerID ?? restartCount}`, text: `${metadata.name} ended with ${JSON.stringify(end)}` }],
      ),
    ),
  )
