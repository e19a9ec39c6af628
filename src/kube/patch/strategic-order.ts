/**
 * The order of a merged list: what the patch names comes in the patch's order, what only the server has keeps the
 * server's, and the two are interleaved by the server's order as far as possible.
 */
import { isJsonObject, type Json } from '../../base/json.ts'
import { GO_MAP, refuseMissingKey, refuseType } from './strategic-errors.ts'

export interface Ordering {
  /** The order requested by the patch. */
  wanted: readonly Json[]
  /** The order on the server. */
  server: readonly Json[]
  /** '' for lists of scalars. */
  mergeKey: string
}

/** What identifies an element: the value of its merge key, or itself. Compared with ===, as Go compares interfaces. */
export function identity(element: Json | undefined, mergeKey: string): Json | undefined {
  if (mergeKey === '') return element
  return isJsonObject(element) && Object.hasOwn(element, mergeKey) ? element[mergeKey] : undefined
}

export function orderElements(elements: readonly Json[], ordering: Ordering): Json[] {
  const { wanted, server, mergeKey } = ordering
  const wantedAt = positions(wanted, mergeKey)
  const serverAt = positions(server, mergeKey)
  if (mergeKey !== '') for (const element of [...elements, ...wanted, ...server]) requireKey(element, mergeKey)
  const named = elements.filter((e) => wantedAt.has(identity(e, mergeKey)))
  const others = elements.filter((e) => !wantedAt.has(identity(e, mergeKey)))
  sortBy(named, wantedAt, mergeKey)
  sortBy(others, serverAt, mergeKey)
  return interleave(others, named, (e) => serverAt.get(identity(e, mergeKey)))
}

function positions(list: readonly Json[], mergeKey: string): Map<Json | undefined, number> {
  const map = new Map<Json | undefined, number>()
  for (const [i, element] of list.entries()) {
    const id = identity(element, mergeKey)
    if (!map.has(id)) map.set(id, i)
  }
  return map
}

/**
 * Elements missing from the order sort before everything, inconsistently; for short lists the original's
 * insertion sort is reproduced, so that they end up in the same place.
 */
function sortBy(list: Json[], at: ReadonlyMap<Json | undefined, number>, mergeKey: string): void {
  const places = list.map((element) => ({ element, place: at.get(identity(element, mergeKey)) }))
  if (places.length > 20 || places.every(({ place }) => place !== undefined)) places.sort((a, b) => (a.place ?? -1) - (b.place ?? -1))
  else {
    for (let i = 1; i < places.length; i++) {
      for (let j = i; j > 0; j--) {
        const [before, after] = [places[j - 1], places[j]]
        if (before === undefined || after === undefined) break
        if (before.place !== undefined && after.place !== undefined && after.place >= before.place) break
        places[j - 1] = after
        places[j] = before
      }
    }
  }
  for (const [i, { element }] of places.entries()) list[i] = element
}

/** Puts each of `left` before the first of `right` that follows it on the server. */
function interleave(left: Json[], right: Json[], position: (element: Json) => number | undefined): Json[] {
  const result: Json[] = []
  let i = 0
  for (const element of right) {
    const here = position(element)
    while (i < left.length && here !== undefined) {
      const there = position(left[i] ?? null)
      if (there === undefined || there >= here) break
      result.push(left[i++] ?? null)
    }
    result.push(element)
  }
  return [...result, ...left.slice(i)]
}

export function requireKey(element: Json, mergeKey: string): Json {
  if (!isJsonObject(element)) return refuseType(GO_MAP, element)
  if (!Object.hasOwn(element, mergeKey)) return refuseMissingKey(element, mergeKey)
  return element[mergeKey] ?? null
}
