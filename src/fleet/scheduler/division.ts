/**
 * Division by Webster's method (Sainte-Laguë): seat after seat goes to the party with the largest weight / (2 × seats + 1).
 * Ties go to the one with fewer seats, then by name; the uid of the template decides in which direction, so that odd
 * replicas of many templates do not all end up in the same cluster. Gives exactly Karmada's numbers, but without an
 * iteration per seat: what is certain is given at once.
 */

import { fnv32a } from '../../kinds/karmada/names.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { heapOf } from './heap.ts'

export interface Weighted {
  readonly name: string
  readonly weight: number
}

export interface Share {
  readonly name: string
  readonly replicas: number
}

/** Shares in the order of names, including zeros. Nothing is given if no party has a weight. */
export function divideByWeight(target: number, weights: readonly Weighted[], uid: string | undefined): Share[] {
  const sorted = [...weights].sort((a, b) => compareStrings(a.name, b.name))
  const seats = divideInOrder(
    target,
    sorted.map(({ weight }) => weight),
    uid,
  )
  return sorted.map(({ name }, i) => ({ name, replicas: seats[i] ?? 0 }))
}

/** The same for weights that are already in the order of their names. */
export function divideInOrder(target: number, weights: readonly number[], uid: string | undefined): number[] {
  const seats = new Array<number>(weights.length).fill(0)
  const parties: number[] = []
  let total = 0
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i] as number
    if (!(weight > 0)) continue
    parties.push(i)
    total += weight
  }
  if (parties.length === 0 || !(target > 0)) return seats
  const given = giveWhatIsCertain({ target, weights, parties, total }, seats)
  const priorities = weights.map((weight, i) => weight / (2 * (seats[i] as number) + 1))
  const isDescending = isNameOrderReversed(uid)
  const heap = heapOf(parties, (a, b) => {
    const left = priorities[a] as number
    const right = priorities[b] as number
    if (left !== right) return left > right
    const bySeats = (seats[a] as number) - (seats[b] as number)
    return bySeats !== 0 ? bySeats < 0 : isDescending ? a > b : a < b
  })
  for (let left = target - given; left > 0; left--) {
    const first = heap.peek() as number
    const next = (seats[first] as number) + 1
    seats[first] = next
    priorities[first] = (weights[first] as number) / (2 * next + 1)
    heap.sink()
  }
  return seats
}

interface Division {
  target: number
  weights: readonly number[]
  parties: readonly number[]
  total: number
}

/**
 * Every seat whose priority lies above a bound is given before any at or below it. The bound is chosen so that these are at
 * least half a seat per party fewer than there are; returns how many were given.
 */
function giveWhatIsCertain({ target, weights, parties, total }: Division, seats: number[]): number {
  const count = parties.length
  if (target <= 2 * count) return 0
  const bound = total / (2 * (target - count))
  let given = 0
  for (const i of parties) {
    const weight = weights[i] as number
    let certain = Math.floor((weight / bound + 1) / 2)
    while (certain > 0 && !(weight / (2 * certain - 1) > bound)) certain--
    while (weight / (2 * certain + 1) > bound) certain++
    seats[i] = certain
    given += certain
  }
  return given
}

const isNameOrderReversed = (uid: string | undefined): boolean => uid !== undefined && uid !== '' && (fnv32a(uid) & 1) === 1
