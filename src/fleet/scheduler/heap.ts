/** A binary heap over numbers (indexes into something the caller keeps), in the given order. */
export interface Heap {
  /** The first in order; undefined when it is empty. */
  peek(): number | undefined
  /** Restores the order after the first item has changed. */
  sink(): void
}

export function heapOf(items: readonly number[], isBefore: (a: number, b: number) => boolean): Heap {
  const heap = [...items]
  for (let at = (heap.length >> 1) - 1; at >= 0; at--) sinkFrom(at)

  function sinkFrom(start: number): void {
    const item = heap[start] as number
    let at = start
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as number, heap[child] as number)) child++
      if (!isBefore(heap[child] as number, item)) break
      heap[at] = heap[child] as number
      at = child
    }
    heap[at] = item
  }

  return {
    peek: () => heap[0],
    sink() {
      if (heap.length > 0) sinkFrom(0)
    },
  }
}

/** Sorts the items from `begin` up to but excluding `end`, as Go's sort package does when partitioning does not help. */
export function heapSort<T>(list: T[], begin: number, end: number, isBefore: (a: T, b: T) => boolean): void {
  const swap = (a: number, b: number): void => {
    const item = list[begin + a] as T
    list[begin + a] = list[begin + b] as T
    list[begin + b] = item
  }
  const less = (a: number, b: number): boolean => isBefore(list[begin + a] as T, list[begin + b] as T)
  const sink = (start: number, length: number): void => {
    for (let root = start, child = 2 * root + 1; child < length; root = child, child = 2 * root + 1) {
      if (child + 1 < length && less(child, child + 1)) child++
      if (!less(root, child)) return
      swap(root, child)
    }
  }
  const count = end - begin
  for (let at = (count - 1) >> 1; at >= 0; at--) sink(at, count)
  for (let last = count - 1; last >= 0; last--) {
    swap(0, last)
    sink(0, last)
  }
}
