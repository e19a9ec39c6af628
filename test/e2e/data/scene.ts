/** What the stories of one person share. */
import type { Bucket } from './bucket.ts'
import type { Desk } from './desk.ts'
import type { Reels } from './reels.ts'
import type { WebServer } from './web-server.ts'

export interface Scene {
  desk: Desk
  bucket: Bucket
  web: WebServer
  /** What two namespaces read, and the same with its readers beside its workers. */
  reels: Reels
  duet: Reels
  /** Of the large directory. */
  amount: { files: number; bytes: number }
}

/** What two namespaces read. */
export type SharedDataset = 'reels' | 'duet'
