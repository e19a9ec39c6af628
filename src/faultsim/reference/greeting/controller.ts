/**
 * The reference controller: small, but with everything a real one has. Each recipient of a Greeting gets a ConfigMap, its
 * text goes on the board outside, and it is Ready when all of that is done and its card counts it. Sole writer of: the
 * greeting's finalizer and status, and the ConfigMaps. Runs again when one of them, the card or an effect changes, and when
 * the greeting's TTL is over. Deletion: the notice is taken down first, then the finalizer is removed; the ConfigMaps are
 * garbage-collected with their owner.
 */
import { CONFIG_MAPS } from '../../../kinds/kubernetes/resources.ts'
import { type Controller, defineController, indexOf, type Outcome, via } from '../../../runtime/controller.ts'
import { isFresh } from '../../../runtime/live-owner.ts'
import { CARDS, GREETINGS, type Greeting } from '../kinds.ts'
import { type Board, boardEffects } from './board.ts'
import { keysOf, type Observed, ownerOf, plannedWith, surplusOf } from './plan.ts'

const OF_GREETING = 'of-greeting'
const ON_CARD = 'on-card'

export function greeting(board: Board): Controller {
  const effects = boardEffects(board)
  return defineController<Observed, Greeting>({
    name: 'faultsim.reference.greeting',
    component: 'greeting-controller',
    for: GREETINGS,
    watches: [
      via(CONFIG_MAPS, (map) => ownerOf(map)),
      via(CARDS, ({ metadata }, read) =>
        read.byIndex(GREETINGS, ON_CARD, `${metadata.namespace}/${metadata.name}`).map((found) => ({
          namespace: found.metadata.namespace ?? '',
          name: found.metadata.name ?? '',
        })),
      ),
    ],
    indexes: [
      indexOf(GREETINGS, ON_CARD, ({ metadata, spec }) => (typeof spec?.card === 'string' ? [`${metadata.namespace}/${spec.card}`] : [])),
      indexOf(CONFIG_MAPS, OF_GREETING, (map) => ownerOf(map).map((ref) => `${ref.namespace}/${ref.name}`)),
    ],
    effects: [effects.put, effects.takeDown],
    writes: [
      { resource: GREETINGS, verbs: ['patch', 'delete'] },
      { resource: GREETINGS, subresource: 'status', verbs: ['patch'] },
      { resource: CONFIG_MAPS, verbs: ['create', 'patch', 'delete'] },
    ],
    reads: [{ resource: GREETINGS, verbs: ['get'] }],
    async observe(ref, found, read, client) {
      const keys = found === undefined ? undefined : keysOf(found)
      const outcomeOf = (key: string | undefined, effect: typeof effects.put | typeof effects.takeDown): Outcome<string> | undefined =>
        key === undefined ? undefined : read.outcome<never, string>(effect, key)
      const children = read.byIndex(CONFIG_MAPS, OF_GREETING, `${ref.namespace}/${ref.name}`)
      const isLosing = found !== undefined && surplusOf(found, children).length > 0
      return {
        greeting: found,
        card: found?.spec?.card === undefined ? undefined : read.get(CARDS, ref.namespace, found.spec.card),
        children,
        put: outcomeOf(keys?.put, effects.put),
        takenDown: outcomeOf(keys?.takeDown, effects.takeDown),
        isFresh: !isLosing || (await isFresh(client, GREETINGS, found)),
        nowMs: read.nowMs(),
      }
    },
    plan: plannedWith(effects),
  })
}
