/** Assertions about a pod of the first member, its containers and its events. */
import assert from 'node:assert/strict'
import { EVENTS, PODS } from '../../kinds/kubernetes/resources.ts'
import type { ContainerStatus, Pod } from '../../kinds/kubernetes/types.ts'
import type { World } from '../world/index.ts'
import { expectThere } from './index.ts'

export async function podOf(world: World, where = 'default/p'): Promise<Pod> {
  return (await expectThere(world.member, PODS, where)) as Pod
}

export async function containerOf(world: World, name = 'main', where = 'default/p'): Promise<ContainerStatus> {
  const { status } = await podOf(world, where)
  const found = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find((one) => one.name === name)
  assert.ok(found !== undefined, `no status of container ${name}`)
  return found
}

/** `Reason: message`, of pods, in the order they were first recorded. */
export async function eventsOf(world: World): Promise<string[]> {
  const events = await world.member.list(EVENTS, { namespace: 'default' })
  return events
    .filter(({ involvedObject }) => (involvedObject as { kind?: string }).kind === 'Pod')
    .map((event) => `${event.reason as string}: ${event.message as string}`)
}
