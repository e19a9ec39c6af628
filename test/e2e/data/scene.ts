/** What the stories of one person share. */
import type { Bucket } from './bucket.ts'
import type { Desk } from './desk.ts'
import type { WebServer } from './web-server.ts'

export interface Scene {
  desk: Desk
  bucket: Bucket
  web: WebServer
  /** Of the large directory. */
  amount: { files: number; bytes: number }
}
