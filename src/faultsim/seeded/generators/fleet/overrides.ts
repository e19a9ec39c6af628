/** Override policies: what differs from cluster to cluster. They never change replicas, so that these still add up. */

import { OVERRIDE_POLICIES } from '../../../../kinds/karmada/resources.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { Generator } from '../../../../runtime/seams/seeded.ts'
import { oneOf } from '../../script.ts'
import { metadataOf } from '../pod-template.ts'

const CHANGES = [
  { imageOverrider: [{ component: 'Tag', operator: 'replace', value: '9' }] },
  { labelsOverrider: [{ operator: 'add', value: { place: 'there' } }] },
  { annotationsOverrider: [{ operator: 'add', value: { note: 'overridden' } }] },
]

export const overridePolicies: Generator = {
  name: 'override policy',
  resource: OVERRIDE_POLICIES,
  names: ['default/differs'],
  draw: (random) => ({
    resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }],
    overrideRules: [
      { targetCluster: { clusterNames: [oneOf(random, ['member1', 'member2', 'member3'])] }, overriders: oneOf(random, CHANGES) },
    ],
  }),
  object: (where, desired): KubeObject => ({
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'OverridePolicy',
    metadata: metadataOf(where),
    spec: desired as Record<string, unknown>,
  }),
}
