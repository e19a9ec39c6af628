/**
 * References: datasets whose only mount is another dataset, `dataset://<namespace>/<name>[/<sub path>]`. Everybody who has to tell
 * them from other datasets asks here; and here is what may be said about an original outside its namespace, and what copies of
 * its configuration are called there. Pure.
 */
import { createHash } from 'node:crypto'
import type { Dataset, Mount } from './index.ts'
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

type Mounting = Pick<Dataset, 'spec'>

const SCHEME = /^dataset:\/\//i

const isReferenceMount = ({ mountPoint }: Pick<Mount, 'mountPoint'>): boolean => SCHEME.test(mountPoint)

/** Undefined: it is not a reference, or one that nobody can follow (`referenceProblem`). */
export function referenceOf({ spec }: Mounting): Referred | undefined {
  const [mount, ...more] = spec?.mounts ?? []
  if (mount === undefined || more.length > 0 || !isReferenceMount(mount)) return undefined
  const { value } = parseMountPoint(mount.mountPoint)
  return value?.kind === 'dataset' ? { namespace: value.namespace, name: value.name, subPath: value.subPath } : undefined
}

export const isReference = (dataset: Mounting): boolean => referenceOf(dataset) !== undefined

/** Why mounts of datasets cannot be followed, and what to do; undefined: there are none, or exactly one that can. */
export function referenceProblem(mounts: readonly Mount[] = []): string | undefined {
  const references = mounts.filter(isReferenceMount)
  const [first] = references
  if (first === undefined) return undefined
  if (references.length > 1)
    return `the dataset is not validated, since it has ${references.length} dataset mounts which only expects 1: keep one, and make a Dataset for each of the others`
  if (mounts.length > 1)
    return 'the dataset is not validated, since it has 1 dataset mounts but also contains other types of mounts: make a Dataset for the others'
  return parseMountPoint(first.mountPoint).error
}

/** Why a runtime with a cache, or a client of its own, cannot serve a reference. */
export const ONLY_THIN = 'dataset mounting another dataset can only use thin runtime'

const HASH_LENGTH = 8
const LONGEST_NAME = 253

/**
 * What a copy of an object of an original's namespace is called in the namespace of its references: never as an object of a
 * dataset there, and not as the copy for another original of the same name.
 */
export const mirrorName = (source: string, original: Original): string =>
  `${source.slice(0, LONGEST_NAME - HASH_LENGTH - 1)}-${mirrorHash(original)}`

/** What the name of a copy ends with; of any other name, nothing that means anything. */
export const hashIn = (name: string): string => name.slice(name.lastIndexOf('-') + 1)

/** Stands for the original, in names and labels of its copies. */
export const mirrorHash = ({ namespace, name }: Original): string =>
  createHash('sha256').update(`${namespace}/${name}`).digest('hex').slice(0, HASH_LENGTH)

/** A mount as it may be shown outside its namespace: options can be credentials, and so can parts of an address. */
export function publicMount({ name, path, mountPoint, readOnly, shared }: Mount): Mount {
  return {
    mountPoint: withoutCredentials(mountPoint),
    ...(name === undefined ? {} : { name }),
    ...(path === undefined ? {} : { path }),
    ...(readOnly === undefined ? {} : { readOnly }),
    ...(shared === undefined ? {} : { shared }),
  }
}

/** An address without user, password, query and fragment. */
export function withoutCredentials(address: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)?(.*)$/is.exec(address) ?? []
  const [place = ''] = rest.split(/[?#]/, 1)
  const slash = place.indexOf('/')
  const [authority, path] = slash < 0 ? [place, ''] : [place.slice(0, slash), place.slice(slash)]
  return `${scheme}${authority.slice(authority.lastIndexOf('@') + 1)}${path}`
}
