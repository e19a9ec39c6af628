/**
 * Data in the seeded worlds: datasets, runtimes of several classes, pods that use them, and what people do to them; and what must
 * hold, whatever fails meanwhile. A seed begins with a dataset that is bound, whose clients are beside its workers, and with a pod of
 * another namespace that reads it by reference.
 */
import type { SeededPart } from '../../runtime/seams/seeded.ts'
import { commandsInPods } from './answers.ts'
import { AT_REST, patienceMs } from './at-rest.ts'
import { classOf } from './generators/classes.ts'
import { datasetOf } from './generators/datasets.ts'
import {
  ANSWERS,
  anObject,
  CREDENTIALS,
  DEMO,
  hiddenIn,
  metadataOf,
  NAMESPACES,
  PLAIN,
  REPORTING,
  readerOf,
  WEB,
} from './generators/drawing.ts'
import { FOCUSES, GENERATORS } from './generators/index.ts'
import { aReaderOf } from './generators/readers.ts'
import { REFERENCE, referringTo } from './generators/references.ts'
import { cacheOf } from './generators/runtimes.ts'
import { INVARIANTS } from './invariants.ts'

const CLASS = { image: 'cache:1', hasClients: true }
const MOUNTS = [{ mountPoint: 's3://one', name: 'one' }]
const WORKER = { replicas: 2, tieredStore: { levels: [{ emptyDir: { quota: '1Gi' } }] } }

const credentialsIn = (namespace: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name: CREDENTIALS },
  data: { key: Buffer.from(hiddenIn(namespace)).toString('base64') },
})

export const seeded: SeededPart = {
  generators: GENERATORS,
  focuses: FOCUSES,
  invariants: INVARIANTS,
  atRest: AT_REST,
  commandsInPods,
  patienceMs,
  beginning: [
    ...[...NAMESPACES, WEB]
      .filter((name) => name !== 'default')
      .map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ...NAMESPACES.map(credentialsIn),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataOf(ANSWERS), data: {} },
    ...[PLAIN, REPORTING].map((name) => classOf(name, CLASS)),
    datasetOf(`default/${DEMO}`, { mounts: MOUNTS, placement: 'Shared' }),
    cacheOf(`default/${DEMO}`, { runtimeClassName: REPORTING, worker: WORKER, isGlobal: false }),
    anObject('Dataset', REFERENCE, referringTo(`default/${DEMO}`)),
    aReaderOf(readerOf(REFERENCE)),
  ],
}
