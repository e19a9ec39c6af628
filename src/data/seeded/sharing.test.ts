/** The judges of references and of scaling are judged: each is shown something right, and something wrong that it must find. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { handMade } from '../../faultsim/seeded/worlds/fleet/testing.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Invariant } from '../../runtime/seams/seeded.ts'
import { cachedBytesOf } from './answers.ts'
import { nothingCrosses } from './hidden-texts.ts'
import { SCALING_AT_REST } from './scaling-at-rest.ts'
import { leastGoFirst, neverTooFew, readersKeepWorkers } from './scaling-invariants.ts'
import { SHARING_AT_REST } from './sharing-at-rest.ts'
import { boundToListing, originalsStay, showsNoMore } from './sharing-invariants.ts'
import {
  aClaim,
  aCopy,
  aDataset,
  aGrantFor,
  aNamespace,
  answers,
  aReader,
  aReference,
  aReferenceReader,
  aRuntime,
  aThinRuntime,
  aVolume,
  aWorkerSet,
  GOING,
  HASH,
  readBy,
  workerOn,
} from './testing.ts'

/** Written, or deleted. */
type Write = KubeObject | { gone: KubeObject }
const gone = (object: KubeObject): Write => ({ gone: object })
const MEMBER = 'member1'

interface Case {
  by: Invariant
  before: readonly Write[]
  right: readonly Write[]
  wrong: readonly Write[]
}

const goingOriginal = aDataset('Bound', { metadata: GOING })
const anotherGoing = aDataset('Bound', { metadata: { ...GOING, uid: 'another' } })
const listing = (...datasetRef: string[]): KubeObject => aDataset('Bound', { status: { datasetRef } })
const shows = (fileNum: string) => ({ status: { fileNum } })
const mountsOf = (mountPoint: string) => ({ status: { mounts: [{ mountPoint, name: 'one' }] } })
const secretOf = (namespace: string, text: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name: 'key', uid: `${namespace} key` },
  data: { key: Buffer.from(text).toString('base64') },
})
const aConfig = (namespace: string, text: string, { name = 'config', key = 'runtime.json' } = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name, uid: `${namespace} ${name}` },
  data: { [key]: text },
})
const asking = (replicas: number): KubeObject => aRuntime({ spec: { runtimeClassName: 'reporting', worker: { replicas } } })
const beside = (): KubeObject => aVolume({ isCoLocated: true })

/** Two workers on two nodes, of which one is too many; in the other namespace somebody reads on the first node. */
const READ_FROM_ELSEWHERE = [beside(), aDataset(), ...readBy('web'), asking(2), workerOn(0, 'node-1'), workerOn(1, 'node-2'), aWorkerSet(2)]
const WORKERS = [workerOn(0, 'node-1'), workerOn(1, 'node-2'), workerOn(2, 'node-3')] as const
const THREE = [aVolume(), aDataset(), answers('7'), asking(3), ...WORKERS, aWorkerSet(3), asking(2)]
/** Written, and nothing that matters is another. */
const SEEN = { metadata: { annotations: {} } }
const byBytes = (version: string): number[] => {
  const bytes = WORKERS.map((worker) => cachedBytesOf(worker, WORKERS, version))
  return [0, 1, 2].sort((a, b) => (bytes[a] ?? 0) - (bytes[b] ?? 0))
}
const without = (ordinal = 0): KubeObject => aWorkerSet(2, { reserveOrdinals: ordinal === 2 ? [] : [ordinal] })
/** Neither the one with the least nor the last one; and answers with which it has the least. */
const wrongOne = byBytes('7')
  .slice(1)
  .find((ordinal) => ordinal !== 2)
const later = Array.from({ length: 50 }, (_, i) => String(8 + i)).find((version) => byBytes(version)[0] === wrongOne) ?? '7'

