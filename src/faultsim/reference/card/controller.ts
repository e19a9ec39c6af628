/**
 * Keeps the list of greetings that are written on a card. Sole writer of: a Card's status.usedBy, always recomputed as a
 * whole from the greetings that name the card, never incrementally. Runs again when a greeting begins or ceases to name it.
 */
import { deepEqual } from '../../../base/json.ts'
import { defineController, indexOf, NOTHING_TO_DO, type Plan, via } from '../../../runtime/controller.ts'
import { CARDS, type Card, GREETINGS, type Greeting, type Use } from '../kinds.ts'

const ON_CARD = 'on-card'

export interface Observed {
  card: Card | undefined
  greetings: readonly Greeting[]
}

export const card = defineController<Observed, Card>({
  name: 'faultsim.reference.card',
  for: CARDS,
  watches: [via(GREETINGS, ({ metadata, spec }) => (spec?.card ? [{ namespace: metadata.namespace ?? '', name: spec.card }] : []))],
  indexes: [
    indexOf(GREETINGS, ON_CARD, ({ metadata, spec }) => (typeof spec?.card === 'string' ? [`${metadata.namespace}/${spec.card}`] : [])),
  ],
  writes: [{ resource: CARDS, subresource: 'status', verbs: ['patch'] }],
  observe: (ref, found, read) => ({ card: found, greetings: read.byIndex(GREETINGS, ON_CARD, `${ref.namespace}/${ref.name}`) }),
  plan,
})

export function plan({ card: of, greetings }: Observed): Plan {
  if (of === undefined || of.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  const usedBy = greetings.map(({ metadata: { name = '', uid = '', generation = 0 } }): Use => ({ name, uid, generation })).sort(byName)
  if (deepEqual(usedBy, of.status?.usedBy)) return NOTHING_TO_DO
  return { actions: [{ do: 'patch', resource: CARDS, of, patch: { status: { usedBy } }, subresource: 'status' }] }
}

const byName = (a: Use, b: Use): number => (a.name < b.name ? -1 : 1)
