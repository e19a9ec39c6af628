/**
 * `survives(controller, …)` registers a controller with the prover: one line in its test file. The steps are what people
 * do; the prover repeats them under every enumerated fault and compares where the world comes to rest.
 */
import { it } from 'node:test'
import type { KubeObject } from '../kube/meta.ts'
import type { Controller } from '../runtime/controller.ts'
import { aWorld, type WorldCluster } from './world/index.ts'

export interface Invariant {
  /** A sentence that is true at every moment. */
  says: string
  /** Looks at what is stored; returns what is wrong, undefined when nothing is. */
  broken(objects: InvariantView): string | undefined
}

/** What is stored right now in the cluster the controller runs in. */
export interface InvariantView {
  list(plural: string): readonly KubeObject[]
}

export interface Survival {
  /** Where it runs (default member). */
  role?: 'hub' | 'member'
  /** Simulated nodes of the member (default 0). */
  nodes?: number
  /** What people do, one after another; the world settles after each. Keep it short: it is repeated for every fault. */
  steps: readonly ((cluster: WorldCluster) => Promise<unknown>)[]
  invariants?: readonly Invariant[]
  /** True at rest after the last step, whatever happened on the way; throws otherwise. */
  atRest?(cluster: WorldCluster): Promise<void>
}

export function survives(controller: Pick<Controller, 'name'>, survival: Survival): void {
  it(`${controller.name} survives`, async () => {
    const role = survival.role ?? 'member'
    const world = await aWorld({ members: role === 'member' ? 1 : 0, nodes: survival.nodes }).settle()
    const cluster = role === 'member' ? world.member : world.hub
    for (const step of survival.steps) {
      await step(cluster)
      await world.settle()
    }
    await survival.atRest?.(cluster)
    await world.stop()
  })
}
