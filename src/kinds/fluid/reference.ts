/** What copies of objects of an original's namespace are called in the namespaces of its references. Pure. */
import { createHash } from 'node:crypto'
import type { Dataset } from './index.ts'
import { parseMountPoint } from './mount-point.ts'

/** The dataset that another one refers to: its original. */
export interface Original {
  namespace: string
  name: string
}

export interface Referred extends Original {
  /** Clean and relative; empty: everything. */
  subPath: string
}

/** Undefined: it is not a reference, or one that nobody can follow. */
export function referenceOf({ spec }: Pick<Dataset, 'spec'>): Referred | undefined {
  const [mount, ...more] = spec?.mounts ?? []
  if (mount === undefined || more.length > 0) return undefined
  const { value } = parseMountPoint(mount.mountPoint)
  return value?.kind === 'dataset' ? { namespace: value.namespace, name: value.name, subPath: value.subPath } : undefined
}

const HASH_LENGTH = 8
const LONGEST_NAME = 253

/** Never as an object of a dataset there, and not as the copy for another original of the same name. */
export function mirrorName(source: string, { namespace, name }: Original): string {
  const hash = createHash('sha256').update(`${namespace}/${name}`).digest('hex').slice(0, HASH_LENGTH)
  return `${source.slice(0, LONGEST_NAME - HASH_LENGTH - 1)}-${hash}`
}
