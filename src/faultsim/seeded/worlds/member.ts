/** One member without a hub, with all its controllers and simulated nodes: cheaper than a fleet, for what modules do in members. */

import { MODULES } from '../../../modules.ts'
import type { Module } from '../../../runtime/module/module.ts'
import type { InvariantView } from '../../../runtime/seams/seeded.ts'
import { viewOf } from '../../prover/invariant-monitor.ts'
import type { RunControllers } from '../../world/cluster.ts'
import type { WorldCluster } from '../../world/index.ts'
import { GENERATORS } from '../generators/index.ts'
import type { SeededWorld } from '../seeded-world.ts'
import { type Brought, broughtBy } from './brought.ts'
import { MEMBER_INVARIANTS } from './member-invariants.ts'

const MEMBER = 'member1'
/** There is no hub, and what is judged here does not ask for it. */
const NOTHING: InvariantView = { list: () => [], get: () => undefined }

const atRest =
  (brought: Brought) =>
  async ({ name, store }: WorldCluster): Promise<void> => {
    const wrong = brought.wrongAtRest(NOTHING, new Map([[name, viewOf(store)]]))
    if (wrong.length > 0) throw new Error(wrong.join('; '))
  }

/** `controllers` may have defective ones among them. */
export function memberWorld({
  modules = MODULES,
  controllers,
}: {
  modules?: readonly Module[]
  controllers?: RunControllers
} = {}): SeededWorld {
  const brought = broughtBy(modules.filter(({ roles }) => roles.includes('member')))
  return {
    name: 'member',
    options: { hub: false, members: 1, nodes: 3, modules, controllers },
    clusters: [MEMBER],
    equip: brought.equip,
    before: [brought.begin],
    generators: [...GENERATORS, ...brought.generators.filter(({ isFor }) => isFor?.(MEMBER) !== false)],
    focuses: brought.focuses.map((generators) => generators.filter(({ isFor }) => isFor?.(MEMBER) !== false)),
    invariants: [...MEMBER_INVARIANTS, ...brought.invariants],
    atRest: atRest(brought),
    patienceMs: brought.patienceMs,
    writesPerCause: 300,
    isPathless: false,
  }
}
