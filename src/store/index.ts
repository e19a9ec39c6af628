/** The store: its contract, and the two ways to have one. */
export { createMemoryStore, type MemoryStore } from './memory/memory-store.ts'
export {
  type ClusterStore,
  type CommitRequest,
  type CommitResult,
  CompactedError,
  type Encode,
  FutureRevisionError,
  type RangeOptions,
  type RangeResult,
  type Store,
  type StoreEvent,
  StoreUnavailableError,
  type Version,
  type WatchOptions,
} from './store.ts'
