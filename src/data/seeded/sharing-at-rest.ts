/** What holds between datasets and those that refer to them when everything has settled. */
import { createHash } from 'node:crypto'
import { deepEqual } from '../../base/json.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { ConfigMap, DaemonSet, PersistentVolume } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { InvariantView } from '../../runtime/seams/seeded.ts'
import { datasetsIn, firstOf, inMembers, type Wrong } from './at-rest-checks.ts'
import {
  BOUND,
  DATASETS,
  isGoing,
  isMade,
  isServed,
  namespaceIn,
  phaseOf,
  runtimesOf,
  usersOf,
  VOLUMES,
  volumeNameOf,
  whereOf,
} from './judge.ts'
import { consentedReferencesTo, figuresIn, hasOnlyThin, listOf, mayRefer, mountsIn, type Referred, referredBy } from './sharing-judge.ts'

const goesWithNamespace = (view: InvariantView, where: string): boolean => {
  const home = view.get('namespaces', namespaceIn(where))
  return home === undefined || isGoing(home)
}

const wantedIn = (view: InvariantView, where: string): string[] => consentedReferencesTo(view, where).map(whereOf).sort()

const listsAreTrue = inMembers('a dataset lists the references that have its consent, and a reference lists none', (view) =>
  firstOf(datasetsIn(view), (dataset) => {
    const where = whereOf(dataset)
    const listed = listOf(dataset)
    const wanted = referredBy(dataset) === undefined ? wantedIn(view, where) : []
    // One that goes takes no new ones.
    const isTrue = isGoing(dataset) ? listed.every((one) => wanted.includes(one)) : listed.join() === wanted.join()
    return isTrue ? undefined : `${where} lists ${listed.join() || 'none'} instead of ${wanted.join() || 'none'}`
  }),
)

const referencesFollow = inMembers('a reference is what its original is, and shows nothing of one that it may not use', (view) =>
  firstOf(datasetsIn(view), (reference) => {
    const referred = referredBy(reference)
    if (referred === undefined || isGoing(reference)) return undefined
    const original = view.get(DATASETS, referred.where)
    return original !== undefined && isFollowed(view, reference, original)
      ? differenceOf(reference, original)
      : leftAlone(view, reference, referred)
  }),
)

function isFollowed(view: InvariantView, reference: Dataset, original: KubeObject): boolean {
  const where = whereOf(reference)
  const isPermitted = mayRefer(view, namespaceIn(where), whereOf(original)) && listOf(original).includes(where)
  return isPermitted && hasOnlyThin(view, where) && referredBy(original) === undefined && BOUND.includes(phaseOf(original))
}

function differenceOf(reference: Dataset, original: KubeObject): Wrong {
  const where = whereOf(reference)
  if (phaseOf(reference) !== phaseOf(original)) return `${where} is ${phaseOf(reference)}, and its original ${phaseOf(original)}`
  const isSame = figuresIn(reference) === figuresIn(original) && mountsIn(reference) === mountsIn(original)
  return isSame
    ? undefined
    : `${where} shows ${figuresIn(reference)} ${mountsIn(reference)} instead of ${figuresIn(original)} ${mountsIn(original)}`
}

/** What was bound to a dataset that is gone has failed, and goes on showing what was known of it. */
function leftAlone(view: InvariantView, reference: Dataset, { where: original }: Referred): Wrong {
  const where = whereOf(reference)
  const isLost = phaseOf(reference) === 'Failed' && (view.get(DATASETS, original) === undefined || goesWithNamespace(view, original))
  if (isLost || goesWithNamespace(view, where)) return undefined
  if (phaseOf(reference) !== 'NotBound') return `${where} is ${phaseOf(reference)}, and cannot follow ${original}`
  const figures = figuresIn(reference)
  return figures === undefined ? undefined : `${where} shows ${figures}, and may not`
}

const accessIsTrue = inMembers('masters are told exactly the namespaces of the references that are listed', (view) =>
  firstOf(datasetsIn(view), (dataset) => {
    const where = whereOf(dataset)
    if (isGoing(dataset)) return undefined
    const access = view.get('configmaps', `${where}-cache-access`) as ConfigMap | undefined
    const wanted = accessOf(view, dataset)
    const text = access?.data?.['namespaces.json'] ?? '[]'
    return access?.data === undefined && wanted.length === 0
      ? undefined
      : text === JSON.stringify(wanted)
        ? undefined
        : `${where} tells ${text}`
  }),
)

function accessOf(view: InvariantView, dataset: Dataset): { namespace: string; subPath: string }[] {
  const where = whereOf(dataset)
  const granted = listOf(dataset).flatMap((one) => {
    const referred = referredBy(view.get(DATASETS, one))
    const isOther = referred?.where === where && namespaceIn(one) !== namespaceIn(where)
    return isOther ? [`${namespaceIn(one)} /${referred.subPath}`] : []
  })
  return [...new Set(granted)].sort().map((text) => {
    const [namespace = '', subPath = ''] = text.split(' ')
    return { namespace, subPath }
  })
}

