/**
 * What is to be copied for the references of a namespace to one original, and what is there already. Copies are shared: the
 * reference with the first name looks after them, and each after what nobody needs any more.
 */
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { mirrorHash, type Original, referenceOf } from '../../../kinds/fluid/reference.ts'
import { DATASETS } from '../../../kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { keyOfRef, objectKey, refOfKey } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type Index, indexOf, type Reader } from '../../../runtime/controller.ts'
import type { ConsentSource } from '../../../runtime/reference-consent.ts'
import { mayRefer } from '../consent.ts'
import { isGoing, REFERENCE_INDEXES } from '../indexes.ts'
import { type Copy, copiesOf } from './copies.ts'
import { HASH_INDEX, isCopy, MIRROR_OF, MIRROR_SOURCE, mirrorOf, type Sharing } from './mirror.ts'

export interface Part extends Copy {
  /** What exists under its name. */
  live: KubeObject | undefined
}

export interface Observed {
  wanted: readonly Part[]
  /** Copies that nobody needs. */
  surplus: readonly Copy[]
}

const COPIED: readonly Resource[] = [CONFIG_MAPS, DAEMON_SETS]
const BY_OWNER = 'mirror-owner'
const BY_ORIGINAL = 'mirror-of'
/** References by their namespace and their original: those that share copies. */
const SHARING = 'sharing'

const sharedKey = (namespace: string, original: Original): string => `${namespace} ${keyOfRef(original)}`

export const INDEXES: readonly Index[] = [
  ...REFERENCE_INDEXES,
  HASH_INDEX,
  indexOf(DATASETS, SHARING, (dataset: Dataset) => {
    const referred = referenceOf(dataset)
    return referred === undefined ? [] : [sharedKey(dataset.metadata.namespace ?? '', referred)]
  }),
  ...COPIED.flatMap((resource) => [
    indexOf(resource, BY_OWNER, (object) => (isCopy(object) ? (object.metadata.ownerReferences ?? []).map(({ uid }) => uid) : [])),
    indexOf(resource, BY_ORIGINAL, (object) =>
      isCopy(object) ? [objectKey(object.metadata.namespace, object.metadata.labels?.[MIRROR_OF])] : [],
    ),
  ]),
]

type ConsentedSource = ConsentSource & { read: Pick<Reader, 'get' | 'byIndex'> }
type Source = ConsentedSource & { sharing: Sharing }

/** References of a namespace that may use an original. */
function sharersIn(namespace: string, original: Original, source: ConsentedSource): Dataset[] {
  if (!mayRefer(namespace, original, source)) return []
  return source.read.byIndex(DATASETS, SHARING, sharedKey(namespace, original)).filter((one: Dataset) => !isGoing(one))
}

/** The one with the first name. */
const firstOf = (sharers: readonly Dataset[]): Dataset | undefined =>
  sharers.reduce<Dataset | undefined>(
    (first, one) => (first === undefined || (one.metadata.name ?? '') < (first.metadata.name ?? '') ? one : first),
    undefined,
  )

/** Which reference of a namespace looks after the copies there; undefined: nobody may have any. */
export const keeperIn = (namespace: string, original: Original, source: ConsentedSource): Dataset | undefined =>
  firstOf(sharersIn(namespace, original, source))

export function observe(dataset: Dataset, source: Source): Observed {
  if (isGoing(dataset)) return { wanted: [], surplus: withdrawnFrom(dataset, source) }
  const { read } = source
  const { namespace = '', name, uid = '' } = dataset.metadata
  const referred = referenceOf(dataset)
  const sharers = referred === undefined ? [] : sharersIn(namespace, referred, source)
  const isFirst = firstOf(sharers)?.metadata.name === name
  const { wanted, isKept } = referred === undefined || !isFirst ? NOTHING : wantedFor(sharers, referred, source)
  const own = foundBy(read, BY_OWNER, uid).filter(({ object }) => !isShared(object, source))
  const ofOriginal =
    referred === undefined || !isFirst || isKept ? [] : foundBy(read, BY_ORIGINAL, objectKey(namespace, mirrorHash(referred)))
  const kept = new Set(wanted.map(keyOf))
  const surplus = new Map(
    [...own, ...ofOriginal].filter((one) => !kept.has(keyOf(one)) && !isGoing(one.object)).map((one) => [keyOf(one), one]),
  )
  return { wanted, surplus: [...surplus.values()] }
}

/** Pods may hold up a reference that goes, and start again with its copies: only consent that ends takes them away before. */
const withdrawnFrom = ({ metadata: { uid = '' } }: Dataset, source: ConsentedSource): Copy[] =>
  foundBy(source.read, BY_OWNER, uid).filter(({ object: { metadata } }) => {
    const original = refOfKey(metadata.annotations?.[MIRROR_SOURCE] ?? '')
    return metadata.deletionTimestamp === undefined && !mayRefer(metadata.namespace ?? '', original, source)
  })

interface Wanted {
  wanted: readonly Part[]
  /** What is there stays as it is. */
  isKept: boolean
}

const NOTHING: Wanted = Object.freeze({ wanted: [], isKept: false })

function wantedFor(sharers: readonly Dataset[], original: Original, { read, sharing }: Source): Wanted {
  const { source, isKept = false } = mirrorOf(original, read, sharing)
  if (source === undefined) return { wanted: [], isKept }
  const wanted = copiesOf({ original, source, owners: sharers }).map((copy) => {
    const { namespace = '', name = '' } = copy.object.metadata
    return { ...copy, live: read.get(copy.resource, namespace, name) }
  })
  return { wanted, isKept }
}

const keyOf = ({ resource, object }: Copy): string => `${resource.plural}/${object.metadata.name ?? ''}`

const foundBy = (read: Source['read'], index: string, value: string): Copy[] =>
  COPIED.flatMap((resource) => read.byIndex(resource, index, value).map((object) => ({ resource, object })))

/** Some reference of the namespace still needs it, and looks after it. */
function isShared({ metadata }: KubeObject, source: Source): boolean {
  const original = refOfKey(metadata.annotations?.[MIRROR_SOURCE] ?? '')
  return sharersIn(metadata.namespace ?? '', original, source).length > 0
}
