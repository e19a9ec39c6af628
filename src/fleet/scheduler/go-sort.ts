/**
 * The order in which Go's `sort.Sort` leaves a list. Up to a dozen items it keeps equals in order; beyond that it is a
 * pattern-defeating quicksort, whose order of equals looks arbitrary but is deterministic. Where a cut falls between equals
 * (the fewest clusters that hold all replicas), that order decides which are used, and ours must be the same.
 */
import { heapSort } from './heap.ts'

type IsBefore<T> = (a: T, b: T) => boolean

const INSERTION = 12
/** From this length on the pivot is the median of nine. */
const NINTHER = 50
/** All comparisons for the pivot went the other way: the list is falling. */
const ALL_SWAPPED = 12
const REPAIRS = 5

export function sortedLikeGo<T>(items: readonly T[], isBefore: IsBefore<T>): T[] {
  const list = [...items]
  new Sorting(list, isBefore).sort(0, list.length, bitLength(list.length))
  return list
}

const bitLength = (n: number): number => 32 - Math.clz32(n)

class Sorting<T> {
  readonly #list: T[]
  readonly #isBefore: IsBefore<T>

  constructor(list: T[], isBefore: IsBefore<T>) {
    this.#list = list
    this.#isBefore = isBefore
  }

  /** From `begin` up to but excluding `end`; `patience`: how many bad partitions are accepted. */
  sort(begin: number, end: number, patience: number): void {
    let [from, to, left] = [begin, end, patience]
    let [wasBalanced, wasDivided] = [true, true]
    while (to - from > INSERTION) {
      if (left === 0) {
        heapSort(this.#list, from, to, this.#isBefore)
        return
      }
      if (!wasBalanced) {
        this.#shuffle(from, to)
        left--
      }
      let { pivot, order } = this.#choosePivot(from, to)
      if (order === 'falling') {
        this.#reverse(from, to)
        pivot = to - 1 - (pivot - from)
        order = 'rising'
      }
      if (wasBalanced && wasDivided && order === 'rising' && this.#repair(from, to)) return
      if (from > 0 && !this.#less(from - 1, pivot)) {
        from = this.#divideEquals(from, to, pivot)
        continue
      }
      const { middle, wasAlready } = this.#divide(from, to, pivot)
      wasDivided = wasAlready
      wasBalanced = Math.min(middle - from, to - middle) >= (to - from) >> 3
      if (middle - from < to - middle) {
        this.sort(from, middle, left)
        from = middle + 1
      } else {
        this.sort(middle + 1, to, left)
        to = middle
      }
    }
    this.#insert(from, to)
  }

  #less(a: number, b: number): boolean {
    return this.#isBefore(this.#list[a] as T, this.#list[b] as T)
  }

  #swap(a: number, b: number): void {
    const item = this.#list[a] as T
    this.#list[a] = this.#list[b] as T
    this.#list[b] = item
  }

  #insert(from: number, to: number): void {
    for (let i = from + 1; i < to; i++) for (let at = i; at > from && this.#less(at, at - 1); at--) this.#swap(at, at - 1)
  }

  #reverse(from: number, to: number): void {
    for (let [a, b] = [from, to - 1]; a < b; a++, b--) this.#swap(a, b)
  }

  /** Moves what comes before the pivot to its left, everything else to its right. */
  #divide(from: number, to: number, pivot: number): { middle: number; wasAlready: boolean } {
    this.#swap(from, pivot)
    let [a, b] = [from + 1, to - 1]
    for (let swaps = 0; ; swaps++) {
      while (a <= b && this.#less(a, from)) a++
      while (a <= b && !this.#less(b, from)) b--
      if (a > b) {
        this.#swap(b, from)
        return { middle: b, wasAlready: swaps === 0 }
      }
      this.#swap(a++, b--)
    }
  }

  /** Nothing comes before the pivot: moves its equals to the left. Returns where the others begin. */
  #divideEquals(from: number, to: number, pivot: number): number {
    this.#swap(from, pivot)
    for (let [a, b] = [from + 1, to - 1]; ; ) {
      while (a <= b && !this.#less(from, a)) a++
      while (a <= b && this.#less(from, b)) b--
      if (a > b) return a
      this.#swap(a++, b--)
    }
  }

  /** Moves a few misplaced items into place; returns whether that was enough. */
  #repair(from: number, to: number): boolean {
    let at = from + 1
    for (let i = 0; i < REPAIRS; i++) {
      while (at < to && !this.#less(at, at - 1)) at++
      if (at === to) return true
      if (to - from < NINTHER) return false
      this.#swap(at, at - 1)
      if (at - from >= 2) for (let down = at - 1; down >= 1 && this.#less(down, down - 1); down--) this.#swap(down, down - 1)
      if (to - at >= 2) for (let up = at + 1; up < to && this.#less(up, up - 1); up++) this.#swap(up, up - 1)
    }
    return false
  }

  /** Moves three items from the middle to positions that look random but depend only on the length. */
  #shuffle(from: number, to: number): void {
    const length = to - from
    const mask = (1n << BigInt(bitLength(length))) - 1n
    const middle = from + (length >> 2) * 2
    let random = BigInt(length)
    for (let i = 0; i < 3; i++) {
      random = xorShift(random)
      const other = Number(random & mask)
      this.#swap(middle - 1 + i, from + (other >= length ? other - length : other))
    }
  }

  #choosePivot(from: number, to: number): { pivot: number; order: 'rising' | 'falling' | 'neither' } {
    let swaps = 0
    const median = (first: number, second: number, third: number): number => {
      let [a, b, c] = [first, second, third]
      const order = (left: number, right: number): [number, number] => {
        if (!this.#less(right, left)) return [left, right]
        swaps++
        return [right, left]
      }
      ;[a, b] = order(a, b)
      ;[b, c] = order(b, c)
      ;[a, b] = order(a, b)
      return b
    }
    const length = to - from
    const quarter = length >> 2
    const places = [from + quarter, from + 2 * quarter, from + 3 * quarter] as const
    const [a, b, c] = length < NINTHER ? places : (places.map((at) => median(at - 1, at, at + 1)) as [number, number, number])
    const pivot = median(a, b, c)
    return { pivot, order: swaps === 0 ? 'rising' : swaps === ALL_SWAPPED ? 'falling' : 'neither' }
  }
}

function xorShift(before: bigint): bigint {
  let random = before
  random ^= BigInt.asUintN(64, random << 13n)
  random ^= random >> 7n
  random ^= BigInt.asUintN(64, random << 17n)
  return random
}
