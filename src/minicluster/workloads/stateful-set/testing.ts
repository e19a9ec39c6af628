/** Verbs for stories about StatefulSets. */
import assert from 'node:assert/strict'
import type { World, WorldCluster } from '../../../faultsim/world/index.ts'
import { CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS } from '../../../kinds/kubernetes/resources.ts'
import type {
  ControllerRevision,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  StatefulSetSpec,
  StatefulSetStatus,
} from '../../../kinds/kubernetes/types.ts'
import { podsIn, setReady } from '../../../runtime/workloads/pod/testing.ts'

/** A template whose image is its version; without a token, whose volume has a random name. */
export const templateAt = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image }] },
})

export const aStatefulSet = (spec: StatefulSetSpec = {}): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web', namespace: 'default' },
  spec: { replicas: 3, serviceName: 'web', selector: { matchLabels: { app: 'web' } }, template: templateAt('one'), ...spec },
})

/** One claim per pod, `www-web-<ordinal>`. */
export const withClaims: StatefulSetSpec = {
  volumeClaimTemplates: [
    {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'www' } },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } },
    },
  ],
}

export async function theSet(cluster: WorldCluster): Promise<StatefulSet> {
  const found = await cluster.get(STATEFUL_SETS, 'default/web')
  assert.ok(found !== undefined, 'there is no StatefulSet web')
  return found
}

export const statusIn = async (cluster: WorldCluster): Promise<StatefulSetStatus> => (await theSet(cluster)).status ?? {}

export const change = (cluster: WorldCluster, spec: StatefulSetSpec): Promise<unknown> =>
  cluster.patch(STATEFUL_SETS, 'default/web', { spec })

/** `web-0:one+ web-1:two`: pods with their images; ready ones with a plus, those being deleted with a minus. */
export async function summary(cluster: WorldCluster): Promise<string> {
  return (await podsIn(cluster)).map(describe).join(' ')
}

function describe({ metadata, spec, status }: Pod): string {
  const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
  const sign = metadata.deletionTimestamp !== undefined ? '-' : isReady ? '+' : ''
  return `${metadata.name}:${spec?.containers?.[0]?.image}${sign}`
}

/** Makes a pod ready, or not ready. */
export async function ready(world: World, name: string, isReady = true): Promise<void> {
  const pod = await world.member.get(PODS, `default/${name}`)
  assert.ok(pod !== undefined, `there is no Pod ${name}`)
  await setReady(world, pod, isReady)
  await world.settle()
}

export async function claimsIn(cluster: WorldCluster): Promise<PersistentVolumeClaim[]> {
  return cluster.list(PERSISTENT_VOLUME_CLAIMS, { namespace: 'default' })
}

/** `www-web-0` or, with owners, `www-web-0<StatefulSet web`. */
export async function owners(cluster: WorldCluster): Promise<string[]> {
  return (await claimsIn(cluster)).map(({ metadata }) => {
    const held = (metadata.ownerReferences ?? []).map(({ kind, name }) => `${kind} ${name}`)
    return held.length === 0 ? (metadata.name ?? '') : `${metadata.name}<${held.join(',')}`
  })
}

/** Revisions by number: `1:one`. */
export async function revisionsIn(cluster: WorldCluster): Promise<string[]> {
  const revisions = (await cluster.list(CONTROLLER_REVISIONS, { namespace: 'default' })) as ControllerRevision[]
  const imageOf = ({ data }: ControllerRevision): unknown => JSON.stringify(data).match(/"image":"([^"]*)"/)?.[1]
  return revisions.sort((a, b) => (a.revision ?? 0) - (b.revision ?? 0)).map((one) => `${one.revision}:${imageOf(one)}`)
}
