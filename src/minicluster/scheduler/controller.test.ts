import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { story } from '../../../test/stories/story.ts'
import { EVENTS, NODES, PODS } from '../../client/builtin-resources.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import type { Event, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { aNode, aPod } from './testing.ts'

const MEMBER = { members: 1 }

async function place(cluster: WorldCluster, ...objects: KubeObject[]): Promise<void> {
  for (const object of objects) {
    const made = await cluster.create(object)
    if (object.kind === 'Node') await cluster.patch(NODES, made.metadata.name ?? '', { status: object.status }, 'status')
  }
}

async function nodesOf(cluster: WorldCluster): Promise<Record<string, string | undefined>> {
  const pods = (await cluster.list(PODS)) as Pod[]
  return Object.fromEntries(pods.map((pod) => [pod.metadata.name, pod.spec?.nodeName]))
}

async function news(cluster: WorldCluster, of: string): Promise<string[]> {
  const events = (await cluster.list(EVENTS)) as Event[]
  return events.filter((event) => event.involvedObject?.name === of).map(({ reason, message }) => `${reason}: ${message}`)
}

describe('the scheduler', () => {
  story(
    'gives a pod a node and says so',
    async (world) => {
      await place(world.member, aNode('a'), aPod('p', { cpu: '1' }))
      await world.settle()
      assert.deepEqual(await nodesOf(world.member), { p: 'a' })
      assert.deepEqual((await news(world.member, 'p'))[0], 'Scheduled: Successfully assigned default/p to a')
    },
    MEMBER,
  )
})
