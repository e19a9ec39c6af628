/**
 * One order of the six things by which a pod reads a dataset of another namespace: the dataset, its runtime, the reference, the
 * reference's ThinRuntime, the grant, and the pod. In a world of real API servers and controllers in virtual time; that nothing
 * crosses before there is a grant is judged at every write.
 */

import { data } from '../../src/data/module.ts'
import { monitorInvariants, viewOf } from '../../src/faultsim/prover/invariant-monitor.ts'
import { World, type WorldCluster, type WorldOptions } from '../../src/faultsim/world/index.ts'
import type { WorldSnapshot } from '../../src/faultsim/world/snapshot.ts'
import type { Dataset } from '../../src/kinds/fluid/index.ts'
import { mirrorName } from '../../src/kinds/fluid/reference.ts'
import type { Pod } from '../../src/kinds/kubernetes/types.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { MODULES } from '../../src/modules.ts'
import { configure } from '../../src/runtime/module/configure.ts'
import type { Invariant, InvariantView } from '../../src/runtime/seams/seeded.ts'
import { aGrant } from '../data/sharing.ts'
import type { Start, Subject } from './subject.ts'

const THINGS = ['physical', 'runtime', 'reference', 'thin runtime', 'grant', 'pod'] as const
type Thing = (typeof THINGS)[number]

interface Variant {
  text: string
  /** The pod is that of a Job, which tries again when it is refused, and has the client as a sidecar. */
  isInjected: boolean
  /** Whether everything is done before the next thing comes, or all come at once. */
  isHurried: boolean
}

const VARIANTS: readonly Variant[] = [
  { text: 'a pod, one by one', isInjected: false, isHurried: false },
  { text: 'a pod, at once', isInjected: false, isHurried: true },
  { text: 'a Job with a sidecar, one by one', isInjected: true, isHurried: false },
  { text: 'a Job with a sidecar, at once', isInjected: true, isHurried: true },
]

/** Nothing is permitted without a grant. */
export const ASKED = configure(MODULES, data, { referenceConsent: 'grant' })
const OPTIONS: WorldOptions = { hub: false, members: 1, nodes: 1, modules: ASKED }
const API_VERSION = 'data.fluid.io/v1alpha1'
const [OWNER, GUEST, NAME] = ['owner', 'guest', 'images']
const ORIGINAL = { namespace: OWNER, name: NAME }
const SECRET = 'open-sesame'

const of = (kind: string, namespace: string, spec: object): KubeObject => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { namespace, name: NAME },
  spec,
})

function objectOf(thing: Thing, { isInjected }: Variant): KubeObject {
  switch (thing) {
    case 'physical':
      return of('Dataset', OWNER, {
        mounts: [{ mountPoint: 'https://example.com/images', name: 'all', path: '/', options: { key: SECRET } }],
      })
    case 'runtime':
      return of('CacheRuntime', OWNER, { runtimeClassName: 'builtin' })
    case 'reference':
      return of('Dataset', GUEST, { mounts: [{ mountPoint: `dataset://${OWNER}/${NAME}/part` }] })
    case 'thin runtime':
      return of('ThinRuntime', GUEST, {})
    case 'grant': {
      const grant = aGrant(GUEST)
      return { ...grant, metadata: { ...grant.metadata, namespace: OWNER } }
    }
    case 'pod':
      return isInjected ? job() : { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: GUEST, name: 'reader' }, spec: podSpec() }
  }
}

const podSpec = () => ({
  containers: [{ name: 'reader', image: 'reader', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
  volumes: [{ name: 'data', persistentVolumeClaim: { claimName: NAME } }],
})

const job = (): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace: GUEST, name: 'reader' },
  spec: {
    template: { metadata: { labels: { 'serverless.fluid.io/inject': 'true' } }, spec: { ...podSpec(), restartPolicy: 'Never' } },
  },
})

const CLAIMS = 'persistentvolumeclaims'
const GRANTS = 'referencegrants.gateway.networking.k8s.io'
const DATASETS = 'datasets.data.fluid.io'
const THIN = 'thinruntimes.data.fluid.io'

/** Without any memory: what must be there when something crosses. */
const byConsent: Invariant = {
  says: 'nothing of the dataset is in the other namespace before there is a grant',
  about: [CLAIMS, 'configmaps', DATASETS],
  broken(member, { resource, object, isDeletion }) {
    if (isDeletion || object.metadata.namespace !== GUEST || member.list(GRANTS).length > 0) return undefined
    if (resource === DATASETS) return (object as Dataset).status?.mounts === undefined ? undefined : 'its mounts are shown'
    return object.metadata.name === 'kube-root-ca.crt' ? undefined : `${object.kind} ${object.metadata.name} is there`
  },
}

const noSecret: Invariant = {
  says: 'no option of a mount crosses',
  about: ['configmaps', DATASETS, THIN, 'daemonsets.apps', 'pods'],
  broken: (_member, { object }) => (object.metadata.namespace === GUEST && JSON.stringify(object).includes(SECRET) ? 'it does' : undefined),
}

/** What tells runs apart, and no two ends. */
const plain = (value: unknown): string =>
  JSON.stringify(value ?? null).replaceAll(/"(uid|resourceVersion|last\w+Time|lastProbeTime|creationTimestamp)":"[^"]*",?/g, '')

