/** What a world has stored, write by write, so that other worlds can start from it. */
import type { ByteText } from '../../base/byte-text.ts'
import type { ClusterStore } from '../../store/index.ts'

export interface StoredWrite {
  key: string
  type: 'put' | 'delete'
  text: ByteText
}

export interface WorldSnapshot {
  nowMs: number
  /** By name of the cluster. */
  clusters: ReadonlyMap<string, readonly StoredWrite[]>
}

export function writesOf(store: ClusterStore): StoredWrite[] {
  const writes: StoredWrite[] = []
  const stop = store.watch('', {
    after: 0,
    onEvent: ({ key, type, version }) => void writes.push({ key, type, text: version.text }),
  })
  stop()
  return writes
}

/** Into an empty store: the same writes in the same order get the same revisions. */
export async function replay(store: ClusterStore, writes: readonly StoredWrite[]): Promise<void> {
  await Promise.all(writes.map(({ key, type, text }) => store.commit({ key, type, expect: 'any', encode: () => ({ text }) })))
}
