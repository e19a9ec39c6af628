/**
 * An ordered map from strings (in UTF-16 order, as `<` compares) to values: a list of sorted chunks.
 * Look-up, insert and delete cost a binary search plus a move inside one chunk; ranges cost what they return, and
 * counting a range costs one addition per chunk. Iterating while changing the map is not supported.
 */
const CHUNK = 256

interface Chunk<V> {
  keys: string[]
  values: V[]
}

export class SortedMap<V> {
  #chunks: Chunk<V>[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: string): V | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)]
    if (chunk === undefined) return undefined
    const at = lowerBound(chunk.keys, key)
    return chunk.keys[at] === key ? chunk.values[at] : undefined
  }

  has(key: string): boolean {
    const chunk = this.#chunks[this.#chunkOf(key)]
    return chunk !== undefined && chunk.keys[lowerBound(chunk.keys, key)] === key
  }

  set(key: string, value: V): void {
    const index = Math.min(this.#chunkOf(key), this.#chunks.length - 1)
    const chunk = this.#chunks[index]
    if (chunk === undefined) {
      this.#chunks.push({ keys: [key], values: [value] })
      this.#size = 1
      return
    }
    const at = lowerBound(chunk.keys, key)
    if (chunk.keys[at] === key) {
      chunk.values[at] = value
      return
    }
    this.#size++
    if (chunk.keys.length < CHUNK) {
      chunk.keys.splice(at, 0, key)
      chunk.values.splice(at, 0, value)
      return
    }
    // Keys that arrive in order (a snapshot being loaded) fill chunks to the brim; others split a full chunk in two.
    const half = at === CHUNK ? CHUNK : CHUNK / 2
    const upper = { keys: chunk.keys.splice(half), values: chunk.values.splice(half) }
    this.#chunks.splice(index + 1, 0, upper)
    const target = at > half || half === CHUNK ? upper : chunk
    const place = target === upper ? at - half : at
    target.keys.splice(place, 0, key)
    target.values.splice(place, 0, value)
  }

  delete(key: string): boolean {
    const index = this.#chunkOf(key)
    const chunk = this.#chunks[index]
    if (chunk === undefined) return false
    const at = lowerBound(chunk.keys, key)
    if (chunk.keys[at] !== key) return false
    chunk.keys.splice(at, 1)
    chunk.values.splice(at, 1)
    this.#size--
    if (chunk.keys.length === 0) this.#chunks.splice(index, 1)
    else if (chunk.keys.length < CHUNK / 4) this.#mergeWithNext(index)
    return true
  }

  /** Values of keys in [from, to), at most `limit`. */
  values(from = '', to?: string, limit = Number.POSITIVE_INFINITY): V[] {
    const out: V[] = []
    for (let c = this.#chunkOf(from); c < this.#chunks.length && out.length < limit; c++) {
      const { keys, values } = this.#chunks[c] as Chunk<V>
      const start = out.length === 0 ? lowerBound(keys, from) : 0
      const end = to === undefined ? keys.length : lowerBound(keys, to)
      const stop = Math.min(end, start + limit - out.length)
      for (let i = start; i < stop; i++) out.push(values[i] as V)
      if (end < keys.length) break
    }
    return out
  }

  /** Entries of keys in [from, to), lazily. */
  *entries(from = '', to?: string): Generator<[string, V], undefined> {
    for (let c = this.#chunkOf(from); c < this.#chunks.length; c++) {
      const { keys, values } = this.#chunks[c] as Chunk<V>
      for (let i = lowerBound(keys, from); i < keys.length; i++) {
        const key = keys[i] as string
        if (to !== undefined && key >= to) return
        yield [key, values[i] as V]
      }
    }
  }

  /** How many keys are in [from, to). */
  count(from = '', to?: string): number {
    const end = to === undefined ? this.#size : this.#rank(to)
    return Math.max(0, end - this.#rank(from))
  }

  /** How many keys are smaller than `key`. */
  #rank(key: string): number {
    const index = this.#chunkOf(key)
    let rank = 0
    for (let c = 0; c < index; c++) rank += (this.#chunks[c] as Chunk<V>).keys.length
    const chunk = this.#chunks[index]
    return chunk === undefined ? rank : rank + lowerBound(chunk.keys, key)
  }

  /** The first chunk whose last key is not smaller than `key`; the number of chunks when there is none. */
  #chunkOf(key: string): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const { keys } = this.#chunks[middle] as Chunk<V>
      if ((keys[keys.length - 1] as string) < key) low = middle + 1
      else high = middle
    }
    return low
  }

  #mergeWithNext(index: number): void {
    const chunk = this.#chunks[index]
    const next = this.#chunks[index + 1]
    if (chunk === undefined || next === undefined || chunk.keys.length + next.keys.length > CHUNK / 2) return
    chunk.keys.push(...next.keys)
    chunk.values.push(...next.values)
    this.#chunks.splice(index + 1, 1)
  }
}

/** The first index whose key is not smaller than `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] as string) < key) low = middle + 1
    else high = middle
  }
  return low
}

/** The smallest string greater than every string that starts with `prefix`; undefined when there is none. */
export function prefixEnd(prefix: string): string | undefined {
  for (let i = prefix.length - 1; i >= 0; i--) {
    const code = prefix.charCodeAt(i)
    if (code < 0xffff) return prefix.slice(0, i) + String.fromCharCode(code + 1)
  }
  return undefined
}
