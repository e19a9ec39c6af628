/**
 * The seam for `sluice get`: what a module shows of its kinds beside the columns that servers print. Objects come from any
 * cluster, so their content is hostile.
 */
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'

export interface AddedColumn {
  name: string
  /** As in tables of servers: 0 is always shown, everything above only on request. */
  priority: number
  /** The server's column that it follows. */
  after: string
  cell(object: KubeObject): string
}

export interface Overview {
  /** In words, for whoever asks for something else where only this is shown. */
  about: string
  /** Objects of these are shown with its columns, also in one cluster that is no hub. */
  shows(resource: Resource): boolean
  columns: readonly AddedColumn[]
}
