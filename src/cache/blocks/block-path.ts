/**
 * Where the file of a block lies: `<directory>/<namespace>/<name>/<first byte>/<fileId>-<version>-<index>`. Pure, and the same for
 * the worker that writes a block and for a client of the same node that reads its file directly.
 */
import path from 'node:path'
import { type BlockKey, blockName } from '../protocol/block.ts'

export interface DatasetName {
  namespace: string
  name: string
}

const DNS_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/

/** The directory of a dataset's blocks in a directory of a tier. Throws when the names are none of Kubernetes. */
export function datasetDirectory(directory: string, { namespace, name }: DatasetName): string {
  for (const part of [namespace, name]) {
    if (!DNS_NAME.test(part)) throw new TypeError(`${JSON.stringify(part.slice(0, 80))} is not the name of a namespace or dataset`)
  }
  return path.join(directory, namespace, name)
}

/** The first byte of the file's id, in hex: blocks are spread over 256 directories. */
export const bucketOf = ({ fileId }: Pick<BlockKey, 'fileId'>): string => fileId.slice(0, 2)

/** `directory`: of a tier, as the runtime names it. */
export const blockFilePath = (directory: string, dataset: DatasetName, key: BlockKey): string =>
  path.join(datasetDirectory(directory, dataset), bucketOf(key), blockName(key))
