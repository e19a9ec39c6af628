/** The world of the reference controllers, for seeds. `cast` may contain defective twins of them. */

import type { Random } from '../../../base/random.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { aCard, aGreeting } from '../../reference/builders.ts'
import { CARDS, DEFINITIONS, GREETINGS, type Greeting } from '../../reference/kinds.ts'
import { atRest, INVARIANTS, outside } from '../../reference/story.ts'
import { type Cast, REFERENCE, runCast } from '../../reference/world.ts'
import { oneOf } from '../script.ts'
import type { SeededWorld } from '../seeded-world.ts'

/** Names that collide when concatenated carelessly. */
const PEOPLE = ['ann', 'bob', 'b-c', 'c', 'b-ann']

function drawSpec(random: Random): Greeting['spec'] {
  const to = PEOPLE.filter(() => random.next() < 0.4)
  const card = random.next() < 0.8 ? oneOf(random, ['red', 'blue']) : undefined
  return { text: oneOf(random, ['hi', 'bye', 'well']), to, ...(card === undefined ? {} : { card }) }
}

const greetings: Generator = {
  name: 'greeting',
  resource: GREETINGS,
  names: ['default/a', 'default/a-b', 'default/x'],
  draw: drawSpec,
  object: (where, desired) => aGreeting(where, desired as Greeting['spec']),
}

const fleeting: Generator = {
  name: 'fleeting greeting',
  resource: GREETINGS,
  names: ['default/soon'],
  draw: (random) => ({ ...drawSpec(random), card: undefined, ttlSeconds: 5 + Math.floor(random.next() * 30) }),
  object: (where, desired) => aGreeting(where, desired as Greeting['spec']),
  fleetingMs: 120_000,
}

const cards: Generator = {
  name: 'card',
  resource: CARDS,
  names: ['default/red', 'default/blue'],
  draw: () => ({}),
  object: (where): KubeObject => aCard(where),
  change: () => undefined,
}

export function referenceWorld(cast: Cast = REFERENCE): SeededWorld {
  return {
    name: 'reference',
    options: { controllers: runCast(cast) },
    clusters: ['hub'],
    before: DEFINITIONS.map((definition) => (cluster) => cluster.create(definition)),
    generators: [greetings, greetings, fleeting, cards],
    invariants: INVARIANTS,
    atRest,
    outside,
    isPathless: true,
  }
}
