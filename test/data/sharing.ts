/** Namespaces beside that of the story, whose datasets refer to those of the story, and what stories look at there. */
import assert from 'node:assert/strict'
import type { Dataset, DatasetSpec } from '../../src/kinds/fluid/index.ts'
import { mirrorName } from '../../src/kinds/fluid/reference.ts'
import { ReferenceGrant } from '../../src/kinds/gateway/reference-grant.ts'
import { CONFIG_MAPS, DAEMON_SETS, PERSISTENT_VOLUMES, PODS, SERVICE_ACCOUNTS } from '../../src/kinds/kubernetes/resources.ts'
import type { ConfigMap, DaemonSet, PersistentVolume, Pod } from '../../src/kinds/kubernetes/types.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { datasetOf, isBound, there } from './expectations.ts'
import { aClass, aDataset, aRuntime, MOUNTS } from './manifests.ts'
import type { Beginning, DataTestbed } from './story.ts'

/** In which pods can run at once. */
export async function aNamespace(testbed: DataTestbed, base: string): Promise<DataTestbed> {
  const name = testbed.unique(base)
  await testbed.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const other = testbed.within(name)
  await testbed.until(`namespace ${name} complete`, async () => (await other.get(SERVICE_ACCOUNTS, 'default')) !== undefined)
  return other
}

/** By the owner of the story's namespace: datasets of another one may refer to all of its datasets, or to one. */
export const aGrant = (from: string, name?: string): KubeObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1beta1',
  kind: ReferenceGrant.kind,
  metadata: { name: `for-${from}` },
  spec: {
    from: [{ group: 'data.fluid.io', kind: 'Dataset', namespace: from }],
    to: [{ group: 'data.fluid.io', kind: 'Dataset', ...(name === undefined ? {} : { name }) }],
  },
})

export const withdraw = (testbed: DataTestbed, from: string): Promise<void> => testbed.delete(ReferenceGrant.resource, `for-${from}`)

interface Referring {
  name?: string
  /** Of the original. */
  to?: string
  subPath?: string
  spec?: Partial<DatasetSpec>
}

/** To a dataset of the story's namespace. */
export const aReference = ({ namespace }: DataTestbed, { name = 'demo', to = 'demo', subPath = '', spec }: Referring = {}): Dataset => ({
  apiVersion: 'data.fluid.io/v1alpha1',
  kind: 'Dataset',
  metadata: { name },
  spec: { mounts: [{ mountPoint: `dataset://${namespace}/${to}${subPath}` }], ...spec },
})

export const referTo = (testbed: DataTestbed, guests: DataTestbed, referring: Referring = {}): Promise<Dataset> =>
  guests.create(aReference(testbed, referring))

/** Everything about them is a secret of their owner. */
export const SECRET_MOUNTS = [{ ...MOUNTS[0], mountPoint: 's3://one', options: { 'aws.secretKey': 'open-sesame' } }]

export const guestsOf = (testbed: DataTestbed): DataTestbed => testbed.within(testbed.unique('guests'))

/** A dataset that is bound, and a grant for a namespace of guests, who have nothing yet. */
export const OFFERED: Beginning = {
  name: 'offered',
  async make(testbed) {
    const guests = await aNamespace(testbed, 'guests')
    await testbed.create(aGrant(guests.namespace))
    await testbed.create(aClass(testbed))
    await testbed.create(aDataset(testbed, { mounts: SECRET_MOUNTS, placement: 'Shared' }))
    await testbed.create(aRuntime(testbed))
    await isBound(testbed)
  },
}

/** And a reference to it of the same name, which is bound. */
export const SHARED: Beginning = {
  name: 'shared',
  async make(testbed) {
    await OFFERED.make(testbed)
    await referTo(testbed, guestsOf(testbed))
    await isBound(guestsOf(testbed))
  },
}

export const volumeOf = (testbed: DataTestbed, name = 'demo'): Promise<PersistentVolume> =>
  there(testbed, PERSISTENT_VOLUMES, `${testbed.namespace}-${name}`)

export const attributesOf = ({ spec }: PersistentVolume): Record<string, string> => spec?.csi?.volumeAttributes ?? {}

export const listedIn = async (testbed: DataTestbed, name = 'demo'): Promise<string[]> =>
  (await datasetOf(testbed, name)).status.datasetRef ?? []

/** What copies are called, for the references of a namespace to a dataset of the story's. */
export const copyName = ({ namespace }: DataTestbed, source: string, name = 'demo'): string => mirrorName(source, { namespace, name })

export const copiedConfig = (testbed: DataTestbed, guests: DataTestbed, name = 'demo'): Promise<ConfigMap> =>
  there(guests, CONFIG_MAPS, copyName(testbed, `fluid-runtime-config-${name}`, name))

export const copiedClient = (testbed: DataTestbed, guests: DataTestbed, name = 'demo'): Promise<DaemonSet> =>
  there(guests, DAEMON_SETS, copyName(testbed, `${name}-client`, name))

export const ownersOf = ({ metadata }: KubeObject): string[] => (metadata.ownerReferences ?? []).map(({ name }) => name).sort()

export async function isRunning(testbed: DataTestbed, name = 'reader'): Promise<Pod> {
  await testbed.until(`${name} runs`, async () => (await testbed.get(PODS, name))?.status?.phase === 'Running')
  return there(testbed, PODS, name)
}

/** At once, as when its program ends by itself. */
export const end = (testbed: DataTestbed, name = 'reader'): Promise<void> => testbed.delete(PODS, name, { gracePeriodSeconds: 0 })

export async function isUnschedulable(testbed: DataTestbed, name: string): Promise<string> {
  const conditionOf = async () =>
    (await testbed.get(PODS, name))?.status?.conditions?.find(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable')
  await testbed.until(`${name} finds no node`, async () => (await conditionOf()) !== undefined)
  const condition = await conditionOf()
  assert.ok(condition !== undefined)
  return condition.message ?? ''
}