const CASES: Readonly<Record<string, Case>> = {
  'a dataset outlives those that refer to it': {
    by: originalsStay,
    before: [aNamespace('default'), aDataset(), aReference('web/demo'), goingOriginal],
    right: [gone(aReference('web/demo')), gone(goingOriginal)],
    wrong: [gone(goingOriginal)],
  },
  'and those that have its consent': {
    by: originalsStay,
    before: [aNamespace('default'), aDataset(), aGrantFor('web'), aReference('web/demo'), goingOriginal],
    right: [aGrantFor('lab'), gone(goingOriginal)],
    wrong: [aGrantFor('lab', 'more'), gone(goingOriginal)],
  },
  'but not those that came later, nor when its namespace goes': {
    by: originalsStay,
    before: [aNamespace('default'), aDataset(), goingOriginal, aReference('web/demo')],
    right: [gone(goingOriginal)],
    wrong: [gone(goingOriginal), aDataset(), anotherGoing, gone(anotherGoing)],
  },
  'nor what is in a namespace that goes': {
    by: originalsStay,
    before: [aNamespace('default'), aDataset(), aReference('web/demo'), goingOriginal],
    right: [aNamespace('default', GOING), gone(goingOriginal)],
    wrong: [aNamespace('lab', GOING), gone(goingOriginal)],
  },
  'a reference shows what its original has shown': {
    by: showsNoMore,
    before: [aDataset('Bound', shows('7')), aReference('web/demo', 'NotBound')],
    right: [aDataset('Bound', shows('8')), aReference('web/demo', 'Bound', shows('7'))],
    wrong: [aReference('web/demo', 'Bound', shows('8'))],
  },
  'and its mounts': {
    by: showsNoMore,
    before: [aDataset('Bound', mountsOf('s3://one')), aReference('web/demo', 'NotBound')],
    right: [aReference('web/demo', 'Bound', mountsOf('s3://one'))],
    wrong: [aReference('web/demo', 'Bound', mountsOf('s3://two'))],
  },
  'a reference is bound to what lists it': {
    by: boundToListing,
    before: [aDataset('Bound'), aReference('web/demo', 'NotBound')],
    right: [listing('web/demo'), aReference('web/demo', 'Bound')],
    wrong: [listing('web/other'), aReference('web/demo', 'Bound')],
  },
  'with consent': {
    by: boundToListing,
    before: [aGrantFor('lab'), listing('web/demo'), aReference('web/demo', 'NotBound')],
    right: [aGrantFor('web', 'more'), aReference('web/demo', 'Bound')],
    wrong: [aReference('web/demo', 'Bound')],
  },
  'what is in a Secret stays in its namespace': {
    by: nothingCrosses,
    before: [secretOf('default', 'hidden-in-default')],
    right: [secretOf('web', 'hidden-in-web')],
    wrong: [secretOf('web', 'hidden-in-default')],
  },
  'wherever else it is written': {
    by: nothingCrosses,
    before: [],
    right: [aConfig('default', '{"options":"hidden-in-default"}'), aConfig('web', '{"options":{}}')],
    wrong: [aConfig('web', '{"options":"hidden-in-default"}')],
  },
  'and in no volume': {
    by: nothingCrosses,
    before: [],
    right: [aVolume()],
    wrong: [aVolume({ attributes: { password: 'hidden-in-default' } })],
  },
  'workers are as many as were asked for at least': {
    by: neverTooFew,
    before: [asking(3), aWorkerSet(3), asking(2)],
    right: [aWorkerSet(2)],
    wrong: [aWorkerSet(1)],
  },
  'by what was asked since the last of them left': {
    by: neverTooFew,
    before: [asking(3), aWorkerSet(3), asking(1)],
    right: [asking(3), aWorkerSet(2)],
    wrong: [asking(3), aWorkerSet(3, SEEN), aWorkerSet(2)],
  },
  'a worker stays beside a reader of another namespace': {
    by: readersKeepWorkers,
    before: [...READ_FROM_ELSEWHERE, aReferenceReader('web', 'node-1'), asking(1)],
    right: [aWorkerSet(1)],
    wrong: [aWorkerSet(1, { reserveOrdinals: [0] })],
  },
  'and of its own': {
    by: readersKeepWorkers,
    before: [...READ_FROM_ELSEWHERE, aClaim({}, 'default-demo'), aReader(), asking(1)],
    right: [aWorkerSet(1)],
    wrong: [aWorkerSet(1, { reserveOrdinals: [0] })],
  },
  'and is not led out': {
    by: readersKeepWorkers,
    before: [...READ_FROM_ELSEWHERE, aReferenceReader('web', 'node-1'), asking(1)],
    right: [aWorkerSet(2, { leaving: 'demo-worker-1' })],
    wrong: [aWorkerSet(2, { leaving: 'demo-worker-0' })],
  },
  'unless that came in this very moment': {
    by: readersKeepWorkers,
    before: [...READ_FROM_ELSEWHERE, asking(1), aReferenceReader('web', 'node-1')],
    right: [aWorkerSet(1, { reserveOrdinals: [0] })],
    wrong: [aWorkerSet(2, SEEN), aWorkerSet(1, { reserveOrdinals: [0] })],
  },
  'or clients are everywhere': {
    by: readersKeepWorkers,
    before: [...READ_FROM_ELSEWHERE, aReferenceReader('web', 'node-1')],
    right: [aVolume(), asking(1), aWorkerSet(1, { reserveOrdinals: [0] })],
    wrong: [asking(1), aWorkerSet(1, { reserveOrdinals: [0] })],
  },
  'the worker with the least goes first, or the last one': {
    by: leastGoFirst,
    before: THREE,
    right: [without(byBytes('7')[0])],
    wrong: [without(wrongOne)],
  },
  'by a report about the workers as they are': {
    by: leastGoFirst,
    before: THREE,
    right: [answers(later), without(wrongOne)],
    wrong: [answers(later), answers('7'), workerOn(0, 'node-4'), aWorkerSet(3, SEEN), workerOn(0, 'node-1'), without(wrongOne)],
  },
}

