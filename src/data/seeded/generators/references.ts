/**
 * Datasets that refer to others: in three namespaces, two of them to the same original, to parts of it, to datasets of a namespace that
 * goes, and to references. What admission refuses gets in all the same. Beside them runtimes that people make.
 */
import type { Random } from '../../../base/random.ts'
import type { Dataset, DatasetSpec } from '../../../kinds/fluid/index.ts'
import { CACHE_RUNTIMES, DATASETS, THIN_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { ASKED, anObject, CLAIMED, DEMO, isFor, oneOf, PLAIN, TEAM, WEB } from './drawing.ts'

export const REFERENCE = `${WEB}/${DEMO}`
/** Of the same namespace as the first one. */
const ANOTHER = `${WEB}/again`
const BESIDE = `${CLAIMED}/shared`
const OF_TEAM = `${TEAM}/shared`
export const REFERENCES: readonly string[] = [REFERENCE, ANOTHER, BESIDE, OF_TEAM]

const ORIGINAL = `default/${DEMO}`
const TARGETS: readonly string[] = [
  ...[ORIGINAL, ORIGINAL, ORIGINAL, `${ORIGINAL}/train`],
  ...[`${CLAIMED}/${DEMO}`, ASKED, `${TEAM}/${DEMO}`],
  // A chain, if it comes before what it refers to.
  ...[REFERENCE, BESIDE],
]

export const referringTo = (where: string): DatasetSpec => ({ mounts: [{ mountPoint: `dataset://${where}` }] })

/** A server may refuse one, for what its original is at that moment: the judge says what holds at the end. */
const references: Generator = {
  name: 'reference',
  resource: DATASETS,
  names: REFERENCES,
  isFor,
  isContested: true,
  draw: (random: Random): DatasetSpec => referringTo(oneOf(random, TARGETS)),
  object: (where, desired) => anObject('Dataset', where, desired),
}

/** Mounts of both kinds, or a second reference: neither can be followed. */
const mixed: Generator = {
  name: 'reference with other mounts',
  resource: DATASETS,
  names: [ANOTHER, BESIDE],
  isFor,
  isContested: true,
  isLasting: true,
  isOnlyChanged: true,
  passesAdmission: true,
  draw: (random: Random) => oneOf(random, ['s3://mixed', `dataset://${CLAIMED}/${DEMO}`]),
  object: (where, desired) => anObject('Dataset', where, { mounts: [{ mountPoint: desired, name: 'more' }] }),
  change(object, desired) {
    const { spec = {} } = object as Dataset
    object.spec = { ...spec, mounts: [...(spec.mounts ?? []).slice(0, 1), { mountPoint: desired as string, name: 'more' }] }
  },
}

/** One without a profile is what a reference needs; a deleted one is made again. */
const thin: Generator = {
  name: 'thin runtime of a user',
  resource: THIN_RUNTIMES,
  names: [REFERENCE, ANOTHER],
  isFor,
  isContested: true,
  draw: (random: Random) => (random.next() < 0.8 ? {} : { profileName: 'missing' }),
  object: (where, desired) => anObject('ThinRuntime', where, desired),
}

/** It gets in only before the reference, and keeps it from being bound. */
const caching: Generator = {
  name: 'cache runtime beside a reference',
  resource: CACHE_RUNTIMES,
  names: [ANOTHER],
  isFor,
  isContested: true,
  draw: () => ({ runtimeClassName: PLAIN, worker: { replicas: 1, tieredStore: { levels: [{ emptyDir: { quota: '1Gi' } }] } } }),
  object: (where, desired) => anObject('CacheRuntime', where, desired),
}

export const sharing: readonly Generator[] = [references, references, references, mixed, thin, caching]
