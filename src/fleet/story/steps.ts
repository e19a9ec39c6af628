/**
 * The first chapter: a web server divided over three regions, its pods running on this machine, a cluster that fails, work
 * that moves, and the cluster back again. Every step says what it does and what must be seen of it.
 */

import type { Client } from '../../client/client.ts'
import { ifFound } from '../../client/errors.ts'
import { readAll } from '../../client/transport.ts'
import { PROPAGATION_POLICIES } from '../../kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../kinds/kubernetes/resources.ts'
import { StoryRefused, type StoryStage, type StoryStep } from '../../runtime/seams/story.ts'
import { NAME, NAMESPACE, REPLICAS, STORY_LABEL, STORY_NAME, webDeployment, webPolicy } from './manifests.ts'
import { complaintOf, divisionOf, isPresent, readinessOf, readyIn, regionOf, runningIn } from './seen.ts'
import type { Sight } from './sight.ts'
import { counted, divisionText, listText } from './text.ts'

export type Step = StoryStep<Sight>

type FleetStage = Pick<StoryStage, 'hub' | 'members' | 'stop' | 'start'>

const MANAGER = 'sluice-story'

export function fleetStory(stage: FleetStage): Step[] {
  const names = stage.members.map(({ name }) => name)
  const [first = '', , last = ''] = names
  const others = names.filter((name) => name !== last)
  /** Pods that have nothing to do with the failure, by uid: they must be there at the end. */
  const untouched = new Set<string>()
  let left = 0
  const division = (sight: Sight) => divisionOf(sight, REPLICAS)
  const decided = (sight: Sight): string => `the binding says ${divisionText(sight.binding?.spec.clusters?.map(bare) ?? []) || 'nothing'}`

  return [
    {
      name: 'the clusters are ready',
      sees(sight) {
        if (!names.every((name) => readinessOf(sight, name).status === 'True')) return undefined
        return { who: 'clusters', says: `${listText(names.map((name) => `${name} (${regionOf(sight, name)})`))} are ready` }
      },
      missing: (sight) => names.map((name) => `${name}: ${readinessOf(sight, name).status}`).join(', '),
    },
    {
      name: 'the web server is divided over the regions',
      act: () => createWeb(stage.hub, ['east', 'west', 'north']),
      sees(sight) {
        const clusters = division(sight)
        if (clusters?.length !== names.length) return undefined
        const more = [`as many in each region: ${divisionText(clusters)}`]
        return { who: 'you', says: `create Deployment ${NAME} with ${REPLICAS} replicas, and a PropagationPolicy`, more }
      },
      missing: decided,
    },
    {
      name: 'its pods run on this machine',
      sees(sight) {
        const clusters = division(sight)
        if (clusters === undefined || !isPresent(sight, clusters)) return undefined
        for (const name of others) for (const { metadata } of readyIn(sight, name)) untouched.add(metadata.uid ?? '')
        return { who: 'pods', says: `${REPLICAS} of ${REPLICAS} run as programs of this machine, and answer` }
      },
      missing: complaintOf,
      beneath: async (sight) => [`$ kubectl --context ${first} logs deployment/${NAME}`, ...(await logOf(stage, first, sight))],
    },
    {
      name: `${last} is cut off`,
      act: async () => void (await stage.stop(last)),
      sees(sight) {
        left = runningIn(sight, last).length
        return {
          who: 'network',
          says: `${last} is cut off, as \`sluice cluster stop ${last}\` does; its ${counted(left, 'pod')} go on running`,
        }
      },
      missing: () => 'it was not cut off',
    },
    {
      name: `${last} is not ready`,
      sees(sight) {
        const { status, reason } = readinessOf(sight, last)
        return status === 'True' ? undefined : { who: 'clusters', says: `${last} is not ready any more (${reason})` }
      },
      missing: () => `${last} is still taken for ready`,
    },
    {
      name: `${NAME} leaves ${last}`,
      sees(sight) {
        const { clusters = [], gracefulEvictionTasks = [] } = sight.binding?.spec ?? {}
        if (sight.binding === undefined || clusters.some(({ name }) => name === last)) return undefined
        const task = gracefulEvictionTasks.find(({ fromCluster }) => fromCluster === last)
        return {
          who: 'failover',
          says: `${NAME} leaves ${last}, ${counted(left, 'replica')}${task === undefined ? '' : ` (${task.reason})`}`,
        }
      },
      missing: (sight) => `${decided(sight)}; is there a ClusterTaintPolicy that adds NoExecute?`,
    },
    {
      name: 'its replicas are decided anew',
      sees(sight) {
        const clusters = division(sight)
        return clusters === undefined || clusters.some(({ name }) => name === last)
          ? undefined
          : { who: 'scheduler', says: `${divisionText(clusters)}, because ${last} is no choice now` }
      },
      missing: decided,
    },
    {
      name: 'its pods run elsewhere',
      sees(sight) {
        const clusters = division(sight)
        if (clusters === undefined || !isPresent(sight, clusters)) return undefined
        const now = new Set(others.flatMap((name) => readyIn(sight, name).map(({ metadata }) => metadata.uid ?? '')))
        if ([...untouched].some((uid) => !now.has(uid))) return undefined
        return {
          who: 'pods',
          says: `${REPLICAS} of ${REPLICAS} are ready without ${last}; the ${untouched.size} that were there were not touched`,
        }
      },
      missing: complaintOf,
    },
    {
      name: `${last} is back`,
      act: async () => void (await stage.start(last)),
      sees: (sight) =>
        readinessOf(sight, last).status === 'True' ? { who: 'network', says: `${last} is reached again, and ready` } : undefined,
      missing: (sight) => `it says ${readinessOf(sight, last).reason}`,
    },
    {
      name: `${last} ends what it should no longer have`,
      sees: (sight) =>
        (sight.pods[last] ?? []).length > 0
          ? undefined
          : { who: 'fleet', says: `${last} ended the ${counted(left, 'pod')} it had kept; nothing moves back by itself` },
      missing: (sight) => `${counted((sight.pods[last] ?? []).length, 'pod')} of ${NAME} are still in ${last}`,
    },
  ]
}

