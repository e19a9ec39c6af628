/** What requests about datasets have in common. */
import type { Json } from '../../../src/base/json.ts'

export interface DataRequest {
  family: string
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  type: string
  body: Json
}

/** So few that datasets meet runtimes. */
export const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
