/** What holds for greetings in every world: at every moment, and when settled. */

import type { KubeObject } from '../../kube/meta.ts'
import type { Invariant, InvariantView } from '../../runtime/seams/seeded.ts'
import { viewOf } from '../prover/invariant-monitor.ts'
import type { WorldCluster } from '../world/index.ts'
import { ownerOf } from './greeting/plan.ts'
import type { Card, Greeting } from './kinds.ts'
import { boardOf } from './world.ts'

const isReady = ({ metadata, status }: Greeting): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.observedGeneration === metadata.generation &&
  status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') === true

const readyIn = (objects: InvariantView): Greeting[] => (objects.list('greetings') as Greeting[]).filter(isReady)
const whereOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`
const peopleOf = ({ spec }: Greeting): string[] => [...new Set(spec?.to ?? [])]

/** Which greeting a ConfigMap delivers to whom, whatever its name. */
const holdingsOf = (map: KubeObject): string[] => {
  const person = (map.data as Record<string, string> | undefined)?.to
  return (map.metadata.ownerReferences ?? []).map(({ uid }) => `${uid} ${person}`)
}

export const INVARIANTS: readonly Invariant[] = [
  {
    says: 'a greeting that is ready is counted on its card',
    broken(objects) {
      const cards = new Map((objects.list('cards') as Card[]).map((card) => [whereOf(card), card]))
      return readyIn(objects)
        .filter(({ metadata, spec, status }) => {
          const card = cards.get(`${metadata.namespace}/${spec?.card}`)
          // A card that users recreated has not counted any greeting yet, and the greeting could not know.
          const isIts = card !== undefined && card.metadata.uid === status?.countedOn
          return isIts && card.status?.usedBy?.some(({ uid }) => uid === metadata.uid) !== true
        })
        .map(whereOf)[0]
    },
  },
  {
    says: 'a greeting that is ready has reached everybody',
    broken(objects) {
      const held = new Set(objects.list('configmaps').flatMap((map) => holdingsOf(map)))
      const missing = (greeting: Greeting): string | undefined =>
        peopleOf(greeting).find((person) => !held.has(`${greeting.metadata.uid} ${person}`))
      const [found] = readyIn(objects).filter((greeting) => missing(greeting) !== undefined)
      return found === undefined ? undefined : `${whereOf(found)} has not reached ${missing(found)}`
    },
  },
]

/** Throws what is wrong with a settled world. */
export async function atRest(cluster: WorldCluster): Promise<void> {
  const objects = viewOf(cluster.store)
  const greetings = objects.list('greetings') as Greeting[]
  const wrong = [...wrongOutside(cluster, greetings), ...greetings.flatMap((greeting) => wrongWith(greeting, objects))]
  const known = new Set(greetings.map((greeting) => greeting.metadata.uid))
  for (const map of objects.list('configmaps')) {
    const isOurs = (map.data as Record<string, string> | undefined)?.to !== undefined
    if (isOurs && !map.metadata.ownerReferences?.some(({ uid }) => known.has(uid))) wrong.push(`${whereOf(map)} belongs to no greeting`)
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
}

function wrongOutside(cluster: WorldCluster, greetings: readonly Greeting[]): string[] {
  const texts = new Map(greetings.map(({ metadata, spec }) => [metadata.uid, spec?.text ?? '']))
  const notices = boardOf(cluster).notices()
  const ids = new Set(notices.map(({ id }) => id))
  return [
    ...notices.filter(({ id, text }) => texts.get(id) !== text).map(({ id }) => `the notice ${id} on the board is not of a greeting`),
    ...greetings.filter(({ metadata }) => !ids.has(metadata.uid ?? '')).map((greeting) => `${whereOf(greeting)} is not on the board`),
  ]
}

function wrongWith(greeting: Greeting, objects: InvariantView): string[] {
  const own = objects
    .list('configmaps')
    .filter((map) => ownerOf(map).some(({ namespace, name }) => `${namespace}/${name}` === whereOf(greeting)))
  const held = own.map((map) => (map.data as Record<string, string> | undefined)?.to ?? '').sort()
  const wanted = peopleOf(greeting).sort()
  const card = greeting.spec?.card
  const hasCard = card === undefined || objects.list('cards').some((one) => whereOf(one) === `${greeting.metadata.namespace}/${card}`)
  return [
    ...(held.join() === wanted.join() ? [] : [`${whereOf(greeting)} has ConfigMaps for ${held.join()} instead of ${wanted.join()}`]),
    ...(hasCard && !isReady(greeting) ? [`${whereOf(greeting)} is not ready`] : []),
  ]
}

/** The board in a form in which runs can be compared. */
export function outside(cluster: WorldCluster): unknown {
  return boardOf(cluster)
    .notices()
    .map(({ text }) => text)
    .sort()
}