function outcomeOf(member: InvariantView): string {
  const get = (resource: string, key: string) => member.get(resource, key)
  const shown = (resource: string, key: string): string => {
    const object = get(resource, key)
    return `${resource} ${key}: ${plain([object?.metadata.labels, object?.metadata.finalizers, object?.spec, object?.status])}`
  }
  const copies = ['fluid-runtime-config-images', 'images-client'].map((name) => `${GUEST}/${mirrorName(name, ORIGINAL)}`)
  const pods = (member.list('pods') as Pod[]).filter(({ metadata }) => metadata.namespace === GUEST)
  return [
    shown(DATASETS, `${OWNER}/${NAME}`),
    shown(DATASETS, `${GUEST}/${NAME}`),
    `ThinRuntime: ${plain([get(THIN, `${GUEST}/${NAME}`)?.metadata.finalizers, get(THIN, `${GUEST}/${NAME}`)?.status])}`,
    ...[`${OWNER}-${NAME}`, `${GUEST}-${NAME}`].map((name) => shown('persistentvolumes', name)),
    ...[OWNER, GUEST].map((namespace) => shown(CLAIMS, `${namespace}/${NAME}`)),
    ...copies.map(
      (key) => `copy ${key}: ${plain([get('configmaps', key), get('daemonsets.apps', key)].map((copy) => withoutOwners(copy)))}`,
    ),
    `access: ${plain((get('configmaps', `${OWNER}/${NAME}-cache-access`) as { data?: object } | undefined)?.data)}`,
    ...pods.map(
      ({ spec, status }) => `pod: ${status?.phase} with ${(spec?.initContainers ?? []).map(({ name }) => name).join() || 'no sidecar'}`,
    ),
    ...member
      .list('nodes')
      .map(({ metadata }) => `node: ${plain(Object.entries(metadata.labels ?? {}).filter(([key]) => key.includes('fluid')))}`),
  ].join('\n')
}

const withoutOwners = (copy: (KubeObject & { data?: unknown }) | undefined): unknown =>
  copy === undefined ? undefined : [copy.metadata.labels, copy.metadata.annotations, copy.data, copy.spec]

/** What must be in each end: otherwise all could be the same because nothing works. */
const endsIn = ({ isInjected }: Variant): readonly RegExp[] => [
  /^datasets\S+ owner\/images: .*"datasetRef":\["guest\/images"\].*"phase":"Bound"/m,
  /^datasets\S+ guest\/images: .*"phase":"Bound"/m,
  /^persistentvolumes guest-images: .*"fluid_sub_path":"part"/m,
  /^access: .*guest.*\/part/m,
  isInjected ? /^pod: Succeeded with fluid-fuse-0$/m : /^pod: Running with no sidecar$/m,
]

async function beginning(): Promise<WorldSnapshot> {
  const world = new World(OPTIONS)
  await world.start()
  for (const name of [OWNER, GUEST]) await world.member.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await world.settle()
  const snapshot = world.snapshot()
  await world.stop()
  return snapshot
}

/** Long enough for everything to be done; a Job whose pod is refused is never done. */
const BETWEEN_MS = 10_000
/** It tries again later and later. */
const LONGEST_WAIT = 20
const RETRY_MS = 60_000

async function endOf(order: readonly Thing[], variant: Variant, start: Start): Promise<{ end: string; broken: string | undefined }> {
  const world = new World({ ...OPTIONS, ...start })
  try {
    await world.start()
    await world.settle()
    const { member } = world
    const monitor = monitorInvariants(member.store, [byConsent, noSecret])
    for (const thing of order) {
      await createIn(member, thing, variant)
      if (!variant.isHurried) await world.advance(BETWEEN_MS)
    }
    const isThere = (): boolean =>
      viewOf(member.store)
        .list('pods')
        .some(({ metadata }) => metadata.namespace === GUEST)
    for (let waited = 0; !isThere() && waited < LONGEST_WAIT; waited++) await world.advance(RETRY_MS)
    await world.settle()
    return { end: outcomeOf(viewOf(member.store)), broken: monitor.broken }
  } finally {
    for (const cluster of world.clusters) {
      cluster.killControllers()
      cluster.stop()
    }
  }
}

/** Where the reference came first, there is a ThinRuntime by now, which its user finds. */
async function createIn(member: WorldCluster, thing: Thing, variant: Variant): Promise<void> {
  const isMade = thing === 'thin runtime' && viewOf(member.store).get(THIN, `${GUEST}/${NAME}`) !== undefined
  if (!isMade) await member.create(objectOf(thing, variant))
}

function variantOf(variant: Variant): Subject<Thing>['variants'][number] {
  let expected: Promise<string> | undefined
  return {
    text: variant.text,
    async wrongIn(order, start) {
      const { end, broken } = await endOf(order, variant, start)
      if (broken !== undefined) return broken
      const missing = endsIn(variant).find((what) => !what.test(end))
      if (missing !== undefined) return `it ends without ${missing}:\n${end}`
      expected ??= endOf(THINGS, variant, start).then(({ end: first }) => first)
      const other = await expected
      return end === other ? undefined : `it ends with\n${end}\ninstead of\n${other}`
    },
  }
}

export const dataOrders: Subject<Thing> = { name: 'data', things: THINGS, variants: VARIANTS.map(variantOf), beginning }