const bare = ({ name, replicas = 0 }: { name: string; replicas?: number }) => ({ name, replicas })

/** What is there of the same name and is not the story's own is not touched. */
async function createWeb(hub: Client, regions: readonly string[]): Promise<void> {
  const labels = await labelsOf(hub)
  if (labels !== undefined && labels[STORY_LABEL] !== STORY_NAME)
    throw new StoryRefused(
      `the story cannot be told here: Deployment ${NAMESPACE}/${NAME} is somebody else's. Tell it on a new directory: sluice up --story fleet --data-dir NEW`,
    )
  await hub.apply(PROPAGATION_POLICIES, webPolicy(regions), { fieldManager: MANAGER, force: true })
  await hub.apply(DEPLOYMENTS, webDeployment(), { fieldManager: MANAGER, force: true })
}

async function labelsOf(hub: Client): Promise<Record<string, string> | undefined> {
  const deployment = await ifFound(hub.get(DEPLOYMENTS, { namespace: NAMESPACE, name: NAME }))
  return deployment === undefined ? undefined : (deployment.metadata.labels ?? {})
}

const LOG_LINES = 3

async function logOf({ members }: FleetStage, member: string, sight: Sight): Promise<string[]> {
  const client = members.find(({ name }) => name === member)?.client
  const [pod] = readyIn(sight, member)
  if (client === undefined || pod === undefined) return []
  const log = await client.log({ namespace: NAMESPACE, name: pod.metadata.name ?? '' }, { tailLines: LOG_LINES })
  return (await readAll(log)).toString('utf8').trimEnd().split('\n')
}
