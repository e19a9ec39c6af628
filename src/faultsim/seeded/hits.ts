/** Injects a script's faults into a world: drawn and recorded on the first run, the same ones replayed on every other. */
import type { WorldCluster } from '../world/index.ts'
import { drawDelivery, drawEffect, drawRequest, type Hit, ratesOf, type Script } from './script.ts'

export interface Hits {
  /** What was done, in order. */
  readonly noted: readonly Hit[]
  heal(): void
}

export function putInto(clusters: readonly WorldCluster[], script: Script): Hits {
  const noted: Hit[] = []
  const known = script.hits === undefined ? undefined : new Map(script.hits.map((hit) => [keyOf(hit), hit]))
  const rates = ratesOf(script.seed)
  const note = <H extends Hit>(hit: H): H => {
    noted.push(hit)
    return hit
  }
  for (const cluster of clusters) {
    const { name } = cluster
    const counts = { request: 0, delivery: 0, effect: 0 }
    cluster.interference = {
      onRequest({ request }) {
        const of = { cluster: name, n: ++counts.request }
        const fault =
          known === undefined ? drawRequest(script.seed, rates, { ...of, ...kindOf(request) }) : known.get(`${name} request ${of.n}`)
        const drawn = fault === undefined ? undefined : 'at' in fault ? (fault.at === 'request' ? fault.fault : undefined) : fault
        return drawn === undefined ? undefined : note({ ...of, at: 'request', fault: drawn }).fault
      },
      onDelivery() {
        const of = { cluster: name, n: ++counts.delivery }
        const isHidden = known === undefined ? drawDelivery(script.seed, rates, of) : known.has(`${name} delivery ${of.n}`)
        if (!isHidden) return undefined
        note({ ...of, at: 'delivery' })
        return 'hide'
      },
    }
    cluster.effects.interfere = () => {
      const of = { cluster: name, n: ++counts.effect }
      const hit = known?.get(`${name} effect ${of.n}`)
      const fault = known === undefined ? drawEffect(script.seed, rates, of) : hit?.at === 'effect' ? hit.fault : undefined
      return fault === undefined ? undefined : note({ ...of, at: 'effect', fault }).fault
    }
  }
  return {
    noted,
    heal() {
      for (const cluster of clusters) {
        cluster.interference = undefined
        cluster.effects.interfere = undefined
      }
    },
  }
}

const keyOf = ({ cluster, at, n }: Hit): string => `${cluster} ${at} ${n}`

const kindOf = (request: { method: string; isStream?: boolean }): { isWrite: boolean; isWatch: boolean } => ({
  isWrite: request.method !== 'GET',
  isWatch: request.isStream === true,
})
