/** The store: its contract, and its two implementations. */
export { backup, restoreBackup } from './journal/backup.ts'
export { type JournalStore, openJournalStore } from './journal/open.ts'
export { type RepairReport, repairJournal } from './journal/repair.ts'
export { StoreRefusedError } from './journal/store-error.ts'
export { createMemoryStore, type MemoryStore } from './memory/memory-store.ts'
export {
  type ClusterStore,
  type CommitResult,
  CompactedError,
  FutureRevisionError,
  type RangeResult,
  type StoreEvent,
  StoreUnavailableError,
  type Version,
} from './store.ts'