const volumesAgree = inMembers('the volume of a reference leads to the files of its original', (view) =>
  firstOf(datasetsIn(view), (reference) => {
    const [where, referred] = [whereOf(reference), referredBy(reference)]
    const volume = volumeOf(view, where)
    if (referred === undefined || isGoing(reference) || volume === undefined || usersOf(view, where).length > 0) return undefined
    const original = volumeOf(view, referred.where)
    if (original === undefined || !BOUND.includes(phaseOf(reference))) return undefined
    const { fluid_sub_path: subPath = '', ...attributes } = (volume.spec?.csi?.volumeAttributes ?? {}) as Record<string, string>
    const isSame = deepEqual(attributes, original.spec?.csi?.volumeAttributes) && subPath === referred.subPath
    return isSame ? undefined : `that of ${where} leads to ${JSON.stringify(attributes)} ${subPath}`
  }),
)

function volumeOf(view: InvariantView, where: string): PersistentVolume | undefined {
  const volume = view.get(VOLUMES, volumeNameOf(where)) as PersistentVolume | undefined
  return volume !== undefined && isMade(volume) && !isGoing(volume) ? volume : undefined
}

const OF = 'sluice.dev/mirror-of'
const SOURCE = 'sluice.dev/mirror-source'

const copiesIn = (view: InvariantView): KubeObject[] =>
  ['configmaps', 'daemonsets'].flatMap((plural) => view.list(plural)).filter(({ metadata }) => metadata.labels?.[OF] !== undefined)

const hashOf = (original: string): string => createHash('sha256').update(original).digest('hex').slice(0, 8)

const copiesAreTrue = inMembers('copies belong to references that have consent, and say what their originals say', (view) =>
  firstOf(copiesIn(view), (copy) => {
    if (isGoing(copy) || goesWithNamespace(view, whereOf(copy))) return undefined
    const { namespace = '', name = '', annotations = {}, ownerReferences = [] } = copy.metadata
    const source = annotations[SOURCE] ?? ''
    const all = consentedReferencesTo(view, source).filter((one) => one.metadata.namespace === namespace)
    if (all.length === 0) return `${copy.kind} ${namespace}/${name} is nobody's`
    // What cannot be made now stays as it is; and of a dataset that goes nothing is changed any more, whatever its runtime says.
    if (isGoing(view.get(DATASETS, source) ?? copy) || !runtimesOf(view, source).every(({ object }) => isServed(object))) return undefined
    // It goes with the last of them.
    const owners = all.filter((one) => !isGoing(one))
    const [wanted, live] = [owners.map(({ metadata }) => metadata.uid), ownerReferences.map(({ uid }) => uid)]
    if (owners.length === 0) return undefined
    if (wanted.sort().join() !== live.sort().join())
      return `${copy.kind} ${namespace}/${name} does not belong to ${owners.map(whereOf).join()}`
    const original = view.get(copy.kind === 'ConfigMap' ? 'configmaps' : 'daemonsets', `${namespaceIn(source)}/${name.slice(0, -9)}`)
    if (original === undefined) return `${copy.kind} ${namespace}/${name} has no original`
    return saidIn(copy) === saidIn(original)
      ? undefined
      : `${copy.kind} ${namespace}/${name} says ${saidIn(copy)} instead of ${saidIn(original)}`
  }),
)

/** What a copy has of its original: not the options. */
function saidIn(object: KubeObject): string {
  if (object.kind === 'DaemonSet') {
    const { containers = [] } = (object as DaemonSet).spec?.template?.spec ?? {}
    return containers.map(({ image }) => image).join()
  }
  const { data = {} } = object as ConfigMap
  return JSON.stringify(Object.entries(data).map(([key, text]) => [key, key === 'runtime.json' ? configIn(text) : text]))
}

function configIn(text: string): unknown {
  const { mounts = [], worker } = JSON.parse(text) as { mounts?: Record<string, unknown>[]; worker?: { replicas?: number } }
  return [mounts.map(({ mountPoint, name, path }) => [mountPoint, name, path]), worker?.replicas]
}

/** Undefined: there is none, or none that is made now, or perhaps none that can be copied. */
function clientOf(view: InvariantView, original: string): DaemonSet | undefined {
  const runtimes = runtimesOf(view, original)
  const [runtime] = runtimes
  const client = view.get('daemonsets', `${original}-client`) as DaemonSet | undefined
  const isOwned = (client?.metadata.ownerReferences ?? []).some(({ uid }) => uid === runtime?.object.metadata.uid)
  if (client === undefined || runtime === undefined || runtimes.length > 1 || !isOwned || !isServed(runtime.object)) return undefined
  return JSON.stringify(client.spec).includes('ecret') ? undefined : client
}

const copiesAreThere = inMembers(
  'where there is consent, there is a copy of the client of the original, or the reference says why not',
  (view) =>
    firstOf(datasetsIn(view), (reference) => {
      const referred = referredBy(reference)
      const where = whereOf(reference)
      if (referred === undefined || isGoing(reference) || !mayRefer(view, namespaceIn(where), referred.where)) return undefined
      const original = view.get(DATASETS, referred.where)
      if (original === undefined || referredBy(original) !== undefined || goesWithNamespace(view, where)) return undefined
      const client = clientOf(view, referred.where)
      if (client === undefined) return undefined
      const copy = `${namespaceIn(where)}/${client.metadata.name}-${hashOf(referred.where)}`
      return view.get('daemonsets', copy) === undefined ? `${copy} is missing` : undefined
    }),
)

export const SHARING_AT_REST = [listsAreTrue, referencesFollow, accessIsTrue, volumesAgree, copiesAreTrue, copiesAreThere]
