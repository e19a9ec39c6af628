/** The story in which the reference controllers meet every fault: what users do with greetings, in a few steps. */
import type { Survival } from '../survives.ts'
import type { WorldCluster } from '../world/index.ts'
import { aCard, aGreeting } from './builders.ts'
import { DEFINITIONS, GREETINGS } from './kinds.ts'
import { atRest, INVARIANTS, outside } from './story.ts'
import { type Cast, REFERENCE, runCast } from './world.ts'

type Step = (cluster: WorldCluster) => Promise<unknown>

const STEPS: readonly Step[] = [
  (cluster) => cluster.create(aCard('default/red')),
  (cluster) => cluster.create(aGreeting('default/hello', { text: 'hi', to: ['ann', 'bob'], card: 'red' })),
  (cluster) => cluster.patch(GREETINGS, 'default/hello', { spec: { text: 'bye', to: ['bob', 'cleo'], card: 'blue' } }),
  (cluster) => cluster.create(aCard('default/blue')),
  (cluster) => cluster.patch(GREETINGS, 'default/hello', { spec: { to: ['ann', 'cleo'] } }),
  (cluster) => cluster.create(aGreeting('default/short', { to: ['ann'], ttlSeconds: 60 })),
  (cluster) => cluster.create(aGreeting('default/other', { text: 'hi', to: ['bob'], card: 'red' })),
  (cluster) => cluster.delete(GREETINGS, 'default/other'),
  (cluster) => cluster.create(aGreeting('default/other', { text: 'again', to: ['bob'], card: 'red' })),
  (cluster) => cluster.advance(120_000),
]

export const survivalOf = (cast: Cast = REFERENCE): Survival => ({
  role: 'hub',
  controllers: runCast(cast),
  before: DEFINITIONS.map(
    (definition): Step =>
      (cluster) =>
        cluster.create(definition),
  ),
  steps: STEPS,
  invariants: INVARIANTS,
  atRest,
  outside,
})
