/** Our side: a member of a world in virtual time, with simulated nodes that leave the end of pods to the scenario. */
import { aWorld } from '../../src/faultsim/world/index.ts'
import { DEFAULT_STAGES } from '../../src/minicluster/nodes/simulated/stages.ts'
import type { Note, Scenario } from './scenario.ts'
import { testbedOn } from './testbed.ts'

/** Pods run at once, and end when the scenario says so. */
const STAGES = DEFAULT_STAGES.filter((stage) => stage.to !== 'succeeded').map((stage) => ({ ...stage, delayMs: 0, jitterMs: 0 }))
export const NODES = 2

const HOLDING_STAGES = STAGES.filter((stage) => stage.to !== 'gone')

export async function playOurs(scenario: Scenario, namespace: string): Promise<Note[]> {
  const world = await aWorld({ members: 1, nodes: NODES, stages: scenario.holds ? HOLDING_STAGES : STAGES, hub: false }).settle()
  const notes: Note[] = []
  try {
    const { member, clock } = world
    await member.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    await world.settle()
    const deps = {
      client: member.client,
      inside: <T>(work: () => Promise<T>) => world.inside(work),
      nowMs: () => clock.now(),
      pass: (ms: number) => world.advance(ms),
      lookEveryMs: 100,
      steadyMs: 2000,
    }
    await scenario.run(testbedOn(deps, namespace, notes).testbed)
  } finally {
    await world.stop()
  }
  return notes
}
