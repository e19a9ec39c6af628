/**
 * Who may read a dataset besides its own namespace, as the master of its cache reads it: the namespaces of the references that
 * its status names, each with the part that it mounts. Pure.
 */
import type { Dataset } from '../../kinds/fluid/index.ts'
import { cleanPath } from '../../kinds/fluid/paths.ts'
import { referenceOf } from '../../kinds/fluid/reference.ts'
import type { ConfigMap } from '../../kinds/kubernetes/types.ts'
import { compareStrings } from '../../kube/go-print.ts'

/** The key in the ConfigMap, and the file below `ACCESS_PATH`. */
export const ACCESS_KEY = 'namespaces.json'
/** Of the master's container. */
export const ACCESS_PATH = '/etc/sluice/access'
export const accessConfigMapName = (dataset: string): string => `${dataset}-cache-access`

/** As many as the master reads, and as many bytes as a ConfigMap holds with room to spare. */
const MOST_GRANTS = 10_000
const MOST_BYTES = 900_000

export interface Grant {
  namespace: string
  subPath: string
}

export interface Grants {
  granted: readonly Grant[]
  /** References that do not fit. */
  left: number
}

/** `find` looks a reference up by `namespace/name`. One that refers to something else by now is granted nothing. */
export function grantsOf(dataset: Dataset, find: (reference: string) => Dataset | undefined): Grants {
  const { namespace = '', name = '' } = dataset.metadata
  const found = new Map<string, Grant>()
  for (const entry of dataset.status?.datasetRef ?? []) {
    const reference = find(entry)
    const referred = reference === undefined ? undefined : referenceOf(reference)
    const of = reference?.metadata.namespace ?? ''
    if (referred === undefined || referred.namespace !== namespace || referred.name !== name || of === namespace) continue
    const subPath = cleanPath(`/${referred.subPath}`)
    found.set(`${of} ${subPath}`, { namespace: of, subPath })
  }
  const all = [...found].sort(([a], [b]) => compareStrings(a, b)).map(([, grant]) => grant)
  const granted: Grant[] = []
  let bytes = 2
  for (const grant of all) {
    bytes += Buffer.byteLength(JSON.stringify(grant)) + 1
    if (bytes > MOST_BYTES || granted.length >= MOST_GRANTS) break
    granted.push(grant)
  }
  return { granted, left: all.length - granted.length }
}

export function accessConfigMap(dataset: Dataset, granted: readonly Grant[]): ConfigMap {
  const { namespace, name = '', uid = '' } = dataset.metadata
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      namespace,
      name: accessConfigMapName(name),
      ownerReferences: [{ apiVersion: dataset.apiVersion, kind: dataset.kind, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    data: { [ACCESS_KEY]: JSON.stringify(granted) },
  }
}
