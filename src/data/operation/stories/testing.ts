/** Stories of data operations: a member with their controllers alone, where the test plays dataset, engine and nodes. */
import assert from 'node:assert/strict'
import { formatTime } from '../../../base/clock.ts'
import type { GetText } from '../../../client/get-text.ts'
import { story as storyOf } from '../../../faultsim/story.ts'
import type { World, WorldCluster } from '../../../faultsim/world/index.ts'
import { fluidAdmission } from '../../../kinds/fluid/admission/index.ts'
import { fluidKinds } from '../../../kinds/fluid/index.ts'
import { type Operation, operationResource } from '../../../kinds/fluid/operation.ts'
import type { OperationKind, OperationStatus } from '../../../kinds/fluid/operation-parts.ts'
import { CACHE_RUNTIME_CLASSES, DATASETS } from '../../../kinds/fluid/resources.ts'
import { ReferenceGrant } from '../../../kinds/gateway/reference-grant.ts'
import { EVENTS, JOBS, NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Job, Pod } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Resource } from '../../../kube/resource.ts'
import { minicluster } from '../../../minicluster/module.ts'
import { defineModule } from '../../../runtime/module/module.ts'
import type { ReferenceConsent } from '../../../runtime/reference-consent.ts'
import { otherModules } from '../../testing.ts'
import { carryingControllers } from '../all.ts'

const moduleWith = (referenceConsent: ReferenceConsent, getText?: GetText) =>
  defineModule({
    name: 'operations-for-tests',
    roles: ['member'],
    upstreamLeases: [],
    kinds: {
      member: otherModules.some(({ kinds }) => kinds?.member?.includes(ReferenceGrant)) ? fluidKinds : [...fluidKinds, ReferenceGrant],
    },
    admission: () => fluidAdmission({ hostPathPrefixes: 'all', mayRefer: () => true }),
    defaults: {},
    services: () => ({}),
    controllers: () => carryingControllers({ referenceConsent, translates: true, getText }),
  })

/** Pods are real, unless they ask for a simulation: the test plays their nodes. */
const realPods = minicluster.with({ run: { hasProcessNodes: true, isMapped: () => true, resolves: () => true } })

export const modulesWith = (referenceConsent: ReferenceConsent = 'open', getText?: GetText) => [
  ...otherModules.map((module) => (module.name === realPods.name ? realPods : module)),
  moduleWith(referenceConsent, getText),
]

/** For `podMetadata`: nothing of these pods runs. */
export const SIMULATED_PODS = { annotations: { 'sluice.dev/run': 'simulated' } }

export function story(name: string, report: (world: World) => Promise<void>, consent: ReferenceConsent = 'open', getText?: GetText): void {
  storyOf(name, report, { hub: false, members: 1, modules: modulesWith(consent, getText) })
}

const DATA = 'data.fluid.io/v1alpha1'
const OPERATIONS_OF_CLASS = ['DataLoad', 'DataMigrate', 'DataBackup'].map((name) => ({
  name,
  image: 'engine:1',
  command: ['engine', name],
}))

/** A dataset that is bound to a cache whose engine can do everything, and a node where pods may have run. */
export async function bindDataset(cluster: WorldCluster, name = 'demo', phase = 'Bound', engine = 'engine'): Promise<void> {
  if ((await cluster.get(CACHE_RUNTIME_CLASSES, engine)) === undefined) {
    await cluster.create({
      apiVersion: DATA,
      kind: 'CacheRuntimeClass',
      metadata: { name: engine },
      fileSystemType: engine,
      dataOperationSpecs: OPERATIONS_OF_CLASS,
    } as KubeObject)
    await cluster.create({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1', 'topology.kubernetes.io/zone': 'z1' } },
    })
  }
  await cluster.create({
    apiVersion: DATA,
    kind: 'CacheRuntime',
    metadata: { namespace: 'default', name },
    spec: { runtimeClassName: engine },
  })
  await cluster.create({
    apiVersion: DATA,
    kind: 'Dataset',
    metadata: { namespace: 'default', name },
    spec: { mounts: [{ mountPoint: 's3://lake/a' }] },
  })
  await setDataset(cluster, phase, name)
}

