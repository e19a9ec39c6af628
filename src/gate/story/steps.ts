/**
 * The steps: a Job waits for its data, another one makes it, the first follows it and reads the same bytes; then one more, while
 * the cluster that holds the data is cut off. Every step says what it does and what must be observed.
 */

import type { Client } from '../../client/client.ts'
import { ifFound } from '../../client/errors.ts'
import { readAll } from '../../client/transport.ts'
import { PROPAGATION_POLICIES } from '../../kinds/karmada/resources.ts'
import { JOBS, PERSISTENT_VOLUME_CLAIMS } from '../../kinds/kubernetes/resources.ts'
import type { DataSource } from '../../kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { refOf } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import { type StoryEnv, StoryRefused, type StoryStep } from '../../runtime/seams/story.ts'
import {
  CLAIM,
  claim,
  DATA,
  DATA_TEXT,
  EARLY_READER,
  LATE_READER,
  MAKER,
  maker,
  policy,
  reader,
  STORY_LABEL,
  STORY_NAME,
  volume,
} from './manifests.ts'
import { bindingOf, complaintOf, type GateSnapshot, hasSucceeded, heldBecause, isReady, placeOf, podOf, SOURCE } from './snapshot.ts'

export type Step = StoryStep<GateSnapshot>
type GateEnv = Pick<StoryEnv, 'hub' | 'members' | 'stop' | 'start'>

const MANAGER = 'sluice-story'
const READERS = [EARLY_READER, LATE_READER]

export function gateStory(env: GateEnv): Step[] {
  const names = env.members.map(({ name }) => name)
  const { hub } = env
  return [
    {
      name: 'the clusters are ready',
      act: () => clear(hub),
      sees: (snapshot) =>
        names.every((name) => isReady(snapshot, name)) && isCleared(snapshot)
          ? { who: 'clusters', says: `${names.join(', ')} are ready` }
          : undefined,
      missing: (snapshot) =>
        isCleared(snapshot)
          ? `${names.filter((name) => !isReady(snapshot, name)).join(', ')} not ready`
          : 'what an earlier telling has left is still there',
    },
    {
      name: `${EARLY_READER} waits for data that nobody makes`,
      async act() {
        await apply(hub, PERSISTENT_VOLUME_CLAIMS, volume())
        await apply(hub, PROPAGATION_POLICIES, policy())
        await apply(hub, DATA_SOURCE_CLAIMS, claim())
        await apply(hub, JOBS, reader(EARLY_READER))
      },
      sees: (snapshot) => held(snapshot, EARLY_READER, `create Job ${EARLY_READER}, which needs ${DATA_TEXT}: its claim ${CLAIM} says so`),
      missing: (snapshot) => complaintOf(snapshot, EARLY_READER),
    },
    {
      name: `${EARLY_READER} waits for ${MAKER}`,
      act: () => apply(hub, JOBS, maker()),
      sees(snapshot) {
        const says = `create Job ${MAKER}, which makes ${DATA_TEXT}, in whichever cluster it runs`
        if (heldBecause(snapshot, EARLY_READER)?.includes('is running')) return held(snapshot, EARLY_READER, says)
        return snapshot.source === undefined ? undefined : { who: 'you', says }
      },
      missing: (snapshot) => complaintOf(snapshot, MAKER),
    },
    {
      name: 'the data is there',
      sees(snapshot) {
        const place = placeOf(snapshot)
        return place === undefined
          ? undefined
          : { who: 'data', says: `${MAKER} has succeeded: ${DATA_TEXT} is in ${place}`, more: [`DataSource ${SOURCE}`] }
      },
      missing: (snapshot) => complaintOf(snapshot, MAKER),
    },
    readStep(env, EARLY_READER, (place) => `${EARLY_READER} was sent to ${place}, and has read the same bytes`),
    ...cutOff(env),
  ]
}

/** The cluster that holds the data is away, and back. */
function cutOff(env: GateEnv): Step[] {
  let place = ''
  return [
    {
      name: 'the cluster that holds the data is not ready',
      async act() {
        const source = await env.hub.get<DataSource>(DATA_SOURCES, { name: SOURCE })
        place = source.spec?.locality?.clusterNames?.[0] ?? ''
        await env.stop(place)
      },
      sees: (snapshot) =>
        isReady(snapshot, place)
          ? undefined
          : { who: 'network', says: `${place} is cut off, as \`sluice cluster stop ${place}\` does, and not ready any more` },
      missing: () => `${place} is still taken for ready`,
    },
    {
      name: `${LATE_READER} waits for the cluster`,
      act: () => apply(env.hub, JOBS, reader(LATE_READER)),
      sees: (snapshot) => held(snapshot, LATE_READER, `create Job ${LATE_READER}, which needs the same data`),
      missing: (snapshot) => complaintOf(snapshot, LATE_READER),
    },
    {
      ...readStep(env, LATE_READER, () => `${place} is back: ${LATE_READER} ran there, and has read the same bytes`),
      act: async () => void (await env.start(place)),
    },
  ]
}