async function brokenBy(by: Invariant, writes: readonly Write[]): Promise<string | undefined> {
  const world = handMade([by])
  for (const write of writes) await ('gone' in write ? world.remove(MEMBER, write.gone as KubeObject) : world.put(MEMBER, write))
  return world.broken()
}

describe('at every moment', () => {
  for (const [says, { by, before, right, wrong }] of Object.entries(CASES))
    it(says, async () => {
      assert.equal(await brokenBy(by, [...before, ...right]), undefined)
      assert.match((await brokenBy(by, [...before, ...wrong])) ?? 'nothing was found', /does not hold/)
    })
})

const REFERENCE = 'web/demo'
const REFUSED = aGrantFor('lab')
const ofWeb = aConfig('default', '[{"namespace":"web","subPath":"/"}]', { name: 'demo-cache-access', key: 'namespaces.json' })
const client = aCopy('default', 'demo-client')
const copies = (mountPoint = 's3://one'): KubeObject[] => [
  aCopy('web', `demo-client-${HASH}`, { source: 'default/demo' }),
  aCopy('web', `config-demo-${HASH}`, { source: 'default/demo', kind: 'ConfigMap', text: JSON.stringify({ mounts: [{ mountPoint }] }) }),
]
const config = aCopy('default', 'config-demo', { kind: 'ConfigMap', text: '{"mounts":[{"mountPoint":"s3://one","options":{"a":"b"}}]}' })
const SHARED = [
  aNamespace('default'),
  aNamespace('web'),
  listing(REFERENCE),
  aRuntime(),
  aVolume(),
  ofWeb,
  client,
  config,
  aThinRuntime(REFERENCE),
]
const followed = (status: object = {}): KubeObject => aReference(REFERENCE, 'Bound', { status })
const ALL = [...SHARED, followed(), ...copies()]

const asked = (replicas: number, ...conditions: string[]): KubeObject =>
  aRuntime({
    spec: { worker: { replicas } },
    status: { conditions: ['Served', ...conditions].map((type) => ({ type, status: 'True' })) },
  })
const TWO = [aDataset(), workerOn(0, 'node-1'), workerOn(1, 'node-2'), aWorkerSet(2)]
const READ_ON_BOTH = [...READ_FROM_ELSEWHERE, aReferenceReader('web', 'node-1'), aReferenceReader('web', 'node-2', 'other')]

interface RestCase {
  right: readonly KubeObject[]
  wrong: readonly KubeObject[]
  /** What is said about the wrong one. */
  found: RegExp
}