export const setDataset = (cluster: WorldCluster, phase: string, name = 'demo') =>
  cluster.patch(
    DATASETS,
    `default/${name}`,
    { status: { phase, conditions: [], runtimes: [{ name, namespace: 'default', category: 'Accelerate', type: 'cache' }] } },
    'status',
  )

export async function statusOf(cluster: WorldCluster, kind: OperationKind, name = 'one'): Promise<OperationStatus> {
  const found = (await cluster.get(operationResource(kind) as Resource, `default/${name}`)) as Operation | undefined
  assert.ok(found !== undefined, `${kind} ${name} is not there`)
  return found.status ?? { phase: '', duration: '', conditions: [] }
}

export const phaseOf = async (cluster: WorldCluster, kind: OperationKind, name = 'one'): Promise<string> =>
  (await statusOf(cluster, kind, name)).phase

export const jobIn = async (cluster: WorldCluster, name: string): Promise<Job | undefined> =>
  (await cluster.get(JOBS, `default/${name}`)) as Job | undefined

/** The pods of a Job end on node n1; a failed one is not tried again only when the Job allows no more. */
export async function endPods(world: World, job: string, phase: 'Succeeded' | 'Failed' = 'Succeeded'): Promise<void> {
  await endPodsIn(world.member, job, { phase, at: formatTime(world.clock.now()) })
  await world.settle()
}

export async function endPodsIn(
  cluster: WorldCluster,
  job: string,
  { phase, at }: { phase: 'Succeeded' | 'Failed'; at: string },
): Promise<void> {
  const pods = (await cluster.list(PODS, { namespace: 'default', labelSelector: `job-name=${job}` })) as Pod[]
  for (const { metadata, spec, status } of pods) {
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') continue
    if (spec?.nodeName === undefined && (await cluster.get(NODES, 'n1')) !== undefined) {
      const binding = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: metadata.name, namespace: metadata.namespace },
        target: { kind: 'Node', name: 'n1' },
      }
      await cluster.inside(() => cluster.client.create(PODS, binding, { subresource: 'binding' }))
    }
    const state = { terminated: { exitCode: phase === 'Failed' ? 1 : 0, startedAt: at, finishedAt: at } }
    const containerStatuses = (spec?.containers ?? []).map(({ name }) => ({
      name,
      image: 'i',
      imageID: '',
      ready: false,
      restartCount: 0,
      state,
    }))
    await cluster.patch(PODS, `${metadata.namespace}/${metadata.name}`, { status: { phase, containerStatuses } }, 'status')
  }
}

/** The pods of a Job begin to run on node n1, with an address. */
export async function runPods(world: World, job: string): Promise<void> {
  await runPodsIn(world.member, job, formatTime(world.clock.now()))
  // A program that answers is asked again before a world counts as settled.
  await world.settle({ quietMs: 1000 })
}

async function runPodsIn(cluster: WorldCluster, job: string, at: string, podIP = '10.0.0.7'): Promise<void> {
  for (const { metadata, spec } of (await cluster.list(PODS, { namespace: 'default', labelSelector: `job-name=${job}` })) as Pod[]) {
    const state = { running: { startedAt: at } }
    const containerStatuses = (spec?.containers ?? []).map(({ name }) => ({
      ...{ name, image: 'i', imageID: '', ready: true, restartCount: 0 },
      state,
    }))
    const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }], containerStatuses }
    await cluster.patch(PODS, `default/${metadata.name}`, { status }, 'status')
  }
}

/** `Type Reason: message`, of one object, sorted. */
export async function eventsOf(cluster: WorldCluster, name: string): Promise<string[]> {
  const events = (await cluster.list(EVENTS)).filter((event) => (event.involvedObject as { name?: string }).name === name)
  return events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`).sort()
}
