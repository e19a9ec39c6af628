/** Datasets whose sources change, one of the same name in two namespaces, one that asks for its runtime, and one in a namespace that goes. */
import type { Random } from '../../../base/random.ts'
import type { DatasetSpec } from '../../../kinds/fluid/index.ts'
import { DATASETS } from '../../../kinds/fluid/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator, InvariantView } from '../../../runtime/seams/seeded.ts'
import { referencesTo } from '../sharing-judge.ts'
import {
  ASKED,
  anObject,
  CLAIMED,
  CREDENTIALS,
  DEMO,
  hiddenIn,
  isFor,
  metadataOf,
  NAMESPACES,
  oneOf,
  PLAIN,
  REPORTING,
  readerOf,
  TEAM,
} from './drawing.ts'

type Mount = NonNullable<DatasetSpec['mounts']>[number]

const SECRET: Mount['encryptOptions'] = [{ name: 'aws.secretKey', valueFrom: { secretKeyRef: { name: CREDENTIALS, key: 'key' } } }]
const MOUNTS: readonly Mount[] = [
  { mountPoint: 's3://one', name: 'one' },
  { mountPoint: 's3://two', name: 'two', path: '/second', encryptOptions: SECRET },
  { mountPoint: 'pvc://files', name: 'three' },
]

const drawDataset = (random: Random): DatasetSpec => ({
  mounts: oneOf(random, [MOUNTS.slice(0, 1), MOUNTS.slice(0, 2), MOUNTS.slice(1, 2), [...MOUNTS]]),
  placement: random.next() < 0.6 ? 'Shared' : 'Exclusive',
})

/** With options that are nobody else's business. */
export function datasetOf(where: string, desired: unknown): KubeObject {
  const { mounts = [], ...spec } = desired as DatasetSpec
  const options = { session: hiddenIn(metadataOf(where).namespace) }
  return anObject('Dataset', where, { ...spec, mounts: mounts.map((mount) => ({ ...mount, options })) })
}

const isReferredTo = (where: string, objects: InvariantView): boolean => referencesTo(objects, where).length > 0

const inNamespace = (namespace: string): Generator => ({
  name: `dataset in ${namespace}`,
  resource: DATASETS,
  names: [`${namespace}/${DEMO}`],
  usedBy: readerOf(`${namespace}/${DEMO}`),
  isHeld: isReferredTo,
  isFor,
  // A server takes no dataset where a claim of that name is already.
  isContested: namespace === CLAIMED,
  draw: drawDataset,
  object: datasetOf,
})

interface Asking {
  spec: DatasetSpec
  runtime: string
}

const drawAsking = (random: Random): Asking => ({
  spec: drawDataset(random),
  runtime: oneOf(random, [PLAIN, REPORTING, 'builtin', 'No Class']),
})

const askingOf = (where: string, desired: unknown): KubeObject => {
  const { spec, runtime } = desired as Asking
  const { metadata, ...dataset } = datasetOf(where, spec)
  return { ...dataset, metadata: { ...metadata, annotations: { 'sluice.dev/runtime': runtime } } }
}

function changeAsking(object: KubeObject, desired: unknown): void {
  const { spec, runtime } = desired as Asking
  object.spec = datasetOf(`${object.metadata.namespace}/${object.metadata.name}`, spec).spec
  object.metadata.annotations = { ...object.metadata.annotations, 'sluice.dev/runtime': runtime }
}

const asking: Generator = {
  name: 'dataset that asks for its runtime',
  resource: DATASETS,
  names: [ASKED],
  isHeld: isReferredTo,
  isFor,
  draw: drawAsking,
  object: askingOf,
  change: changeAsking,
}

/** The namespace is one that people delete and create again, so nobody knows whether the dataset is there at the end. */
const inTeam: Generator = { ...asking, name: 'dataset of a team', names: [`${TEAM}/${DEMO}`], isContested: true }

export const datasets: readonly Generator[] = [...NAMESPACES.map(inNamespace), asking, inTeam]
