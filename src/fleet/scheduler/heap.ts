/** A binary heap over numbers (indexes into something the caller keeps), with the order given. */
export interface Heap {
  /** The first in order; undefined when it is empty. */
  peek(): number | undefined
  /** The first has changed its place in the order. */
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