/** The Job has run where the data is, and printed what the maker printed. */
function readStep(env: GateEnv, name: string, says: (place: string) => string): Step {
  return {
    name: `${name} reads the same bytes`,
    sees(snapshot) {
      const [made, read] = [podOf(snapshot, MAKER), podOf(snapshot, name)]
      if (made === undefined || read === undefined || !hasSucceeded(snapshot, name)) return undefined
      return made.member === read.member ? { who: 'pods', says: says(read.member) } : undefined
    },
    missing: (snapshot) => complaintOf(snapshot, name),
    async beneath(snapshot) {
      const logs = await Promise.all([MAKER, name].map((job) => logOf(env, snapshot, job)))
      const [made, read] = logs.map(({ text }) => text)
      if (made === '' || made !== read) throw new StoryRefused(`${name} has read ${read}, and ${MAKER} has written ${made}`)
      return logs.flatMap(({ command, text }) => [command, text])
    },
  }
}

async function logOf({ members }: GateEnv, snapshot: GateSnapshot, job: string): Promise<{ command: string; text: string }> {
  const { member, pod } = podOf(snapshot, job) ?? { member: '', pod: '' }
  const command = `$ kubectl --context ${member} logs job/${job}`
  const client = members.find(({ name }) => name === member)?.client
  if (client === undefined) return { command, text: '' }
  const { namespace } = refOf(reader(job))
  return { command, text: (await readAll(await client.log({ namespace, name: pod }))).toString('utf8').trim() }
}

function held(snapshot: GateSnapshot, job: string, says: string): ReturnType<Step['sees']> {
  const because = heldBecause(snapshot, job)
  return because === undefined ? undefined : { who: 'you', says, more: [`${job} waits: ${because}`] }
}

async function apply(hub: Client, resource: Resource, object: KubeObject): Promise<void> {
  await hub.apply(resource, object, { fieldManager: MANAGER, force: true })
}

const storyObjects = (): [Resource, KubeObject][] => [
  ...[maker(), ...READERS.map(reader)].map((job): [Resource, KubeObject] => [JOBS, job]),
  [DATA_SOURCE_CLAIMS, claim()],
  [PROPAGATION_POLICIES, policy()],
  [PERSISTENT_VOLUME_CLAIMS, volume()],
]

/** Removes what an earlier telling left. Objects of somebody else are not touched: then the story is not told. */
async function clear(hub: Client): Promise<void> {
  const found: [Resource, KubeObject][] = []
  for (const [resource, wanted] of storyObjects()) {
    const object = await ifFound(hub.get(resource, refOf(wanted)))
    if (object === undefined) continue
    if (object.metadata.labels?.[STORY_LABEL] !== STORY_NAME) throw refusal(`${object.kind} ${wanted.metadata.name}`)
    found.push([resource, object])
  }
  const { items } = await hub.list<DataSource>(DATA_SOURCES)
  const others = items.find(({ metadata, spec }) => metadata.name !== SOURCE && isTheData(spec))
  if (others !== undefined) throw refusal(`DataSource ${others.metadata.name}`)
  // The volume and the policy may stay: nothing is told about them.
  for (const [resource, object] of found.filter(([{ kind }]) => kind === JOBS.kind || kind === DATA_SOURCE_CLAIMS.kind))
    await ifFound(hub.delete(resource, refOf(object), { propagationPolicy: 'Background' }))
  await ifFound(hub.delete(DATA_SOURCES, { name: SOURCE }))
}

const isTheData = (spec: DataSource['spec'] | undefined): boolean =>
  spec?.system === DATA.system && spec.type === DATA.type && spec.name === DATA.name

const refusal = (what: string): StoryRefused =>
  new StoryRefused(
    `the story cannot be told here: ${what} is somebody else's. Tell it on a new directory: sluice up --story ${STORY_NAME} --data-dir NEW`,
  )

const isCleared = (snapshot: GateSnapshot): boolean =>
  snapshot.source === undefined &&
  snapshot.jobs.length === 0 &&
  [MAKER, ...READERS].every((job) => bindingOf(snapshot, job) === undefined) &&
  Object.values(snapshot.pods).every((pods) => pods.length === 0)
