/** Merges many sorted lists into one, keeping only a page or two of each at a time. */

export interface Page<T> {
  items: T[]
  /** Token of the next page; undefined when there is none. */
  next: string | undefined
}

/** Pages of one list; the next one is requested while the current one is processed. */
export async function* paged<T>(page: (token: string | undefined) => Promise<Page<T>>): AsyncGenerator<T[]> {
  let asked: Promise<Page<T>> | undefined = page(undefined)
  while (asked !== undefined) {
    const { items, next }: Page<T> = await asked
    asked = next === undefined ? undefined : page(next)
    // A failure is handled when this page is awaited; until then it must not count as unhandled.
    asked?.catch(() => undefined)
    yield items
  }
}

interface Head<T> {
  items: T[]
  at: number
  rest: AsyncIterator<T[]>
  source: number
}

/** Of equal items, those of an earlier list come first. */
export async function* merged<T>(lists: readonly AsyncIterable<T[]>[], compare: (a: T, b: T) => number): AsyncGenerator<T> {
  const before = (a: Head<T>, b: Head<T>): boolean => (compare(a.items[a.at] as T, b.items[b.at] as T) || a.source - b.source) < 0
  const begun = lists.map((list, source): Head<T> => ({ items: [], at: 0, rest: list[Symbol.asyncIterator](), source }))
  try {
    /** The last one is next. */
    const heads: Head<T>[] = []
    const put = (head: Head<T>): void => {
      let low = 0
      let high = heads.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if (before(head, heads[middle] as Head<T>)) low = middle + 1
        else high = middle
      }
      heads.splice(low, 0, head)
    }
    for (const head of await Promise.all(begun.map(filled))) if (head !== undefined) put(head)
    for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
      yield head.items[head.at] as T
      head.at++
      const next = head.at < head.items.length ? head : await filled(head)
      if (next !== undefined) put(next)
    }
  } finally {
    await Promise.all(begun.map(async ({ rest }) => rest.return?.(undefined)))
  }
}

/** Advances to the next page that is not empty; undefined when there is none. */
async function filled<T>(head: Head<T>): Promise<Head<T> | undefined> {
  for (;;) {
    const { done, value } = await head.rest.next()
    if (done === true) return undefined
    head.items = value
    head.at = 0
    if (value.length > 0) return head
  }
}
