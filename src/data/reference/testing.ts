/** Datasets in two namespaces, one of which refers to the other, and verbs for stories about them: with all controllers of a member. */
import assert from 'node:assert/strict'
import { conditionsOf, expectThere } from '../../faultsim/expect/index.ts'
import type { WorldCluster, WorldOptions } from '../../faultsim/world/index.ts'
import type { Dataset, DatasetSpec, DatasetStatus, Mount } from '../../kinds/fluid/index.ts'
import { DATASETS } from '../../kinds/fluid/resources.ts'
import { ReferenceGrant } from '../../kinds/gateway/reference-grant.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { refOfKey } from '../../kube/object-reference.ts'
import { MODULES } from '../../modules.ts'
import type { Module } from '../../runtime/module/module.ts'
import { OWN_VERSION } from '../../runtime/own-image.ts'
import type { ReferenceConsent } from '../../runtime/reference-consent.ts'
import { ENGINES } from '../engines/index.ts'
import { data } from '../module.ts'
import type { Sharing } from './mirror/mirror.ts'

const API_VERSION = 'data.fluid.io/v1alpha1'

/** All modules, with what holds where an owner has stated nothing. */
export const modulesWith = (referenceConsent: ReferenceConsent): readonly Module[] =>
  MODULES.map((module) => (module === data ? data.with({ referenceConsent }) : module))

/** Nothing runs on simulated nodes: datasets are bound, and say so. */
export const member = (referenceConsent: ReferenceConsent = 'open'): WorldOptions => ({
  hub: false,
  members: 1,
  nodes: 3,
  modules: modulesWith(referenceConsent),
})

/** How runtimes are served, for controllers that a test makes itself. */
export const SHARING: Sharing = { engines: ENGINES, options: { translates: true, hostPathPrefixes: 'all', version: OWN_VERSION } }

export const ORIGINAL = 'data/images'
export const REFERENCE = 'web/images'

const metadataOf = (where: string) => refOfKey(where)

const aNamespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

export const aDataset = (where: string, spec: DatasetSpec): KubeObject => ({
  apiVersion: API_VERSION,
  kind: 'Dataset',
  metadata: metadataOf(where),
  spec,
})

const CREDENTIALS = { 'aws.secretKey': 'open-sesame' }
const SOURCES: Mount[] = [
  { mountPoint: 'https://ann:hunter2@example.com/images?token=open-sesame', name: 'all', path: '/', options: CREDENTIALS },
]

export const anOriginal = (more: DatasetSpec = {}): KubeObject => aDataset(ORIGINAL, { mounts: SOURCES, placement: 'Shared', ...more })

export const aReference = (where = REFERENCE, mountPoint = `dataset://${ORIGINAL}`, more: DatasetSpec = {}): KubeObject =>
  aDataset(where, { mounts: [{ mountPoint }], ...more })

export const aRuntime = (where = ORIGINAL, kind = 'CacheRuntime', spec: object = { runtimeClassName: 'builtin' }): KubeObject => ({
  apiVersion: API_VERSION,
  kind,
  metadata: metadataOf(where),
  spec,
})

export const aThinRuntime = (where = REFERENCE, spec: object = {}): KubeObject => aRuntime(where, 'ThinRuntime', spec)

/** In the namespace of the original, for all its datasets or one. */
export const aGrant = (from = 'web', name?: string): KubeObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1beta1',
  kind: ReferenceGrant.kind,
  metadata: { namespace: 'data', name: `for-${from}` },
  spec: {
    from: [{ group: 'data.fluid.io', kind: 'Dataset', namespace: from }],
    to: [{ group: 'data.fluid.io', kind: 'Dataset', ...(name === undefined ? {} : { name }) }],
  },
})

export const aReader = (where = 'web/reader', claimName = 'images'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: metadataOf(where),
  spec: {
    containers: [{ name: 'reader', image: 'reader' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
  },
})

export async function createNamespaces(cluster: WorldCluster, names: readonly string[] = ['data', 'web']): Promise<void> {
  for (const name of names) await cluster.create(aNamespace(name))
}

export async function createOriginal(cluster: WorldCluster): Promise<void> {
  await cluster.create(anOriginal())
  await cluster.create(aRuntime())
}

export type Seen = Dataset & { status: DatasetStatus }

export async function datasetIn(cluster: WorldCluster, where = REFERENCE): Promise<Seen> {
  const found = await expectThere(cluster, DATASETS, where)
  assert.ok(found.status !== undefined, `Dataset ${where} has no status`)
  return found as Seen
}

export const phaseIn = async (cluster: WorldCluster, where = REFERENCE): Promise<string | undefined> =>
  ((await cluster.get(DATASETS, where)) as Dataset | undefined)?.status?.phase

export const messageIn = async (cluster: WorldCluster, type: string, where = REFERENCE): Promise<string | undefined> =>
  conditionsOf(await datasetIn(cluster, where)).get(type)?.message
