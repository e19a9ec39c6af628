/**
 * The first chapter: a web server divided over three regions, its pods running on this machine, a cluster that fails,
 * workloads that move, and the cluster back again. Every step says what it does and what must be observed.
 */

import type { Client } from '../../client/client.ts'
import { ifFound } from '../../client/errors.ts'
import { readAll } from '../../client/transport.ts'
import { PROPAGATION_POLICIES } from '../../kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../kinds/kubernetes/resources.ts'
import { type StoryEnv, StoryRefused, type StoryStep } from '../../runtime/seams/story.ts'
import type { FleetSnapshot } from './fleet-snapshot.ts'
import { NAME, NAMESPACE, REPLICAS, STORY_LABEL, STORY_NAME, webDeployment, webPolicy } from './manifests.ts'
import { complaintOf, divisionOf, isPresent, readinessOf, readyIn, regionOf, runningIn } from './snapshot-queries.ts'
import { counted, divisionText, listText } from './text.ts'

export type Step = StoryStep<FleetSnapshot>

type FleetEnv = Pick<StoryEnv, 'hub' | 'members' | 'stop' | 'start'>

const MANAGER = 'sluice-story'

export function fleetStory(env: FleetEnv): Step[] {
  const names = env.members.map(({ name }) => name)
  const [first = '', , last = ''] = names
  const others = names.filter((name) => name !== last)
  /** Pods not affected by the failure, by uid: they must still be there at the end. */
  const untouched = new Set<string>()
  let left = 0
  const division = (snapshot: FleetSnapshot) => divisionOf(snapshot, REPLICAS)
  const decided = (snapshot: FleetSnapshot): string =>
    `the binding says ${divisionText(snapshot.binding?.spec.clusters?.map(bare) ?? []) || 'nothing'}`

  return [
    {
      name: 'the clusters are ready',
      sees(snapshot) {
        if (!names.every((name) => readinessOf(snapshot, name).status === 'True')) return undefined
        return { who: 'clusters', says: `${listText(names.map((name) => `${name} (${regionOf(snapshot, name)})`))} are ready` }
      },
      missing: (snapshot) => names.map((name) => `${name}: ${readinessOf(snapshot, name).status}`).join(', '),
    },
    {
      name: 'the web server is divided over the regions',
      act: () => createWeb(env.hub, ['east', 'west', 'north']),
      sees(snapshot) {
        const clusters = division(snapshot)
        if (clusters?.length !== names.length) return undefined
        const more = [`as many in each region: ${divisionText(clusters)}`]
        return { who: 'you', says: `create Deployment ${NAME} with ${REPLICAS} replicas, and a PropagationPolicy`, more }
      },
      missing: decided,
    },
    {
      name: 'its pods run on this machine',
      sees(snapshot) {
        const clusters = division(snapshot)
        if (clusters === undefined || !isPresent(snapshot, clusters)) return undefined
        for (const name of others) for (const { metadata } of readyIn(snapshot, name)) untouched.add(metadata.uid ?? '')
        return { who: 'pods', says: `${REPLICAS} of ${REPLICAS} run as programs of this machine, and answer` }
      },
      missing: complaintOf,
      beneath: async (snapshot) => [`$ kubectl --context ${first} logs deployment/${NAME}`, ...(await logOf(env, first, snapshot))],
    },
    {
      name: `${last} is cut off`,
      act: async () => void (await env.stop(last)),
      sees(snapshot) {
        left = runningIn(snapshot, last).length
        return {
          who: 'network',
          says: `${last} is cut off, as \`sluice cluster stop ${last}\` does; its ${counted(left, 'pod')} go on running`,
        }
      },
      missing: () => 'it was not cut off',
    },
    {
      name: `${last} is not ready`,
      sees(snapshot) {
        const { status, reason } = readinessOf(snapshot, last)
        return status === 'True' ? undefined : { who: 'clusters', says: `${last} is not ready any more (${reason})` }
      },
      missing: () => `${last} is still taken for ready`,
    },
    {
      name: `${NAME} leaves ${last}`,
      sees(snapshot) {
        const { clusters = [], gracefulEvictionTasks = [] } = snapshot.binding?.spec ?? {}
        if (snapshot.binding === undefined || clusters.some(({ name }) => name === last)) return undefined
        const task = gracefulEvictionTasks.find(({ fromCluster }) => fromCluster === last)
        return {
          who: 'failover',
          says: `${NAME} leaves ${last}, ${counted(left, 'replica')}${task === undefined ? '' : ` (${task.reason})`}`,
        }
      },
      missing: (snapshot) => `${decided(snapshot)}; is there a ClusterTaintPolicy that adds NoExecute?`,
    },
    {
      name: 'its replicas are decided anew',
      sees(snapshot) {
        const clusters = division(snapshot)
        return clusters === undefined || clusters.some(({ name }) => name === last)
          ? undefined
          : { who: 'scheduler', says: `${divisionText(clusters)}, because ${last} is no choice now` }
      },
      missing: decided,
    },
    {
      name: 'its pods run elsewhere',
      sees(snapshot) {
        const clusters = division(snapshot)
        if (clusters === undefined || !isPresent(snapshot, clusters)) return undefined
        const now = new Set(others.flatMap((name) => readyIn(snapshot, name).map(({ metadata }) => metadata.uid ?? '')))
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
      act: async () => void (await env.start(last)),
      sees: (snapshot) =>
        readinessOf(snapshot, last).status === 'True' ? { who: 'network', says: `${last} is reached again, and ready` } : undefined,
      missing: (snapshot) => `it says ${readinessOf(snapshot, last).reason}`,
    },
    {
      name: `${last} ends what it should no longer have`,
      sees: (snapshot) =>
        (snapshot.pods[last] ?? []).length > 0
          ? undefined
          : { who: 'fleet', says: `${last} ended the ${counted(left, 'pod')} it had kept; nothing moves back by itself` },
      missing: (snapshot) => `${counted((snapshot.pods[last] ?? []).length, 'pod')} of ${NAME} are still in ${last}`,
    },
  ]
}

const bare = ({ name, replicas = 0 }: { name: string; replicas?: number }) => ({ name, replicas })

/** Existing objects of the same name that are not the story's own are not touched. */
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

async function logOf({ members }: FleetEnv, member: string, snapshot: FleetSnapshot): Promise<string[]> {
  const client = members.find(({ name }) => name === member)?.client
  const [pod] = readyIn(snapshot, member)
  if (client === undefined || pod === undefined) return []
  const log = await client.log({ namespace: NAMESPACE, name: pod.metadata.name ?? '' }, { tailLines: LOG_LINES })
  return (await readAll(log)).toString('utf8').trimEnd().split('\n')
}
