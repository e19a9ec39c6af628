/**
 * `survives(controller, …)` registers a controller with the prover: one line in its test file. The steps are what users do;
 * the prover repeats them under every enumerated fault and compares the end states.
 *
 * `SURVIVES=all` runs every fault where `npm test` takes a sample; `SURVIVES='crash after write 3'` runs that one alone.
 */

import { it } from 'node:test'
import { type Controller, resourcesOf } from '../runtime/controller.ts'
import type { Module } from '../runtime/module/module.ts'
import type { Invariant } from '../runtime/seams/seeded.ts'
import { type Proof, prove } from './prover/enumerate.ts'
import type { Target } from './prover/points.ts'
import type { RunControllers } from './world/cluster.ts'
import type { WorldCluster } from './world/index.ts'

export type { Invariant } from '../runtime/seams/seeded.ts'

export interface Survival {
  /** Where it runs (default member). */
  role?: 'hub' | 'member'
  /** Members in addition to the hub (default 0). */
  members?: number
  /** Simulated nodes of the member (default 0). */
  nodes?: number
  /** What users do, one after another; the world settles after each. Keep it short: it is repeated for every fault. */
  steps: readonly ((cluster: WorldCluster) => Promise<unknown>)[]
  invariants?: readonly Invariant[]
  /** Holds when settled after the last step, whatever happened before; throws otherwise. */
  atRest?(cluster: WorldCluster): Promise<void>
  /** Done once before the story, without faults: for example, definitions. */
  before?: readonly ((cluster: WorldCluster) => Promise<unknown>)[]
  /** What runs in the cluster (default: the real list of controllers). */
  controllers?: RunControllers
  /** The modules of the cluster (default: all). */
  modules?: readonly Module[]
  /** What the world outside the API looks like at the end: compared with the run without faults. */
  outside?(cluster: WorldCluster): unknown
}

/** A controller, or the name of a loop that follows the whole cluster (the garbage collector). */
type Survivor = Pick<Controller, 'name'> & Partial<Pick<Controller, 'for' | 'watches' | 'indexes' | 'signals' | 'keysForFollowed'>>

export function survives(controller: Survivor, survival: Survival): void {
  it(`${controller.name} survives`, async (t) => {
    const proof = await proveSurvival(controller, survival, process.env.SURVIVES)
    t.diagnostic(proof.says)
    if (proof.failures.length > 0) throw new Error(complaintOf(controller.name, proof))
  })
}

/** `only`: `all`, or the text of one fault. */
export function proveSurvival(controller: Survivor, survival: Survival, only?: string): Promise<Proof> {
  const { role = 'member', nodes, members = 0, controllers, modules, ...story } = survival
  const isMember = role === 'member'
  return prove({
    target: targetOf(controller),
    story: {
      ...story,
      world: { hub: !isMember, members: isMember ? 1 : members, nodes, controllers, modules },
      cluster: (world) => (isMember ? world.member : world.hub),
    },
    only,
  })
}

function targetOf(controller: Survivor): Target {
  const { name } = controller
  if (controller.for === undefined) return { name, followsCluster: true }
  return {
    name,
    resources: resourcesOf(controller as Controller),
    followsCluster: (controller.signals?.length ?? 0) > 0,
    followsMembers: controller.keysForFollowed !== undefined,
  }
}

function complaintOf(name: string, { failures, says }: Proof): string {
  const reported = failures.map(({ point, message }) => `under "${point}"\n${message}\nrepeat it with SURVIVES='${point}'`)
  return `${name} does not survive (${says}):\n\n${reported.join('\n\n')}`
}
