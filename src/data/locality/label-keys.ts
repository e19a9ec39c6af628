/** The keys of labels that say where a dataset is: on nodes with a worker of it, and on nodes with a client. */

/** A dataset, as far as keys need it. */
export interface NamedDataset {
  namespace: string
  name: string
  uid: string
}

/** From this length on, with the prefix, the uid stands for namespace and name. */
const TOO_LONG = 63

function keyed(prefix: string, { namespace, name, uid }: NamedDataset): string {
  const key = `${prefix}${namespace}-${name}`
  return key.length < TOO_LONG ? key : `${prefix}${uid}`
}

export const CACHE_LABEL_PREFIX = 'fluid.io/s-'

export const commonLabel = (dataset: NamedDataset): string => keyed(CACHE_LABEL_PREFIX, dataset)
export const fuseLabel = (dataset: NamedDataset): string => keyed('fluid.io/f-', dataset)