const AT_REST_CASES: Readonly<Record<string, RestCase>> = {
  'a dataset lists its references': {
    right: ALL,
    wrong: [...ALL, listing('web/gone', REFERENCE)],
    found: /default\/demo lists web\/gone,web\/demo/,
  },
  'all of them': {
    right: ALL,
    wrong: [...ALL, aReference('web/more', 'NotBound')],
    found: /default\/demo lists web\/demo instead of web\/demo,web\/more/,
  },
  'only with consent': { right: ALL, wrong: [...ALL, REFUSED], found: /default\/demo lists web\/demo instead of none/ },
  'a reference lists none': { right: ALL, wrong: [...ALL, followed({ datasetRef: ['web/x'] })], found: /web\/demo lists web\/x/ },
  'a reference is what its original is': {
    right: ALL,
    wrong: [...ALL, aReference(REFERENCE, 'NotBound')],
    found: /web\/demo is NotBound, and its original Bound/,
  },
  'a reference shows what its original shows': { right: ALL, wrong: [...ALL, followed({ fileNum: '7' })], found: /web\/demo shows .*"7"/ },
  'a reference that may not follow is not bound': {
    right: [aDataset(), REFUSED, aReference(REFERENCE, 'NotBound'), aNamespace('web'), aNamespace('default')],
    wrong: [aDataset(), REFUSED, followed(), aNamespace('web'), aNamespace('default')],
    found: /web\/demo is Bound, and cannot follow/,
  },
  'and shows nothing': {
    right: [aDataset(), REFUSED, aReference(REFERENCE, 'NotBound'), aNamespace('web'), aNamespace('default')],
    wrong: [aDataset(), REFUSED, aReference(REFERENCE, 'NotBound', shows('7')), aNamespace('web'), aNamespace('default')],
    found: /web\/demo shows .*, and may not/,
  },
  'what has lost its original has failed': {
    right: [aReference(REFERENCE, 'Failed'), aNamespace('web'), aNamespace('default')],
    wrong: [aDataset('NotBound'), REFUSED, aReference(REFERENCE, 'Failed'), aNamespace('web'), aNamespace('default')],
    found: /web\/demo is Failed, and cannot follow/,
  },
  'a master is told who may read': {
    right: ALL,
    wrong: [...ALL, aConfig('default', '[]', { name: 'demo-cache-access', key: 'namespaces.json' })],
    found: /default\/demo tells \[\]/,
  },
  'the volume of a reference leads to its original': {
    right: [...ALL, ...readBy('web')],
    wrong: [...ALL, ...readBy('web', 'other')],
    found: /that of web\/demo leads to/,
  },
  'a copy says what its original says': { right: ALL, wrong: [...ALL, ...copies('s3://two')], found: /says .*s3:\/\/two/ },
  'a copy belongs to a reference': { right: ALL, wrong: [aNamespace('web'), ...copies()], found: /is nobody's/ },
  'a copy belongs to all references': {
    right: ALL,
    wrong: [...ALL, listing(REFERENCE, 'web/more'), aThinRuntime('web/more'), aReference('web/more', 'Bound')],
    found: /does not belong to web\/demo,web\/more/,
  },
  'a copy has an original': {
    right: ALL,
    wrong: [...ALL, aCopy('web', `old-${HASH}`, { source: 'default/demo' })],
    found: /DaemonSet web\/old-\w+ has no original/,
  },
  'there is a copy of the client': { right: ALL, wrong: [...SHARED, followed()], found: /web\/demo-client-\w+ is missing/ },
  'there are as many workers as were asked for': { right: [...TWO, asked(2)], wrong: [...TWO, asked(3)], found: /has 2 of 3/ },
  'and no more': { right: [...TWO, asked(2)], wrong: [...TWO, asked(1)], found: /has 2 instead of 1, and demo-worker-0 could go/ },
  'none is led out': {
    right: [...TWO, asked(2)],
    wrong: [...TWO, asked(2), aWorkerSet(2, { leaving: 'demo-worker-1' })],
    found: /demo-worker-1 .* is still led out/,
  },
  'readers hold workers, and it is said': {
    right: [...READ_ON_BOTH, asked(1, 'ScaleInHeld')],
    wrong: [...READ_ON_BOTH, asked(1)],
    found: /nobody says why/,
  },
  'only those beside them': {
    right: [...READ_ON_BOTH, asked(1, 'ScaleInHeld')],
    wrong: [...READ_FROM_ELSEWHERE, aReferenceReader('web', 'node-1'), asked(1, 'ScaleInHeld')],
    found: /demo-worker-1 could go/,
  },
  'it is said only while it is so': { right: [...TWO, asked(2)], wrong: [...TWO, asked(2, 'ScaleInHeld')], found: /is said to be held/ },
  'workers are those of their set': {
    right: [...TWO, asked(2)],
    wrong: [...TWO, asked(2), workerOn(2, 'node-3')],
    found: /instead of demo-worker-0,demo-worker-1$/,
  },
}

async function restingOf(objects: readonly KubeObject[]): Promise<string[]> {
  const world = handMade()
  for (const object of objects) await world.put(MEMBER, object)
  return [...SHARING_AT_REST, ...SCALING_AT_REST].flatMap((invariant) => invariant.broken(world.hub, world.members) ?? [])
}

describe('at rest', () => {
  for (const [says, { right, wrong, found }] of Object.entries(AT_REST_CASES))
    it(says, async () => {
      assert.deepEqual(await restingOf(right), [])
      assert.match((await restingOf(wrong)).join('\n'), new RegExp(found, 'm'))
    })
})
