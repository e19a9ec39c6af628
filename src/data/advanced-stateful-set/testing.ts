/** A module with this controller alone, and verbs for stories about AdvancedStatefulSets. */
import assert from 'node:assert/strict'
import type { WorldCluster, WorldOptions } from '../../faultsim/world/index.ts'
import {
  AdvancedStatefulSet,
  type AdvancedStatefulSetSpec,
  type AdvancedStatefulSetStatus,
} from '../../kinds/fluid/advanced-stateful-set.ts'
import { templateAt, withClaims } from '../../minicluster/workloads/stateful-set/testing.ts'
import { defineModule } from '../../runtime/module/module.ts'
import { podsIn } from '../../runtime/workloads/pod/testing.ts'
import { otherModules } from '../testing.ts'
import { advancedStatefulSet } from './controller.ts'

const dataForTests = defineModule<Record<string, never>, object>({
  name: 'data-for-tests',
  roles: ['member'],
  upstreamLeases: [],
  kinds: { member: [AdvancedStatefulSet] },
  defaults: {},
  services: () => ({}),
  controllers: () => [advancedStatefulSet],
})

/** The list of modules, with this controller whether or not one of them brings it. */
export const modules = [...otherModules, dataForTests]

/** A member without nodes: the story plays them. */
export const member: WorldOptions = { hub: false, members: 1, modules }

/** Three pods at once, if nothing else is said. */
export const aSet = (spec: Partial<AdvancedStatefulSetSpec> = {}): AdvancedStatefulSet => ({
  apiVersion: 'workload.fluid.io/v1alpha1',
  kind: 'AdvancedStatefulSet',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    ...{ replicas: 3, serviceName: 'web', selector: { matchLabels: { app: 'web' } }, template: templateAt('one') },
    ...{ podManagementPolicy: 'Parallel', ...spec },
  },
})

/** One claim per pod, `www-web-<ordinal>`. */
export const claims = { volumeClaimTemplates: withClaims.volumeClaimTemplates }

export const change = (cluster: WorldCluster, spec: object): Promise<unknown> =>
  cluster.patch(AdvancedStatefulSet.resource, 'default/web', { spec })

export async function statusIn(cluster: WorldCluster): Promise<Partial<AdvancedStatefulSetStatus>> {
  const found = await cluster.get(AdvancedStatefulSet.resource, 'default/web')
  assert.ok(found !== undefined, 'there is no AdvancedStatefulSet web')
  return found.status ?? {}
}

/** The uid of each pod, by name. */
export async function uidsIn(cluster: WorldCluster): Promise<Record<string, string | undefined>> {
  return Object.fromEntries((await podsIn(cluster)).map(({ metadata }) => [metadata.name, metadata.uid]))
}

/** A rolling update with these settings. */
export const rolling = (
  rollingUpdate: Partial<NonNullable<NonNullable<AdvancedStatefulSetSpec['updateStrategy']>['rollingUpdate']>>,
): Pick<AdvancedStatefulSetSpec, 'updateStrategy'> => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0, ...rollingUpdate } },
})
